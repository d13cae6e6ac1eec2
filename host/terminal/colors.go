package terminal

import "cotty/emulator"

// SetColors tells the terminal what colours a person sees it in: what its child
// is told when it asks (OSC 4, 10–12, DSR ?996). A child that set mode 2031 gets
// a report when they turn from dark to light or back. It does not call Wake.
func (t *Terminal) SetColors(c emulator.Colors) {
	t.screen.Lock()
	defer t.screen.Unlock()
	defer t.guard("set the colours")
	t.colors = c
	t.emu.SetColors(c)
	t.handle(t.emu.Events())
}
