package emulator

// Place is a place in the text that holds while that is wrapped anew: in which line, as
// lines were printed, above the cursor's, and how many cells are before it there.
type Place struct{ above, cells int }

// PlaceOf gives that of column x of line y.
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

// In gives the column and line that the place has now, the nearest where it is gone.
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

// begin gives the first of the rows that a line takes.
func begin(e Emulator, y int) int {
	for oldest := -e.HistoryLen(); y > oldest && e.Wrapped(y-1); {
		y--
	}
	return y
}

// Copy feeds an emulator that is as good as new with another's state, marks and all, and so
// many lines of its history, as for SnapshotMarks.
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
