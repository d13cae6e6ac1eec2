package ui

import (
	"tandemux/ui/loop"
	"tandemux/ui/tty"
)

// pasteText types a text that was copied, between marks where the program asked for
// them.
func (m *Model) pasteText(text string) {
	if _, _, v := m.panes.Focused(); v != nil && v.Copying() {
		v.Follow()
	}
	m.loop.Dirty |= loop.Panes | loop.Chrome
	m.paste(tty.Paste{Text: text, First: true, Last: true})
}
