package native

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"tandemux/emulator"
)

// What DECCIR adds up, beside 0x40 (VT510, DECCIR).
var cirAttrs = []struct {
	attr emulator.Attrs
	bit  byte
}{{emulator.Bold, 1}, {emulator.Blink, 4}, {emulator.Reverse, 8}}

const (
	cirUnderline = 2

	cirProtected = 1

	cirOrigin  = 1
	cirSS2     = 2
	cirSS3     = 4
	cirPending = 8
)

// reportPresentation is DECRQPSR: the cursor (DECCIR) or the tab stops
// (DECTABSR).
func (e *Engine) reportPresentation() {
	switch e.parser.Raw(0) {
	case 1:
		e.sys.Reply(e.cursorReport())
	case 2:
		var stops []string
		for x, on := range e.tabs {
			if on {
				stops = append(stops, strconv.Itoa(x+1))
			}
		}
		e.sys.Reply("\x1bP2$u" + strings.Join(stops, "/") + "\x1b\\")
	}
}

// cursorReport is DECCIR.
func (e *Engine) cursorReport() string {
	var rend, prot, flags, size byte = 0x40, 0x40, 0x40, 0x40
	pen, cs := &e.cur.pen, &e.cur.charsets
	for _, a := range cirAttrs {
		if pen.Attrs&a.attr != 0 {
			rend |= a.bit
		}
	}
	set := func(b *byte, on bool, bit byte) {
		if on {
			*b |= bit
		}
	}
	set(&rend, pen.Underline != 0, cirUnderline)
	set(&prot, pen.Attrs&emulator.Protected != 0, cirProtected)
	set(&flags, e.cur.origin, cirOrigin)
	set(&flags, cs.single == 2, cirSS2)
	set(&flags, cs.single == 3, cirSS3)
	set(&flags, e.cur.pending, cirPending)
	sets := ""
	for i, s := range cs.g {
		sets += setNames[s]
		set(&size, s == setLatin1, 1<<i)
	}
	return fmt.Sprintf("\x1bP1$u%d;%d;1;%c;%c;%c;%d;2;%c;%s\x1b\\",
		e.line()+1, e.column()+1, rend, prot, flags, cs.gl, size, sets)
}

// restorePresentation is DECRSPS: what reportPresentation reported is so again.
func (e *Engine) restorePresentation(body []byte) {
	switch e.parser.Raw(0) {
	case 1:
		e.restoreCursorReport(body)
	case 2:
		clear(e.tabs)
		for _, p := range bytes.Split(body, []byte{'/'}) {
			if n, err := strconv.Atoi(string(p)); err == nil && n >= 1 && n <= e.cols {
				e.tabs[n-1] = true
			}
		}
	}
}

func (e *Engine) restoreCursorReport(body []byte) {
	p := bytes.SplitN(body, []byte{';'}, 10)
	if len(p) < 10 {
		return
	}
	var num [10]int
	var bits [10]byte
	for i, f := range p {
		num[i], _ = strconv.Atoi(string(f))
		if len(f) == 1 && f[0] >= 0x40 {
			bits[i] = f[0]
		}
	}
	e.penFromReport(bits[3], bits[4])
	flags := bits[5]
	e.cur.origin = flags&cirOrigin != 0
	e.moveTo(num[1]-1, num[0]-1)
	e.cur.pending = flags&cirPending != 0 && e.cur.x == e.edge()-1 && !e.scr.lines[e.cur.y].cells[e.cur.x].empty()
	e.setsFromReport(p[9], bits[8])
	cs := &e.cur.charsets
	cs.gl = uint8(clamp(num[6], 0, 3))
	cs.single = 0
	if flags&cirSS2 != 0 {
		cs.single = 2
	} else if flags&cirSS3 != 0 {
		cs.single = 3
	}
	e.setPlain()
}

// penFromReport sets what DECCIR says of the pen; colours stay.
func (e *Engine) penFromReport(rend, prot byte) {
	pen := &e.cur.pen
	for _, a := range cirAttrs {
		pen.Attrs &^= a.attr
		if rend&a.bit != 0 {
			pen.Attrs |= a.attr
		}
	}
	if under := rend&cirUnderline != 0; under != (pen.Underline != 0) {
		pen.Underline = emulator.NoUnderline
		if under {
			pen.Underline = emulator.Single
		}
	}
	e.setProtected(int(prot & cirProtected))
}

// setsFromReport designates G0 to G3 by names written together, size having a
// bit for each set of 96.
func (e *Engine) setsFromReport(names []byte, size byte) {
	for g := 0; g < 4 && len(names) > 0; g++ {
		n := 1
		for n < len(names) && names[n-1] < 0x30 {
			n++
		}
		e.designate(g, size>>g&1 != 0, string(names[:n]))
		names = names[n:]
	}
}

// reportExtent is DECRQDE: the part of the page that shows is all of it.
func (e *Engine) reportExtent() {
	e.sys.Replyf("\x1b[%d;%d;1;1;1\"w", e.rows, e.cols)
}

// reportSupplement is DECRQUPSS: the preferred supplemental set is Latin-1.
func (e *Engine) reportSupplement() { e.sys.Reply("\x1bP1!uA\x1b\\") }
