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

// The ways. With AutoPictures the terminal's answers and name decide.
const (
	NoPictures Pictures = "off"
	// CellPictures means kitty's graphics, with cells that stand for parts of a picture (Unicode
	// placeholders).
	CellPictures Pictures = "cells"
	// PlacedPictures means kitty's graphics, placed over blank cells, in pieces where something
	// covers a picture.
	PlacedPictures Pictures = "placed"
	// SixelPictures and InlinePictures (iTerm2's images) are drawn into blank cells.
	SixelPictures  Pictures = "sixel"
	InlinePictures Pictures = "iterm2"
	AutoPictures   Pictures = "auto"
)

// graphicsQueryID is the image id in graphicsQuery, which asks with an image of one pixel that
// the terminal doesn't keep.
const graphicsQueryID = 4203

const graphicsQuery = "\x1b_Gi=4203,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"

// Graphics is the answer to graphicsQuery.
type Graphics struct{ OK bool }

// cellQuery asks for the size of a cell in pixels, sixelQuery for the number of colours of a
// sixel picture.
const (
	cellQuery  = "\x1b[16t"
	sixelQuery = "\x1b[?1;1;0S"
)

// AskCell returns the query for the size of a cell, "" if pictures don't depend on it.
func AskCell(c Caps) string {
	if c.Console || !c.sixel && !c.inline {
		return ""
	}
	return cellQuery
}

// CellSize is the size of a cell in pixels. Guessed says that it was computed from the window's
// size.
type CellSize struct {
	W, H    int
	Guessed bool
}

// SixelColors is the answer to sixelQuery: the number of colours.
type SixelColors int

// sixelColorsOf parses that answer.
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

// attributes turns the answer to DA1 into a Fence; 4 in it means sixel.
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

// drawsInline reports whether the environment is of a terminal that shows iTerm2's images, and
// not of a multiplexer inside it.
func drawsInline(get func(string) string) bool {
	if t := get("TERM"); strings.HasPrefix(t, "screen") || strings.HasPrefix(t, "tmux") {
		return false
	}
	return get("TERM_PROGRAM") == "iTerm.app" || get("TERM_PROGRAM") == "WezTerm" || get("TERM_PROGRAM") == "" && get("LC_TERMINAL") == "iTerm2"
}
