package vt10x

import "tandemux/emulator"

// sgr changes the pen.
func (e *engine) sgr(s sequence) {
	pen := e.pen
	st := &pen.Style
	if len(s.params) == 0 {
		*st = emulator.Style{}
	}
	for i := 0; i < len(s.params); {
		n := max(0, s.params[i].n)
		end := i + 1
		for end < len(s.params) && s.params[end].sub {
			end++
		}
		switch group := s.params[i:end]; {
		case n == 38 || n == 48 || n == 58:
			c, used, ok := color(s.params[i:], len(group))
			end = i + used
			if ok {
				setColor(st, n, c)
			}
		case n == 4 && len(group) > 1:
			if u := group[1].n; u >= 0 && u <= int(emulator.Dashed) {
				st.Underline = emulator.Underline(u)
			}
		case len(group) > 1:
			// Sub-parameters that nothing defines.
		default:
			attribute(st, n)
		}
		i = end
	}
	e.setPen(pen)
}

// sgrAttrs are the attributes that a plain SGR number sets and clears.
var sgrAttrs = map[int]struct{ clear, set emulator.Attrs }{
	1: {set: emulator.Bold}, 2: {set: emulator.Faint}, 3: {set: emulator.Italic},
	5: {set: emulator.Blink}, 6: {set: emulator.Blink}, 7: {set: emulator.Reverse},
	8: {set: emulator.Conceal}, 9: {set: emulator.Strike}, 53: {set: emulator.Overline},
	22: {clear: emulator.Bold | emulator.Faint}, 23: {clear: emulator.Italic},
	25: {clear: emulator.Blink}, 27: {clear: emulator.Reverse},
	28: {clear: emulator.Conceal}, 29: {clear: emulator.Strike}, 55: {clear: emulator.Overline},
}

func attribute(st *emulator.Style, n int) {
	if a, ok := sgrAttrs[n]; ok {
		st.Attrs = st.Attrs&^a.clear | a.set
		return
	}
	switch {
	case n == 0:
		*st = emulator.Style{Attrs: st.Attrs & emulator.Protected}
	case n == 4:
		st.Underline = emulator.Single
	case n == 21:
		st.Underline = emulator.Double
	case n == 24:
		st.Underline = emulator.NoUnderline
	case n >= 30 && n <= 37:
		st.FG = emulator.Indexed(uint8(n - 30))
	case n == 39:
		st.FG = 0
	case n >= 40 && n <= 47:
		st.BG = emulator.Indexed(uint8(n - 40))
	case n == 49:
		st.BG = 0
	case n == 59:
		st.UnderlineColor = 0
	case n >= 90 && n <= 97:
		st.FG = emulator.Indexed(uint8(n - 90 + 8))
	case n >= 100 && n <= 107:
		st.BG = emulator.Indexed(uint8(n - 100 + 8))
	}
}

func setColor(st *emulator.Style, n int, c emulator.Color) {
	switch n {
	case 38:
		st.FG = c
	case 48:
		st.BG = c
	case 58:
		st.UnderlineColor = c
	}
}

// color reads the colour of a 38, 48 or 58 at the start of ps, whose own
// sub-parameters are the first group. It gives how many parameters it took:
// 38;5;n and 38;2;r;g;b, or 38:5:n, 38:2:r:g:b and 38:2:space:r:g:b.
func color(ps []param, group int) (c emulator.Color, used int, ok bool) {
	colons := group > 1
	if !colons {
		group = len(ps)
	}
	if group < 2 {
		return 0, group, false
	}
	used = group
	v := ps[2:group]
	switch ps[1].n {
	case 5:
		if !colons {
			used = min(3, group)
		}
		if len(v) < 1 || v[0].n > 255 {
			return 0, used, false
		}
		return emulator.Indexed(uint8(max(0, v[0].n))), used, true
	case 2:
		if !colons {
			used = min(5, group)
		} else if len(v) > 3 {
			v = v[1:] // The colour space.
		}
		if len(v) < 3 {
			return 0, used, false
		}
		for _, p := range v[:3] {
			if p.n > 255 {
				return 0, used, false
			}
		}
		return emulator.RGB(byteOf(v[0]), byteOf(v[1]), byteOf(v[2])), used, true
	}
	if !colons {
		used = 2
	}
	return 0, used, false
}

func byteOf(p param) uint8 { return uint8(max(0, p.n)) }
