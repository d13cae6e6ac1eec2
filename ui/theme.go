package ui

import (
	"fmt"
	"slices"
	"time"

	"tandemux/emulator"
	"tandemux/themes"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/status"
	"tandemux/ui/tty"
)

// depths are the choices of Config.Colors.
var depths = map[string]emulator.Depth{
	"none": emulator.NoColors, "16": emulator.Colors16, "256": emulator.Colors256, "true": emulator.TrueColor,
}

// bend changes what the outer terminal says of itself to what the person says.
func (c *Config) bend(caps tty.Caps) tty.Caps {
	if depth, ok := depths[c.Colors]; ok {
		caps.Profile.Colors = depth
	}
	switch c.Unicode {
	case "on":
		caps.UTF8 = true
	case "off":
		caps.UTF8 = false
	}
	return caps
}

// dress makes the look anew of what it depends on: the theme that was chosen or
// is looked at, whether the outer terminal is light or dark, what it can show.
func (m *Model) dress() {
	o := &m.outer
	o.undressed = false
	caps := m.cfg.bend(o.caps)
	pair := o.pair
	if o.preview != nil {
		pair = *o.preview
	}
	t := pair.For(o.colors.shade != light)
	if caps.Profile.Colors == emulator.Colors16 && !basic(t) {
		// The nearest of sixteen colours can be the same for a text and its
		// ground.
		t, _ = themes.Find(themes.Terminal)
	}
	o.look = look.New(t.On(o.colors.palette()), caps.UTF8, caps.Profile.Colors != emulator.NoColors)
	if o.signs = nil; !m.cfg.NoCommandMarks {
		o.signs = signLook(&o.look)
	}
	how := m.pictures(caps)
	o.gallery.Switch(how != tty.NoPictures, how == tty.PlacedPictures)
	o.colors.shown.Pictures = o.gallery.On()
	o.painter.SetOptions(paint.Options{Profile: caps.Profile, Sync: caps.Sync, ASCII: !caps.UTF8, Clusters: caps.Clusters, Blank: how == tty.PlacedPictures})
	m.loop.Dirty |= loop.Places | loop.Chrome
}

// palette is what the outer terminal shows, for themes.
func (c *colors) palette() (p themes.Palette) {
	direct := func(c emulator.Color) themes.Color {
		r, g, b, ok := c.RGB()
		if !ok {
			return themes.Color{}
		}
		return themes.RGB(r, g, b)
	}
	p.Background = direct(c.shown.BG)
	for i, c := range c.shown.Indexed {
		p.Indexed[i] = direct(c)
	}
	return p
}

// basic reports whether a theme has no colours but the outer terminal's.
func basic(t themes.Theme) bool {
	_, _, _, rgb := t.StatusBg.RGB()
	_, _, _, rgbText := t.Foreground.RGB()
	return !rgb && !rgbText
}

// useTheme changes the theme.
func (m *Model) useTheme(p themes.Pair) {
	m.outer.pair, m.outer.preview = p, nil
	m.dress()
}

// endPreview goes back to the theme that was chosen.
func (m *Model) endPreview() {
	if m.outer.preview != nil {
		m.outer.preview = nil
		m.dress()
	}
}

// chooseTheme changes the theme to the one named, for now, or opens a list in which
// each theme shows as one comes to it, and Enter keeps it in the configuration.
func (m *Model) chooseTheme(args []string) {
	if len(args) > 0 {
		p, err := themes.Choose(args[0], m.cfg.Themes)
		if err != nil {
			m.loop.Fail("choose theme", err)
			return
		}
		m.useForNow(args[0], p)
		return
	}
	names := themes.Choices(m.cfg.Themes)
	pairOf := func(row int) themes.Pair {
		p, _ := themes.Choose(names[row], m.cfg.Themes) // Choices gives only what can be chosen.
		return p
	}
	list := overlay.Choosing{
		Title: "Themes", Rows: names, Chosen: max(slices.Index(names, m.outer.pair.Name), 0),
		Moved: func(row int) {
			p := pairOf(row)
			m.outer.preview = &p
			m.dress()
		},
		Accept: func(row int) { m.useForNow(names[row], pairOf(row)) },
	}
	if m.cfg.KeepTheme != nil {
		list.Once = list.Accept
		list.Accept = func(row int) {
			m.useTheme(pairOf(row))
			if err := m.cfg.KeepTheme(names[row]); err != nil {
				m.loop.Fail("keep the theme", err)
				return
			}
			m.cfg.Theme = names[row]
			m.loop.Say(status.Info, "theme %s, kept in config.toml", names[row])
		}
	}
	m.loop.Open(overlay.NewChoice(list))
}

// useForNow changes the theme until the interface ends, and says what keeps it.
func (m *Model) useForNow(name string, p themes.Pair) {
	m.useTheme(p)
	m.loop.Say(status.Info, "for now; theme = %q in config.toml keeps it", name)
}

// hints are what stands in the status line where there is room, at several
// lengths: that the configuration has a mistake, until it is put right, or the
// first keys.
func (m *Model) hints() []string {
	switch {
	case m.misread != "":
		return []string{m.misread, paint.Cut(m.misread, maxQuoted, m.outer.look.Ellipsis), "see tandemux config check"}
	case !m.cfg.Hint:
		return nil
	}
	prefix := m.keys.Prefix().String()
	help, leave := "", ""
	if b := m.keys.For("help"); len(b) > 0 {
		help = m.short(b[0])
	}
	if b := m.keys.For("detach"); len(b) > 0 {
		leave = m.short(b[0])
	}
	return []string{
		fmt.Sprintf("press %s and wait to see all keys; then %s helps, %s leaves and all runs on", prefix, help, leave),
		fmt.Sprintf("press %s and wait to see all keys", prefix),
		prefix + " shows keys",
	}
}

// learnt notes that the person knows the prefix key.
func (m *Model) learnt() {
	if !m.cfg.Hint {
		return
	}
	m.cfg.Hint = false
	m.loop.Dirty |= loop.Chrome
	if m.cfg.Learnt != nil {
		if err := m.cfg.Learnt(); err != nil {
			m.log.Warn("note that the first hint was seen", "err", err)
		}
	}
}

// clock gives the time and the date as the status line shows them, and has it
// drawn again when they change.
func (m *Model) clock(d *status.Data) {
	if !m.cfg.line.Ticks() {
		return
	}
	now := m.env.Now()
	d.Time, d.Date = now.Format("15:04"), now.Format(time.DateOnly)
	if m.cfg.Clock == "12h" {
		d.Time = now.Format("3:04 pm")
	}
	if !m.outer.ticking {
		m.outer.ticking = true
		m.loop.After(now.Truncate(time.Minute).Add(time.Minute).Sub(now), func() {
			m.outer.ticking = false
			m.loop.Dirty |= loop.Chrome
		})
	}
}
