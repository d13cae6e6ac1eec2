package native

import (
	"tandemux/emulator/native/atrest"
	"tandemux/emulator/native/grapheme"
)

// source returns the lines of the history and the main screen, encoded.
type source struct {
	e    *Engine
	hist *history
	rows []*row
	buf  []byte
	cut  []byte // the line that fit made
}

// line returns line i, 0 being the oldest of the history. The bytes are valid until the next
// call.
func (s *source) line(i int) (histLine, []byte) {
	if i < s.hist.n {
		l := s.hist.at(i)
		return l, s.hist.data(l)
	}
	r := s.rows[i-s.hist.n]
	n := r.length()
	l := histLine{cells: uint16(n), flags: r.flags()}
	s.buf = s.e.appendLine(s.buf[:0], r, n)
	return l, s.buf
}

// wrapper wraps logical lines at a new width.
type wrapper struct {
	from  int // the old width
	cols  int // the new width
	out   *history
	count int // lines added to out
	spots []spot
	marks []spot // the marks' places, in the order of the text
	next  int    // index of the first of marks not reached yet

	// The line being made.
	buf    []byte
	col    int
	plain  bool
	style  []byte // the style in force, empty is the default
	styled bool   // it changed and is not written yet
	empty  int    // empty cells not written yet, in the style before that
}

// logical wraps the logical line that begins with line i anew, and returns the number of the
// line after it.
func (w *wrapper) logical(src *source, i int) int {
	l, data := src.line(i)
	if w.cols < minDouble || 2*int(l.cells) > w.cols {
		l.flags &^= lineSizes // there is no room for double width
	}
	l, data = src.fit(l, data, w.from, w.cols)
	marked := w.next < len(w.marks) && w.marks[w.next].line == i
	if !l.wrapped() && !(marked && int(l.cells) == w.cols) && int(l.cells) <= w.cols && int(l.cells) < w.from && !(l.cells == 1 && hasOdd(data)) {
		for j := range w.spots {
			if p := &w.spots[j]; p.line == i {
				w.put(p, w.count, p.x)
				p.full = p.full && p.x == int(l.cells)
			}
		}
		for ; w.next < len(w.marks) && w.marks[w.next].line == i; w.next++ {
			p := &w.marks[w.next]
			w.put(p, w.count, p.x)
			p.full = false
		}
		w.out.add(data, l)
		w.count++
		return i + 1
	}
	w.begin()
	for {
		last := !l.wrapped() || i+1 >= src.hist.n+len(src.rows)
		w.physical(i, l, data, last)
		i++
		if last {
			break
		}
		l, data = src.line(i)
	}
	w.finish(false)
	return i
}

func hasOdd(data []byte) bool {
	for len(data) > 0 {
		t, n := atrest.Next(data)
		if t.Kind == atrest.Odd {
			return true
		}
		data = data[n:]
	}
	return false
}

// put sets a spot's place after the reflow.
func (w *wrapper) put(p *spot, line, x int) {
	p.done, p.outLine = true, line
	p.outX = min(x, w.cols-1)
	p.full = x == w.cols
}

// begin starts a line.
func (w *wrapper) begin() {
	w.buf, w.col, w.plain, w.empty = w.buf[:0], 0, true, 0
	w.style, w.styled = w.style[:0], false
}

// finish adds the line to out.
func (w *wrapper) finish(wrapped bool) {
	if wrapped && w.empty > 0 {
		// A wrapped line must have text in its last column.
		if w.empty > 1 {
			w.buf = atrest.AppendEmpty(w.buf, w.empty-1)
			w.plain = false
		}
		w.buf = append(w.buf, ' ')
		w.empty, w.styled = 0, false
	} else if !w.styled && len(w.style) == 0 {
		w.col, w.empty = w.col-w.empty, 0 // drop empty cells behind the last character
	}
	w.styled = false
	w.flush()
	l := histLine{cells: uint16(w.col)}
	if wrapped {
		l.flags |= lineWrapped
	}
	if w.plain {
		l.flags |= linePlain
	}
	w.out.add(w.buf, l)
	w.count++
}

// breakLine finishes the line as wrapped and begins the next one, in the same style.
func (w *wrapper) breakLine() {
	if w.col < w.cols {
		w.flush()
		w.buf = append(w.buf, atrest.Pad)
		w.col++
		w.plain = false
	}
	w.finish(true)
	w.buf, w.col, w.plain = w.buf[:0], 0, true
	if len(w.style) > 0 {
		w.buf = append(append(w.buf, atrest.Style), w.style...)
		w.plain = false
	}
}

// flush writes the pending empty cells and the style that follows them.
func (w *wrapper) flush() {
	if w.empty > 0 {
		w.buf = atrest.AppendEmpty(w.buf, w.empty)
		w.plain = false
		w.empty = 0
	}
	if w.styled {
		w.styled, w.plain = false, false
		w.buf = append(w.buf, atrest.Style)
		if len(w.style) == 0 {
			w.buf = append(w.buf, 0)
		}
		w.buf = append(w.buf, w.style...)
	}
}

// physical adds line i of the source. last says that it ends the logical line.
func (w *wrapper) physical(i int, l histLine, data []byte, last bool) {
	var spots []*spot
	for j := range w.spots {
		if w.spots[j].line == i {
			spots = append(spots, &w.spots[j])
		}
	}
	first := w.next
	for w.next < len(w.marks) && w.marks[w.next].line == i {
		w.next++
	}
	marks := w.marks[first:w.next]
	x := 0
	settle := func(p *spot, width int) {
		if w.col+width > w.cols {
			w.put(p, w.count+1, p.x-x)
		} else {
			w.put(p, w.count, w.col+p.x-x)
		}
	}
	// pass settles the spots in the next n source columns, which the caller then
	// writes as width columns.
	pass := func(n, width int) {
		for _, p := range spots {
			if !p.done && p.x < x+n {
				settle(p, width)
			}
		}
		for ; len(marks) > 0 && marks[0].x < x+n; marks = marks[1:] {
			settle(&marks[0], width)
		}
		x += n
	}
	if (len(w.style) > 0 || w.styled) && len(data) > 0 && data[0] != atrest.Style {
		w.setStyle([]byte{0}) // each line begins in the default style
	}
	for len(data) > 0 {
		if n := asciiRun(data); n > 0 && len(spots) == 0 && (len(marks) == 0 || marks[0].x > x) {
			if len(marks) > 0 {
				n = min(n, marks[0].x-x)
			}
			if w.col == w.cols {
				w.breakLine()
			}
			n = min(n, w.cols-w.col)
			w.flush()
			w.buf = append(w.buf, data[:n]...)
			w.col += n
			x += n
			data = data[n:]
			continue
		}
		t, n := atrest.Next(data)
		raw := data[:n]
		data = data[n:]
		if t.Kind == atrest.Tab && w.col%w.cols == w.cols-1 {
			t = atrest.Token{Kind: atrest.Empty, Count: 1} // a tab can't be in the last column
		}
		switch t.Kind {
		case atrest.Style:
			w.setStyle(t.Text)
		case atrest.Pad:
			x++
		case atrest.Empty:
			count := t.Count
			if last && len(data) == 0 {
				// A background up to the edge reaches the new edge and does
				// not wrap.
				room := w.cols - w.col
				if count = min(count, room); x+t.Count == w.from {
					count = room
				}
			}
			for range count {
				if w.col == w.cols {
					w.breakLine()
				}
				pass(1, 1)
				if w.styled {
					w.flush()
				}
				w.empty++
				w.col++
			}
		default:
			w.glyph(t, raw, pass)
		}
	}
	for _, p := range spots {
		if !p.done {
			w.put(p, w.count, min(w.cols, w.col+max(0, p.x-x)))
			p.full = p.full && w.col == w.cols && p.x == x
		}
	}
	for j := range marks {
		p := &marks[j]
		w.put(p, w.count, min(w.cols, w.col+max(0, p.x-x)))
		// There is no place behind an empty last cell.
		p.full = p.full && w.col == w.cols && w.empty == 0
	}
}

// asciiRun returns how many printable ASCII bytes data begins with.
func asciiRun(data []byte) int {
	for i, b := range data {
		if b-0x20 > 0x5e {
			return i
		}
	}
	return len(data)
}

// glyph adds a character, whose width may change if a screen of one column is involved.
func (w *wrapper) glyph(t atrest.Token, raw []byte, pass func(n, width int)) {
	old := t.Width()
	width := old
	switch {
	case t.Kind == atrest.Odd && w.cols > 1:
		width, raw = 2, raw[1:]
	case w.from == 1 && t.Kind == atrest.Cluster && grapheme.ClusterWidth(t.Text) == 2:
		width = 2
		raw = append([]byte{atrest.Wide}, raw[1:]...)
	case width == 2 && w.cols == 1 && t.Kind == atrest.Wide:
		width = 1
		raw = append([]byte{atrest.Cluster}, raw[1:]...)
	case width == 2 && w.cols == 1:
		width = 1
		raw = append([]byte{atrest.Odd}, raw...)
	}
	if pass(old, width); w.col+width > w.cols {
		w.breakLine()
	}
	w.flush()
	w.buf = append(w.buf, raw...)
	w.col += width
	if t.Kind != 0 || t.Rune >= 0x80 || width != 1 {
		w.plain = false
	}
}

// setStyle changes the style to the encoded s. flush writes it before the next cell.
func (w *wrapper) setStyle(s []byte) {
	w.style = append(w.style[:0], s...)
	if s[0] == 0 {
		w.style = w.style[:0]
	}
	w.styled = true
}
