package outer

import (
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
	if more && !o.timers.pictures {
		o.timers.pictures = true
		o.loop.After(paint.FrameInterval, func() {
			o.timers.pictures = false
			o.loop.Dirty |= loop.Panes
		})
	}
	return arrived
}
