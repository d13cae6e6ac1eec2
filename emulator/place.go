package emulator

// Place is a place in the text that stays valid when lines are wrapped anew: how many logical
// lines above the cursor's it is, and how many cells of its logical line are before it.
type Place struct{ above, cells int }

// PlaceOf returns the place of column x of line y.
func PlaceOf(e Emulator, x, y int) (p Place) {
	first, cur := begin(e, y), begin(e, e.Cursor().Y)
	for l := min(first, cur); l < max(first, cur); l++ {
		if !e.Wrapped(l) {
			p.above++
		}
	}
	if first > cur {
		p.above = -p.above
	}
	cols, _ := e.Size()
	p.cells = (y-first)*cols + x
	return p
}

// In returns the place's current column and line, or the nearest ones if it no longer
// exists.
func (p Place) In(e Emulator) (x, y int) {
	cols, rows := e.Size()
	y = begin(e, e.Cursor().Y)
	for ; p.above > 0 && y > -e.HistoryLen(); p.above-- {
		y = begin(e, y-1)
	}
	for ; p.above < 0 && y < rows-1; y++ {
		if !e.Wrapped(y) {
			p.above++
		}
	}
	for p.cells >= cols && y < rows-1 && e.Wrapped(y) {
		p.cells -= cols
		y++
	}
	return min(p.cells, cols-1), y
}

// begin returns the first row of the logical line that row y is part of.
func begin(e Emulator, y int) int {
	for oldest := -e.HistoryLen(); y > oldest && e.Wrapped(y-1); {
		y--
	}
	return y
}

// Copy gives a fresh emulator another's state, with its marks and the given number of lines
// of its history, as for SnapshotMarks. It drops to's events and damage.
func Copy(to, from Emulator, history int) {
	data, cuts := from.SnapshotMarks(nil, history)
	at := 0
	for _, c := range cuts {
		to.Write(data[at:c.At])
		to.Mark(c.ID)
		at = c.At
	}
	to.Write(data[at:])
	to.Events()
	to.Damage()
}
