package terminal

import (
	"tandemux/ahp"
	"tandemux/emulator"
)

// SetColors sets the colours of the screen that a person sees the terminal on. The
// terminal answers the child's queries with them (OSC 4, 10–12, DSR ?996), and reports a
// change between dark and light to a child that set mode 2031. It does not call Wake.
func (t *Terminal) SetColors(c emulator.Colors) {
	t.screen.Lock()
	defer t.screen.Unlock()
	defer t.guard("set the colours")
	t.colors = c
	t.emu.SetColors(c)
	t.handle(t.emu.Events())
}

// seenIn returns the colours for a read of the screen, nil when none are known.
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
