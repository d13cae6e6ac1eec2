package native

import (
	"slices"
	"sort"

	"tandemux/emulator"
)

// mark is a caller's mark on a row. col is the number of columns if the mark is behind a
// full row. A row has its marks in the order in which they were set.
type mark struct {
	id  uint64
	col int
}

// histMark is a mark on a history line. seq is the line's number, counted from the first
// line that was ever added.
type histMark struct {
	mark
	seq uint64
}

// Mark implements emulator.Emulator.
func (e *Engine) Mark(id uint64) {
	e.flush()
	if e.alt() {
		return
	}
	m := mark{id: id, col: e.cur.x}
	if e.cur.pending {
		m.col++
	}
	r := e.scr.lines[e.cur.y]
	r.marks = append(r.marks, m)
	if e.marks++; e.marks > emulator.MaxMarks {
		e.boundMarks()
	}
}

// boundMarks counts the marks anew, since some may have gone with their rows, and drops the
// first of the text if there are too many.
func (e *Engine) boundMarks() {
	rows := e.screens[0].lines
	e.marks = len(e.hist.marks)
	for _, r := range rows {
		e.marks += len(r.marks)
	}
	if e.marks <= emulator.MaxMarks {
		return
	}
	e.marks--
	if len(e.hist.marks) > 0 {
		e.hist.marks = e.hist.marks[1:]
		return
	}
	for _, r := range rows {
		if len(r.marks) > 0 {
			r.marks = r.marks[1:]
			return
		}
	}
}

// Marks implements emulator.Emulator.
func (e *Engine) Marks(buf []emulator.Mark) []emulator.Mark {
	e.flush()
	h := &e.hist
	for _, m := range h.marks {
		line := int(m.seq - h.first)
		l := h.at(line)
		buf = append(buf, emulator.Mark{ID: m.id, Line: line - h.n, Col: l.size().drawn(m.col)})
	}
	var marks []mark
	for y, r := range e.screens[0].lines {
		marks = r.textMarks(marks[:0])
		for _, m := range marks {
			buf = append(buf, emulator.Mark{ID: m.id, Line: y, Col: r.size.drawn(m.col)})
		}
	}
	return buf
}

// textMarks appends the marks of a row in the order of the text. It moves those inside a
// wide character or behind an empty last column to the start of that cell.
func (r *row) textMarks(buf []mark) []mark {
	if len(r.marks) == 0 {
		return buf
	}
	start, cols := len(buf), r.columns()
	for _, m := range r.marks {
		m.col = min(m.col, cols)
		if m.col >= cols && r.cells[cols-1].empty() {
			m.col = cols - 1
		}
		if m.col < cols && r.cells[m.col]&kindMask == wideTail {
			m.col--
		}
		buf = append(buf, m)
	}
	slices.SortStableFunc(buf[start:], func(a, b mark) int { return a.col - b.col })
	return buf
}

// moveMarks replaces dst's marks between the side margins by src's, by none if src is nil.
func (ma *margins) moveMarks(dst, src *row) {
	within := func(m mark) bool { return m.col >= ma.left && m.col <= ma.right }
	dst.marks = slices.DeleteFunc(dst.marks, within)
	if src == nil {
		return
	}
	for _, m := range src.marks {
		if within(m) {
			dst.marks = append(dst.marks, m)
		}
	}
}

// mark adds the marks of r, which the caller appends as the newest line next. It also
// appends them to buf.
func (h *history) mark(r *row, buf []mark) []mark {
	buf = r.textMarks(buf)
	for _, m := range buf {
		h.marks = append(h.marks, histMark{m, h.first + uint64(h.n)})
	}
	return buf
}

// marksFrom returns the index in marks of the first one on line i or a later line.
func (h *history) marksFrom(i int) int {
	seq := h.first + uint64(i)
	return sort.Search(len(h.marks), func(k int) bool { return h.marks[k].seq >= seq })
}

// lineMarks appends the marks of line i.
func (h *history) lineMarks(i int, buf []mark) []mark {
	if len(h.marks) == 0 {
		return buf
	}
	seq := h.first + uint64(i)
	for _, m := range h.marks[h.marksFrom(i):] {
		if m.seq != seq {
			break
		}
		buf = append(buf, m.mark)
	}
	return buf
}

// follow adds the marks to w.marks, to find their places after a reflow, and returns their
// ids. n is the line number of the screen's first row.
func (w *wrapper) follow(e *Engine, n int) (ids []uint64) {
	add := func(m mark, line int) {
		w.marks = append(w.marks, spot{line: line, x: m.col})
		ids = append(ids, m.id)
	}
	for _, m := range e.hist.marks {
		add(m.mark, int(m.seq-e.hist.first))
	}
	for y, r := range e.screens[0].lines {
		e.markBuf = r.textMarks(e.markBuf[:0])
		for _, m := range e.markBuf {
			add(m, n+y)
		}
	}
	return ids
}

// SnapshotMarks implements emulator.Emulator.
func (e *Engine) SnapshotMarks(buf []byte, history int) ([]byte, []emulator.Cut) {
	e.flush()
	w := &writer{e: e, buf: buf, cutting: true}
	w.snapshot(history)
	return w.buf, w.cuts
}

// cut notes that the snapshot, up to here, puts the cursor at the first of marks. It
// returns the others.
func (w *writer) cut(marks []mark) []mark {
	w.cuts = append(w.cuts, emulator.Cut{ID: marks[0].id, At: len(w.buf)})
	return marks[1:]
}
