package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
	"tandemux/themes"
	"tandemux/ui/layout"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/paint"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/tty"
)

// outer is the outer terminal as the model sees it.
type outer struct {
	caps    tty.Caps
	pair    themes.Pair  // the themes that were chosen
	preview *themes.Pair // those that are looked at; nil for none
	look    look.Look
	signs   *pane.SignLook // of commands; nil for none
	// undressed says that what the look depends on has changed.
	undressed bool
	ticking   bool // a timer runs for the status line's clock
	w, h      int
	blurred   bool // it said that it lost the focus
	away      bool // it was given back: nothing is drawn
	colors    colors

	canvas  paint.Canvas
	painter *paint.Painter
	gallery *paint.Gallery
	pace    paint.Pace
	typed   time.Time // when something was typed that no frame has answered yet; else zero
	cursor  paint.Cursor
	buf     []byte
	raw     []byte // to be written before the next frame

	// As last asked for.
	motion  bool   // mouse motion without a button
	kitty   int    // keyboard flags
	title   string // of the window
	held    bool   // a timer runs for a pane in the middle of its frame
	sending bool   // one runs for pictures that are sent
	tabs    []status.Hit
}

func newOuter(c tty.Caps, p themes.Pair, seed uint64) outer {
	return outer{caps: c, pair: p, painter: paint.NewPainter(paint.Options{}), gallery: paint.NewGallery(seed), kitty: 1}
}

// resized takes the outer terminal's size.
func (m *Model) resized(w, h int) {
	if w <= 0 || h <= 0 || w == m.outer.w && h == m.outer.h {
		return
	}
	m.outer.w, m.outer.h = w, h
	m.outer.canvas.Resize(w, h)
	m.redraw()
}

// redraw paints everything anew.
func (m *Model) redraw() {
	m.outer.canvas.Clear()
	m.outer.painter.Forget()
	m.loop.Dirty |= loop.Places | loop.Panes | loop.Chrome
}

// learn takes an answer of the outer terminal about itself.
func (m *Model) learn(msg tea.Msg) {
	caps := m.outer.caps
	write, changed := caps.Learn(msg)
	m.outer.raw = append(m.outer.raw, write...)
	if changed {
		m.outer.caps = caps
		m.dress()
		if m.env.Learned != nil {
			m.env.Learned(caps)
		}
	}
}

// suspend gives the outer terminal back until the person goes on.
func (m *Model) suspend() {
	if m.env.Suspend == nil {
		m.loop.Say(status.Info, "there is no shell to go back to")
		return
	}
	m.outer.away = true
	m.env.Suspend()
}

// resumed takes the outer terminal again, in which everything is as at the
// start.
func (m *Model) resumed(r Resumed) {
	o := &m.outer
	if o.away && !r.Stopped {
		m.loop.Say(status.Info, "there is no shell to go back to")
	}
	o.away, o.motion, o.kitty, o.title = false, false, 1, ""
	o.colors.asked = m.env.Now()
	o.gallery.Forget()
	m.redraw()
}

// Caps is what the outer terminal can do as far as it has said.
func (m *Model) Caps() tty.Caps { return m.outer.caps }

// events handles bells and clipboard writes of the terminals that are followed.
func (m *Model) events() {
	bell := false
	for _, t := range m.terms.byURI {
		if t.feed == nil {
			continue
		}
		if err := t.feed.Err(); err != nil {
			m.loop.Fail("show "+describe(t), err)
		}
		for _, ev := range t.feed.Events() {
			switch ev.Kind {
			case emulator.EventBell:
				bell = true
			case emulator.EventClipboard:
				m.clipboard(ev.Text)
			}
		}
	}
	if bell {
		m.outer.raw = append(m.outer.raw, 0x07)
	}
}

// paint draws what changed: at once after a pause, else at the frame's end.
func (m *Model) paint() {
	o := &m.outer
	if m.loop.Dirty == 0 && len(o.raw) == 0 || o.w == 0 || o.away {
		return
	}
	now := m.env.Now()
	if !m.echoes(now) {
		switch wait := o.pace.Next(now); {
		case wait < 0:
			return
		case wait > 0:
			m.loop.After(wait, func() { m.outer.pace.Fired() })
			return
		}
	}
	m.compose(now)
	m.sendPictures(now)
	m.ask()
	o.buf = append(o.buf[:0], o.raw...)
	o.raw = o.raw[:0]
	o.buf = o.painter.Frame(o.buf, &o.canvas, o.cursor)
	o.buf = o.gallery.Place(o.buf, &o.canvas, o.painter.Cleared())
	if len(o.buf) > 0 {
		m.env.Write(o.buf)
		o.pace.Painted(now)
	}
	if cap(o.buf) > 1<<20 {
		o.buf = nil
	}
}

// echoTime is how long after a key what its program prints counts as the answer.
const echoTime = 100 * time.Millisecond

// echoes reports whether the program that was typed into has printed since the
// last frame: that is drawn at once, once for each key, though other panes are
// flooded and frames are paced.
func (m *Model) echoes(now time.Time) bool {
	o := &m.outer
	if o.typed.IsZero() {
		return false
	}
	if since := now.Sub(o.typed); since < 0 || since > echoTime {
		o.typed = time.Time{}
		return false
	}
	if _, _, v := m.focused(); v == nil || !v.Feed.Fresh() {
		return false
	}
	o.typed = time.Time{}
	return true
}

// ask asks the outer terminal for what the programs on the screen want of it.
func (m *Model) ask() {
	o := &m.outer
	motion, flags, title := m.cfg.Hover, 1, "tandemux"
	for _, p := range m.arr.Panes {
		if v := m.views[p.Pane]; v != nil && v.Feed.Modes().Mouse == emulator.MouseAny {
			motion = true
		}
	}
	if _, t, v := m.focused(); t != nil && v != nil {
		if m.loop.Overlay == nil {
			flags = keyboardFlags(v.Feed.Modes().Kitty)
		}
		title = t.title()
	}
	if p, ok := m.arr.Focused(); ok && m.chats[p.Terminal] != nil {
		title = m.nameOf(p.Name, p.Terminal)
	}
	if motion != o.motion {
		o.motion = motion
		seq := tty.AllMotionOff
		if motion {
			seq = tty.AllMotionOn
		}
		o.raw = append(o.raw, seq...)
	}
	if flags != o.kitty && o.caps.Kitty {
		o.kitty = flags
		o.raw = append(o.raw, o.caps.Keyboard(flags)...)
	}
	if title != o.title && !o.caps.Console {
		o.title = title
		o.raw = append(o.raw, "\x1b]2;"+title+"\x1b\\"...)
	}
}

// keyboardFlags is what to ask of the outer terminal so that a program gets the
// kitty flags that it set.
func keyboardFlags(child int) int {
	flags := 1 | child&(2|4)
	if child&8 != 0 {
		flags |= 8 | 16 // the text is needed to know what was typed
	}
	return flags
}

// compose draws into the canvas what has changed.
func (m *Model) compose(now time.Time) {
	o := &m.outer
	if o.canvas.Lost() {
		m.redraw()
	}
	// What lies under an overlay that may have shrunk is drawn again.
	all := m.loop.Dirty&loop.All != 0 || m.loop.Overlay != nil || m.kb.hint
	cursor := paint.Cursor{}
	if m.link != Connected {
		cursor.Default = true
	}
	if !all && m.floatHeld(now) {
		return
	}
	for _, p := range m.arr.Panes {
		if p.Floating() {
			break
		}
		if cur := m.drawPane(p, all, now); p.Focused {
			cursor = cur
		}
	}
	if all {
		m.drawEmpty()
		m.drawDividers()
	}
	m.drawTiledSigns()
	if all || m.loop.Dirty&loop.Chrome != 0 {
		m.drawHeaders()
		o.tabs = status.Draw(&o.canvas, paint.Rect{Y: o.h - 1, W: o.w, H: 1}, m.statusData(), o.look)
	}
	cursor = m.drawFloats(now, cursor)
	if m.loop.Overlay != nil {
		cursor = m.loop.Overlay.Draw(&o.canvas, m.overlayArea(), o.look)
	} else if m.kb.hint {
		m.drawHint()
	}
	o.cursor = cursor
	m.loop.Dirty = 0
	m.tick()
}

// overlayArea is where overlays draw themselves: everything, as prompts take
// the status line's row.
func (m *Model) overlayArea() paint.Rect { return m.outer.canvas.Bounds() }

// drawPane draws a pane's body and gives the place of its cursor.
func (m *Model) drawPane(p layout.Placed, all bool, now time.Time) paint.Cursor {
	o := &m.outer
	if e := m.chats[p.Terminal]; e != nil {
		return m.drawChat(p, e, all, now)
	}
	v := m.views[p.Pane]
	if v == nil {
		o.canvas.Fill(paint.Rect(p.Body), ' ', emulator.Style{})
		return paint.Cursor{}
	}
	if all {
		v.Redraw()
	} else if wait, hold := v.Feed.Hold(now); hold {
		m.holdFrame(wait)
		return v.Cursor()
	}
	v.Framed = m.framed(p)
	return v.Draw(&o.canvas, paint.Rect(p.Body), m.paneLook())
}

// holdFrame draws again when a program had time to end its frame.
func (m *Model) holdFrame(wait time.Duration) {
	if m.outer.held {
		return
	}
	m.outer.held = true
	m.loop.After(wait, func() {
		m.outer.held = false
		m.loop.Dirty |= loop.Panes
	})
}

func (m *Model) paneLook() pane.Look {
	l := &m.outer.look
	return pane.Look{
		Letterbox: l.Letterbox, Selection: l.Selection, Match: l.Match, Scroll: l.Hint, Fill: l.Fill,
		Signs: m.outer.signs, Sticky: stickies[m.cfg.StickyCommand],
		Bar:      look.Style{FG: l.Hint.FG, BG: l.Border.FG},
		Pictures: m.outer.gallery,
	}
}
