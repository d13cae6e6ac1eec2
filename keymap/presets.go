package keymap

import "strings"

// preset is a table as written: the prefix key and the rows.
type preset struct {
	name   string
	prefix string
	normal []row
	copy   []row
}

// row is a binding as written: the keys, with the word "prefix" for the prefix
// key, and the command with its arguments.
type row struct {
	keys, line string
	repeat     bool
}

// again marks a row that may be repeated.
const again = true

var presets = []preset{
	{name: "default", prefix: "ctrl+space", normal: defaultKeys, copy: viKeys},
	{name: "tmux", prefix: "ctrl+b", normal: tmuxKeys, copy: append(viKeys[:len(viKeys):len(viKeys)], tmuxCopyKeys...)},
	{name: "screen", prefix: "ctrl+a", normal: screenKeys, copy: viKeys},
}

// defaultKeys is the key table of the preset "default".
var defaultKeys = []row{
	{"prefix |", "split-right", false},
	{"prefix -", "split-down", false},
	{"prefix h", "focus-left", false},
	{"prefix j", "focus-down", false},
	{"prefix k", "focus-up", false},
	{"prefix l", "focus-right", false},
	{"prefix left", "focus-left", false},
	{"prefix down", "focus-down", false},
	{"prefix up", "focus-up", false},
	{"prefix right", "focus-right", false},
	{"prefix o", "focus-next", false},
	{"prefix ;", "focus-last", false},
	{"prefix H", "resize-left 2", again},
	{"prefix J", "resize-down", again},
	{"prefix K", "resize-up", again},
	{"prefix L", "resize-right 2", again},
	{"prefix z", "zoom", false},
	{"prefix x", "close-pane", false},
	{"prefix ,", "rename-pane", false},
	{"prefix <", "swap-previous", false},
	{"prefix >", "swap-next", false},
	{"prefix !", "break-out", false},
	{"prefix f", "floating", false},
	{"prefix F", "float-pane", false},
	{"prefix shift+left", "move-floating left 4", again},
	{"prefix shift+down", "move-floating down 2", again},
	{"prefix shift+up", "move-floating up 2", again},
	{"prefix shift+right", "move-floating right 4", again},
	{"prefix m", "mark-pane", false},
	{"prefix @", "join-pane", false},
	{"prefix s", "type-to-all", false},
	{"prefix =", "even", false},
	{"prefix space", "next-layout", false},

	{"prefix c", "new-tab", false},
	{"prefix n", "next-tab", false},
	{"prefix p", "previous-tab", false},
	{"prefix tab", "last-tab", false},
	{"prefix 1", "go-tab 1", false},
	{"prefix 2", "go-tab 2", false},
	{"prefix 3", "go-tab 3", false},
	{"prefix 4", "go-tab 4", false},
	{"prefix 5", "go-tab 5", false},
	{"prefix 6", "go-tab 6", false},
	{"prefix 7", "go-tab 7", false},
	{"prefix 8", "go-tab 8", false},
	{"prefix 9", "go-tab 9", false},
	{"prefix .", "rename-tab", false},
	{"prefix X", "close-tab", false},

	{"prefix S", "layouts", false},
	{"prefix $", "rename-layout", false},

	{"prefix w", "terminals", false},
	{"prefix g", "next-alert", false},
	{"prefix A", "answer-agent", false},
	{"prefix a", "agents", false},
	{"prefix u", "open-chat", false},
	{"prefix r", "reclaim", false},
	{"prefix b", "background", false},
	{"prefix B", "hand-back", false},
	{"prefix ctrl+r", "record", false},
	{"prefix prefix", "send-prefix", false},

	{"prefix [", "copy-mode", false},
	{"prefix /", "search-back", false},
	{"prefix pgup", "scroll-page-up", false},
	{"prefix {", "previous-command", again},
	{"prefix }", "next-command", again},
	{"prefix y", "copy-output", false},
	{"prefix e", "fold-output", false},
	{"prefix C", "commands", false},
	{"prefix R", "run-again", false},
	{"prefix v", "select-output", false},
	{"prefix ctrl+y", "copy-command-line", false},
	{"prefix Y", "copy-selection", false},
	{"prefix ]", "paste-buffer", false},
	{"prefix #", "choose-buffer", false},
	{"prefix E", "edit-scrollback", false},
	{"prefix O", "copy-open-link", false},

	{"prefix d", "detach", false},
	{"prefix ctrl+z", "suspend", false},
	{"prefix :", "palette", false},
	{"prefix ?", "help", false},
	{"prefix ctrl+l", "redraw", false},
}

// tmuxKeys are tmux's own default keys where it has the action (tmux 3.3a,
// list-keys -T prefix). Tabs count from 1 as they are shown, so 0 is the tenth.
// Keys for what tmux lacks are free in tmux.
var tmuxKeys = []row{
	{"prefix %", "split-right", false},
	{"prefix \"", "split-down", false},
	{"prefix left", "focus-left", again},
	{"prefix down", "focus-down", again},
	{"prefix up", "focus-up", again},
	{"prefix right", "focus-right", again},
	{"prefix o", "focus-next", false},
	{"prefix ;", "focus-last", false},
	{"prefix ctrl+left", "resize-left", again},
	{"prefix ctrl+down", "resize-down", again},
	{"prefix ctrl+up", "resize-up", again},
	{"prefix ctrl+right", "resize-right", again},
	{"prefix alt+left", "resize-left 5", again},
	{"prefix alt+down", "resize-down 5", again},
	{"prefix alt+up", "resize-up 5", again},
	{"prefix alt+right", "resize-right 5", again},
	{"prefix z", "zoom", false},
	{"prefix x", "close-pane", false},
	{"prefix T", "rename-pane", false},
	{"prefix {", "swap-previous", false},
	{"prefix }", "swap-next", false},
	{"prefix !", "break-out", false},
	{"prefix f", "floating", false},
	{"prefix F", "float-pane", false},
	{"prefix shift+left", "move-floating left 4", again},
	{"prefix shift+down", "move-floating down 2", again},
	{"prefix shift+up", "move-floating up 2", again},
	{"prefix shift+right", "move-floating right 4", again},
	{"prefix m", "mark-pane", false},
	{"prefix @", "join-pane", false},
	{"prefix S", "type-to-all", false},
	{"prefix E", "even", false},
	{"prefix space", "next-layout", false},
	{"prefix alt+1", "arrange even-horizontal", false},
	{"prefix alt+2", "arrange even-vertical", false},
	{"prefix alt+3", "arrange main-horizontal", false},
	{"prefix alt+4", "arrange main-vertical", false},
	{"prefix alt+5", "arrange tiled", false},

	{"prefix c", "new-tab", false},
	{"prefix n", "next-tab", false},
	{"prefix p", "previous-tab", false},
	{"prefix l", "last-tab", false},
	{"prefix 1", "go-tab 1", false},
	{"prefix 2", "go-tab 2", false},
	{"prefix 3", "go-tab 3", false},
	{"prefix 4", "go-tab 4", false},
	{"prefix 5", "go-tab 5", false},
	{"prefix 6", "go-tab 6", false},
	{"prefix 7", "go-tab 7", false},
	{"prefix 8", "go-tab 8", false},
	{"prefix 9", "go-tab 9", false},
	{"prefix 0", "go-tab 10", false},
	{"prefix ,", "rename-tab", false},
	{"prefix &", "close-tab", false},

	{"prefix s", "layouts", false},
	{"prefix $", "rename-layout", false},

	{"prefix w", "terminals", false},
	{"prefix G", "next-alert", false},
	{"prefix A", "answer-agent", false},
	{"prefix a", "agents", false},
	{"prefix u", "open-chat", false},
	{"prefix R", "reclaim", false},
	{"prefix b", "background", false},
	{"prefix B", "hand-back", false},
	{"prefix ctrl+r", "record", false},
	{"prefix prefix", "send-prefix", false},

	{"prefix [", "copy-mode", false},
	{"prefix /", "search-back", false},
	{"prefix pgup", "scroll-page-up", false},
	{"prefix K", "previous-command", again},
	{"prefix J", "next-command", again},
	{"prefix y", "copy-output", false},
	{"prefix h", "fold-output", false},
	{"prefix H", "commands", false},
	{"prefix g", "run-again", false},
	{"prefix v", "select-output", false},
	{"prefix ctrl+y", "copy-command-line", false},
	{"prefix Y", "copy-selection", false},
	{"prefix ]", "paste-buffer", false},
	{"prefix =", "choose-buffer", false},
	{"prefix #", "choose-buffer", false},
	{"prefix -", "delete-buffer", false},
	{"prefix e", "edit-scrollback", false},
	{"prefix O", "copy-open-link", false},

	{"prefix d", "detach", false},
	{"prefix ctrl+z", "suspend", false},
	{"prefix :", "palette", false},
	{"prefix ?", "help", false},
	{"prefix r", "redraw", false},
}

// screenKeys are screen's own default keys where it has the action (screen 4.9,
// manual section "Default Key Bindings"): S and | split, tab goes on, X takes a
// region off the screen, Q leaves only this one. As in screen, a sends the
// prefix and the prefix twice goes to the other window. The rest are free in
// screen, or stand for what few use there.
var screenKeys = []row{
	{"prefix |", "split-right", false},
	{"prefix S", "split-down", false},
	{"prefix left", "focus-left", false},
	{"prefix down", "focus-down", false},
	{"prefix up", "focus-up", false},
	{"prefix right", "focus-right", false},
	{"prefix tab", "focus-next", false},
	{"prefix ;", "focus-last", false},
	{"prefix ctrl+left", "resize-left", again},
	{"prefix ctrl+down", "resize-down", again},
	{"prefix ctrl+up", "resize-up", again},
	{"prefix ctrl+right", "resize-right", again},
	{"prefix Q", "zoom", false},
	{"prefix k", "close-pane", false},
	{"prefix ctrl+k", "close-pane", false},
	{"prefix T", "rename-pane", false},
	{"prefix <", "swap-previous", false},
	{"prefix >", "swap-next", false},
	{"prefix !", "break-out", false},
	{"prefix f", "floating", false},
	{"prefix F", "float-pane", false},
	{"prefix shift+left", "move-floating left 4", again},
	{"prefix shift+down", "move-floating down 2", again},
	{"prefix shift+up", "move-floating up 2", again},
	{"prefix shift+right", "move-floating right 4", again},
	{"prefix m", "mark-pane", false},
	{"prefix @", "join-pane", false},
	{"prefix s", "type-to-all", false},
	{"prefix =", "even", false},
	{"prefix E", "next-layout", false},

	{"prefix c", "new-tab", false},
	{"prefix ctrl+c", "new-tab", false},
	{"prefix n", "next-tab", false},
	{"prefix ctrl+n", "next-tab", false},
	{"prefix space", "next-tab", false},
	{"prefix p", "previous-tab", false},
	{"prefix ctrl+p", "previous-tab", false},
	{"prefix backspace", "previous-tab", false},
	{"prefix prefix", "last-tab", false},
	{"prefix 1", "go-tab 1", false},
	{"prefix 2", "go-tab 2", false},
	{"prefix 3", "go-tab 3", false},
	{"prefix 4", "go-tab 4", false},
	{"prefix 5", "go-tab 5", false},
	{"prefix 6", "go-tab 6", false},
	{"prefix 7", "go-tab 7", false},
	{"prefix 8", "go-tab 8", false},
	{"prefix 9", "go-tab 9", false},
	{"prefix 0", "go-tab 10", false},
	{"prefix A", "rename-tab", false},
	{"prefix K", "close-tab", false},

	{"prefix W", "layouts", false},
	{"prefix $", "rename-layout", false},

	{"prefix \"", "terminals", false},
	{"prefix w", "terminals", false},
	{"prefix ctrl+w", "terminals", false},
	{"prefix g", "next-alert", false},
	{"prefix *", "answer-agent", false},
	{"prefix G", "agents", false},
	{"prefix u", "open-chat", false},
	{"prefix r", "reclaim", false},
	{"prefix X", "background", false},
	{"prefix b", "background", false},
	{"prefix B", "hand-back", false},
	{"prefix H", "record", false},
	{"prefix a", "send-prefix", false},

	{"prefix [", "copy-mode", false},
	{"prefix /", "search-back", false},
	{"prefix esc", "copy-mode", false},
	{"prefix pgup", "scroll-page-up", false},
	{"prefix {", "previous-command", again},
	{"prefix }", "next-command", again},
	{"prefix y", "copy-output", false},
	{"prefix e", "fold-output", false},
	{"prefix C", "commands", false},
	{"prefix R", "run-again", false},
	{"prefix v", "select-output", false},
	{"prefix ctrl+y", "copy-command-line", false},
	{"prefix Y", "copy-selection", false},
	{"prefix ]", "paste-buffer", false},
	{"prefix #", "choose-buffer", false},
	{"prefix h", "edit-scrollback", false},
	{"prefix O", "copy-open-link", false},

	{"prefix d", "detach", false},
	{"prefix ctrl+z", "suspend", false},
	{"prefix ctrl+d", "detach", false},
	{"prefix :", "palette", false},
	{"prefix ?", "help", false},
	{"prefix l", "redraw", false},
	{"prefix ctrl+l", "redraw", false},
	{"prefix \\", "stop", false},
}

// Presets gives the names of the presets, the default one first.
func Presets() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// Preset gives the table of that name; ok is false when there is none.
func Preset(name string) (t Table, ok bool) {
	for _, p := range presets {
		if p.name == name {
			return p.table(), true
		}
	}
	return Table{}, false
}

func (p preset) table() Table {
	sources := append(compileRows(p.name, Normal, p.normal), compileRows(p.name, Copy, p.copy)...)
	sources = append(sources, compileRows(p.name, Chat, chatKeys)...)
	sources = append(sources, compileRows(p.name, Reading, readingKeys)...)
	prefix, err := Parse(p.prefix)
	if err != nil {
		panic("keymap: preset " + p.name + ": " + err.Error())
	}
	return compile(p.name, prefix, sources)
}

// compileRows reads rows as written.
func compileRows(name string, mode Mode, rows []row) []source {
	var sources []source
	for _, r := range rows {
		chord, err := parseSource(r.keys)
		if err != nil {
			panic("keymap: preset " + name + ": " + err.Error()) // A test parses them all.
		}
		words := strings.Fields(r.line)
		sources = append(sources, source{
			mode: mode, chord: chord, command: words[0], args: words[1:], repeat: r.repeat,
		})
	}
	return sources
}
