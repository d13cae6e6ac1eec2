package ui

import (
	"encoding/base64"

	"tandemux/ui/loop"
	"tandemux/ui/tty"
)

// pasteText types a text that was copied, between marks where the program asked for
// them.
func (m *Model) pasteText(text string) {
	if _, _, v := m.focused(); v != nil && v.Copying() {
		v.Follow()
	}
	m.loop.Dirty |= loop.Panes | loop.Chrome
	m.paste(tty.Paste{Text: text, First: true, Last: true})
}

// maxClipboard bounds what is written to the outer clipboard, in bytes.
const maxClipboard = 1 << 20

// clipboard asks the outer terminal to set its clipboard (OSC 52), and says why it
// is not asked, "" when it is.
func (m *Model) clipboard(text string) (why string) {
	switch {
	case m.outer.caps.Console:
		return "the console has no clipboard"
	case len(text) > maxClipboard:
		return "more than the terminal's clipboard takes"
	}
	m.outer.raw = append(m.outer.raw, "\x1b]52;c;"...)
	m.outer.raw = base64.StdEncoding.AppendEncode(m.outer.raw, []byte(text))
	m.outer.raw = append(m.outer.raw, "\x1b\\"...)
	return ""
}
