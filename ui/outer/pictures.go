package outer

import (
	"cmp"
	"time"

	"tandemux/emulator"
	"tandemux/ui/loop"
	"tandemux/ui/paint"
	"tandemux/ui/tty"
)

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

// paintPictures appends pictures that have to be painted.
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
