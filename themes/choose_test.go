package themes

import (
	"slices"
	"strings"
	"testing"
)

// TestFamiliesHaveBoth: every family has a dark and a light theme that say so, on
// a ground that is what they say.
func TestFamiliesHaveBoth(t *testing.T) {
	families := 0
	for _, name := range shipped {
		family, dark := strings.CutSuffix(name, "-dark")
		if !dark {
			continue
		}
		families++
		p, err := Choose(family, nil)
		if err != nil {
			t.Errorf("%s: %v", family, err)
			continue
		}
		if !p.Dark.Dark || p.Light.Dark || p.Dark.Name != name || p.Light.Name != family+"-light" || p.For(true) != p.Dark || p.For(false) != p.Light {
			t.Errorf("%s is %s and %s", family, p.Dark.Name, p.Light.Name)
		}
		if d, l := luminanceOf(t, p.Dark.Background), luminanceOf(t, p.Light.Background); d > 0.1 || l < 0.5 {
			t.Errorf("%s: the grounds are %s and %s", family, Spell(p.Dark.Background), Spell(p.Light.Background))
		}
	}
	if families < 4 || len(shipped) != 2*families+1 {
		t.Errorf("%d families in %d themes", families, len(shipped))
	}
}

func luminanceOf(t *testing.T, c Color) float64 {
	t.Helper()
	l, ok := luminance(c)
	if !ok {
		t.Errorf("%s is not known", Spell(c))
	}
	return l
}

func TestChoose(t *testing.T) {
	user := []Theme{{Name: "mine", Dark: true}, {Name: "own-dark", Dark: true}, {Name: "own-light"}, {Name: "nord-light", Dark: true}}
	for choice, want := range map[string][2]string{
		"":                                     {"tandemux-dark", "tandemux-light"},
		"auto":                                 {"tandemux-dark", "tandemux-light"},
		"gruvbox":                              {"gruvbox-dark", "gruvbox-light"},
		"gruvbox-light":                        {"gruvbox-light", "gruvbox-light"},
		"terminal":                             {"terminal", "terminal"},
		"mine":                                 {"mine", "mine"},
		"own":                                  {"own-dark", "own-light"},
		"light:nord-light, dark:tandemux-dark": {"tandemux-dark", "nord-light"},
	} {
		p, err := Choose(choice, user)
		if err != nil || p.Name != choice || p.Dark.Name != want[0] || p.Light.Name != want[1] {
			t.Errorf("%q is %s and %s, %v", choice, p.Dark.Name, p.Light.Name, err)
		}
	}
	if p, _ := Choose("nord", user); !p.Light.Dark {
		t.Error("a user's theme does not come before the one that ships")
	}
	for choice, want := range map[string]string{
		"gruvbx":             `there is no theme "gruvbx"; did you mean "gruvbox"?`,
		"zebra-crossing":     `there is no theme "zebra-crossing"; there are auto, `,
		"dark:nord-dark":     "names one of two themes",
		"dim:nord-dark":      `write "dark:NAME,light:NAME"`,
		"dark:mud,light:mud": `there is no theme "mud"`,
	} {
		if p, err := Choose(choice, nil); err == nil || !strings.Contains(err.Error(), want) || p != (Pair{}) {
			t.Errorf("%q: %v, want %s", choice, err, want)
		}
	}
	got := Choices(user)
	if !slices.Equal(got[:6], []string{"auto", "mine", "nord-light", "own", "own-dark", "own-light"}) {
		t.Errorf("the choices are %v", got)
	}
	for _, name := range got {
		if _, err := Choose(name, user); err != nil {
			t.Errorf("%s can't be chosen: %v", name, err)
		}
	}
}
