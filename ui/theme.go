package ui

import (
	"fmt"
	"slices"
	"time"

	"tandemux/themes"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/status"
)

// chooseTheme changes the theme to the named one until the interface ends. Without a name it
// opens a list that previews each theme; Enter keeps it in the configuration.
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
		p, _ := themes.Choose(names[row], m.cfg.Themes) // no error: Choices returns only valid names
		return p
	}
	now := func(row int) { m.useForNow(names[row], pairOf(row)) }
	list := overlay.NewChoice("Themes", names, max(slices.Index(names, m.outer.Theme()), 0), func(row int) {
		if m.cfg.KeepTheme == nil {
			now(row)
			return
		}
		m.outer.UseTheme(pairOf(row))
		if err := m.cfg.KeepTheme(names[row]); err != nil {
			m.loop.Fail("keep the theme", err)
			return
		}
		m.cfg.Theme = names[row]
		m.loop.Say(status.Info, "theme %s, kept in config.toml", names[row])
	})
	list.Moved = func(key string) { m.outer.Preview(pairOf(overlay.Index(key))) }
	if m.cfg.KeepTheme != nil {
		list.Actions = []overlay.Action{{Letter: "t", Label: "for now", Close: true, Do: func(key string) { now(overlay.Index(key)) }}}
	}
	m.loop.Open(list)
}

// useForNow changes the theme until the interface ends, and says how to keep it.
func (m *Model) useForNow(name string, p themes.Pair) {
	m.outer.UseTheme(p)
	m.loop.Say(status.Info, "for now; theme = %q in config.toml keeps it", name)
}

// misreadWidth is the width, in cells, of the shortened mistake in the status line.
const misreadWidth = 30

// hints returns what the status line shows if there is room, from the longest text to the
// shortest: the mistake in the configuration, or else the first keys.
func (m *Model) hints() []string {
	switch {
	case m.line.misread != "":
		return []string{m.line.misread, paint.Cut(m.line.misread, misreadWidth, m.outer.Look.Ellipsis), "see tandemux config check"}
	case !m.cfg.Hint:
		return nil
	}
	prefix := m.keys.Prefix().String()
	help, leave := m.keys.Short("help"), m.keys.Short("detach")
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

// clock sets the time and date that the status line shows, and schedules a redraw at the next
// minute.
func (m *Model) clock(d *status.Data) {
	if !m.line.line.Has("time", "date") {
		return
	}
	now := m.loop.Now()
	d.Time, d.Date = now.Format("15:04"), now.Format(time.DateOnly)
	if m.cfg.Clock == "12h" {
		d.Time = now.Format("3:04 pm")
	}
	m.loop.Counts(now.Sub(now.Truncate(time.Minute)), time.Minute)
}
