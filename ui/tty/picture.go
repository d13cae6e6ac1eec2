package tty

// Pictures is how a terminal shows pictures of the kitty graphics protocol.
type Pictures string

// The ways. Where a Caps has to decide, it goes by what the terminal answers and
// calls itself.
const (
	NoPictures Pictures = "off"
	// CellPictures: cells stand for their parts (kitty's Unicode placeholders).
	CellPictures Pictures = "cells"
	// PlacedPictures: they are put over blank cells, piece by piece where something
	// covers them.
	PlacedPictures Pictures = "placed"
	AutoPictures   Pictures = "auto"
)

// graphicsQueryID is the number under which the terminal is asked, with an image of
// one pixel that it does not keep.
const graphicsQueryID = 4203

const graphicsQuery = "\x1b_Gi=4203,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"

// Graphics is the answer.
type Graphics struct{ OK bool }

func (c *Caps) pictures() Pictures {
	switch {
	case !c.graphics:
		return NoPictures
	case c.knowsCells:
		return CellPictures
	}
	return PlacedPictures
}
