package ui

import (
	"time"

	"tandemux/emulator"
	"tandemux/themes"
	"tandemux/ui/loop"
	"tandemux/ui/outer"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/status"
)

// newOuter makes the outer terminal's part.
func (m *Model) newOuter(with Env, p themes.Pair) *outer.Terminal {
	settings := func() outer.Settings {
		return outer.Settings{Appearance: m.cfg.Appearance, NoMarks: bool(m.cfg.NoCommandMarks), Top: m.cfg.Position == "top"}
	}
	return outer.New(m.loop, with.Env, settings, with.Caps, p, uint64(m.loop.Now().UnixNano()))
}

// events handles bells and clipboard writes of the terminals that have feeds.
func (m *Model) events() {
	bell := false
	for _, t := range m.panes.Terms.ByURI {
		if t.Feed == nil {
			continue
		}
		if err := t.Feed.Err(); err != nil {
			m.loop.Fail("show "+t.Quoted(), err)
		}
		for _, ev := range t.Feed.Events() {
			switch ev.Kind {
			case emulator.EventBell:
				bell = true
			case emulator.EventClipboard:
				if _, focused, _ := m.panes.Focused(); t == focused && m.cfg.ProgramClipboard != "off" {
					m.clip.Program(t.Quoted(), ev.Text)
				}
			}
		}
	}
	if bell {
		m.outer.Bell()
	}
}

// paint draws what changed: at once after a pause, else when the frame's time has passed.
func (m *Model) paint() {
	o := m.outer
	if m.loop.Dirty == 0 && !o.Waits() || o.Sleeps() {
		return
	}
	now := m.loop.Now()
	if !m.typing.Echoes(now) {
		switch wait := o.Pace.Next(now); {
		case wait < 0:
			return
		case wait > 0:
			m.loop.After(wait, func() { m.outer.Pace.Fired() })
			return
		}
	}
	m.compose(now)
	if o.SendPictures() {
		m.loop.Dirty |= loop.All
		m.compose(now)
	}
	m.ask()
	o.Paint(now)
}

// ask sets the modes of the outer terminal that the programs on the screen need.
func (m *Model) ask() {
	motion, flags, title, pointer := m.cfg.Hover, 1, "tandemux", ""
	for _, p := range m.panes.Arr.Panes {
		if v := m.panes.Views[p.Pane]; v != nil && v.Feed.Modes().Mouse == emulator.MouseAny {
			motion = true
		}
	}
	if _, points := m.loop.Overlay.(overlay.Pointing); points {
		motion = true
	}
	if _, t, v := m.panes.Focused(); t != nil && v != nil {
		if m.loop.Overlay == nil {
			modes := v.Feed.Modes()
			flags, pointer = keyboardFlags(modes.Kitty), modes.Pointer
		}
		title = t.Title()
	}
	if p, ok := m.panes.Arr.Focused(); ok && m.agents.Chat(p.Terminal) != nil {
		title = m.panes.NameOf(p.Name, p.Terminal)
	}
	m.outer.Want(motion, flags, title, pointer)
}

// keyboardFlags returns the kitty keyboard flags that the outer terminal needs for a program that
// set these.
func keyboardFlags(child int) int {
	flags := 1 | child&(2|4)
	if child&8 != 0 {
		flags |= 8 | 16 // typing needs the keys' text
	}
	return flags
}

// compose draws into the canvas what has changed.
func (m *Model) compose(now time.Time) {
	o := m.outer
	if o.Canvas.Lost() {
		o.Redraw()
	}
	// What is below an overlay is drawn again, as the overlay may have shrunk.
	all := m.loop.Dirty&loop.All != 0 || m.loop.Overlay != nil || m.keys.Hinting() || m.line.cut
	cursor := paint.Cursor{}
	if !m.link.Up() {
		cursor.Default = true
	}
	cursor, drawn := m.screen.Draw(all, now, cursor)
	if !drawn {
		return
	}
	if all || m.loop.Dirty&loop.Chrome != 0 {
		m.mouse.Tabs, m.line.cut = status.Draw(&o.Canvas, o.Status(), m.statusData(), o.Look)
	}
	if m.loop.Overlay != nil {
		cursor = m.loop.Overlay.Draw(&o.Canvas, o.Canvas.Bounds(), o.Look)
	} else if m.keys.Hinting() {
		m.keys.DrawHint(&o.Canvas, o.Body(), o.Look)
	} else if text, kind := m.loop.Note(); kind != status.Info && text != "" && m.line.cut {
		status.DrawWhole(&o.Canvas, o.Body(), text, kind, o.Look)
	}
	o.Cursor = cursor
	m.loop.Dirty = 0
	m.loop.Tick()
}
