package outer

import (
	"cmp"
	"encoding/base64"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
	"tandemux/themes"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/paint"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/tty"
	"tandemux/ui/words"
)

// Env is what the program around offers of the outer terminal. All but Write may be
// nil.
type Env struct {
	// Expect says that what is written next asks for the terminal's colours.
	Expect func()
	// Learned is told what the terminal can do as that becomes known, as it decides how to
	// give the terminal back.
	Learned func(tty.Caps)
	// Suspend gives the terminal back and stops the program, as the shell that it was
	// started from expects.
	Suspend func()
	// Write writes to the terminal.
	Write func(p []byte)
}

// Settings are what the person says of the terminal in place of what it says itself.
type Settings struct {
	look.Appearance
	NoMarks bool // commands are not marked
	Top     bool // the status line is there, not at the bottom
}

// Terminal is the outer terminal: what it can do, how things look on it, and what
// has to be written to it.
type Terminal struct {
	Caps    tty.Caps
	Look    look.Look
	Signs   *pane.SignLook // of commands; nil for none
	W, H    int            // cells
	Blurred bool           // it said that it lost the focus

	Canvas  paint.Canvas
	Gallery *paint.Gallery
	Pace    paint.Pace
	Cursor  paint.Cursor

	loop     *loop.Loop
	env      Env
	settings func() Settings
	painter  *paint.Painter
	colors   colors
	theme    struct {
		chosen  themes.Pair
		preview *themes.Pair // those that are looked at; nil for none
	}
	away bool // it was given back: nothing is drawn
	out  struct {
		raw []byte // to be written before the next frame
		buf []byte // is what is written
	}

	asked struct { // what it was asked for last
		motion bool   // mouse motion without a button
		kitty  int    // keyboard flags
		title  string // of the window

		pointer string // the mouse's; "" is the terminal's own
	}
	timers struct { // that run
		frame    bool // for a pane in the middle of its frame
		pictures bool // for pictures that are sent
		// busy is until when pictures that were painted keep the terminal busy.
		busy time.Time
	}
}

// New makes a terminal that was switched on just now. seed numbers its pictures.
func New(l *loop.Loop, env Env, settings func() Settings, c tty.Caps, p themes.Pair, seed uint64) *Terminal {
	o := &Terminal{
		Caps: c, Gallery: paint.NewGallery(seed),
		loop: l, env: env, settings: settings, painter: paint.NewPainter(paint.Options{}),
	}
	o.theme.chosen, o.asked.kitty = p, 1
	o.colors.asked = l.Now() // by what switched the terminal on
	o.Dress()
	return o
}

// Send has some bytes written before the next frame.
func (o *Terminal) Send(s string) { o.out.raw = append(o.out.raw, s...) }

func (o *Terminal) Bell() { o.Send("\a") }

// Resize takes the outer terminal's size.
func (o *Terminal) Resize(w, h int) {
	o.Send(tty.AskCell(o.Caps)) // its font may have changed
	if w <= 0 || h <= 0 || w == o.W && h == o.H {
		return
	}
	o.W, o.H = w, h
	o.Canvas.Resize(w, h)
	o.Redraw()
}

// Status is where the status line is.
func (o *Terminal) Status() paint.Rect {
	if o.settings().Top {
		return paint.Rect{W: o.W, H: min(1, o.H)}
	}
	return paint.Rect{Y: max(o.H-1, 0), W: o.W, H: min(1, o.H)}
}

// Body is all but the status line.
func (o *Terminal) Body() paint.Rect {
	r := paint.Rect{W: o.W, H: max(o.H-1, 0)}
	if o.settings().Top {
		r.Y = 1
	}
	return r
}

func (o *Terminal) Redraw() {
	o.Canvas.Clear()
	o.painter.Forget()
	o.loop.Dirty |= loop.Places | loop.Panes | loop.Chrome
}

// Learn takes an answer of the terminal about itself.
func (o *Terminal) Learn(msg tea.Msg) {
	if o.learnColors(msg) {
		return
	}
	caps := o.Caps
	write, changed := caps.Learn(msg)
	o.out.raw = append(o.out.raw, write...)
	if changed {
		o.Caps = caps
		o.Dress()
		if o.env.Learned != nil {
			o.env.Learned(caps)
		}
	}
}

// Suspend gives the outer terminal back until the person goes on.
func (o *Terminal) Suspend() {
	if o.env.Suspend == nil {
		o.loop.Say(status.Info, "there is no shell to go back to")
		return
	}
	o.away = true
	o.env.Suspend()
}

// Resumed takes the outer terminal again, in which everything is as at the
// start. stopped says whether the program was stopped indeed.
func (o *Terminal) Resumed(stopped bool) {
	if o.away && !stopped {
		o.loop.Say(status.Info, "there is no shell to go back to")
	}
	o.away, o.asked.motion, o.asked.kitty, o.asked.title, o.asked.pointer = false, false, 1, "", ""
	o.colors.asked = o.loop.Now()
	o.Gallery.Forget()
	o.Redraw()
}

// Sleeps reports whether nothing can be drawn now: it was given back, or its size is
// not known.
func (o *Terminal) Sleeps() bool { return o.W == 0 || o.away }

// Waits reports whether something but a frame has to be written.
func (o *Terminal) Waits() bool { return len(o.out.raw) > 0 }

// Paint writes what waits, and the canvas where it has changed.
func (o *Terminal) Paint(now time.Time) {
	o.out.buf = append(o.out.buf[:0], o.out.raw...)
	o.out.raw = o.out.raw[:0]
	o.out.buf = o.painter.Frame(o.out.buf, &o.Canvas, o.Cursor)
	o.out.buf = o.Gallery.Place(o.out.buf, &o.Canvas, o.painter.Cleared())
	o.paintPictures(now)
	if len(o.out.buf) > 0 {
		o.env.Write(o.out.buf)
		o.Pace.Painted(now)
	}
	if cap(o.out.buf) > 1<<20 {
		o.out.buf = nil
	}
}

// Want asks the terminal for what the programs on the screen want of it: the mouse's
// motion without a button, flags of the kitty keyboard protocol, the title, and the shape
// of the mouse's pointer.
func (o *Terminal) Want(motion bool, flags int, title, pointer string) {
	if motion != o.asked.motion {
		o.asked.motion = motion
		seq := tty.AllMotionOff
		if motion {
			seq = tty.AllMotionOn
		}
		o.out.raw = append(o.out.raw, seq...)
	}
	if flags != o.asked.kitty && o.Caps.Kitty {
		o.asked.kitty = flags
		o.out.raw = append(o.out.raw, o.Caps.Keyboard(flags)...)
	}
	if title = words.Clean(title); title != o.asked.title && !o.Caps.Console {
		o.asked.title = title
		o.out.raw = append(o.out.raw, "\x1b]2;"+title+"\x1b\\"...)
	}
	if pointer != o.asked.pointer && !o.Caps.Console {
		o.asked.pointer = pointer
		o.out.raw = append(o.out.raw, "\x1b]22;"+pointer+"\x1b\\"...)
	}
}

// Hold draws again when a program had time to end its frame.
func (o *Terminal) Hold(wait time.Duration) {
	if o.timers.frame {
		return
	}
	o.timers.frame = true
	o.loop.After(wait, func() {
		o.timers.frame = false
		o.loop.Dirty |= loop.Panes
	})
}

// PaneLook is how panes look; sticky is when a command's line stays on top.
func (o *Terminal) PaneLook(sticky pane.Sticky) pane.Look {
	l := &o.Look
	return pane.Look{
		Letterbox: l.Letterbox, Selection: l.Selection, Match: l.Match, Scroll: l.Hint, Fill: l.Fill,
		Signs: o.Signs, Sticky: sticky,
		Bar:      look.Style{FG: l.Hint.FG, BG: l.Border.FG},
		Pictures: o.Gallery,
	}
}

// SetClipboard asks the outer terminal to set its clipboard (OSC 52), and says why it
// is not asked, "" when it is.
func (o *Terminal) SetClipboard(text string, selected bool) (why string) {
	switch {
	case o.Caps.Console:
		return "the console has no clipboard"
	case len(text) > emulator.MaxClipboard:
		return "more than the terminal's clipboard takes"
	}
	to := "c"
	if selected {
		to = "cp" // X's PRIMARY besides; terminals that know one letter take the first
	}
	o.out.raw = append(o.out.raw, "\x1b]52;"+to+";"...)
	o.out.raw = base64.StdEncoding.AppendEncode(o.out.raw, []byte(text))
	o.out.raw = append(o.out.raw, "\x1b\\"...)
	return ""
}

// pictureBudget is how much of pictures goes to the outer terminal with one frame,
// in bytes, so that typing is shown in between.
const pictureBudget = 128 << 10

// pictures says how pictures are shown, as the outer terminal can and the person
// wants it. The numbers of those that cells stand for are colours, so they need
// all of them.
func (c Settings) pictures(caps tty.Caps) tty.Pictures {
	how := caps.Pictures
	switch want := tty.Pictures(c.Graphics); want {
	case "", tty.AutoPictures:
	default:
		how = want
	}
	if how == "" || how == tty.CellPictures && (caps.Profile.Colors != emulator.TrueColor || !caps.UTF8) || caps.Console {
		return tty.NoPictures
	}
	return how
}

// modes are the ways to show pictures, for the gallery.
var modes = map[tty.Pictures]paint.Mode{
	tty.CellPictures: paint.Cells, tty.PlacedPictures: paint.Placed,
	tty.SixelPictures: paint.Sixel, tty.InlinePictures: paint.Inline,
}

// galleryOf says what pictures need to know. A terminal that tells no size of its cells
// has most likely not the one that is taken then, but pictures in the right cells.
func galleryOf(how tty.Pictures, caps tty.Caps) paint.Outer {
	o := paint.Outer{Mode: modes[how], CellW: caps.Cell.W, CellH: caps.Cell.H, Colors: int(caps.Colors), Moves: caps.Moves}
	if o.CellW <= 0 || o.CellH <= 0 {
		o.CellW, o.CellH = emulator.CellWidth, emulator.CellHeight
	}
	o.Colors = cmp.Or(o.Colors, 256)
	return o
}

// paintRate is how many bytes of painted pictures a terminal is given in a second:
// where something scrolls fast, pictures are left out rather than waited for.
const paintRate = 8 << 20

func (o *Terminal) paintPictures(now time.Time) {
	o.Gallery.Written(o.painter)
	if now.Before(o.timers.busy) {
		o.paintLater(o.timers.busy.Sub(now))
		return
	}
	start := len(o.out.buf)
	buf, more := o.Gallery.Paint(o.out.buf, &o.Canvas, pictureBudget)
	o.out.buf = buf
	if n := len(buf) - start; n > 0 {
		o.timers.busy = now.Add(time.Duration(n) * time.Second / paintRate)
	}
	if more {
		o.paintLater(o.timers.busy.Sub(now))
	}
}

// paintLater draws again after a while.
func (o *Terminal) paintLater(wait time.Duration) {
	if o.timers.pictures {
		return
	}
	o.timers.pictures = true
	o.loop.After(max(wait, paint.FrameInterval), func() {
		o.timers.pictures = false
		o.loop.Dirty |= loop.Panes
	})
}

// SendPictures sends some of the pictures that the frame asked for; it reports
// whether some have arrived, so that what shows them has to be drawn.
func (o *Terminal) SendPictures() (arrived bool) {
	raw, arrived, more := o.Gallery.Pump(o.out.raw, pictureBudget)
	o.out.raw = raw
	if first, n := o.Gallery.Numbers(); int(o.Caps.Gallery.Count) != n {
		o.Caps.Gallery.First, o.Caps.Gallery.Count = first, uint32(n)
		if o.env.Learned != nil {
			o.env.Learned(o.Caps)
		}
	}
	if more {
		o.paintLater(0)
	}
	return arrived
}
