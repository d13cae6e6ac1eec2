package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"tandemux/emulator"

	"tandemux/emulator/native/atrest"
)

// AppendHistory implements emulator.Historian. All numbers are uvarints:
//
//	version, lines, floor, marks
//	of each mark: line (0 is the oldest), column, id
//	of each line, oldest first: bytes, cells, flags (one byte)
//	the offset of the first line in the first block
//	of each block: twice its length, plus one if it is packed by Zstandard; its bytes
//
// The blocks, joined, have the encoded lines (line.go) one after another.
func (e *Engine) AppendHistory(buf []byte) []byte {
	e.flush()
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
	}
	if h.n == 0 {
		return buf
	}
	first := h.at(0)
	buf = binary.AppendUvarint(buf, uint64(first.off))
	for _, b := range h.blocks[first.block-h.base:] {
		n := 2 * len(b.data)
		if b.packed {
			n++
		}
		buf = append(binary.AppendUvarint(buf, uint64(n)), b.data...)
	}
	return buf
}

const (
	savedHistoryVersion = 3 // version 2, packed by S2, was in no release
	// maxSavedHistory bounds the unpacked bytes.
	maxSavedHistory = 1 << 30
)

var errSavedHistory = errors.New("the saved history contradicts itself")

// unpackedBlocks returns the bytes of all blocks in data, which has nothing else.
func unpackedBlocks(data []byte) (all []byte, err error) {
	for len(data) > 0 {
		v, k := binary.Uvarint(data)
		if k <= 0 || v/2 > uint64(len(data)-k) {
			return nil, errSavedHistory
		}
		b := data[k:][:v/2]
		if data = data[k+len(b):]; v%2 == 0 {
			all = append(all, b...)
			continue
		}
		if all, err = unpacker().DecodeAll(b, all); err != nil {
			return nil, errSavedHistory
		}
	}
	return all, nil
}

// SetHistory implements emulator.Historian.
func (e *Engine) SetHistory(data []byte) (err error) {
	e.flush()
	h := newHistory(e.hist.limit)
	h.first = e.hist.first
	defer func() {
		if recover() != nil { // a length points beyond the data
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
	version := number(1 << 20)
	if version == 2 || version > savedHistoryVersion {
		return fmt.Errorf("the saved history has version %d, of a program that was not released, or is newer", version)
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
	saved, texts := make([]histLine, lines), []byte(nil)
	for i := range saved {
		l := &saved[i]
		l.length, l.cells, l.flags = uint32(number(maxSavedHistory)), uint16(number(e.cols)), lineFlags(data[0])
		if data = data[1:]; version < savedHistoryVersion { // in version 1 its bytes follow
			texts, data = append(texts, data[:l.length]...), data[l.length:]
		}
	}
	if version == savedHistoryVersion && lines > 0 {
		from := number(maxSavedHistory)
		if texts, err = unpackedBlocks(data); err != nil {
			return err
		}
		texts, data = texts[from:], nil
	}
	texts = slices.Clip(texts)
	for _, l := range saved {
		text := texts[:l.length:l.length]
		if err := checkLine(text, l); err != nil {
			return err
		}
		if l.size() != singleSize && (l.wrapped() || 2*int(l.cells) > e.cols || e.cols < minDouble) {
			return errSavedHistory
		}
		texts = texts[l.length:]
		h.add(text, l)
	}
	if len(data)+len(texts) > 0 {
		return errSavedHistory
	}
	// h.add has dropped lines over the limit, with their marks.
	h.floor = max(0, floor-int(h.first-e.hist.first))
	e.hist = h
	e.marks += len(h.marks)
	return nil
}

// checkLine returns an error for an encoded line that the engine could not have made. It
// panics if a length points beyond data, whose capacity must be its length.
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
		t, n := atrest.Next(data)
		ok := n > 0
		switch t.Kind {
		case 0, atrest.Odd:
			ok = ok && t.Rune >= ' ' && t.Rune != 0x7f && (t.Rune != utf8.RuneError || n > 2)
		case atrest.Cluster, atrest.Wide:
			ok = ok && len(t.Text) > 0 && text(t.Text)
		case atrest.Empty:
			ok = ok && t.Count > 0 && t.Count <= emulator.MaxCols
		case atrest.Style:
			ok = ok && checkStyle(t.Text, text)
		case atrest.Tab:
			ok = ok && t.Count > 0
		}
		if !ok {
			return errSavedHistory
		}
		cells += t.Width()
		data = data[n:]
	}
	if cells != int(l.cells) {
		return errSavedHistory
	}
	return nil
}

// checkStyle reports whether an encoded style is valid: its colours and underline are of
// known kinds, and its link is text.
func checkStyle(b []byte, text func([]byte) bool) bool {
	n := 1
	for bit := byte(atrest.HasFG); bit <= atrest.HasUnderlineColor; bit <<= 1 {
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
	if b[0]&atrest.HasAttrs != 0 {
		n += 2
	}
	if b[0]&atrest.HasUnderline != 0 {
		if n++; b[n-1] > byte(emulator.Dashed) {
			return false
		}
	}
	if b[0]&atrest.HasLink != 0 {
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
