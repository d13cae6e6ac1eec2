package emulator

import (
	"strconv"
	"unicode/utf8"
)

// Ground is what lies under the cells that AppendLine writes.
type Ground uint8

// The grounds.
const (
	// OnBlank: a line that is empty in the default style, whose cells may be
	// skipped.
	OnBlank Ground = iota
	// OnOld: old content, and the cells reach the line's right edge, so that the
	// tail may be erased to the end of the line.
	OnOld
	// OnSpan: old content on both sides; nothing outside the cells is touched.
	OnSpan
)

// AppendLine appends what draws cells from the cursor's place rightwards, for
// a receiver that understands everything. See Profile.AppendLine.
func AppendLine(buf []byte, cells []Cell, on Ground, pen *Pen) []byte {
	return Full.AppendLine(buf, cells, on, pen)
}

// AppendLine appends what draws cells from the cursor's place rightwards: runs
// of text with the fewest style and hyperlink changes, blanks skipped or erased
// where that is shorter than spaces. pen is what the receiver has and is
// brought up to date; its style may differ from the last cell's.
//
// The receiver's cursor ends behind the last cell that was printed or skipped
// over; an empty tail under OnBlank and OnOld does not move it. A last cell
// that was printed in the last column leaves it waiting to wrap. Insert mode
// must be off. No control character of a cell is passed on.
func (p Profile) AppendLine(buf []byte, cells []Cell, on Ground, pen *Pen) []byte {
	end := len(cells)
	if on != OnSpan {
		end = p.textEnd(cells, on)
	}
	for x := 0; x < end; {
		if n := plainRun(cells[x:end], pen); n > 0 {
			for i := range cells[x : x+n] {
				buf = append(buf, byte(cells[x+i].Rune))
			}
			x += n
			continue
		}
		if n := p.blankRun(cells[x:end]); n > 0 {
			buf = p.appendBlank(buf, cells[x:x+n], on, pen)
			x += n
			continue
		}
		c := &cells[x]
		buf = p.setPen(buf, pen, c)
		buf = appendGlyph(buf, c, x+1 < len(cells) && cells[x+1].Width == 0)
		if c.Width == 2 && x+1 < len(cells) && cells[x+1].Width == 0 {
			x++
		}
		x++
	}
	if end < len(cells) {
		buf = p.appendTail(buf, &cells[end], on, pen)
	}
	return buf
}

// plainRun is the length of the run of ASCII cells at the start of cells that
// the pen can write as it is.
func plainRun(cells []Cell, pen *Pen) int {
	if pen.Link != "" {
		return 0
	}
	for i := range cells {
		c := &cells[i]
		if c.Rune <= ' ' || c.Rune >= 0x7f || c.Combining != "" || c.Link != "" || c.Style != pen.Style {
			return i
		}
	}
	return len(cells)
}

// textEnd is where the tail of equal blanks begins that needs no cells of its
// own: it is erased to the end of the line, or there is nothing to do.
func (p Profile) textEnd(cells []Cell, on Ground) int {
	n := len(cells)
	if n == 0 {
		return 0
	}
	bg := cells[n-1].Style.BG
	if !p.BCE && !bg.IsDefault() && p.Colors != NoColors {
		return n
	}
	for n > 0 && p.blank(&cells[n-1]) && cells[n-1].Style.BG == bg {
		n--
	}
	// One blank is as cheap written as erased, except that it moves the cursor
	// into the state of waiting to wrap; erasing is right in both.
	return n
}

// blank reports whether c can be made by erasing with its background.
func (p Profile) blank(c *Cell) bool {
	if c.Rune == 0 {
		return c.Width == 1 && c.Link == ""
	}
	if p.KeepEmpty || c.Rune != ' ' || c.Combining != "" || c.Width != 1 || c.Link != "" && p.Hyperlinks {
		return false
	}
	return c.Style.Underline == NoUnderline && c.Style.Attrs&(Reverse|Strike|Overline) == 0
}

// blankRun is the length of the run of erasable blanks of one background at
// the start of cells, 0 when they are better written as characters.
func (p Profile) blankRun(cells []Cell) int {
	if !p.blank(&cells[0]) {
		return 0
	}
	bg := cells[0].Style.BG
	n := 1
	for n < len(cells) && p.blank(&cells[n]) && cells[n].Style.BG == bg {
		n++
	}
	if !p.BCE && !bg.IsDefault() || !p.KeepEmpty && n < 8 {
		return 0
	}
	return n
}

// appendBlank makes a run of blanks in the middle of a line and moves over it.
func (p Profile) appendBlank(buf []byte, run []Cell, on Ground, pen *Pen) []byte {
	n := int64(len(run))
	if on != OnBlank || !run[0].Style.BG.IsDefault() {
		buf = p.setErase(buf, pen, run[0].Style.BG)
		buf = appendCount(buf, n, 'X')
	}
	return appendCount(buf, n, 'C')
}

// appendTail erases from the cursor to the end of the line.
func (p Profile) appendTail(buf []byte, c *Cell, on Ground, pen *Pen) []byte {
	if on == OnBlank && c.Style.BG.IsDefault() {
		return buf
	}
	buf = p.setErase(buf, pen, c.Style.BG)
	return append(buf, "\x1b[K"...)
}

// setErase gives the pen a background to erase with. Only the background
// counts, so that a pen which has it already is left alone.
func (p Profile) setErase(buf []byte, pen *Pen, bg Color) []byte {
	if p.color(pen.Style.BG) == p.color(bg) {
		return buf
	}
	to := pen.Style
	to.BG = bg
	if bg.IsDefault() {
		to = Style{Attrs: to.Attrs & Protected}
	}
	buf = p.AppendStyle(buf, pen.Style, to)
	pen.Style = to
	return buf
}

// setPen gives the pen a cell's style and hyperlink.
func (p Profile) setPen(buf []byte, pen *Pen, c *Cell) []byte {
	if pen.Style != c.Style {
		buf = p.AppendStyle(buf, pen.Style, c.Style)
		pen.Style = c.Style
	}
	if p.Hyperlinks && (pen.Link != c.Link || pen.LinkID != c.LinkID) {
		buf = AppendLink(buf, c.Link, c.LinkID)
		pen.Link, pen.LinkID = c.Link, c.LinkID
	}
	return buf
}

// AppendPen appends what turns one pen into another.
func (p Profile) AppendPen(buf []byte, from, to Pen) []byte {
	return p.setPen(buf, &from, &Cell{Style: to.Style, Link: to.Link, LinkID: to.LinkID})
}

// appendGlyph appends a cell's text; whole says that a wide character has its
// second cell behind it.
func appendGlyph(buf []byte, c *Cell, whole bool) []byte {
	r := c.Rune
	switch {
	case r >= 0x20 && r < 0x7f:
		buf = append(buf, byte(r))
	case r < 0xa0 || c.Width == 0 || c.Width == 2 && !whole || !utf8.ValidRune(r):
		return append(buf, ' ')
	default:
		buf = utf8.AppendRune(buf, r)
	}
	if c.Combining == "" {
		return buf
	}
	for _, r := range c.Combining {
		if r >= 0xa0 {
			buf = utf8.AppendRune(buf, r)
		}
	}
	return buf
}

// appendCount appends CSI n final, the n left out when it is 1.
func appendCount(buf []byte, n int64, final byte) []byte {
	buf = append(buf, "\x1b["...)
	if n > 1 {
		buf = strconv.AppendInt(buf, n, 10)
	}
	return append(buf, final)
}
