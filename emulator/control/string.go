package control

// beginString starts the body of a control string; kind is what followed ESC.
func (ps *Parser) beginString(kind byte) {
	ps.state, ps.kind = stString, kind
	ps.str, ps.over = ps.str[:0], false
}

// beginDCS starts a DCS body after its final byte.
func (ps *Parser) beginDCS(final byte) {
	ps.beginString('P')
	ps.Final = final
}

// bound is how long the string may become.
func (ps *Parser) bound() int {
	switch {
	case ps.kind == 'P' && ps.Final == 'q' && ps.NInter == 0, ps.kind == '_', ps.kind == ']' && len(ps.str) > 3 && string(ps.str[:4]) == "1337":
		return maxImage
	case ps.kind == ']' && len(ps.str) > 3 && string(ps.str[:3]) == "52;":
		return maxOSC52
	case ps.kind == 'X' || ps.kind == '^':
		return 0
	}
	return maxString
}

// body consumes a string's body.
func (ps *Parser) body(p []byte, h Handler) int {
	for i, b := range p {
		if b >= 0x20 {
			continue
		}
		switch b {
		case 0x1b:
			ps.collect(p[:i])
			ps.state = stStringEsc
			return i + 1
		case 0x07:
			if ps.kind != ']' && ps.kind != 'k' {
				continue
			}
			ps.collect(p[:i])
			ps.end(true, h)
			return i + 1
		case 0x18, 0x1a:
			ps.drop()
			return i + 1
		}
	}
	ps.collect(p)
	return len(p)
}

// collect keeps a part of the body. Going over the bound is decided by length
// alone, so that it doesn't depend on how the input is split.
func (ps *Parser) collect(b []byte) {
	if ps.over || len(b) == 0 {
		return
	}
	if ps.kind == ']' && len(ps.str) < 4 {
		// The bound depends on the OSC's number.
		n := min(4-len(ps.str), len(b))
		ps.str = append(ps.str, b[:n]...)
		b = b[n:]
	}
	if len(ps.str)+len(b) > ps.bound() {
		ps.over = true
		ps.str = ps.str[:min(len(ps.str), 4)]
		return
	}
	ps.str = append(ps.str, b...)
}

// drop forgets the string.
func (ps *Parser) drop() {
	ps.state = stGround
	if cap(ps.str) > keepString {
		ps.str = nil
	}
	ps.str, ps.over = ps.str[:0], false
}

// stringEsc handles the byte after an ESC within a string: a backslash ends it,
// anything else drops it and begins a sequence of its own, as in xterm.
func (ps *Parser) stringEsc(b byte, h Handler) int {
	if b == '\\' {
		ps.end(false, h)
		return 1
	}
	ps.drop()
	ps.Escape()
	return 0
}

// end handles a complete string.
func (ps *Parser) end(bell bool, h Handler) {
	ps.state = stGround
	if c := (Command{ps.kind, ps.str, bell}); ps.over {
		h.ControlString(Command{})
	} else {
		h.ControlString(c)
	}
	ps.drop()
}
