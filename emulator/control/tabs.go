package control

import "fmt"

// Tabs has the columns with a tab stop.
type Tabs []bool

// DefaultTabs has a stop every eight columns.
func DefaultTabs(cols int) Tabs { return Tabs(nil).Resize(cols) }

// Resize keeps the stops that are there and sets the usual ones in new columns.
func (t Tabs) Resize(cols int) Tabs {
	tabs := make(Tabs, cols)
	for x := copy(tabs, t); x < cols; x++ {
		tabs[x] = x > 0 && x%8 == 0
	}
	return tabs
}

// Next is the n-th stop behind column x, at most limit.
func (t Tabs) Next(x, n, limit int) int {
	for ; n > 0 && x < limit; n-- {
		for x++; x < limit && !t[x]; x++ {
		}
	}
	return x
}

// Prev is the n-th stop before column x, at least limit.
func (t Tabs) Prev(x, n, limit int) int {
	for ; n > 0 && x > limit; n-- {
		for x--; x > limit && !t[x]; x-- {
		}
	}
	return x
}

// Clear removes the stop at column x (0) or all (3), as TBC.
func (t Tabs) Clear(what, x int) {
	switch what {
	case 0:
		t[x] = false
	case 3:
		clear(t)
	}
}

// Append appends to a snapshot what sets the stops, and moves the cursor home.
func (t Tabs) Append(buf []byte) []byte {
	same := true
	for x, on := range t {
		same = same && on == (x > 0 && x%8 == 0)
	}
	if same {
		return buf
	}
	buf = append(buf, "\x1b[3g"...)
	for x, on := range t {
		if on {
			buf = fmt.Appendf(buf, "\x1b[%dG\x1bH", x+1)
		}
	}
	return append(buf, "\x1b[H"...)
}
