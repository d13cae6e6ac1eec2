package native

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"

	"cotty/emulator"
)

// This file draws a box in the place of a picture: the cells that it would have
// covered, with its size, so that what comes after stands where it belongs.

// picture is what the keys of a kitty graphics command say of where and how large
// it shows.
type picture struct {
	action        byte // 'T' and 'p' show
	cols, rows    int  // in cells, 0 for as many as it takes
	width, height int  // in pixels, 0 for unknown
	virtual       bool // the program prints the cells itself (U=1)
	stay          bool // the cursor stays (C=1)
}

// readPicture reads the keys in front of a command's payload.
func readPicture(body []byte) picture {
	keys, payload, _ := bytes.Cut(body, []byte{';'})
	g := picture{action: 't'}
	png := false
	for pair := range bytes.SplitSeq(keys, []byte{','}) {
		k, v, _ := bytes.Cut(pair, []byte{'='})
		if len(k) != 1 || len(v) == 0 {
			continue
		}
		n, _ := strconv.Atoi(string(v[:min(len(v), 6)]))
		switch k[0] {
		case 'a':
			g.action = v[0]
		case 'c':
			g.cols = n
		case 'r':
			g.rows = n
		case 's':
			g.width = n
		case 'v':
			g.height = n
		case 'f':
			png = n == 100
		case 'U':
			g.virtual = n == 1
		case 'C':
			g.stay = n == 1
		}
	}
	if png {
		g.width, g.height = pngSize(payload)
	}
	return g
}

// pngSize reads the size of a PNG from the beginning of its base64; 0 when it is
// none.
func pngSize(payload []byte) (w, h int) {
	const need = 24
	var head [need]byte
	payload = payload[:min(len(payload), base64.StdEncoding.EncodedLen(need))]
	if n, _ := base64.StdEncoding.Decode(head[:], payload[:len(payload)/4*4]); n < need || string(head[1:4]) != "PNG" {
		return 0, 0
	}
	size := func(at int) int { return int(min(binary.BigEndian.Uint32(head[at:]), 1<<20)) }
	return size(16), size(20)
}

// kittyImage stands in for a picture of the kitty protocol.
func (e *Engine) kittyImage(body []byte) {
	g := readPicture(body)
	if g.action != 'T' && g.action != 'p' || g.virtual {
		return
	}
	x, y := e.cur.x, e.cur.y
	e.imageBox(g.cols, g.rows, g.width, g.height)
	if g.stay {
		e.settle()
		e.cur.x, e.cur.y = x, y
	}
}

// sixelImage stands in for a sixel picture, whose size its raster attributes may
// tell; the cursor goes below it.
func (e *Engine) sixelImage(body []byte) {
	w, h := 0, 0
	if at, ok := bytes.CutPrefix(body, []byte{'"'}); ok {
		var a, b int
		fmt.Sscanf(string(at[:min(len(at), 40)]), "%d;%d;%d;%d", &a, &b, &w, &h) //nolint:errcheck // then unknown
	}
	x := e.cur.x
	e.imageBox(0, 0, w, h)
	e.index()
	e.cur.x = x
}

// imageBox draws the box from the cursor on, as far as the line has room, scrolling
// as a picture does, and leaves the cursor behind its last row.
func (e *Engine) imageBox(cols, rows, w, h int) {
	label := "[image]"
	if w > 0 && h > 0 {
		label = fmt.Sprintf("[image %d×%d]", w, h)
		if cols == 0 {
			cols = (w + cellWidth - 1) / cellWidth
		}
		if rows == 0 {
			rows = (h + cellHeight - 1) / cellHeight
		}
	}
	e.settle()
	x := e.cur.x
	text := []rune(label)
	if cols == 0 {
		cols = len(text)
	}
	cols = max(min(cols, e.edge()-x), 1)
	rows = min(max(rows, 1), e.rows)
	pen := e.cur.pen
	e.cur.pen = emulator.Style{Attrs: emulator.Faint}
	e.penChanged()
	for row := range rows {
		if row > 0 {
			e.index()
			e.cur.x = x
		}
		for i := range cols {
			r := '░'
			if row == 0 && len(text) <= cols && i < len(text) {
				r = text[i]
			}
			e.print(r, propOf(r))
		}
	}
	e.cur.pen = pen
	e.penChanged()
}
