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

// Env is what the program does for the outer terminal. All fields except Write may be nil.
type Env struct {
	// Expect is called before the terminal's colours are asked for.
	Expect func()
	// Learned is called with changed capabilities, which the program needs to restore the
	// terminal.
	Learned func(tty.Caps)
	// Suspend restores the terminal and stops the program for its shell.
	Suspend func()
	// Write writes to the terminal.
	Write func(p []byte)
}

// Settings is what the person has configured about the terminal, instead of its own answers.
type Settings struct {
	look.Appearance
	NoMarks bool // don't mark commands
	Top     bool // the status line is at the top
}

// Terminal is the outer terminal: its capabilities, the look on it, and the output for it.
type Terminal struct {
	Caps    tty.Caps
	Look    look.Look
	Signs   *pane.SignLook // marks of commands; nil for none
	W, H    int            // cells
	Blurred bool           // it has reported the loss of the focus

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
		preview *themes.Pair // the theme pair that is previewed; nil for none
	}
	away bool // it was restored for the shell: draw nothing
	out  struct {
		raw []byte // to write before the next frame
		buf []byte // scratch for a frame
	}

	asked struct { // the modes that were last set
		motion bool   // mouse motion without a button
		kitty  int    // the window's
		title  string // of the window

		pointer string // shape of the mouse pointer; "" is the terminal's own
	}
	timers struct { // which timers run
		frame    bool // waits for the end of a program's frame
		pictures bool // waits to send more pictures
		// busy is until when painted pictures keep the terminal busy.
		busy time.Time
	}
}

// New makes a Terminal right after the outer terminal was entered. seed gives the range of its
// pictures' ids.
func New(l *loop.Loop, env Env, settings func() Settings, c tty.Caps, p themes.Pair, seed uint64) *Terminal {
	o := &Terminal{
		Caps: c, Gallery: paint.NewGallery(seed),
		loop: l, env: env, settings: settings, painter: paint.NewPainter(paint.Options{}),
	}
	o.theme.chosen, o.asked.kitty = p, 1
	o.colors.asked = l.Now() // when it was entered
	o.Dress()
	return o
}

// Send writes bytes before the next frame.
func (o *Terminal) Send(s string) { o.out.raw = append(o.out.raw, s...) }

func (o *Terminal) Bell() { o.Send("\a") }

// Resize sets the terminal's size in cells.
func (o *Terminal) Resize(w, h int) {
	o.Send(tty.AskCell(o.Caps)) // the font may have changed
	if w <= 0 || h <= 0 || w == o.W && h == o.H {
		return
	}
	o.W, o.H = w, h
	o.Canvas.Resize(w, h)
	o.Redraw()
}

// Status returns the place of the status line.
func (o *Terminal) Status() paint.Rect {
	if o.settings().Top {
		return paint.Rect{W: o.W, H: min(1, o.H)}
	}
	return paint.Rect{Y: max(o.H-1, 0), W: o.W, H: min(1, o.H)}
}

// Body returns the place of everything but the status line.
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

// Learn takes an answer of the terminal.
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

// Suspend restores the outer terminal and stops the program until the person continues it.
func (o *Terminal) Suspend() {
	if o.env.Suspend == nil {
		o.loop.Say(status.Info, "there is no shell to go back to")
		return
	}
	o.away = true
	o.env.Suspend()
}

// Resumed says that the outer terminal was entered again, with its modes as at the start. stopped
// says that the program was in fact stopped.
func (o *Terminal) Resumed(stopped bool) {
	if o.away && !stopped {
		o.loop.Say(status.Info, "there is no shell to go back to")
	}
	o.away, o.asked.motion, o.asked.kitty, o.asked.title, o.asked.pointer = false, false, 1, "", ""
	o.colors.asked = o.loop.Now()
	o.Gallery.Forget()
	o.Redraw()
}

// Sleeps reports whether nothing can be drawn: the terminal was restored, or its size is unknown.
func (o *Terminal) Sleeps() bool { return o.W == 0 || o.away }

// Waits reports whether there is output besides a frame.
func (o *Terminal) Waits() bool { return len(o.out.raw) > 0 }

// Paint writes the waiting output and the changes of the canvas.
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

// Want sets the modes that the programs on the screen need: mouse motion without a button, kitty
// keyboard flags, the title, and the shape of the mouse pointer.
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

// Hold draws again after wait, when a program should have ended its frame.
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

// PaneLook returns the look of panes.
func (o *Terminal) PaneLook(sticky pane.Sticky) pane.Look {
	l := &o.Look
	return pane.Look{
		Letterbox: l.Letterbox, Selection: l.Selection, Match: l.Match, Scroll: l.Hint, Fill: l.Fill,
		Signs: o.Signs, Sticky: sticky,
		Bar:      look.Style{FG: l.Hint.FG, BG: l.Border.FG},
		Pictures: o.Gallery,
	}
}

// SetClipboard sets the outer terminal's clipboard (OSC 52). why says why it can't, "" if it
// could.
func (o *Terminal) SetClipboard(text string, selected bool) (why string) {
	switch {
	case o.Caps.Console:
		return "the console has no clipboard"
	case len(text) > emulator.MaxClipboard:
		return "more than the terminal's clipboard takes"
	}
	to := "c"
	if selected {
		to = "cp" // with X's PRIMARY; terminals that know one letter take the first
	}
	o.out.raw = append(o.out.raw, "\x1b]52;"+to+";"...)
	o.out.raw = base64.StdEncoding.AppendEncode(o.out.raw, []byte(text))
	o.out.raw = append(o.out.raw, "\x1b\\"...)
	return ""
}

// pictureBudget is how many bytes of pictures are written with one frame, so that typing shows in
// between.
const pictureBudget = 128 << 10

// pictures returns how pictures are shown, by the terminal's capabilities and the person's
// setting. The ids in picture cells are 24-bit colours.
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

// modes is the gallery's modes by how pictures are shown.
var modes = map[tty.Pictures]paint.Mode{
	tty.CellPictures: paint.Cells, tty.PlacedPictures: paint.Placed,
	tty.SixelPictures: paint.Sixel, tty.InlinePictures: paint.Inline,
}

// galleryOf returns the gallery's settings. If the size of cells is unknown a guess keeps
// pictures in the right cells.
func galleryOf(how tty.Pictures, caps tty.Caps) paint.Outer {
	o := paint.Outer{Mode: modes[how], CellW: caps.Cell.W, CellH: caps.Cell.H, Colors: int(caps.Colors), Moves: caps.Moves}
	if o.CellW <= 0 || o.CellH <= 0 {
		o.CellW, o.CellH = emulator.CellWidth, emulator.CellHeight
	}
	o.Colors = cmp.Or(o.Colors, 256)
	return o
}

// paintRate is how many bytes of painted pictures are written per second. When something scrolls
// fast, pictures are left out instead of delaying it.
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

// paintLater draws again after wait.
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

// SendPictures sends some of the pictures that the frame asked for. It reports whether any is
// complete, so that its cells must be drawn.
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
