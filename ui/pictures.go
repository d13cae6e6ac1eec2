package ui

import (
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
func (m *Model) pictures(caps tty.Caps) tty.Pictures {
	how := caps.Pictures
	switch want := tty.Pictures(m.cfg.Graphics); want {
	case "", tty.AutoPictures:
	default:
		how = want
	}
	if how == "" || how == tty.CellPictures && (caps.Profile.Colors != emulator.TrueColor || !caps.UTF8) || caps.Console {
		return tty.NoPictures
	}
	return how
}

// sendPictures sends some of the pictures that the frame asked for, and draws what
// shows those that are there now.
func (m *Model) sendPictures(now time.Time) {
	o := &m.outer
	raw, arrived, more := o.gallery.Pump(o.raw, pictureBudget)
	o.raw = raw
	if first, n := o.gallery.Numbers(); int(o.caps.Gallery.Count) != n {
		o.caps.Gallery.First, o.caps.Gallery.Count = first, uint32(n)
		if m.env.Learned != nil {
			m.env.Learned(o.caps)
		}
	}
	if arrived {
		m.loop.Dirty |= loop.All
		m.compose(now)
	}
	if more && !o.sending {
		o.sending = true
		m.loop.After(paint.FrameInterval, func() {
			m.outer.sending = false
			m.loop.Dirty |= loop.Panes
		})
	}
}
