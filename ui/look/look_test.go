package look_test

import (
	"testing"

	"tandemux/emulator"
	"tandemux/themes"
	"tandemux/ui/look"
)

// TestReadableIn256: what text there is can be read, too, where colours are
// brought down to the nearest of 256. WCAG's 3:1 for large text is the measure:
// the cube's steps are coarse.
func TestReadableIn256(t *testing.T) {
	profile := emulator.Profile{Colors: emulator.Colors256}
	for _, name := range themes.Choices(nil) {
		theme, one := themes.Find(name)
		if !one {
			continue // a family
		}
		l := look.New(theme, true, true)
		ground := look.Style{BG: l.Overlay.BG} // of borders and badges: the theme's own, about
		for what, s := range map[string]look.Style{
			"overlay": l.Overlay, "overlay, muted": l.OverlayMuted, "overlay, accent": l.OverlayAccent, "selected": l.Selected,
			"status": l.Status, "status, muted": l.StatusMuted, "layout": l.StatusLayout, "tab": l.Tab, "active tab": l.TabActive,
			"message": l.Message, "warning": l.Warn, "error": l.Error, "hint": l.Hint, "hint's key": l.HintKey, "selection": l.Selection,
			"mine": over(l.Mine, ground), "agent": over(l.Agent, ground), "background": over(l.Background, ground), "failed": over(l.Fail, ground),
			"mine in the status line": over(l.Mine, l.Status), "agent in the status line": over(l.Agent, l.Status),
			"failed in the status line": over(l.Fail, l.Status), "other in the status line": over(l.Other, l.Status),
		} {
			s = profile.Style(s)
			fg, okFG := direct(s.FG)
			bg, okBG := direct(s.BG)
			if okFG != okBG || okFG == (name == themes.Terminal) {
				t.Errorf("%s: %s is %v on %v", name, what, s.FG, s.BG)
				continue
			}
			if ratio, ok := themes.Contrast(fg, bg); ok && ratio < 3 {
				t.Errorf("%s: %s has a contrast of %.1f: %s on %s", name, what, ratio, themes.Spell(fg), themes.Spell(bg))
			}
		}
	}
}

func over(s, ground look.Style) look.Style {
	s.BG = ground.BG
	return s
}

// direct is the colour that a palette's index mostly shows.
func direct(c emulator.Color) (emulator.Color, bool) {
	i, ok := c.Index()
	if !ok || i < 16 {
		return 0, false
	}
	return emulator.RGB(emulator.PaletteRGB(i)), true
}
