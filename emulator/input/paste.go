package input

import (
	"strings"

	"tandemux/emulator"
)

// The marks of a bracketed paste.
const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// Paste gives what a terminal in these modes sends for pasted text: line ends
// as Enter sends them, between marks when the program asked for marks. Marks in
// the text itself lose their ESC, so that it can't end the paste early and go on
// as typed keys. first and last say that this is the start and the end of what
// was pasted.
func Paste(text string, first, last bool, m emulator.Modes) string {
	text = strings.ReplaceAll(text, "\r\n", "\r")
	text = strings.ReplaceAll(text, "\n", "\r")
	text = strings.ReplaceAll(text, pasteStart, pasteStart[1:])
	text = strings.ReplaceAll(text, pasteEnd, pasteEnd[1:])
	if !m.BracketedPaste {
		return text
	}
	if first {
		text = pasteStart + text
	}
	if last {
		text += pasteEnd
	}
	return text
}

// Focus gives the report of the pane gaining or losing the focus, "" for a
// program that did not ask for it.
func Focus(gained bool, m emulator.Modes) string {
	switch {
	case !m.FocusEvents:
		return ""
	case gained:
		return "\x1b[I"
	}
	return "\x1b[O"
}
