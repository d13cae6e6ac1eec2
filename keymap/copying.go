package keymap

// viKeys are copy mode's keys as vi and tmux's vi mode have them.
var viKeys = []row{
	{"h", "copy-left", false},
	{"left", "copy-left", false},
	{"j", "scroll-down", false},
	{"down", "scroll-down", false},
	{"k", "scroll-up", false},
	{"up", "scroll-up", false},
	{"l", "copy-right", false},
	{"right", "copy-right", false},
	{"1", "copy-count 1", false},
	{"2", "copy-count 2", false},
	{"3", "copy-count 3", false},
	{"4", "copy-count 4", false},
	{"5", "copy-count 5", false},
	{"6", "copy-count 6", false},
	{"7", "copy-count 7", false},
	{"8", "copy-count 8", false},
	{"9", "copy-count 9", false},
	{"0", "copy-count 0", false},
	{"home", "copy-line-start", false},
	{"^", "copy-line-text", false},
	{"$", "copy-line-end", false},
	{"end", "copy-line-end", false},
	{"w", "copy-word-next", false},
	{"b", "copy-word-back", false},
	{"e", "copy-word-end", false},
	{"W", "copy-big-word-next", false},
	{"B", "copy-big-word-back", false},
	{"E", "copy-big-word-end", false},
	{"f", "copy-find", false},
	{"F", "copy-find-back", false},
	{"t", "copy-till", false},
	{"T", "copy-till-back", false},
	{";", "copy-find-again", false},
	{",", "copy-find-reverse", false},
	{"%", "copy-bracket", false},
	{"}", "copy-paragraph-next", false},
	{"{", "copy-paragraph-back", false},
	{"H", "copy-screen-top", false},
	{"M", "copy-screen-middle", false},
	{"L", "copy-screen-bottom", false},
	{"g", "scroll-top", false},
	{"G", "copy-go-line", false},
	{"ctrl+home", "scroll-top", false},
	{"ctrl+end", "scroll-bottom", false},
	{"ctrl+u", "scroll-half-up", false},
	{"ctrl+d", "scroll-half-down", false},
	{"ctrl+b", "scroll-page-up", false},
	{"pgup", "scroll-page-up", false},
	{"ctrl+f", "scroll-page-down", false},
	{"pgdown", "scroll-page-down", false},
	{"ctrl+y", "copy-view-up", false},
	{"ctrl+up", "copy-view-up", false},
	{"ctrl+e", "copy-view-down", false},
	{"ctrl+down", "copy-view-down", false},
	{"z t", "copy-view-top", false},
	{"z z", "copy-view-middle", false},
	{"z b", "copy-view-bottom", false},
	{"(", "previous-command", false},
	{")", "next-command", false},
	{"c", "select-output", false},
	{"C", "copy-command-line", false},
	{"z a", "fold-output", false},
	{"z M", "fold-all", false},
	{"z R", "unfold-all", false},
	{"m", "copy-set-mark", false},
	{"'", "copy-go-mark", false},
	{"`", "copy-go-mark", false},
	{"v", "copy-select", false},
	{"space", "copy-select", false},
	{"V", "copy-select-lines", false},
	{"ctrl+v", "copy-select-block", false},
	{"o", "copy-other-end", false},
	{"y", "copy-yank", false},
	{"enter", "copy-yank", false},
	{"Y", "copy-selection", false},
	{"O", "copy-open-link", false},
	{"U", "copy-link", false},
	{"/", "search", false},
	{"?", "search-back", false},
	{"n", "search-next", false},
	{"N", "search-previous", false},
	{"*", "search-word", false},
	{"#", "search-word-back", false},
	{"ctrl+g", "copy-select-clear", false},
	{"esc", "copy-escape", false},
	{"q", "copy-exit", false},
	{"ctrl+c", "copy-exit", false},
}

// tmuxCopyKeys are the keys of tmux's emacs copy mode, its default one, but for
// those that mean something else in its vi mode.
var tmuxCopyKeys = []row{
	{"ctrl+n", "scroll-down", false},
	{"ctrl+p", "scroll-up", false},
	{"ctrl+a", "copy-line-start", false},
	{"alt+m", "copy-line-text", false},
	{"alt+b", "copy-word-back", false},
	{"alt+f", "copy-word-end", false},
	{"alt+}", "copy-paragraph-next", false},
	{"alt+{", "copy-paragraph-back", false},
	{"alt+R", "copy-screen-top", false},
	{"alt+r", "copy-screen-middle", false},
	{"alt+<", "scroll-top", false},
	{"alt+>", "scroll-bottom", false},
	{"alt+up", "scroll-half-up", false},
	{"alt+down", "scroll-half-down", false},
	{"alt+v", "scroll-page-up", false},
	{"ctrl+space", "copy-select", false},
	{"alt+w", "copy-yank", false},
	{"ctrl+w", "copy-yank", false},
	{"ctrl+s", "search", false},
	{"ctrl+r", "search-back", false},
}

// emacsKeys are copy mode's keys as emacs and tmux's emacs mode have them; for
// what emacs lacks they are with Alt. Where the prefix is ctrl+space, space sets
// the mark.
var emacsKeys = []row{
	{"ctrl+b", "copy-left", false},
	{"left", "copy-left", false},
	{"ctrl+n", "scroll-down", false},
	{"down", "scroll-down", false},
	{"ctrl+p", "scroll-up", false},
	{"up", "scroll-up", false},
	{"ctrl+f", "copy-right", false},
	{"right", "copy-right", false},
	{"alt+1", "copy-count 1", false},
	{"alt+2", "copy-count 2", false},
	{"alt+3", "copy-count 3", false},
	{"alt+4", "copy-count 4", false},
	{"alt+5", "copy-count 5", false},
	{"alt+6", "copy-count 6", false},
	{"alt+7", "copy-count 7", false},
	{"alt+8", "copy-count 8", false},
	{"alt+9", "copy-count 9", false},
	{"alt+0", "copy-count 0", false},
	{"ctrl+a", "copy-line-start", false},
	{"home", "copy-line-start", false},
	{"alt+m", "copy-line-text", false},
	{"ctrl+e", "copy-line-end", false},
	{"end", "copy-line-end", false},
	{"alt+b", "copy-word-back", false},
	{"alt+f", "copy-word-end", false},
	{"alt+F", "copy-word-next", false},
	{"alt+left", "copy-big-word-back", false},
	{"alt+right", "copy-big-word-end", false},
	{"alt+W", "copy-big-word-next", false},
	{"f", "copy-find", false},
	{"F", "copy-find-back", false},
	{"t", "copy-till", false},
	{"T", "copy-till-back", false},
	{";", "copy-find-again", false},
	{",", "copy-find-reverse", false},
	{"ctrl+alt+f", "copy-bracket", false},
	{"%", "copy-bracket", false},
	{"alt+}", "copy-paragraph-next", false},
	{"alt+{", "copy-paragraph-back", false},
	{"alt+R", "copy-screen-top", false},
	{"alt+r", "copy-screen-middle", false},
	{"alt+L", "copy-screen-bottom", false},
	{"alt+<", "scroll-top", false},
	{"alt+>", "scroll-bottom", false},
	{"alt+g", "copy-go-line", false},
	{"g", "copy-go-line", false},
	{"alt+up", "scroll-half-up", false},
	{"alt+down", "scroll-half-down", false},
	{"alt+v", "scroll-page-up", false},
	{"pgup", "scroll-page-up", false},
	{"ctrl+v", "scroll-page-down", false},
	{"pgdown", "scroll-page-down", false},
	{"ctrl+up", "copy-view-up", false},
	{"ctrl+down", "copy-view-down", false},
	{"ctrl+l", "copy-view-middle", false},
	{"alt+t", "copy-view-top", false},
	{"alt+T", "copy-view-bottom", false},
	{"(", "previous-command", false},
	{")", "next-command", false},
	{"c", "select-output", false},
	{"C", "copy-command-line", false},
	{"z a", "fold-output", false},
	{"z M", "fold-all", false},
	{"z R", "unfold-all", false},
	{"m", "copy-set-mark", false},
	{"'", "copy-go-mark", false},
	{"ctrl+space", "copy-select", false},
	{"space", "copy-select", false},
	{"V", "copy-select-lines", false},
	{"R", "copy-select-block", false},
	{"ctrl+x ctrl+x", "copy-other-end", false},
	{"ctrl+g", "copy-select-clear", false},
	{"alt+w", "copy-yank", false},
	{"ctrl+w", "copy-yank", false},
	{"enter", "copy-yank", false},
	{"Y", "copy-selection", false},
	{"O", "copy-open-link", false},
	{"U", "copy-link", false},
	{"ctrl+s", "search", false},
	{"ctrl+r", "search-back", false},
	{"n", "search-next", false},
	{"N", "search-previous", false},
	{"*", "search-word", false},
	{"#", "search-word-back", false},
	{"esc", "copy-escape", false},
	{"q", "copy-exit", false},
	{"ctrl+c", "copy-exit", false},
}

// copyKeys are the sets of copy mode's keys that can be chosen; nil means those
// of the preset.
var copyKeys = []struct {
	name string
	rows []row
}{{"vi", nil}, {"emacs", emacsKeys}}

// ModeKeys gives the names of the sets of copy mode's keys, the default first.
func ModeKeys() []string {
	var names []string
	for _, k := range copyKeys {
		names = append(names, k.name)
	}
	return names
}

// WithModeKeys gives the table with another set of copy mode's keys, "" for its
// own; ok is false when there is no such set. The user's own keys stay.
func (t Table) WithModeKeys(name string) (with Table, ok bool) {
	for _, k := range copyKeys {
		if k.name != name && name != "" {
			continue
		}
		if k.rows == nil {
			return t, true
		}
		var sources []source
		for _, s := range t.sources {
			if s.mode != Copy || s.user {
				sources = append(sources, s)
			}
		}
		sources = append(sources, compileRows(t.Name, Copy, k.rows)...)
		return compile(t.Name, t.prefix, sources), true
	}
	return t, false
}
