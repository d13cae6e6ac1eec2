package emulator

import (
	"fmt"
	"unicode/utf8"
)

// Pictures are text: each cell of a picture has a placeholder character, the cell's row and
// column in the picture as combining marks, and the picture's number as colours. So pictures
// scroll, are erased, kept in history and rebuilt by a snapshot like other text. A program
// may also print such cells itself, with its own numbers: kitty's Unicode placeholders.
const (
	// PlaceholderRune stands for a picture that the program named (kitty's graphics
	// protocol, "Unicode placeholders").
	PlaceholderRune rune = 0x10eeee
	// PictureRune stands for a picture that the engine placed. The foreground colour is
	// the engine's number of the placement.
	PictureRune rune = 0x10eeed
)

// MaxPictureSide bounds the rows and the columns of a picture.
const MaxPictureSide = len(marks)

// marks are the combining marks for 0, 1, … (kitty's rowcolumn-diacritics.txt).
var marks = [...]rune{
	0x0305, 0x030d, 0x030e, 0x0310, 0x0312, 0x033d, 0x033e, 0x033f, 0x0346, 0x034a, 0x034b, 0x034c,
	0x0350, 0x0351, 0x0352, 0x0357, 0x035b, 0x0363, 0x0364, 0x0365, 0x0366, 0x0367, 0x0368, 0x0369,
	0x036a, 0x036b, 0x036c, 0x036d, 0x036e, 0x036f, 0x0483, 0x0484, 0x0485, 0x0486, 0x0487, 0x0592,
	0x0593, 0x0594, 0x0595, 0x0597, 0x0598, 0x0599, 0x059c, 0x059d, 0x059e, 0x059f, 0x05a0, 0x05a1,
	0x05a8, 0x05a9, 0x05ab, 0x05ac, 0x05af, 0x05c4, 0x0610, 0x0611, 0x0612, 0x0613, 0x0614, 0x0615,
	0x0616, 0x0617, 0x0657, 0x0658, 0x0659, 0x065a, 0x065b, 0x065d, 0x065e, 0x06d6, 0x06d7, 0x06d8,
	0x06d9, 0x06da, 0x06db, 0x06dc, 0x06df, 0x06e0, 0x06e1, 0x06e2, 0x06e4, 0x06e7, 0x06e8, 0x06eb,
	0x06ec, 0x0730, 0x0732, 0x0733, 0x0735, 0x0736, 0x073a, 0x073d, 0x073f, 0x0740, 0x0741, 0x0743,
	0x0745, 0x0747, 0x0749, 0x074a, 0x07eb, 0x07ec, 0x07ed, 0x07ee, 0x07ef, 0x07f0, 0x07f1, 0x07f3,
	0x0816, 0x0817, 0x0818, 0x0819, 0x081b, 0x081c, 0x081d, 0x081e, 0x081f, 0x0820, 0x0821, 0x0822,
	0x0823, 0x0825, 0x0826, 0x0827, 0x0829, 0x082a, 0x082b, 0x082c, 0x082d, 0x0951, 0x0953, 0x0954,
	0x0f82, 0x0f83, 0x0f86, 0x0f87, 0x135d, 0x135e, 0x135f, 0x17dd, 0x193a, 0x1a17, 0x1a75, 0x1a76,
	0x1a77, 0x1a78, 0x1a79, 0x1a7a, 0x1a7b, 0x1a7c, 0x1b6b, 0x1b6d, 0x1b6e, 0x1b6f, 0x1b70, 0x1b71,
	0x1b72, 0x1b73, 0x1cd0, 0x1cd1, 0x1cd2, 0x1cda, 0x1cdb, 0x1ce0, 0x1dc0, 0x1dc1, 0x1dc3, 0x1dc4,
	0x1dc5, 0x1dc6, 0x1dc7, 0x1dc8, 0x1dc9, 0x1dcb, 0x1dcc, 0x1dd1, 0x1dd2, 0x1dd3, 0x1dd4, 0x1dd5,
	0x1dd6, 0x1dd7, 0x1dd8, 0x1dd9, 0x1dda, 0x1ddb, 0x1ddc, 0x1ddd, 0x1dde, 0x1ddf, 0x1de0, 0x1de1,
	0x1de2, 0x1de3, 0x1de4, 0x1de5, 0x1de6, 0x1dfe, 0x20d0, 0x20d1, 0x20d4, 0x20d5, 0x20d6, 0x20d7,
	0x20db, 0x20dc, 0x20e1, 0x20e7, 0x20e9, 0x20f0, 0x2cef, 0x2cf0, 0x2cf1, 0x2de0, 0x2de1, 0x2de2,
	0x2de3, 0x2de4, 0x2de5, 0x2de6, 0x2de7, 0x2de8, 0x2de9, 0x2dea, 0x2deb, 0x2dec, 0x2ded, 0x2dee,
	0x2def, 0x2df0, 0x2df1, 0x2df2, 0x2df3, 0x2df4, 0x2df5, 0x2df6, 0x2df7, 0x2df8, 0x2df9, 0x2dfa,
	0x2dfb, 0x2dfc, 0x2dfd, 0x2dfe, 0x2dff, 0xa66f, 0xa67c, 0xa67d, 0xa6f0, 0xa6f1, 0xa8e0, 0xa8e1,
	0xa8e2, 0xa8e3, 0xa8e4, 0xa8e5, 0xa8e6, 0xa8e7, 0xa8e8, 0xa8e9, 0xa8ea, 0xa8eb, 0xa8ec, 0xa8ed,
	0xa8ee, 0xa8ef, 0xa8f0, 0xa8f1, 0xaab0, 0xaab2, 0xaab3, 0xaab7, 0xaab8, 0xaabe, 0xaabf, 0xaac1,
	0xfe20, 0xfe21, 0xfe22, 0xfe23, 0xfe24, 0xfe25, 0xfe26, 0x10a0f, 0x10a38, 0x1d185, 0x1d186, 0x1d187,
	0x1d188, 0x1d189, 0x1d1aa, 0x1d1ab, 0x1d1ac, 0x1d1ad, 0x1d242, 0x1d243, 0x1d244,
}

var markNumbers = func() map[rune]int {
	m := make(map[rune]int, len(marks))
	for i, r := range marks {
		m[r] = i
	}
	return m
}()

// Placeholder says which part of which picture a cell shows.
type Placeholder struct {
	Own       bool   // the engine placed it
	ID        uint32 // if Own, the engine's number of the placement, else the program's id of the image
	Placement uint32 // unless Own, the program's id of the placement, 0 for any
	Row, Col  int    // 0-based
}

// Formats of images. Those of kitty's protocol have its numbers.
const (
	FormatRGB   = 24 // row by row
	FormatRGBA  = 32
	FormatPNG   = 100
	FormatFile  = 101 // a JPEG or a GIF, as its first bytes say
	FormatSixel = 102 // the parameters, final byte and body of a DCS
)

// Image is a picture's data as the program sent it. It never changes.
type Image struct {
	Width, Height int    // in pixels
	Format        int    // one of the above
	Zlib          bool   // Data is compressed (RFC 1950)
	Data          []byte // nil if it was dropped for lack of room
}

// Motion is an image's animation, as commands of kitty's protocol. It never changes: if the
// program adds a step, the image gets a new Motion that begins with the same steps.
type Motion struct {
	Steps []Step
	Play  Play
}

// Step is a command of an animation: a frame (a=f), copying a part of one frame into another
// (a=c), or a frame's duration (a=a).
type Step struct {
	Keys string // without the keys of the image's id and the transmission
	Data []byte // of a frame; nil if it was dropped for lack of room
}

// Play says how an animation runs: the keys s, v and c of a=a.
type Play struct{ State, Loops, Frame uint32 }

// Picture is a placed image: the rectangle X, Y, Width, Height of it, in pixels, shown in
// Cols by Rows cells.
type Picture struct {
	Image               *Image
	Cols, Rows          int
	X, Y, Width, Height int
	Motion              *Motion // nil if the image is not animated
}

// Whole reports whether the picture shows the whole image.
func (p *Picture) Whole() bool {
	return p.X == 0 && p.Y == 0 && p.Width == p.Image.Width && p.Height == p.Image.Height
}

// Illustrator is an Emulator that supports pictures.
type Illustrator interface {
	// Picture returns the picture of a placeholder; ok is false if it is deleted or never
	// existed.
	Picture(p Placeholder) (pic Picture, ok bool)
	// SnapshotPictures returns how many bytes of a Snapshot are pictures.
	SnapshotPictures() int
}

// PictureOf is Illustrator.Picture; ok is false also if e supports no pictures.
func PictureOf(e Emulator, p Placeholder) (Picture, bool) {
	if i, ok := e.(Illustrator); ok {
		return i.Picture(p)
	}
	return Picture{}, false
}

// IsPicture reports whether the cell is a part of a picture.
func (c *Cell) IsPicture() bool { return c.Rune == PictureRune || c.Rune == PlaceholderRune }

// AppendPlaceholder appends the text of a picture's cell: char unless it is zero, the marks
// of row and column, and the mark of high, the number's highest byte, unless it is zero.
func AppendPlaceholder(buf []byte, char rune, row, col int, high uint8) []byte {
	if char != 0 {
		buf = utf8.AppendRune(buf, char)
	}
	buf = utf8.AppendRune(buf, marks[row])
	buf = utf8.AppendRune(buf, marks[col])
	if high != 0 {
		buf = utf8.AppendRune(buf, marks[high])
	}
	return buf
}

// low returns the number that a colour stands for: its low 24 bits, or its palette index.
func (c Color) low() uint32 {
	if i, ok := c.Index(); ok {
		return uint32(i)
	}
	return uint32(c) & 0xffffff
}

// Placeholders calls f for each cell of a line that is a part of a picture. Missing marks
// follow from the cell to its left, as in kitty.
func Placeholders(cells []Cell, f func(x int, p Placeholder)) {
	var last Placeholder
	at := -2 // the column of last
	var fg, ul Color
	for x := range cells {
		c := &cells[x]
		if !c.IsPicture() {
			continue
		}
		p := Placeholder{Own: c.Rune == PictureRune, ID: c.Style.FG.low(), Placement: c.Style.UnderlineColor.low()}
		given := [3]int{-1, -1, -1}
		n := 0
		for _, r := range c.Combining {
			if i, ok := markNumbers[r]; ok && n < len(given) {
				given[n] = i
				n++
			}
		}
		follows := at == x-1 && fg == c.Style.FG && ul == c.Style.UnderlineColor && last.Own == p.Own &&
			(given[0] < 0 || given[0] == last.Row) && (given[1] < 0 || given[1] == last.Col+1)
		p.Row, p.Col = max(given[0], 0), max(given[1], 0)
		if follows {
			p.Row, p.Col = last.Row, last.Col+1
			if given[2] < 0 {
				given[2] = int(last.ID >> 24)
			}
		}
		if given[2] > 0 && given[2] < 256 {
			p.ID |= uint32(given[2]) << 24
		}
		last, at, fg, ul = p, x, c.Style.FG, c.Style.UnderlineColor
		f(x, p)
	}
}

// Caption replaces the cells of pictures, for a receiver that can't show these, by a box
// with the image's size, those of deleted pictures by blanks.
func Caption(e Emulator, cells []Cell) {
	Placeholders(cells, func(x int, p Placeholder) {
		pic, ok := PictureOf(e, p)
		cells[x] = CaptionCell(&cells[x], p, pic, ok)
	})
}

// CaptionCell returns the cell that Caption replaces c by. pic and ok are Picture's results
// for p.
func CaptionCell(c *Cell, p Placeholder, pic Picture, ok bool) Cell {
	out := Cell{Width: 1, Style: Style{BG: c.Style.BG}}
	if !ok {
		return out
	}
	out.Rune, out.Style.Attrs = '░', Faint
	label := []rune(fmt.Sprintf("[image %d×%d]", pic.Image.Width, pic.Image.Height))
	if p.Row == 0 && p.Col < len(label) && len(label) <= pic.Cols {
		out.Rune = label[p.Col]
	}
	return out
}
