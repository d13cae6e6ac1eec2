package transcript

import (
	"strings"

	"tandemux/emulator"
	"tandemux/ui/markup"
)

// spot is a cell of the transcript.
type spot struct{ row, x int }

func (s spot) before(o spot) bool { return s.row < o.row || s.row == o.row && s.x < o.x }

// selection is text that the mouse took.
type selection struct {
	on       bool
	from, to spot
}

// span gives the selection's ends in order; the last cell is part of it.
func (s selection) span() (from, to spot) {
	if s.to.before(s.from) {
		return s.to, s.from
	}
	return s.from, s.to
}

// spotAt is the cell of the transcript at a cell of the canvas, or the nearest.
func (tr *View) spotAt(x, y int) spot {
	r := tr.text
	return spot{row: tr.top + min(max(y-r.Y, 0), max(r.H-1, 0)), x: min(max(x-r.X, 0), max(r.W-1, 0))}
}

// Grip begins a selection at a cell of the canvas; it reports whether there is
// transcript there. Drag extends it.
func (tr *View) Grip(x, y int) bool {
	if !tr.area.Contains(x, y) {
		return false
	}
	at := tr.spotAt(x, y)
	tr.sel, tr.dirty = selection{from: at, to: at}, true
	return true
}

// Drag extends the selection to a cell, scrolling at the edges.
func (tr *View) Drag(x, y int) {
	switch r := tr.area; {
	case y < r.Y:
		tr.Scroll(-1)
	case y >= r.Y+r.H:
		tr.Scroll(1)
	}
	to := tr.spotAt(x, y)
	tr.sel.on = tr.sel.on || to != tr.sel.from
	tr.sel.to, tr.dirty = to, true
}

// Unselect takes the selection away and reports whether there was one.
func (tr *View) Unselect() bool {
	was := tr.sel.on
	tr.sel = selection{}
	tr.dirty = tr.dirty || was
	return was
}

// Selected is the text of the selection; lines that were wrapped are joined.
func (tr *View) Selected() string {
	if !tr.sel.on {
		return ""
	}
	from, to := tr.sel.span()
	var b strings.Builder
	for row := from.row; row <= to.row && row < tr.rows; row++ {
		l, i, ok := tr.lineAt(row)
		text, lead := "", 0
		if ok {
			text, lead = tr.rowText(l, i, row-tr.rowOf(i))
		}
		first, last := lead, 1<<30
		if row == from.row {
			first = max(first, from.x)
		}
		if row == to.row {
			last = to.x + 1
		}
		b.WriteString(strings.TrimRight(text[min(markup.Cells(text, first), len(text)):min(markup.Cells(text, max(last, first)), len(text))], " "))
		switch {
		case row == to.row:
		case l.Soft:
			b.WriteByte(' ')
		default:
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// rowText is what a row of an item shows, and how many cells of it are no text.
func (tr *View) rowText(l markup.Line, i, of int) (text string, lead int) {
	if cells, x := tr.items[i].liveRow(of); cells != nil {
		return strings.Repeat(" ", x) + emulator.LineText(cells), x
	}
	var b strings.Builder
	for _, r := range l.Runs {
		b.WriteString(r.Text)
	}
	return b.String(), l.Lead
}

// liveRow gives the cells of a terminal that show in a row of an item, and the
// column that they begin at; nil for other rows.
func (it *item) liveRow(row int) (cells []emulator.Cell, x int) {
	v := it.live
	if v == nil || row < v.at || row >= v.at+v.rows || row-v.at >= len(v.cells) {
		return nil, 0
	}
	return v.cells[row-v.at], 2
}
