package control

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"tandemux/emulator"
)

// CursorState is what DECCIR reports about the cursor.
type CursorState struct {
	X, Y            int
	Pending, Origin bool // it waits to wrap; DECOM is set
	Pen             emulator.Style
	Sets            Charsets
}

// renditions maps the bits of a rendition to attributes, without underlined.
var renditions = map[int]emulator.Attrs{1: emulator.Bold, 4: emulator.Blink, 8: emulator.Reverse}

const underlined = 2

// Report returns the report. GR is always G2, as what is printed is UTF-8.
func (c *CursorState) Report() string {
	rendition := 0
	if c.Pen.Underline != emulator.NoUnderline {
		rendition = underlined
	}
	for bit, a := range renditions {
		if c.Pen.Attrs&a != 0 {
			rendition |= bit
		}
	}
	var names string
	var sizes [len(c.Sets.G)]bool
	for i, set := range c.Sets.G {
		names += set.Name()
		sizes[i] = set == Latin1
	}
	return fmt.Sprintf("%d;%d;1;%c;%c;%c;%d;2;%c;%s", c.Y+1, c.X+1, '@'+rendition, bitsOf(c.Pen.Attrs&emulator.Protected != 0),
		bitsOf(c.Origin, c.Sets.Single == 2, c.Sets.Single == 3, c.Pending), c.Sets.GL, bitsOf(sizes[:]...), names)
}

// Restore sets the state from a report, except colours, and reports whether the report was valid.
func (c *CursorState) Restore(report string, national bool) bool {
	f := strings.Split(report, ";")
	var n [10]int
	if len(f) != len(n) {
		return false
	}
	for i, field := range f[:len(n)-1] {
		if v, err := strconv.Atoi(field); err == nil {
			n[i] = v
		} else if len(field) == 1 && field[0] >= '@' {
			n[i] = int(field[0] &^ '@')
		} else {
			return false
		}
	}
	c.Y, c.X = max(n[0]-1, 0), max(n[1]-1, 0)
	c.Pen.Underline = emulator.NoUnderline
	if n[3]&underlined != 0 {
		c.Pen.Underline = emulator.Single
	}
	put := func(a emulator.Attrs, on bool) {
		if c.Pen.Attrs &^= a; on {
			c.Pen.Attrs |= a
		}
	}
	for bit, a := range renditions {
		put(a, n[3]&bit != 0)
	}
	put(emulator.Protected, n[4]&1 != 0)
	c.Origin, c.Pending = n[5]&1 != 0, n[5]&8 != 0
	switch c.Sets.GL = uint8(n[6] & 3); {
	case n[5]&2 != 0:
		c.Sets.Single = 2
	case n[5]&4 != 0:
		c.Sets.Single = 3
	}
	for i, from, names := 0, 0, f[9]; i < len(c.Sets.G) && from < len(names); i++ {
		to := from
		for to < len(names)-1 && names[to] < '0' { // Intermediate bytes.
			to++
		}
		c.Sets.Designate(i, n[8]>>i&1 != 0, names[from:to+1], national)
		from = to + 1
	}
	return true
}

// bitsOf returns a character that has a bit for each true value.
func bitsOf(on ...bool) (b byte) {
	for i, on := range on {
		if on {
			b |= 1 << i
		}
	}
	return '@' | b
}

// maxSized bounds the text of one OSC 66, in bytes.
const maxSized = 4096

// ParseSized takes OSC 66 apart: key=value:… ; text. scale is 1 to 7, width 0 (that of
// the text) to 7; ok is false for a malformed one. What says how large text is drawn in
// its cells (n, d, v, h) is left out.
func ParseSized(b []byte) (scale, width int, text string, ok bool) {
	meta, t, ok := bytes.Cut(b, []byte{';'})
	if !ok || len(t) > maxSized {
		return 0, 0, "", false
	}
	scale = 1
	for field := range bytes.SplitSeq(meta, []byte{':'}) {
		key, value, _ := bytes.Cut(field, []byte{'='})
		n, err := strconv.ParseUint(string(value), 10, 8)
		switch {
		case len(field) == 0, string(key) != "s" && string(key) != "w":
		case err != nil || n > 7 || n == 0 && key[0] == 's':
			return 0, 0, "", false
		case key[0] == 's':
			scale = int(n)
		default:
			width = int(n)
		}
	}
	return scale, width, clean(t, maxSized), true
}
