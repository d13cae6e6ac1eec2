package filter

import "bytes"

// maxKeys bounds the keys of a graphics command; a longer one is passed on.
const maxKeys = 1 << 10

// stepKeys looks at what begins an application program command: kitty's graphics
// ask with a=q, and all that have a number want an answer, which the host gives.
// Questions go, others tell viewers to be quiet. What is not of that protocol stays
// as it is.
func (f *Filter) stepKeys(c *cursor) {
	const intro = 2 // ESC _
	at := len(f.held) + c.i - c.seq
	b := c.p[c.i]
	switch {
	case at == intro && b != 'G', at >= maxKeys:
		f.passOn(c)
		f.state = passString
	case b == can || b == sub:
		c.i++
		f.finish(c)
	case b == ';' || b == esc:
		keys := f.sequence(c, c.i)[intro+1:]
		asks, named := readKeys(keys)
		switch {
		case asks && b == esc:
			c.i++
			f.state = inQueryEsc
		case asks:
			c.i++
			f.state = inQuery
		case named:
			f.hold(c, c.i)
			f.held = append(f.held, ",q=2"...)
			fallthrough
		default:
			f.passOn(c)
			f.state = passString
		}
	default:
		c.i++
	}
}

// readKeys reports whether the command asks, and whether it names an image and so
// wants an answer.
func readKeys(keys []byte) (asks, named bool) {
	for pair := range bytes.SplitSeq(keys, []byte{','}) {
		switch {
		case bytes.Equal(pair, []byte("a=q")):
			asks = true
		case bytes.HasPrefix(pair, []byte("i=")), bytes.HasPrefix(pair, []byte("I=")):
			named = true
		}
	}
	return asks, named
}
