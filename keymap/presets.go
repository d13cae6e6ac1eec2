package keymap

import (
	"slices"
	"strings"
	"sync"
)

// presets are the tables that ship, the default one first; their keys after the
// prefix are the columns of afterPrefix.
var presets = []struct{ name, prefix string }{{"default", "ctrl+space"}, {"tmux", "ctrl+b"}, {"screen", "ctrl+a"}}

// afterPrefix are the keys after the prefix in the presets, and those with alt that need
// none.
//
// tmux has tmux's own default keys where it has the action (tmux 3.3a, list-keys -T
// prefix); tabs count from 1 as they are shown, so 0 is the tenth. screen has screen's
// (screen 4.9, manual section "Default Key Bindings"): S and | split, tab goes on, X takes
// a region off the screen, Q leaves only this one; as there, a sends the prefix and the
// prefix twice goes to the other window. The rest are free in those, or stand for what few
// use there.
//
// With alt, what readline and shells use all day is left to them: alt with b, d, f, c, u,
// t, y, r, a dot, backspace.
//
// Of each: the command, its keys in every column, with "again " before keys that may be
// repeated and "_" within a chord; "1-9" makes a row for each digit.
var afterPrefix = [][]string{
	{"split-right", "|", "%", "|", `alt+\`},
	{"split-down", "-", `"`, "S", "alt+-"},
	{"focus-left", "h left", "again left", "left", "alt+left alt+h"},
	{"focus-down", "j down", "again down", "down", "alt+down alt+j"},
	{"focus-up", "k up", "again up", "up", "alt+up alt+k"},
	{"focus-right", "l right", "again right", "right", "alt+right alt+l"},
	{"focus-next", "o", "o", "tab"},
	{"focus-last", ";", ";", ";"},
	{"pane-numbers", "q", "q", "q"},
	{"resize-left", "", "again ctrl+left", "again ctrl+left"},
	{"resize-left 2", "again H", "", "", "alt+H"},
	{"resize-down", "again J", "again ctrl+down", "again ctrl+down", "alt+J"},
	{"resize-up", "again K", "again ctrl+up", "again ctrl+up", "alt+K"},
	{"resize-right", "", "again ctrl+right", "again ctrl+right"},
	{"resize-right 2", "again L", "", "", "alt+L"},
	{"resize-left 5", "", "again alt+left"},
	{"resize-down 5", "", "again alt+down"},
	{"resize-up 5", "", "again alt+up"},
	{"resize-right 5", "", "again alt+right"},
	{"zoom", "z", "z", "Q", "alt+z"},
	{"close-pane", "x", "x", "k ctrl+k"},
	{"rename-pane", ",", "T", "T"},
	{"swap-previous", "<", "{", "<"},
	{"swap-next", ">", "}", ">"},
	{"rotate up", "", "ctrl+o"},
	{"rotate down", "", "alt+o"},
	{"break-out", "!", "!", "!"},
	{"floating", "f", "f", "f", "alt+s"},
	{"float-pane", "F", "F", "F"},
	{"move-floating left 4", "again shift+left", "again shift+left", "again shift+left"},
	{"move-floating down 2", "again shift+down", "again shift+down", "again shift+down"},
	{"move-floating up 2", "again shift+up", "again shift+up", "again shift+up"},
	{"move-floating right 4", "again shift+right", "again shift+right", "again shift+right"},
	{"mark-pane", "m", "m", "m"},
	{"join-pane", "@", "@", "@"},
	{"type-to-all", "s", "S", "s"},
	{"stack", "+", "+", "+"},
	{"unstack", "^", "^", "^"},
	{"even", "=", "E", "=", "alt+="},
	{"next-layout", "space", "space", "E", "alt+space"},
	{"arrange even-horizontal", "", "alt+1"},
	{"arrange even-vertical", "", "alt+2"},
	{"arrange main-horizontal", "", "alt+3"},
	{"arrange main-vertical", "", "alt+4"},
	{"arrange tiled", "", "alt+5"},

	{"new-tab", "c", "c", "c ctrl+c", "alt+n"},
	{"next-tab", "n", "n", "n ctrl+n space", "alt+pgdown"},
	{"previous-tab", "p", "p", "p ctrl+p backspace", "alt+pgup"},
	{"last-tab", "tab", "l", "prefix"},
	{"go-tab 1-9", "1-9", "1-9", "1-9", "alt+1-9"},
	{"go-tab 10", "", "0", "0"},
	{"go-tab", "", "'", "'"},
	{"move-tab", "", "."},
	{"move-tab-left", "again P", "again P", "again P", "alt+i"},
	{"move-tab-right", "again N", "again N", "again N", "alt+o"},
	{"rename-tab", ".", ",", "A"},
	{"close-tab", "X", "&", "K"},

	{"layouts", "S", "s", "W"},
	{"switch-layout next", ")", ")", ")"},
	{"switch-layout previous", "(", "(", "("},
	{"switch-layout last", "`", "L", "`"},
	{"rename-layout", "$", "$", "$"},

	{"terminals", "w", "w", `" w ctrl+w`, "alt+w"},
	{"history", "I", "I", "I"},
	{"search-all", "ctrl+f", "ctrl+f", "ctrl+f"},
	{"next-alert", "g", "G alt+n", "g", "alt+g"},
	{"answer-agent", "A", "A", "*"},
	{"agents", "a", "a", "G"},
	{"review", "D", "D", "D"},
	{"open-chat", "u", "u", "u"},
	{"reclaim", "r", "R", "r"},
	{"background", "b", "b", "X b"},
	{"hand-back", "B", "B", "B"},
	{"end-share", "Q", "Q", "Z"},
	{"record", "ctrl+r", "ctrl+r", "H"},
	{"send-prefix", "prefix", "prefix", "a"},

	{"copy-mode", "[", "[", "[ esc"},
	{"search-back", "/", "/", "/"},
	{"scroll-page-up", "pgup", "pgup", "pgup"},
	{"previous-command", "again {", "again K", "again {"},
	{"next-command", "again }", "again J", "again }"},
	{"copy-output", "y", "y", "y"},
	{"fold-output", "e", "h", "e"},
	{"commands", "C", "H", "C"},
	{"run-again", "R", "g", "R"},
	{"select-output", "v", "v", "v"},
	{"copy-command-line", "ctrl+y", "ctrl+y", "ctrl+y"},
	{"copy-selection", "Y", "Y", "Y"},
	{"paste-buffer", "]", "]", "]"},
	{"choose-buffer", "#", "= #", "#"},
	{"delete-buffer", "", "-"},
	{"edit-scrollback", "E", "e", "h"},
	{"copy-open-link", "O", "O", "O"},
	{"hints", "U", "U", "U"},

	{"detach", "d", "d", "d ctrl+d"},
	{"suspend", "ctrl+z", "ctrl+z", "ctrl+z"},
	{"palette", ":", ":", ":", "alt+x"},
	{"menu pane", "", ">"},
	{"menu tab", "", "<"},
	{"messages", "", "~"},
	{"pane-info", "", "i", "i"},
	{"help", "?", "?", "?"},
	{"redraw", "ctrl+l", "r", "l ctrl+l"},
	{"stop", "", "", `\`},
}

// The columns of copyKeys: vi's, as tmux's vi mode has them; those of tmux's emacs copy
// mode, its default one, which mean nothing else in its vi mode; emacs' and tmux's emacs
// mode's, with alt for what emacs lacks. Where the prefix is ctrl+space, space sets the
// mark in emacs'.
const (
	viKeys = 1 + iota
	tmuxKeys
	emacsKeys
)

var copyKeys = [][]string{
	{"copy-left", "h left", "", "ctrl+b left"},
	{"scroll-down", "j down", "ctrl+n", "ctrl+n down"},
	{"scroll-up", "k up", "ctrl+p", "ctrl+p up"},
	{"copy-right", "l right", "", "ctrl+f right"},
	{"copy-count 1-9", "1-9", "", "alt+1-9"},
	{"copy-count 0", "0", "", "alt+0"},
	{"copy-line-start", "home", "ctrl+a", "ctrl+a home"},
	{"copy-line-text", "^", "alt+m", "alt+m"},
	{"copy-line-end", "$ end", "", "ctrl+e end"},
	{"copy-word-next", "w", "", "alt+F"},
	{"copy-word-back", "b", "alt+b", "alt+b"},
	{"copy-word-end", "e", "alt+f", "alt+f"},
	{"copy-big-word-next", "W", "", "alt+W"},
	{"copy-big-word-back", "B", "", "alt+left"},
	{"copy-big-word-end", "E", "", "alt+right"},
	{"copy-find", "f", "", "f"},
	{"copy-find-back", "F", "", "F"},
	{"copy-till", "t", "", "t"},
	{"copy-till-back", "T", "", "T"},
	{"copy-find-again", ";", "", ";"},
	{"copy-find-reverse", ",", "", ","},
	{"copy-bracket", "%", "", "ctrl+alt+f %"},
	{"copy-paragraph-next", "}", "alt+}", "alt+}"},
	{"copy-paragraph-back", "{", "alt+{", "alt+{"},
	{"copy-screen-top", "H", "alt+R", "alt+R"},
	{"copy-screen-middle", "M", "alt+r", "alt+r"},
	{"copy-screen-bottom", "L", "", "alt+L"},
	{"scroll-top", "g ctrl+home", "alt+<", "alt+<"},
	{"copy-go-line", "G", "", "alt+g g"},
	{"scroll-bottom", "ctrl+end", "alt+>", "alt+>"},
	{"scroll-half-up", "ctrl+u", "alt+up", "alt+up"},
	{"scroll-half-down", "ctrl+d", "alt+down", "alt+down"},
	{"scroll-page-up", "ctrl+b pgup", "alt+v", "alt+v pgup"},
	{"scroll-page-down", "ctrl+f pgdown", "", "ctrl+v pgdown"},
	{"copy-view-up", "ctrl+y ctrl+up", "", "ctrl+up"},
	{"copy-view-down", "ctrl+e ctrl+down", "", "ctrl+down"},
	{"copy-view-top", "z_t", "", "alt+t"},
	{"copy-view-middle", "z_z", "", "ctrl+l"},
	{"copy-view-bottom", "z_b", "", "alt+T"},
	{"previous-command", "(", "", "("},
	{"next-command", ")", "", ")"},
	{"select-output", "c", "", "c"},
	{"copy-command-line", "C", "", "C"},
	{"fold-output", "z_a", "", "z_a"},
	{"fold-all", "z_M", "", "z_M"},
	{"unfold-all", "z_R", "", "z_R"},
	{"copy-set-mark", "m", "", "m"},
	{"copy-go-mark", "' `", "", "'"},
	{"copy-select", "v space", "ctrl+space", "ctrl+space space"},
	{"copy-select-lines", "V", "", "V"},
	{"copy-select-block", "ctrl+v", "", "R"},
	{"copy-other-end", "o", "", "ctrl+x_ctrl+x"},
	{"copy-yank", "y enter", "alt+w ctrl+w", "alt+w ctrl+w enter"},
	{"copy-selection", "Y", "", "Y"},
	{"copy-open-link", "O", "", "O"},
	{"copy-link", "U", "", "U"},
	{"search", "/", "ctrl+s", "ctrl+s"},
	{"search-back", "?", "ctrl+r", "ctrl+r"},
	{"search-next", "n", "", "n"},
	{"search-previous", "N", "", "N"},
	{"search-word", "*", "", "*"},
	{"search-word-back", "#", "", "#"},
	{"copy-select-clear", "ctrl+g", "", "ctrl+g"},
	{"copy-escape", "esc", "", "esc"},
	{"copy-exit", "q ctrl+c", "", "q ctrl+c"},
}

// chatKeys are the keys of a chat's prompt, as the interfaces of agents have them
// (those of readline, which edit, are the prompt's own), and of its transcript.
var chatKeys = [][]string{
	{"chat-send", "enter"},
	{"chat-newline", "alt+enter ctrl+j"},
	{"chat-steer", "ctrl+s"},
	{"chat-escape", "esc", "esc"},
	{"chat-cancel", "ctrl+c", "ctrl+c"},
	{"chat-tab", "tab", "tab"},
	{"chat-mode", "shift+tab"},
	{"chat-up", "up ctrl+p"},
	{"chat-down", "down ctrl+n"},
	{"chat-unqueue", "alt+up"},
	{"chat-edit", "ctrl+g"},
	{"chat-next", "", "j down"},
	{"chat-previous", "", "k up"},
	{"chat-fold", "", "enter space o"},
	{"fold-output", "ctrl+o", "O ctrl+o"},
	{"chat-plan", "ctrl+t", "p ctrl+t"},
	{"chat-options", "alt+o"},
	{"chat-model", "alt+m"},
	{"copy-selection", "", "y"},
	{"copy-output", "", "Y"},
	{"chat-code", "alt+y", "c"},
	{"chat-retry", "alt+r", "r"},
	{"chat-terminal", "alt+t", "t"},
	{"chat-login", "alt+i"},
	{"review", "alt+c", "d"},
	{"chat-fork", "", "f"},
	{"chat-rewind", "", "u"},
	{"search", "", "/"},
	{"search-next", "", "n"},
	{"search-previous", "", "N"},
	{"scroll-page-up", "pgup", "ctrl+b pgup"},
	{"scroll-page-down", "pgdown", "ctrl+f pgdown"},
	{"scroll-half-up", "", "ctrl+u"},
	{"scroll-half-down", "", "ctrl+d"},
	{"scroll-up", "shift+up", "ctrl+y shift+up"},
	{"scroll-down", "shift+down", "ctrl+e shift+down"},
	{"scroll-top", "ctrl+home", "g ctrl+home"},
	{"scroll-bottom", "ctrl+end", "G ctrl+end"},
	{"chat-prompt", "", "i q"},
}

// Presets gives the names of the presets, the default one first.
func Presets() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.name
	}
	return names
}

// Preset gives the table of that name, which is made once; ok is false when there is none.
func Preset(name string) (t Table, ok bool) {
	i := slices.Index(Presets(), name)
	if i < 0 {
		return Table{}, false
	}
	return presetTables[i](), true
}

var presetTables = func() (all []func() Table) {
	for i := range presets {
		all = append(all, sync.OnceValue(func() Table { return makePreset(i) }))
	}
	return all
}()

func makePreset(i int) Table {
	name := presets[i].name
	sources := slices.Concat(column(Normal, afterPrefix, 1+i, "prefix "), column(Copy, copyKeys, viKeys, ""))
	if name == "tmux" {
		sources = append(sources, column(Copy, copyKeys, tmuxKeys, "")...)
	}
	sources = append(sources, column(Chat, chatKeys, 1, "")...)
	sources = append(sources, column(Reading, chatKeys, 2, "")...)
	prefix, err := Parse(presets[i].prefix)
	if err != nil {
		panic("keymap: preset " + name + ": " + err.Error())
	}
	return compile(name, prefix, sources)
}

// WithAlt gives the table with the keys with alt that need no prefix. What the
// user has bound otherwise stays.
func (t Table) WithAlt() Table {
	return compile(t.Name, t.prefix, slices.Concat(t.sources, column(Normal, afterPrefix, 1+len(presets), "")))
}

// ModeKeys gives the names of the sets of copy mode's keys, the default first.
func ModeKeys() []string { return []string{"vi", "emacs"} }

// WithModeKeys gives the table with another set of copy mode's keys, "" for its
// own; ok is false when there is no such set. The user's own keys stay.
func (t Table) WithModeKeys(name string) (with Table, ok bool) {
	if name != "emacs" {
		return t, name == "" || name == "vi"
	}
	own := slices.DeleteFunc(slices.Clone(t.sources), func(b Binding) bool { return b.Mode == Copy && !b.User })
	return compile(t.Name, t.prefix, append(own, column(Copy, copyKeys, emacsKeys, "")...)), true
}

// column reads the keys of a column; lead is what comes before each.
func column(mode Mode, rows [][]string, col int, lead string) []Binding {
	var sources []Binding
	for _, r := range rows {
		if col >= len(r) {
			continue
		}
		digits := "1"
		if strings.Contains(r[0], "1-9") {
			digits = "123456789"
		}
		all, repeat := strings.CutPrefix(r[col], "again ")
		for _, digit := range digits {
			words := strings.Fields(strings.ReplaceAll(r[0], "1-9", string(digit)))
			for _, keys := range strings.Fields(strings.ReplaceAll(all, "1-9", string(digit))) {
				chord, err := parseSource(lead + strings.ReplaceAll(keys, "_", " "))
				if err != nil {
					panic("keymap: " + r[0] + ": " + err.Error()) // A test parses them all.
				}
				sources = append(sources, Binding{Mode: mode, Chord: chord, Command: words[0], Args: words[1:], Repeat: repeat})
			}
		}
	}
	return sources
}
