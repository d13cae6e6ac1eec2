package tty

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Pictures is how a terminal shows pictures.
type Pictures string

// The ways. Where a Caps has to decide, it goes by what the terminal answers and
// calls itself.
const (
	NoPictures Pictures = "off"
	// CellPictures: kitty's graphics, with cells that stand for their parts (Unicode
	// placeholders).
	CellPictures Pictures = "cells"
	// PlacedPictures: kitty's graphics, put over blank cells, piece by piece where
	// something covers them.
	PlacedPictures Pictures = "placed"
	// SixelPictures and InlinePictures, which are iTerm2's, are painted into blank
	// cells.
	SixelPictures  Pictures = "sixel"
	InlinePictures Pictures = "iterm2"
	AutoPictures   Pictures = "auto"
)

// graphicsQueryID is the number under which the terminal is asked, with an image of
// one pixel that it does not keep.
const graphicsQueryID = 4203

const graphicsQuery = "\x1b_Gi=4203,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"

// Graphics is the answer.
type Graphics struct{ OK bool }

// cellQuery asks for the size of a cell in pixels, sixelQuery for the number of colours
// that a sixel picture can have.
const (
	cellQuery  = "\x1b[16t"
	sixelQuery = "\x1b[?1;1;0S"
)

// AskCell asks for the size of a cell again; "" where pictures don't depend on it.
func AskCell(c Caps) string {
	if c.Console || !c.sixel && !c.inline {
		return ""
	}
	return cellQuery
}

// CellSize is the size of a cell in pixels: as the terminal answers, or Guessed from
// that of the window.
type CellSize struct {
	W, H    int
	Guessed bool
}

// SixelColors is the answer to how many colours a sixel picture can have.
type SixelColors int

// sixelColorsOf reads that answer.
func sixelColorsOf(seq []byte) (tea.Msg, bool) {
	var n SixelColors
	if len(seq) > maxAnswer || !bytes.HasSuffix(seq, []byte{'S'}) {
		return nil, false
	}
	if k, err := fmt.Sscanf(string(seq), "\x1b[?1;0;%dS", &n); k != 1 || err != nil || n < 2 {
		return nil, false
	}
	return n, true
}

// attributes takes the answer to DA1, in which 4 is sixel.
func attributes(list []int) Fence { return Fence{Sixel: slices.Contains(list[min(1, len(list)):], 4)} }

func (c *Caps) pictures() Pictures {
	switch {
	case c.graphics && c.knowsCells:
		return CellPictures
	case c.graphics:
		return PlacedPictures
	case c.inline:
		return InlinePictures
	case c.sixel:
		return SixelPictures
	}
	return NoPictures
}

// drawsInline reports whether an environment is that of a terminal that shows iTerm2's
// images, and not of a multiplexer in it.
func drawsInline(get func(string) string) bool {
	if t := get("TERM"); strings.HasPrefix(t, "screen") || strings.HasPrefix(t, "tmux") {
		return false
	}
	return get("TERM_PROGRAM") == "iTerm.app" || get("TERM_PROGRAM") == "WezTerm" || get("TERM_PROGRAM") == "" && get("LC_TERMINAL") == "iTerm2"
}
