package native

// charset is a graphic set that can be designated; only these change anything,
// all others print as ASCII.
type charset uint8

const (
	setASCII charset = iota
	setGraphics
	setUK
)

// charsets is the state of ISO 2022: four sets, the one in GL, and one for the
// next character only.
type charsets struct {
	g      [4]charset
	gl     uint8
	single uint8 // SS2, SS3: 2 or 3, else 0
}

func (c *charsets) active() bool {
	return c.single != 0 || c.g[c.gl] != setASCII
}

// mapByte gives what an ASCII byte prints and ends a single shift.
func (c *charsets) mapByte(b byte) rune {
	set := c.g[c.gl]
	if c.single != 0 {
		set = c.g[c.single]
		c.single = 0
	}
	switch {
	case set == setGraphics && b >= 0x5f && b <= 0x7e:
		return graphics[b-0x5f]
	case set == setUK && b == '#':
		return '£'
	}
	return rune(b)
}

// graphics is DEC Special Graphics from 0x5f on (VT100 user guide, table 3-9).
var graphics = [32]rune{
	' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼',
	'⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
}

// setFinals maps the final byte of a designation to its set.
var setFinals = map[byte]charset{'0': setGraphics, '2': setGraphics, 'A': setUK}

// setPlain works out whether ASCII may be printed as it is.
func (e *Engine) setPlain() {
	e.plain = !e.cur.charsets.active() && !e.flags.has(flagInsert)
}
