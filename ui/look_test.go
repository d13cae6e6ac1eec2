package ui_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"tandemux/emulator"
	"tandemux/keymap"
	"tandemux/themes"
	"tandemux/ui"
	"tandemux/ui/look"
	"tandemux/ui/status"
)

// ground is the colour that the layout's name is on, which tells themes apart.
func ground(u *UI) string {
	e := u.Outer()
	_, rows := e.Size()
	return hex(e.Line(rows-1, nil)[0].Style.BG)
}

func hex(c emulator.Color) string {
	if i, ok := c.Index(); ok {
		return string(rune('0' + i))
	}
	r, g, b, ok := c.RGB()
	if !ok {
		return "default"
	}
	const digits = "0123456789abcdef"
	s := "#"
	for _, v := range [...]uint8{r, g, b} {
		s += string(digits[v>>4]) + string(digits[v&15])
	}
	return s
}

// direct is an outer terminal of direct colours.
var direct = []string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "HOME=/home/ann"}

func groundOf(t *testing.T, name string) string {
	t.Helper()
	theme, ok := themes.Find(name)
	if !ok {
		t.Fatalf("there is no theme %s", name)
	}
	return themes.Spell(theme.StatusLayoutBg)
}

// TestThemeFollowsTheOuterTerminal: dark until it says otherwise, light when it
// is, and back, each at once (mode 2031); one theme alone stays.
func TestThemeFollowsTheOuterTerminal(t *testing.T) {
	for choice, want := range map[string][2]string{
		"":                                     {"tandemux-dark", "tandemux-light"},
		"auto":                                 {"tandemux-dark", "tandemux-light"},
		"gruvbox":                              {"gruvbox-dark", "gruvbox-light"},
		"nord-dark":                            {"nord-dark", "nord-dark"},
		"light:rose-pine-light,dark:nord-dark": {"nord-dark", "rose-pine-light"},
	} {
		u := New(t, Options{Env: direct, Config: func(c *ui.Config) { c.Theme = choice }})
		for _, step := range []struct {
			colors emulator.Colors
			want   string
		}{{emulator.Colors{}, want[0]}, {solarized, want[1]}, {night, want[0]}} {
			if step.colors != (emulator.Colors{}) {
				u.SetColors(step.colors)
				u.WaitIdle() // the frame after the one that asked
			}
			if got := ground(u); got != groundOf(t, step.want) {
				t.Errorf("%q: the name is on %s, want that of %s", choice, got, step.want)
			}
		}
	}
}

// TestChooseTheme: each theme shows as the choice comes to it, Esc goes back,
// Enter stays.
func TestChooseTheme(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {80, 24}, {200, 50}} {
		u := New(t, Options{W: size[0], H: size[1], Env: direct})
		before := ground(u)
		u.Press("ctrl+space :")
		u.Type("choose-theme\r")
		u.Shows("Themes", "catppuccin-dark", "enter use")
		if ground(u) != before {
			t.Error("opening the list changes the theme")
		}
		u.Type("nord-li")
		u.Shows("nord-light")
		u.Hides("gruvbox")
		if got := ground(u); got != groundOf(t, "nord-light") {
			t.Errorf("%v: come to nord-light the ground is %s", size, got)
		}
		u.Press("esc")
		u.Hides("Themes")
		if ground(u) != before {
			t.Errorf("%v: Esc leaves the ground %s, it was %s", size, ground(u), before)
		}
		u.Press("ctrl+space :")
		u.Type("choose-theme\r")
		u.Press("down", "down", "up")
		u.Type("gruv")
		u.Press("down", "enter")
		u.Shows("for now; theme"[:12])
		if got := ground(u); got != groundOf(t, "gruvbox-dark") {
			t.Errorf("%v: the chosen theme's ground is %s", size, got)
		}
		u.Press("ctrl+space :")
		u.Type("choose-theme solarized-light\r")
		if got := ground(u); got != groundOf(t, "solarized-light") {
			t.Errorf("%v: the named theme's ground is %s", size, got)
		}
		u.Press("ctrl+space :")
		u.Type("choose-theme mud\r")
		u.Shows("choose theme: there is no t"[:20])
	}
}

func TestChooseThemeLooks(t *testing.T) {
	u := New(t, Options{Env: direct})
	u.Press("ctrl+space |", "ctrl+space :")
	u.Type("choose-theme\r")
	u.Press("down", "down", "down")
	u.GoldenStyled("choose-theme")
	u = New(t, Options{W: 40, H: 12, Env: direct})
	u.Press("ctrl+space :")
	u.Type("choose-theme\r")
	u.Press("pgdown")
	u.Golden("choose-theme-small")
}

// TestKeepTheme: enter writes the choice into the configuration, alt+t does not.
func TestKeepTheme(t *testing.T) {
	kept, fault := "", error(nil)
	u := New(t, Options{Env: direct, Config: func(c *ui.Config) {
		c.KeepTheme = func(choice string) error { kept = choice; return fault }
	}})
	keep := func(name string) {
		u.Press("ctrl+space :")
		u.Type("choose-theme\r" + name)
		u.Press("enter")
	}
	keep("tokyo-night-d")
	if u.Shows("theme tokyo-night-dark, kept in config.toml"); kept != "tokyo-night-dark" || ground(u) != groundOf(t, kept) {
		t.Errorf("kept %q, the ground is %s", kept, ground(u))
	}
	u.Press("ctrl+space :")
	u.Type("choose-theme\rnord-l")
	u.Press("alt+t")
	if u.Shows(`for now; theme = "nord-light" in config.toml keeps it`); kept != "tokyo-night-dark" || ground(u) != groundOf(t, "nord-light") {
		t.Errorf("kept %q, the ground is %s", kept, ground(u))
	}
	fault = errors.New("it is read-only")
	keep("nord-d")
	u.Shows("keep the theme: it is read-only")
}

// TestFewColours: with sixteen colours the outer terminal's own stand in; what
// the person says of the terminal comes before what it says.
func TestFewColours(t *testing.T) {
	u := New(t, Options{Env: []string{"TERM=xterm", "LANG=C.UTF-8"}, Silent: true, Config: func(c *ui.Config) { c.Theme = "gruvbox" }})
	if got := ground(u); got != groundOf(t, "terminal") {
		t.Errorf("with 16 colours the ground is %s", got)
	}
	u = New(t, Options{Env: direct, Config: func(c *ui.Config) { c.Colors, c.Unicode = "none", "off" }})
	u.Press("ctrl+space |")
	if got := ground(u); got != "default" || strings.ContainsAny(u.Screen(), "│─…") {
		t.Errorf("without colours and Unicode the ground is %s:\n%s", got, u.Screen())
	}
	u = New(t, Options{Env: []string{"TERM=xterm-256color", "LANG=C"}, Config: func(c *ui.Config) { c.Colors, c.Unicode = "true", "on" }})
	u.Press("ctrl+space |")
	if got := ground(u); got != groundOf(t, "tandemux-dark") || !strings.Contains(u.Screen(), "│") {
		t.Errorf("with both the ground is %s:\n%s", got, u.Screen())
	}
}

// TestStatusLineAsConfigured at three sizes, with a clock that ticks once a
// minute and not at all unless it is shown.
func TestStatusLineAsConfigured(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want string
	}{
		{40, 12, " sh1                                03:04"},
		{80, 24, " sh1  1 sh1                                    80x23  box  03:04"},
		{200, 50, "80x23  box  03:04"},
	} {
		u := New(t, Options{W: c.w, H: c.h, Config: func(c *ui.Config) {
			c.StatusLeft, c.StatusRight, c.Machine = []string{"prefix|mode|title", "tabs"}, []string{"claim", "size", "host", "time"}, "box"
		}})
		row := u.Row(-1)
		if c.w == 200 {
			c.want = "200x49  box  03:04"
		}
		for _, part := range strings.Fields(c.want) {
			if !strings.Contains(row, part) {
				t.Errorf("%d columns: %q lacks %q", c.w, row, part)
			}
		}
		u.Advance(30 * time.Second)
		written := u.Written
		u.Advance(20 * time.Second)
		if u.Written != written {
			t.Errorf("%d bytes were written within a minute", u.Written-written)
		}
		u.Advance(10 * time.Second)
		if row := u.Row(-1); !strings.Contains(row, "03:05") {
			t.Errorf("a minute later: %q", row)
		}
		if n := u.Timers(); n != 1 {
			t.Errorf("%d timers run", n)
		}
		u.Press("ctrl+space")
		if row := u.Row(-1); !strings.HasPrefix(row, " ctrl+space ") {
			t.Errorf("a chord shows as %q", row)
		}
	}
	if u := start(t); u.Timers() != 0 {
		t.Errorf("%d timers run without a clock", u.Timers())
	}
}

// TestFirstHint: it shows until the prefix key is pressed, once in a lifetime.
func TestFirstHint(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want string
	}{
		{40, 12, "ctrl+space shows keys"},
		{80, 24, "press ctrl+space and wait to see all keys"},
		{200, 50, "then ? helps, d leaves and all runs on"},
	} {
		learnt := 0
		u := New(t, Options{W: c.w, H: c.h, Config: func(c *ui.Config) {
			c.Hint, c.Learnt = true, func() error { learnt++; return nil }
		}})
		if c.w == 80 {
			u.Golden("first-hint")
		}
		u.Shows(c.want)
		u.Type("ls")
		u.Shows(c.want)
		if learnt != 0 {
			t.Error("typing counts as learning")
		}
		u.Press("ctrl+space")
		u.Hides(c.want)
		u.Press("esc", "ctrl+space", "esc")
		u.Hides(c.want)
		if learnt != 1 {
			t.Errorf("learnt %d times", learnt)
		}
	}
}

// TestReloadTakesAllOrNothing: each kind of mistake leaves everything as it was.
func TestReloadTakesAllOrNothing(t *testing.T) {
	var next ui.Reloaded
	var fault error
	u := New(t, Options{Env: direct, Config: func(c *ui.Config) {
		c.Theme = "nord-dark"
		c.Reload = func() (ui.Reloaded, error) { return next, fault }
	}})
	reread := func(r ui.Reloaded, err error) {
		next, fault = r, err
		u.Send(ui.Changed{})
	}
	good := ui.Look{Appearance: look.Appearance{Theme: "nord-dark"}}
	for want, l := range map[string]ui.Look{
		"read configuration: choose theme":        {Appearance: look.Appearance{Theme: "mud"}},
		"read configuration: choose keymap":       {Selection: keymap.Selection{Keymap: "mud"}},
		"read configuration: choose prefix":       {Selection: keymap.Selection{Prefix: "a"}},
		"read configuration: compose status line": {Content: status.Content{StatusLeft: []string{"mud"}}},
		"read configuration: bind prefix v":       {Selection: keymap.Selection{Keys: map[string]string{"prefix v": "mud"}}},
		"read configuration: bind j":              {Selection: keymap.Selection{CopyKeys: map[string]string{"j": "mud"}}},
	} {
		l.Unicode = "off"
		reread(ui.Reloaded{Look: l}, nil)
		u.Shows(want)
		if got := ground(u); got != groundOf(t, "nord-dark") {
			t.Errorf("%s: the ground is %s", want, got)
		}
	}
	reread(ui.Reloaded{}, errors.New("config.toml:3: first\nsecond\nthird"))
	u.Shows("read configuration: config.toml:3: first (and 2 more")
	u.Press("ctrl+space |")
	u.Shows("│")
	// The mistake stands there until it is put right.
	u.Advance(10 * time.Second)
	u.Shows("config.toml:3: first (and 2 m")
	u.Golden("misread")
	u.Type("x")
	u.Shows("config.toml:3: first (and 2 m")

	good.Theme, good.StatusLeft, good.CopyKeys = "gruvbox-light", []string{"layout", "title"}, map[string]string{"ctrl+j": "copy-exit"}
	reread(ui.Reloaded{Look: good, Later: []string{"shell", "emulator"}}, nil)
	u.Shows("configuration read; shell, emulator in new terminals")
	if got := ground(u); got != groundOf(t, "gruvbox-light") {
		t.Errorf("the ground is %s", got)
	}
	if row := u.Row(-1); !strings.HasPrefix(row, " main  sh2 ") {
		t.Errorf("the status line is %q", row)
	}
	u.Advance(10 * time.Second)
	u.Hides("config.toml:3")
	u.Press("ctrl+space [", "ctrl+j")
	u.Hides("copy")
	u.Advance(10 * time.Second)
	reread(ui.Reloaded{Look: good}, nil)
	u.Hides("configuration read") // there is nothing new in it
	reread(ui.Reloaded{Look: good, Warnings: 2}, nil)
	u.Shows("configuration read; 2 warnings, see tandemux config check")

	// A theme chosen by hand stays while the configuration names the same one.
	u.Press("ctrl+space :")
	u.Type("choose-theme tokyo-night-dark\r")
	good.Unicode = "off"
	reread(ui.Reloaded{Look: good}, nil)
	if got := ground(u); got != groundOf(t, "tokyo-night-dark") {
		t.Errorf("the theme chosen by hand gave way to %s", got)
	}
	own := themes.Theme{Name: "own"}
	own.StatusLayoutBg, _ = themes.ParseColor("#123456")
	good.Theme, good.Themes = "own", []themes.Theme{own}
	reread(ui.Reloaded{Look: good}, nil)
	if got := ground(u); got != "#123456" {
		t.Errorf("the user's theme has the ground %s", got)
	}
}

// TestTerminalThemeOnWhite: where the outer terminal's own colours can't be read
// on its ground, they give way on the borders, and what stands in is still read on
// the status line, whose ground is another one.
func TestTerminalThemeOnWhite(t *testing.T) {
	white := emulator.Colors{FG: emulator.RGB(0, 0, 0), BG: emulator.RGB(255, 255, 255)}
	for i := range white.Indexed {
		r, g, b := emulator.PaletteRGB(uint8(i))
		white.Indexed[i] = emulator.RGB(r, g, b)
	}
	u := New(t, Options{Env: direct, Config: func(c *ui.Config) { c.Theme = "terminal" }})
	u.Press("ctrl+space |")
	u.SetColors(white)
	u.WaitIdle()
	u.GoldenStyled("terminal-white")
	e := u.Outer()
	cols, rows := e.Size()
	for _, y := range []int{0, rows - 1} {
		for x, c := range e.Line(y, nil)[:cols] {
			if c.Style.FG == c.Style.BG && c.Style.BG != 0 || y > 0 && c.Style.FG == 0 {
				t.Errorf("row %d, column %d: %q is %v on %v", y, x, c.Rune, c.Style.FG, c.Style.BG)
			}
		}
	}
}

// TestChooseThemeByMouse: the wheel moves through the themes, a click takes one.
func TestChooseThemeByMouse(t *testing.T) {
	u := New(t, Options{Env: direct})
	open := func() {
		u.Press("ctrl+space :")
		u.Type("choose-theme\r")
	}
	open()
	u.Wheel(false, 40, 10)
	u.Wheel(false, 40, 10)
	u.Wheel(false, 40, 10)
	if got := ground(u); got != groundOf(t, "tandemux-light") {
		t.Errorf("three notches down the ground is %s", got)
	}
	u.Press("esc")
	open()
	for y, row := range strings.Split(u.Screen(), "\n") {
		if strings.Contains(row, "│ nord-light") {
			u.Click(30, y)
			break
		}
	}
	u.Hides("Themes")
	if got := ground(u); got != groundOf(t, "nord-light") {
		t.Errorf("the ground of what was clicked on is %s", got)
	}
	open()
	u.Paste("solarized-dark")
	if got := ground(u); got != groundOf(t, "solarized-dark") {
		t.Errorf("the ground of what was pasted is %s", got)
	}
	u.Type("zzz")
	u.Shows("nothing matches")
	u.Press("enter")
	u.Shows("nothing matches")
	u.Press("esc")
	if got := ground(u); got != groundOf(t, "nord-light") {
		t.Errorf("Esc leaves the ground %s", got)
	}
}

// A configuration with mistakes starts all the same, says the first one until it
// is put right, and what has none is in force.
func TestStartsMisread(t *testing.T) {
	mistakes := errors.New("config.toml:1: there is no option \"colour\"\nconfig.toml:4: there is no command \"zom\"")
	good := ui.Look{Selection: keymap.Selection{Prefix: "ctrl+a"}}
	u := New(t, Options{W: 120, H: 24, Config: func(c *ui.Config) {
		c.Misread = mistakes
		c.Look = ui.Look{Selection: keymap.Selection{Prefix: "ctrl+a", Keys: map[string]string{"prefix v": "zom", "prefix V": "split-right"}}}
		c.Reload = func() (ui.Reloaded, error) { return ui.Reloaded{Look: good}, nil }
	}})
	u.Shows(`config.toml:1: there is no option "colour" (and 1 more: tandemux config check)`)
	u.Press("ctrl+a V")
	if n := len(u.Host.Terminals()); n != 2 {
		t.Errorf("%d terminals after splitting", n)
	}
	u.Advance(time.Minute)
	u.Shows("there is no option")
	u.Send(ui.Changed{})
	u.Shows("configuration read")
	u.Advance(time.Minute)
	u.Hides("there is no option")
}

// TestReverseScreen: DECSCNM swaps the default colours, and no others, as in xterm and VTE.
func TestReverseScreen(t *testing.T) {
	u := New(t, Options{W: 40, H: 4})
	u.Host.Terminal("sh1").Print("\x1b[?5hplain \x1b[31;44mboth\x1b[m \x1b[32mgreen\x1b[m \x1b[45mground\x1b[m \x1b[7mnegative\x1b[m")
	u.WaitIdle()
	u.GoldenStyled("reverse-screen")
}
