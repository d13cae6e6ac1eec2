package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"tandemux/emulator"
)

// AppendHistory implements emulator.Historian. All numbers are uvarints:
//
//	version, lines, floor, marks
//	of each mark: line (0 is the oldest), column, id
//	of each line, oldest first: bytes, cells, flags, and the bytes as line.go has them
func (e *Engine) AppendHistory(buf []byte) []byte {
	h := &e.hist
	for _, v := range []int{savedHistoryVersion, h.n, h.floor, len(h.marks)} {
		buf = binary.AppendUvarint(buf, uint64(v))
	}
	for _, m := range h.marks {
		buf = binary.AppendUvarint(buf, m.seq-h.first)
		buf = binary.AppendUvarint(buf, uint64(m.col))
		buf = binary.AppendUvarint(buf, m.id)
	}
	for i := range h.n {
		l := h.at(i)
		buf = binary.AppendUvarint(buf, uint64(l.length))
		buf = binary.AppendUvarint(buf, uint64(l.cells))
		buf = append(buf, byte(l.flags))
		buf = append(buf, h.data(l)...)
	}
	return buf
}

// HistorySize implements emulator.Historian.
func (e *Engine) HistorySize() int {
	const most = binary.MaxVarintLen16 + binary.MaxVarintLen32 + 1
	h := &e.hist
	return h.size + most*h.n + 3*binary.MaxVarintLen64*len(h.marks) + 4*binary.MaxVarintLen32
}

const savedHistoryVersion = 1

var errSavedHistory = errors.New("the saved history contradicts itself")

// SetHistory implements emulator.Historian.
func (e *Engine) SetHistory(data []byte) (err error) {
	h := newHistory(e.hist.limit)
	h.first = e.hist.first
	defer func() {
		if recover() != nil { // A length led out of the data.
			err = errSavedHistory
		}
	}()
	data = data[:len(data):len(data)]
	number := func(most int) int {
		v, n := binary.Uvarint(data)
		if n <= 0 || v > uint64(most) {
			panic(errSavedHistory)
		}
		data = data[n:]
		return int(v)
	}
	if v := number(1 << 20); v != savedHistoryVersion {
		return fmt.Errorf("the saved history has version %d, of a newer program", v)
	}
	lines := number(len(data))
	floor, marks := number(lines), number(emulator.MaxMarks)
	var at histMark
	for range marks {
		line := h.first + uint64(number(lines-1))
		if line < at.seq {
			return errSavedHistory
		}
		at = histMark{mark{col: number(e.cols)}, line}
		id, n := binary.Uvarint(data)
		if n <= 0 {
			return errSavedHistory
		}
		at.id, data = id, data[n:]
		h.marks = append(h.marks, at)
	}
	for range lines {
		length, cells := number(len(data)), number(e.cols)
		l := histLine{cells: uint16(cells), flags: lineFlags(data[0])}
		text := data[1 : 1+length : 1+length]
		if err := checkLine(text, l); err != nil {
			return err
		}
		if l.size() != singleSize && (l.wrapped() || 2*cells > e.cols || e.cols < minDouble) {
			return errSavedHistory
		}
		data = data[1+length:]
		h.add(text, l)
	}
	if len(data) > 0 {
		return errSavedHistory
	}
	// What was over the limit went, and the marks with it.
	h.floor = max(0, floor-int(h.first-e.hist.first))
	e.hist = h
	e.marks += len(h.marks)
	return nil
}

// checkLine reports a line at rest that the engine could not have made. It panics
// where a length leads out of data, whose capacity is its length.
func checkLine(data []byte, l histLine) error {
	if l.flags&^(lineWrapped|linePlain|lineSizes) != 0 {
		return errSavedHistory
	}
	cells := 0
	text := func(b []byte) bool {
		for _, c := range b {
			if c < ' ' || c == 0x7f {
				return false
			}
		}
		return utf8.Valid(b)
	}
	if l.flags&linePlain != 0 {
		for _, b := range data {
			if b-0x20 > 0x5e {
				return errSavedHistory
			}
		}
		data, cells = nil, len(data)
	}
	for len(data) > 0 {
		if data[0]-0x20 <= 0x5e { // most are
			n := 1
			for n < len(data) && data[n]-0x20 <= 0x5e {
				n++
			}
			cells += n
			data = data[n:]
			continue
		}
		t, n := nextToken(data)
		ok := n > 0
		switch t.kind {
		case 0, tokOdd:
			ok = ok && t.r >= ' ' && t.r != 0x7f && (t.r != utf8.RuneError || n > 2)
		case tokCluster, tokWide:
			ok = ok && len(t.text) > 0 && text(t.text)
		case tokEmpty:
			ok = ok && t.count > 0 && t.count <= emulator.MaxCols
		case tokStyle:
			ok = ok && checkStyle(t.text, text)
		case tokTab:
			ok = ok && t.count > 0
		}
		if !ok {
			return errSavedHistory
		}
		cells += t.width()
		data = data[n:]
	}
	if cells != int(l.cells) {
		return errSavedHistory
	}
	return nil
}

// checkStyle reports whether an encoded style's colours are of a kind that there is
// and its link is text.
func checkStyle(b []byte, text func([]byte) bool) bool {
	n := 1
	for bit := byte(hasFG); bit <= hasUnderlineColor; bit <<= 1 {
		switch {
		case b[0]&bit == 0:
		case b[n] == 1:
			n += 2
		case b[n] == 2:
			n += 4
		default:
			return false
		}
	}
	if b[0]&hasAttrs != 0 {
		n += 2
	}
	if b[0]&hasUnderline != 0 {
		if n++; b[n-1] > byte(emulator.Dashed) {
			return false
		}
	}
	if b[0]&hasLink != 0 {
		for range 2 {
			v, used := binary.Uvarint(b[n:])
			if used <= 0 || v > uint64(len(b)) || !text(b[n+used:n+used+int(v)]) {
				return false
			}
			n += used + int(v)
		}
	}
	return b[0]>>6 == 0
}
