package vt10x

import "tandemux/emulator"

// damage finds changes by comparing with what was last seen: vt10x's own flags
// are cleared by every write.
type damage struct {
	all      bool
	scrolled int
	seen     []glyph // rows*cols
	spans    []emulator.Span
}

// Damage compares the screen with the last call's. A changed cell damages its
// neighbours too, since a wide character is told by both its halves.
func (e *engine) Damage() emulator.Damage {
	d := &e.damage
	out := emulator.Damage{All: d.all, Scrolled: d.scrolled}
	d.scrolled = 0
	if n := e.cols * e.rows; len(d.seen) != n {
		d.seen = make([]glyph, n)
		d.spans = make([]emulator.Span, e.rows)
		out.All = true
	}
	if len(d.spans) != e.rows {
		d.spans = make([]emulator.Span, e.rows)
	}
	d.all = false
	for y := range e.rows {
		seen := d.seen[y*e.cols : (y+1)*e.cols]
		from, to := e.cols, -1
		for x := range seen {
			if g, _ := e.glyph(x, y); seen[x] != g {
				seen[x] = g
				from, to = min(from, x), x
			}
		}
		d.spans[y] = emulator.Span{}
		if to >= 0 {
			d.spans[y] = emulator.Span{From: max(0, from-1), To: min(e.cols, to+2)}
		}
	}
	out.Lines = d.spans
	return out
}
