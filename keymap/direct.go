package keymap

// altKeys are the keys with alt that need no prefix. What readline and shells
// use all day is left to them: alt with b, d, f, c, u, t, y, r, a dot, backspace.
var altKeys = []row{
	{"alt+left", "focus-left", false},
	{"alt+down", "focus-down", false},
	{"alt+up", "focus-up", false},
	{"alt+right", "focus-right", false},
	{"alt+h", "focus-left", false},
	{"alt+j", "focus-down", false},
	{"alt+k", "focus-up", false},
	{"alt+l", "focus-right", false},
	{"alt+H", "resize-left 2", false},
	{"alt+J", "resize-down", false},
	{"alt+K", "resize-up", false},
	{"alt+L", "resize-right 2", false},
	{"alt+\\", "split-right", false},
	{"alt+-", "split-down", false},
	{"alt+z", "zoom", false},
	{"alt+s", "floating", false},
	{"alt+=", "even", false},
	{"alt+space", "next-layout", false},

	{"alt+n", "new-tab", false},
	{"alt+pgdown", "next-tab", false},
	{"alt+pgup", "previous-tab", false},
	{"alt+1", "go-tab 1", false},
	{"alt+2", "go-tab 2", false},
	{"alt+3", "go-tab 3", false},
	{"alt+4", "go-tab 4", false},
	{"alt+5", "go-tab 5", false},
	{"alt+6", "go-tab 6", false},
	{"alt+7", "go-tab 7", false},
	{"alt+8", "go-tab 8", false},
	{"alt+9", "go-tab 9", false},

	{"alt+w", "terminals", false},
	{"alt+g", "next-alert", false},
	{"alt+x", "palette", false},
}

// WithAlt gives the table with the keys with alt that need no prefix. What the
// user has bound otherwise stays.
func (t Table) WithAlt() Table {
	sources := append(t.sources[:len(t.sources):len(t.sources)], compileRows(t.Name, Normal, altKeys)...)
	return compile(t.Name, t.prefix, sources)
}
