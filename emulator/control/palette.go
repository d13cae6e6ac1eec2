package control

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"tandemux/emulator"
)

// colors are the colours that a program set. Those outside emulator.Palette change nothing that is
// drawn and can only be queried, by number: 13 to 19 as in OSC, from 256 on the special ones (OSC 5),
// and those that only OSC 21 knows.
type colors struct {
	emulator.Palette
	others map[int]emulator.Color
}

const (
	specialColors = 256 // bold, underline, blink, reverse, italic
	endSpecial    = specialColors + 5
	cursorText    = 300
	visualBell    = 301

	maxPalettes = 10 // of XTPUSHCOLORS
)

// dynamicLike maps a dynamic colour that was not set to the one whose value it has, as in xterm.
var dynamicLike = map[int]int{13: 10, 14: 11, 15: 10, 16: 11, 17: 10, 18: 12, 19: 11}

// keyedColors maps the names of OSC 21 to the numbers of colours.
var keyedColors = map[string]int{
	"foreground": 10, "background": 11, "cursor": 12, "selection_background": 17, "selection_foreground": 19,
	"cursor_text": cursorText, "visual_bell": visualBell,
}

// clone returns a copy that shares no memory.
func (c *colors) clone() colors {
	out := *c
	out.Indexed, out.others = maps.Clone(c.Indexed), maps.Clone(c.others)
	return out
}

// SetColors sets the colours that the outer terminal shows from now on. If wants is set, a change
// between light and dark is reported to the program.
func (s *System) SetColors(c emulator.Colors, wants bool) {
	was := s.Outer.Dark()
	if s.Outer = c; wants && c.Dark() != was {
		s.reportScheme()
	}
}

// dynamic returns the address of a dynamic colour of the palette, nil for others.
func (c *colors) dynamic(n int) *emulator.Color {
	switch n {
	case 10:
		return &c.FG
	case 11:
		return &c.BG
	case 12:
		return &c.Cursor
	}
	return nil
}

// put sets a colour in a map, or removes it for the default; an empty map becomes nil.
func put[K comparable](m *map[K]emulator.Color, k K, c emulator.Color) {
	if c.IsDefault() {
		if delete(*m, k); len(*m) == 0 {
			*m = nil
		}
		return
	}
	if *m == nil {
		*m = map[K]emulator.Color{}
	}
	(*m)[k] = c
}

// setDynamic sets a dynamic colour, also one of those that change nothing.
func (s *System) setDynamic(n int, c emulator.Color) {
	if to := s.Palette.dynamic(n); to != nil {
		*to = c
		s.Repaint = true
	} else {
		put(&s.Palette.others, n, c)
	}
}

// setIndexed sets a colour by its number in OSC 4; the special ones come after the others.
func (s *System) setIndexed(n int, c emulator.Color) {
	if n >= specialColors {
		s.setDynamic(n, c)
	} else {
		put(&s.Palette.Indexed, uint8(n), c)
		s.Repaint = true
	}
}

// at returns a colour's present value, by its number in OSC 4 or as a dynamic one.
func (s *System) at(n int, indexed bool) emulator.Color {
	if indexed && n < specialColors {
		return s.Palette.At(uint8(n), s.Outer)
	}
	if c, ok := s.Palette.others[n]; ok {
		return c
	}
	if like, ok := dynamicLike[n]; ok {
		n = like
	}
	return s.Palette.Dynamic(n, s.Outer) // The special colours look like text.
}

// oscDynamic is OSC 10 to 19: colours or question marks, for colour n and those that follow.
func (s *System) oscDynamic(n int, b []byte, bell bool) {
	for _, spec := range bytes.Split(b, []byte{';'}) {
		if n > 19 {
			return
		}
		if string(spec) == "?" {
			s.replyColor(strconv.Itoa(n), s.at(n, false), bell)
		} else if c, ok := emulator.ParseColor(string(spec)); ok {
			s.setDynamic(n, c)
		}
		n++
	}
}

// oscPalette is OSC 4 and OSC 5: pairs of an index and a colour or question mark. OSC 5 has the
// indices of the special colours.
func (s *System) oscPalette(osc, first int, b []byte, bell bool) {
	parts := bytes.Split(b, []byte{';'})
	for i := 0; i+1 < len(parts); i += 2 {
		n, ok := colorIndex(parts[i], first)
		if !ok {
			continue
		}
		if string(parts[i+1]) == "?" {
			s.replyColor(fmt.Sprintf("%d;%d", osc, n-first), s.at(n, true), bell)
		} else if c, ok := emulator.ParseColor(string(parts[i+1])); ok {
			s.setIndexed(n, c)
		}
	}
}

// colorIndex reads the number of a colour, counted from first.
func colorIndex(b []byte, first int) (int, bool) {
	n, err := strconv.ParseUint(string(b), 10, 16)
	return int(n) + first, err == nil && int(n)+first < endSpecial
}

// oscResetPalette is OSC 104 and OSC 105: it resets some colours, or all.
func (s *System) oscResetPalette(first int, b []byte) {
	if len(b) == 0 {
		for n := first; n < endSpecial; n++ {
			s.setIndexed(n, 0)
		}
		return
	}
	for _, p := range bytes.Split(b, []byte{';'}) {
		if n, ok := colorIndex(p, first); ok {
			s.setIndexed(n, 0)
		}
	}
}

// oscKeyed is OSC 21: it sets keys (=colour), leaves them to the terminal (= or nothing), or queries
// them (=?). An unknown key is encoded in the answer.
func (s *System) oscKeyed(b []byte, bell bool) {
	var answer []byte
	for _, field := range bytes.Split(b, []byte{';'}) {
		key, value, _ := bytes.Cut(bytes.TrimSpace(field), []byte{'='})
		n, indexed := colorIndex(key, 0)
		indexed = indexed && n < specialColors
		if !indexed {
			var known bool
			if n, known = keyedColors[string(key)]; !known {
				if string(value) == "?" && len(key) <= 64 {
					answer = fmt.Appendf(answer, ";unknown=%s", base64.RawStdEncoding.EncodeToString(key))
				}
				continue
			}
		}
		set := func(c emulator.Color) {
			if indexed {
				s.setIndexed(n, c)
			} else {
				s.setDynamic(n, c)
			}
		}
		switch spec, _, _ := bytes.Cut(value, []byte{'@'}); {
		case string(value) == "?":
			answer = append(append(append(answer, ';'), key...), '=')
			if _, set := s.Palette.others[n]; indexed || set || n < 12 || n == 12 && s.Palette.Cursor|s.Outer.Cursor != 0 {
				r, g, b, _ := s.at(n, indexed).RGB()
				answer = fmt.Appendf(answer, "rgb:%02x/%02x/%02x", r, g, b)
			}
		case len(value) == 0:
			set(0)
		default:
			if c, ok := emulator.ParseColor(string(spec)); ok {
				set(c)
			}
		}
	}
	if answer != nil {
		s.Reply("\x1b]21" + string(answer) + ending(bell))
	}
}

// ending returns the terminator of an answer, which is the query's.
func ending(bell bool) string {
	if bell {
		return "\a"
	}
	return "\x1b\\"
}

// replyColor answers a query of a colour.
func (s *System) replyColor(what string, c emulator.Color, bell bool) {
	r, g, b, _ := c.RGB()
	s.Replyf("\x1b]%s;rgb:%02x%02x/%02x%02x/%02x%02x%s", what, r, r, g, g, b, b, ending(bell))
}

// palettes is the stack of XTPUSHCOLORS, whose places can also be used by number.
type palettes struct {
	kept [maxPalettes]colors
	used int // pushed and not popped
	last int // the highest place that was written
}

// PushColors executes XTPUSHCOLORS: it pushes the colours or, with a number, stores them in that
// place.
func (s *System) PushColors(place int) {
	p := &s.palettes
	i := place - 1
	if place == 0 {
		i = p.used
	}
	if i >= maxPalettes {
		return
	}
	p.kept[i] = s.Palette.clone()
	if place == 0 {
		p.used++
	}
	p.last = max(p.last, i+1)
}

// PopColors executes XTPOPCOLORS.
func (s *System) PopColors(place int) {
	p := &s.palettes
	i := place - 1
	if place == 0 {
		if i = p.used - 1; i >= 0 {
			p.used--
		}
	}
	if i < 0 || i >= p.last {
		return
	}
	s.Palette = p.kept[i].clone()
	s.Repaint = true
}

// ReportColors answers XTREPORTCOLORS.
func (s *System) ReportColors() {
	s.Replyf("\x1b[?%d;%d#Q", s.palettes.used, s.palettes.last)
}

// append appends what sets the colours, if none are set before.
func (c *colors) append(buf []byte) []byte {
	color := func(name string, c emulator.Color) {
		if r, g, b, ok := c.RGB(); ok {
			buf = fmt.Appendf(buf, "\x1b]%s%02x/%02x/%02x\x1b\\", name, r, g, b)
		}
	}
	for _, i := range slices.Sorted(maps.Keys(c.Indexed)) {
		color(fmt.Sprintf("4;%d;rgb:", i), c.Indexed[i])
	}
	for n := 10; n <= 12; n++ {
		color(fmt.Sprintf("%d;rgb:", n), *c.dynamic(n))
	}
	for _, n := range slices.Sorted(maps.Keys(c.others)) {
		name := fmt.Sprintf("%d;rgb:", n)
		switch {
		case n == cursorText:
			name = "21;cursor_text=rgb:"
		case n == visualBell:
			name = "21;visual_bell=rgb:"
		case n >= specialColors:
			name = "4;" + name
		}
		color(name, c.others[n])
	}
	return buf
}

// noColors resets all colours that a program set.
const noColors = "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\\x1b]113\x1b\\\x1b]114\x1b\\\x1b]115\x1b\\" +
	"\x1b]116\x1b\\\x1b]117\x1b\\\x1b]118\x1b\\\x1b]119\x1b\\\x1b]21;cursor_text;visual_bell\x1b\\"

// append appends to a snapshot what fills the stack.
func (p *palettes) append(buf []byte) []byte {
	for i := range p.last {
		buf = p.kept[i].append(buf)
		if i < p.used {
			buf = append(buf, "\x1b[#P"...)
		} else {
			buf = fmt.Appendf(buf, "\x1b[%d#P", i+1)
		}
		buf = append(buf, noColors...)
	}
	return buf
}
