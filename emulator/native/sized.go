package native

import (
	"tandemux/emulator"
	"tandemux/emulator/control"
)

// piece is a cluster of text in a block of cells.
type piece struct {
	text     string
	x, width int // columns, width 1 or 2
}

// printSized is OSC 66 (kitty's text sizing): each cluster takes a block of cells or, if the
// program gave a width, the whole text takes one. Text can't be drawn larger here: it is
// printed in the block's first row, its clusters as far apart as they would be. The block
// consists of ordinary cells. A block larger than the screen is not printed.
func printSized(e *Engine, body []byte) {
	scale, width, text, ok := control.ParseSized(body)
	if !ok {
		return
	}
	if scale == 1 && width == 0 {
		for _, r := range text {
			e.printRune(r)
		}
		return
	}
	var all []piece
	total := 0
	for g := emulator.ClustersOf(text); g.Next(); {
		s := g.Value()
		if w := g.Width(); w > 0 {
			all = append(all, piece{s, total, w})
			total += w
		}
	}
	if width == 0 {
		for _, p := range all {
			p.x = 0
			printBlock(e, []piece{p}, p.width*scale, scale)
		}
		return
	}
	if total <= width {
		for i := range all {
			all[i].x *= scale
		}
	}
	printBlock(e, all, width*scale, scale)
}

// printBlock prints a block with text in its first row and leaves the cursor behind that
// row.
func printBlock(e *Engine, text []piece, cols, rows int) {
	if cols > e.edge()-e.lineStart() || rows > e.rows {
		return
	}
	wraps, flags := e.modes.Has(control.Wrap), e.modes.Flags
	e.modes.Put(control.Insert|control.Wrap, false)
	if wraps && (e.cur.pending || e.cur.x+cols > e.edge()) {
		e.wrapLine()
		for range rows - 1 {
			e.index()
		}
	}
	x := min(e.cur.x, max(0, e.edge()-cols))
	at := func(col int) {
		e.settle()
		e.cur.x = min(x+col, e.edge()-1)
	}
	for row := range rows {
		if row > 0 {
			e.index()
		}
		for col := range cols {
			at(col)
			e.place(' '|e.penCell(), 1, 1)
		}
	}
	if e.cur.y -= rows - 1; e.cur.y < 0 {
		e.cur.y = 0
	}
	for _, p := range text {
		if p.x+p.width > cols {
			break
		}
		at(p.x)
		for _, r := range p.text {
			e.printRune(r)
		}
	}
	at(cols)
	e.cur.pending = x+cols >= e.edge()
	e.modes.Flags = flags
}
