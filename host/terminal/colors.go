package terminal

import (
	"tandemux/ahp"
	"tandemux/emulator"
)

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

// seenIn gives colours for those who read the screen; nil when none are known.
func seenIn(c *emulator.Colors) *ahp.ReadColors {
	if c.FG.IsDefault() && c.BG.IsDefault() && c.Indexed == [16]emulator.Color{} {
		return nil
	}
	out := &ahp.ReadColors{FG: c.FG.Hex(), BG: c.BG.Hex(), Cursor: c.Cursor.Hex()}
	for _, v := range c.Indexed {
		out.Palette = append(out.Palette, v.Hex())
	}
	return out
}
