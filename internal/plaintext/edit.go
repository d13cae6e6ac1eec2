package plaintext

import (
	"slices"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

const (
	// maxColumn bounds where the cursor can be moved to: the widest terminal.
	maxColumn = 2000
	tabWidth  = 8
)

// edit is a line that is drawn over.
type edit struct {
	cells []cell
	x     int // where the next character goes
}

// cell is one column. r is 0 where nothing was written, and behind is set for
// what a wide character or a tab covers after its first column.
type cell struct {
	r      rune
	behind bool
	marks  string // combining characters
}

// put writes characters; p is valid UTF-8 without controls but tabs.
func (e *edit) put(p []byte) {
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		p = p[n:]
		width := 1
		switch {
		case r == '\t':
			width = tabWidth - e.x%tabWidth
			if e.x < len(e.cells) { // A tab moves over what is there.
				e.x += width
				continue
			}
		case r >= 0x80:
			width = displaywidth.Rune(r)
		}
		if width == 0 {
			e.combine(r)
			continue
		}
		e.blank(e.x, e.x+width)
		e.cells[e.x] = cell{r: r}
		for i := 1; i < width; i++ {
			e.cells[e.x+i] = cell{behind: true}
		}
		e.x += width
	}
}

func (e *edit) combine(r rune) {
	at := min(e.x, len(e.cells)) - 1
	for at > 0 && e.cells[at].behind {
		at--
	}
	if at >= 0 && len(e.cells[at].marks) < 64 {
		e.cells[at].marks += string(r)
	}
}

// blank empties the columns [from, to), making room, and what of a wide
// character or tab is left beside them.
func (e *edit) blank(from, to int) {
	if to > len(e.cells) {
		e.cells = append(e.cells, make([]cell, to-len(e.cells))...)
	}
	if from < len(e.cells) && e.cells[from].behind {
		at := from
		for at > 0 && e.cells[at].behind {
			at--
		}
		clear(e.cells[at:from])
	}
	clear(e.cells[from:to])
	for i := to; i < len(e.cells) && e.cells[i].behind; i++ {
		e.cells[i] = cell{}
	}
}

// erase is EL: to the end, from the beginning, or all.
func (e *edit) erase(what int) {
	switch what {
	case 0:
		if e.x < len(e.cells) {
			e.blank(e.x, len(e.cells))
			e.cells = e.cells[:e.x]
		}
	case 1:
		e.blank(0, min(e.x+1, len(e.cells)))
	case 2:
		e.cells = e.cells[:0]
	}
}

// remove is DCH, insert ICH.
func (e *edit) remove(n int) {
	if e.x < len(e.cells) {
		n = min(n, len(e.cells)-e.x)
		e.blank(e.x, e.x+n)
		e.cells = slices.Delete(e.cells, e.x, e.x+n)
	}
}

func (e *edit) insert(n int) {
	if e.x < len(e.cells) && len(e.cells)+n <= maxColumn {
		e.blank(e.x, e.x)
		e.cells = slices.Insert(e.cells, e.x, make([]cell, n)...)
	}
}

// appendTo appends the line, what was never written at its end left out.
func (e *edit) appendTo(dst []byte) []byte {
	end := len(e.cells)
	for end > 0 && e.cells[end-1] == (cell{}) {
		end--
	}
	for _, c := range e.cells[:end] {
		switch {
		case c.behind:
		case c.r == 0:
			dst = append(dst, ' ')
		default:
			dst = utf8.AppendRune(dst, c.r)
		}
		dst = append(dst, c.marks...)
	}
	return dst
}
