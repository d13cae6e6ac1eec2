package terminal

import (
	"fmt"

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
	hex := func(c emulator.Color) string {
		r, g, b, ok := c.RGB()
		if !ok {
			return ""
		}
		return fmt.Sprintf("#%02x%02x%02x", r, g, b)
	}
	out := &ahp.ReadColors{FG: hex(c.FG), BG: hex(c.BG), Cursor: hex(c.Cursor)}
	for _, v := range c.Indexed {
		out.Palette = append(out.Palette, hex(v))
	}
	return out
}
