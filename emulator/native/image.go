package native

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"tandemux/emulator"
	"tandemux/emulator/control"
	"tandemux/emulator/picture"
)

// This file prints pictures: cells that stand for the parts of a picture or, if it can't be
// shown, a box of its size, so that later output is in its place. A cell counts as cellWidth
// by cellHeight pixels whatever its size on an outer terminal, so that a picture takes the
// same cells for every viewer.

// placePicture prints an image from the cursor on. Of a virtual placement, whose cells the
// program prints itself, it only remembers the size.
func (e *Engine) placePicture(g *graphic, st *stored) (problem string) {
	pic := emulator.Picture{Image: st.im, X: int(g.x), Y: int(g.y), Width: st.im.Width, Height: st.im.Height}
	if g.parent != 0 {
		return "ENOTSUP:relative placements are not supported"
	}
	if pic.X >= pic.Width || pic.Y >= pic.Height {
		return "EINVAL:nothing of the image is left"
	}
	if pic.Width -= pic.X; g.w > 0 {
		pic.Width = min(pic.Width, int(min(g.w, maxImageSide)))
	}
	if pic.Height -= pic.Y; g.h > 0 {
		pic.Height = min(pic.Height, int(min(g.h, maxImageSide)))
	}
	pic.Cols, pic.Rows = cellsOf(pic.Width, pic.Height, int(min(g.cols, maxImageSide)), int(min(g.rows, maxImageSide)))
	if g.virtual {
		if st.virtual == nil {
			st.virtual = map[uint32][2]int{}
		}
		if _, ok := st.virtual[g.placement]; !ok && len(st.virtual) >= maxVirtual {
			return "ENOSPC:too many placements"
		}
		st.virtual[g.placement] = [2]int{pic.Cols, pic.Rows}
		e.damageAll = true // its cells may have been printed already
		return ""
	}
	if st.id != 0 && g.placement != 0 {
		e.forget(func(p *placed) bool { return p.of == st && p.p == g.placement })
	}
	e.printPicture(e.pics.add(&placed{Picture: pic, of: st, id: st.id, p: g.placement, z: g.z}), pic, g)
	return ""
}

// cellsOf returns the size in cells of a picture of w by h pixels. If cols or rows is 0, it
// follows from the other one, if both are, from the pixels.
func cellsOf(w, h, cols, rows int) (int, int) {
	up := func(a, b int) int { return (a + b - 1) / b }
	switch {
	case cols == 0 && rows == 0:
		cols, rows = up(w, cellWidth), up(h, cellHeight)
	case rows == 0:
		rows = up(cols*cellWidth*h, w*cellHeight)
	case cols == 0:
		cols = up(rows*cellHeight*w, h*cellWidth)
	}
	return clamp(cols, 1, emulator.MaxPictureSide), clamp(rows, 1, emulator.MaxPictureSide)
}

// printPicture prints the cells of placement n and cuts what lies beyond the line's end. A
// picture below text (z < 0) does not overwrite text.
func (e *Engine) printPicture(n uint32, pic emulator.Picture, g *graphic) {
	x, y := e.cur.x, e.cur.y
	pen, link := e.cur.pen, e.link
	e.cur.pen = emulator.Style{FG: emulator.RGB(uint8(n>>16), uint8(n>>8), uint8(n)), BG: pen.BG}
	e.link = nil
	e.penChanged()
	e.block(pic.Cols, pic.Rows, func(row, col int) (cell, bool) {
		if c := e.scr.lines[e.cur.y].cells[e.cur.x]; g.z < 0 && !c.empty() && c&(clusterBit|runeMask) != ' ' {
			if p, n := e.placement(c); p == nil && n == 0 {
				return 0, false
			}
		}
		e.textBuf = emulator.AppendPlaceholder(e.textBuf[:0], emulator.PictureRune, row, col, 0)
		if len(e.texts.list) >= e.texts.limit {
			e.texts.collect(&e.screens[0], &e.screens[1])
		}
		return e.texts.intern(e.textBuf) | e.penCell(), true
	})
	e.cur.pen, e.link = pen, link
	e.penChanged()
	e.last.ok = false
	if g.stay {
		e.settle()
		e.cur.x, e.cur.y = x, y
	}
}

// block prints cells from the cursor on, as far as the line has room. It scrolls as needed
// and leaves the cursor at the end of the last row. what returns a cell, or false to leave
// the present one.
func (e *Engine) block(cols, rows int, what func(row, col int) (cell, bool)) {
	e.settle()
	x := e.cur.x
	cols = max(min(cols, e.edge()-x), 1)
	insert := e.modes.Has(control.Insert)
	e.modes.Put(control.Insert, false)
	for row := range rows {
		if row > 0 {
			e.index()
			e.cur.x = x
		}
		for col := range min(cols, e.edge()-x) { // none if x is behind the end of a line of double size
			if c, ok := what(row, col); ok {
				e.cur.pending = false
				e.place(c, 1, 1)
			} else if e.cur.x+1 < e.edge() {
				e.cur.x++
			} else {
				e.cur.pending = true
			}
		}
	}
	e.modes.Put(control.Insert, insert)
}

// sixelImage shows a sixel picture. The cursor ends on its last row, in the column where
// it was, as in xterm.
func (e *Engine) sixelImage(body []byte) {
	im := &emulator.Image{Format: emulator.FormatSixel}
	im.Data = append(append(strconv.AppendInt(nil, int64(e.parser.Raw(0)), 10), 'q'), body...)
	var ok bool
	im.Width, im.Height, ok = picture.SixelSize(im.Data)
	x := e.cur.x
	switch {
	case ok:
		e.keep(&graphic{action: 'T'}, im)
	case im.Width > 0 && im.Height > 0:
		e.imageBox(0, 0, im.Width, im.Height)
	default:
		return // it draws nothing
	}
	e.settle()
	e.cur.x = x
}

// imageBox prints a box of cols by rows cells, 0 for unknown, instead of a picture that is
// not kept. w and h are its pixels, 0 for unknown.
func (e *Engine) imageBox(cols, rows, w, h int) {
	text := []rune("[image]")
	if w > 0 && h > 0 {
		text = []rune(fmt.Sprintf("[image %d×%d]", w, h))
		cols, rows = cellsOf(w, h, cols, rows)
	}
	if cols == 0 {
		cols = len(text)
	}
	pen, link := e.cur.pen, e.link
	e.cur.pen, e.link = emulator.Style{Attrs: emulator.Faint}, nil
	e.penChanged()
	room := max(min(cols, e.edge()-e.cur.x), 1)
	e.block(cols, min(max(rows, 1), e.rows), func(row, col int) (cell, bool) {
		if row == 0 && len(text) <= room && col < len(text) {
			return cell(text[col]) | e.penCell(), true
		}
		return '░' | e.penCell(), true
	})
	e.cur.pen, e.link = pen, link
	e.penChanged()
	e.last.ok = false
}

// oscITerm is OSC 1337. Of its commands, CurrentDir, ReportCellSize and inline images are
// supported.
func (e *Engine) oscITerm(b []byte) {
	if dir, ok := bytes.CutPrefix(b, []byte("CurrentDir=")); ok {
		e.sys.Cwd(dir)
	}
	if string(b) == "ReportCellSize" {
		e.sys.Replyf("\x1b]1337;ReportCellSize=%d.0;%d.0;1.0\x1b\\", cellHeight, cellWidth)
	}
	if file, ok := bytes.CutPrefix(b, []byte("File=")); ok {
		e.inlineFile(file)
	}
}

// inlineFile shows iTerm2's inline image: keys, a colon, base64. Data of an unknown format
// becomes a box.
func (e *Engine) inlineFile(file []byte) {
	keys, data, ok := bytes.Cut(file, []byte{':'})
	args := map[string]string{}
	for pair := range strings.SplitSeq(string(keys), ";") {
		k, v, _ := strings.Cut(pair, "=")
		args[k] = v
	}
	if !ok || args["inline"] != "1" {
		return
	}
	raw, err := base64.RawStdEncoding.AppendDecode(nil, bytes.TrimRight(data, "="))
	if err != nil || len(raw) > maxImageBytes {
		return
	}
	cols, rows := itermSize(args["width"], e.cols, cellWidth), itermSize(args["height"], e.rows, cellHeight)
	im := &emulator.Image{Data: raw}
	if im.Format, im.Width, im.Height, ok = picture.Size(raw); !ok || !sanePixels(im.Width, im.Height) {
		e.imageBox(cols, max(rows, 1), 0, 0)
		return
	}
	if args["preserveAspectRatio"] != "0" {
		cols, rows = within(im.Width, im.Height, cols, rows)
	}
	e.keep(&graphic{action: 'T', cols: uint32(cols), rows: uint32(rows), stay: args["doNotMoveCursor"] == "1"}, im)
}

// within returns the size in cells of a picture that keeps its aspect ratio and fits into
// cols by rows. A zero one is left, to follow from the other.
func within(w, h, cols, rows int) (int, int) {
	if cols == 0 || rows == 0 {
		return cols, rows
	}
	if c, _ := cellsOf(w, h, 0, rows); c < cols {
		return c, rows
	}
	_, r := cellsOf(w, h, cols, 0)
	return cols, min(r, rows)
}

// itermSize parses a size in cells, pixels ("40px") or percent of the screen ("50%"), and
// returns it in cells. Zero, for anything else, is the image's own size.
func itermSize(s string, screen, cell int) int {
	number := strings.TrimRight(s, "px%")
	n, err := strconv.Atoi(number)
	if err != nil || n <= 0 || n > maxImageSide {
		return 0
	}
	switch s[len(number):] {
	case "":
		return n
	case "px":
		return (n + cell - 1) / cell
	case "%":
		return max(screen*min(n, 100)/100, 1)
	}
	return 0
}
