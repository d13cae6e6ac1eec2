package filter

import (
	"bytes"

	"tandemux/host/terminal/medium"
)

// This file has the filter's steps in strings: DCS and what is passed on of
// OSC, APC, PM and SOS.

func (f *Filter) stepDCS(c *cursor) {
	b := c.p[c.i]
	switch {
	case b == esc:
		f.restart(c)
	case b == can || b == sub:
		c.i++
		f.finish(c)
	case b >= 0x80:
		f.finish(c)
	case b < 0x20 || b == 0x7f:
		c.i++
		f.full(c, passString)
	case b < 0x40:
		if c.i++; b < 0x30 {
			f.addInter(b)
		} else {
			f.number = 1
		}
		f.full(c, passString)
	default:
		c.i++
		if b == 'q' && (f.inter == '$' || f.inter == '+') { // DECRQSS, XTGETTCAP
			f.state = inQuery
			return
		}
		f.passOn(c)
		f.state = passString
		if b == 't' && f.inter == 0 && f.number == 0 {
			f.tmux = 1
		}
	}
}

// scan moves over a string's body up to a byte that may end it. It reports
// false when the chunk, or the room for an undecided one, ends first.
func (f *Filter) scan(c *cursor, body []byte) bool {
	for n, b := range body {
		if b < 0x20 && (b == esc || b == can || b == sub || b == bel && (f.kind == ']' || f.kind == 'k')) {
			c.i += n
			return true
		}
	}
	c.i += len(body)
	return false
}

func (f *Filter) stepQuery(c *cursor) {
	if !f.scan(c, f.room(c)) {
		f.full(c, passString)
		return
	}
	b := c.p[c.i]
	c.i++
	if b == esc {
		f.state = inQueryEsc
	} else {
		f.finish(c) // cancelled
	}
}

func (f *Filter) stepQueryEscape(c *cursor) {
	if c.p[c.i] == '\\' {
		c.i++
		if f.kind != '_' || !f.fetch(c) {
			f.drop(c, c.i)
		}
		return
	}
	f.splitEscape(c)
}

// splitEscape ends an undecided string that the ESC just seen cuts short, and
// begins a sequence with that ESC. The string means nothing, but an OSC that
// would have been passed on as it came must be, however the input is split.
func (f *Filter) splitEscape(c *cursor) {
	stop := c.i - 1
	early := c.i == c.seq // the ESC came with an earlier chunk
	if early {
		stop = c.i
		f.held = f.held[:len(f.held)-1]
	}
	if v, _ := f.judge(c, stop, false); f.kind == ']' && v == stays {
		f.passOn(c)
		c.seq = stop
		f.torn = true
	} else {
		f.discard(c, stop)
	}
	if early {
		f.held = append(f.held, esc)
	}
	f.cutShort()
}

func (f *Filter) stepPassString(c *cursor) {
	if f.tmux > 0 && f.tmux < len(tmuxMark) {
		if c.p[c.i] != tmuxMark[f.tmux] {
			f.tmux = 0
		} else {
			f.tmux++
			c.i++
		}
		return
	}
	if !f.scan(c, c.p[c.i:]) {
		return
	}
	b := c.p[c.i]
	c.i++
	if b == esc {
		f.state = passEscape
	} else {
		f.finish(c)
	}
}

// tmuxMark begins a DCS in which every ESC is doubled (tmux's passthrough).
const tmuxMark = "tmux;"

func (f *Filter) stepPassEscape(c *cursor) {
	b := c.p[c.i]
	switch {
	case b == '\\':
		c.i++
		f.finish(c)
	case b == esc && f.tmux == len(tmuxMark):
		c.i++
		f.passOn(c)
		f.state = passString
	default: // that ESC begins a sequence
		flushed := c.i == c.seq && len(f.held) == 0
		if c.i > c.seq {
			c.seq = c.i - 1
		}
		f.torn = true
		f.cutShort()
		if flushed {
			f.keep([]byte{esc})
		}
	}
}

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
		case asks, b == ';' && f.Media != nil && medium.Names(keys):
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

// fetch puts what a graphics command names, which ends before p[i], in its place; where
// that can't be had the command stays. It reports false for a question, of which nothing
// stays.
func (f *Filter) fetch(c *cursor) (stays bool) {
	const intro, end = 3, 2 // ESC _ G, ESC \
	whole := f.sequence(c, c.i)
	if len(whole) < intro+end {
		return false
	}
	command := whole[intro : len(whole)-end]
	var data []byte
	keys, payload, _ := bytes.Cut(command, []byte{';'})
	if f.Media != nil && medium.Names(keys) {
		data = f.Media(command)
	}
	asks, named := readKeys(keys)
	if asks {
		return false
	}
	if data == nil {
		data = append(append(data, "\x1b_G"...), keys...)
		if named {
			data = append(data, ",q=2"...)
		}
		data = append(append(append(data, ';'), payload...), "\x1b\\"...)
	}
	f.discard(c, c.i)
	if f.torn || len(f.begun) > 0 { // it must not become part of what was cut short
		c.dst = append(c.dst, can)
	}
	c.dst = append(c.dst, data...)
	f.finish(c)
	return true
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
