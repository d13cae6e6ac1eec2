package ui_test

import (
	"tandemux/ahp"
	"tandemux/ui"
	"tandemux/ui/paint"
)

// Feed hands output to the interface as the connection does, past the host's
// own emulator. It is for benchmarks; the outer terminal is not shown what
// comes of it.
func (u *UI) Feed(uri ahp.URI, data string) {
	u.deaf = true
	u.sink.Action(ahp.Envelope{Channel: uri, Action: ahp.TerminalData{Data: data}})
}

// Frame draws one frame of what was fed.
func (u *UI) Frame() {
	u.now = u.now.Add(2 * paint.FrameInterval)
	u.woken = false
	u.Model.Update(ui.Wake{})
	u.timers = u.timers[:0]
}

// Mute makes the host take input without a program that answers.
func (u *UI) Mute() {
	u.Host.quiet = true
}
