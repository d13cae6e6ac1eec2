package native

import (
	"unicode/utf8"

	"tandemux/emulator/native/atrest"
	"tandemux/emulator/native/grapheme"
)

// clearScreen scrolls n lines off the receiver's screen and clears it. The clear sets the
// receiver's history.floor: a taller screen does not take these lines back.
func (w *writer) clearScreen(n int) {
	w.style(style{})
	w.rawf("\x1b[%dH", w.e.rows)
	for range n {
		w.buf = append(w.buf, '\n')
	}
	w.raw("\x1b[2J\x1b[H")
	w.flow = flow{}
}

// history writes the history's lines [from, to).
func (w *writer) history(from, to int) {
	for i := from; i < to; i++ {
		l := w.e.hist.at(i)
		if w.marks = w.marks[:0]; w.cutting {
			w.marks = w.e.hist.lineMarks(i, w.marks)
		}
		w.line(w.e.hist.data(l), l.flags, w.marks)
	}
}

// flow describes the end of the line written last.
type flow struct {
	started bool
	wrapped bool
	padded  bool   // it ends in atrest.Pad
	prev    []byte // its last cell's text, nil if nothing can join that
}

// line writes an encoded line below the previous one, and notes its marks.
func (w *writer) line(data []byte, flags lineFlags, marks []mark) {
	switch {
	case !w.started:
	case w.wrapped:
		w.continueLine(data, len(marks) > 0 && marks[0].col == 0)
	default:
		if w.now.BG != 0 {
			w.style(style{}) // a line that scrolls in takes the pen's background
		}
		w.buf = append(w.buf, "\r\n"...)
		w.prev = nil
	}
	if s := flags & lineSizes >> sizeShift; s != 0 {
		w.raw("\x1b#" + sizeNames[s])
	}
	prev := w.prev
	w.flow = flow{started: true, wrapped: flags&lineWrapped != 0}
	if flags&linePlain == 0 || len(marks) > 0 {
		w.prev = prev
		w.tokens(data, marks)
	} else if len(data) > 0 {
		w.style(style{})
		w.buf = append(w.buf, data...)
		w.prev = data[len(data)-1:]
	}
}

// continueLine makes the receiver wrap into the line in data. Printing the line's first
// character does that, unless the first cell is empty, would join the cell before it, has
// a background, which a scroll would spread, or has a mark (alone). Then continueLine
// prints a character and erases it.
func (w *writer) continueLine(data []byte, alone bool) {
	var first style
	for len(data) > 0 && data[0] == atrest.Style {
		t, n := atrest.Next(data)
		first, _ = w.e.decodeStyle(t.Text)
		data = data[n:]
	}
	if len(data) > 0 && first.BG == 0 && !alone {
		t, n := atrest.Next(data)
		if t.Kind != atrest.Empty && t.Kind != atrest.Tab && t.Kind != atrest.Pad && (!w.padded || t.Width() == 2) && !w.joined(t.Bytes(data[:n])) {
			return
		}
	}
	w.style(style{})
	if w.padded {
		w.raw("\u3000\r\x1b[2X")
	} else {
		w.raw(" \r\x1b[X")
	}
	w.prev = nil
}

// joined reports whether a cell's text would join the cell before it if it were printed
// right behind it.
func (w *writer) joined(text []byte) bool {
	if w.prev == nil || text[0] < 0x80 {
		return false
	}
	r, _ := utf8.DecodeRune(text)
	switch cls := grapheme.Of(r).Class(); cls {
	case grapheme.Other, grapheme.Control, grapheme.Prepend:
		return false
	case grapheme.Extend, grapheme.ExtendPlain, grapheme.Linker, grapheme.Spacing, grapheme.ZWJ:
		return true
	default:
		return grapheme.Joins(string(w.prev), cls)
	}
}

// text writes a cell's text so that it does not join the cell before it.
func (w *writer) text(text []byte) {
	if w.joined(text) {
		w.raw("\b\x1b[C")
	}
	w.buf = append(w.buf, text...)
	w.prev = text
}

// tokens writes a line's tokens, the receiver's line being empty, and notes its marks.
func (w *writer) tokens(data []byte, marks []mark) {
	next := style{}
	at := 0 // the receiver's column, while marks are left
	for len(data) > 0 {
		for len(marks) > 0 && marks[0].col <= at {
			marks = w.cut(marks)
		}
		if b := data[0]; b >= 0x20 && b < 0x80 {
			// Copy a run of ASCII.
			n, limit := 1, len(data)
			if len(marks) > 0 {
				limit = min(limit, marks[0].col-at)
			}
			for n < limit && data[n] >= 0x20 && data[n] < 0x80 {
				n++
			}
			w.style(next)
			w.buf = append(w.buf, data[:n]...)
			w.prev = data[n-1 : n]
			data = data[n:]
			at += n
			continue
		} else if b == atrest.Style {
			var n int
			next, n = w.e.decodeStyle(data[1:])
			data = data[1+n:]
			continue
		}
		t, n := atrest.Next(data)
		raw := data[:n]
		data = data[n:]
		switch t.Kind {
		case atrest.Pad:
			w.padded = true
		case atrest.Empty, atrest.Tab:
			if t.Kind == atrest.Tab {
				w.rawf("\x1b[>%dI", t.Count)
				t.Count = 1
			}
			if next.BG != 0 {
				w.style(next)
				w.csi(t.Count, 'X')
			}
			w.prev = nil
			end := at + t.Count
			for ; len(marks) > 0 && marks[0].col < end; marks = w.cut(marks) {
				if x := marks[0].col; x > at {
					w.csi(x-at, 'C')
					at = x
				}
			}
			if len(data) > 0 {
				w.csi(end-at, 'C')
				at = end
			}
		default:
			w.style(next)
			w.text(t.Bytes(raw))
			if len(marks) > 0 {
				at += t.Width()
			}
		}
	}
	for ; len(marks) > 0; marks = w.cut(marks) {
		if x := marks[0].col; x > at {
			w.csi(x-at, 'C')
			at = x
			w.prev = nil
		}
	}
	// The memory of data is reused: copy prev.
	w.prevBuf = append(w.prevBuf[:0], w.prev...)
	if w.prev != nil {
		w.prev = w.prevBuf
	}
}
