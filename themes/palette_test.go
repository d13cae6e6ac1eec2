package themes

import (
	"testing"

	"tandemux/emulator"
)

// palette makes a palette of colours as they are written.
func palette(t *testing.T, background string, indexed ...string) (p emulator.Colors) {
	t.Helper()
	var err error
	if p.BG, err = ParseColor(background); err != nil {
		t.Fatal(err)
	}
	for i, s := range indexed {
		if p.Indexed[i], err = ParseColor(s); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// TestOn: Solarized's bright black is its background, xterm's yellow can't be read
// on white; what can be read stays as it is.
func TestOn(t *testing.T) {
	terminal, _ := Find(Terminal)
	solarized := palette(t, "#002b36", "#073642", "#dc322f", "#859900", "#b58900", "#268bd2", "#d33682", "#2aa198", "#eee8d5",
		"#002b36", "#cb4b16", "#586e75", "#657b83", "#839496", "#6c71c4", "#93a1a1", "#fdf6e3")
	xterm := palette(t, "#ffffff", "#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5",
		"#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff")
	got := terminal.On(solarized)
	if !got.Muted.IsDefault() || !got.Border.IsDefault() || got.BadgeMine != terminal.BadgeMine {
		t.Errorf("on Solarized: muted %s, border %s, mine %s", Spell(got.Muted), Spell(got.Border), Spell(got.BadgeMine))
	}
	got = terminal.On(xterm)
	if !got.BadgeAgent.IsDefault() || got.Border != terminal.Border || got.BadgeFailed != terminal.BadgeFailed {
		t.Errorf("on xterm's white: agent %s, border %s, failed %s", Spell(got.BadgeAgent), Spell(got.Border), Spell(got.BadgeFailed))
	}
	for name, p := range map[string]emulator.Colors{"Solarized": solarized, "xterm": xterm} {
		theme := terminal.On(p)
		for _, k := range tokens {
			own := func(c Color, otherwise Color) Color {
				if i, ok := c.Index(); ok {
					return p.Indexed[i]
				}
				return otherwise
			}
			if k.least == 0 || k.of(&theme.Colors).IsDefault() {
				continue
			}
			ground := p.BG
			if k.on != "" {
				ground = own(*find(k.on).of(&theme.Colors), ground)
			}
			least := ownText
			if k.least == decoration {
				least = ownDecoration
			}
			if ratio, ok := Contrast(own(*k.of(&theme.Colors), 0), ground); !ok || ratio < least {
				t.Errorf("%s: %s has a contrast of %.1f", name, k.name, ratio)
			}
		}
	}
	if got := terminal.On(emulator.Colors{}); got != terminal {
		t.Error("an unknown palette changes the theme")
	}
	if dark, _ := Find("nord-dark"); dark.On(solarized) != dark {
		t.Error("a theme of colours of its own changes")
	}
}
