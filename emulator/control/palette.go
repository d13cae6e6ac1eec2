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

// colors are those that a program set. What is not in emulator.Palette changes nothing
// that is drawn and is there to be asked for, by its number: 13 to 19 as OSC has them,
// from 256 on special ones (OSC 5), and those that only OSC 21 knows.
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

// dynamicLike says what a colour that was not set is: another dynamic one, as xterm has it.
var dynamicLike = map[int]int{13: 10, 14: 11, 15: 10, 16: 11, 17: 10, 18: 12, 19: 11}

// keyedColors are OSC 21's names.
var keyedColors = map[string]int{
	"foreground": 10, "background": 11, "cursor": 12, "selection_background": 17, "selection_foreground": 19,
	"cursor_text": cursorText, "visual_bell": visualBell,
}

// clone gives a copy that shares nothing.
func (c *colors) clone() colors {
	out := *c
	out.Indexed, out.others = maps.Clone(c.Indexed), maps.Clone(c.others)
	return out
}

// SetColors is what the outer terminal shows from now on; a change between light and
// dark is reported when the program wants to know.
func (s *System) SetColors(c emulator.Colors, wants bool) {
	was := s.Outer.Dark()
	if s.Outer = c; wants && c.Dark() != was {
		s.reportScheme()
	}
}

// dynamic gives where a dynamic colour of the palette is; nil for others.
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

// put sets a colour of a map, and takes it out for the default; an empty map is nil.
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

// setDynamic sets a dynamic colour or one of those that change nothing.
func (s *System) setDynamic(n int, c emulator.Color) {
	if to := s.Palette.dynamic(n); to != nil {
		*to = c
		s.Repaint = true
	} else {
		put(&s.Palette.others, n, c)
	}
}

// setIndexed sets a colour by its number in OSC 4, the special ones behind the others.
func (s *System) setIndexed(n int, c emulator.Color) {
	if n >= specialColors {
		s.setDynamic(n, c)
	} else {
		put(&s.Palette.Indexed, uint8(n), c)
		s.Repaint = true
	}
}

// at is what a colour is now, by its number in OSC 4 or as a dynamic one.
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
	return s.Palette.Dynamic(n, s.Outer) // The special ones look as text does.
}

// oscDynamic is OSC 10 to 19: colours, or question marks, of n and those that
// follow it.
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

// oscPalette is OSC 4 and OSC 5: pairs of index and colour, or question mark. The
// indices of OSC 5 are those of the special colours.
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

// oscResetPalette is OSC 104 and OSC 105: some colours, or all.
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

// oscKeyed is OSC 21: keys that are set (=colour), left to the terminal (= or nothing)
// or asked for (=?). A key that is not known is told encoded.
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

// ending ends an answer as the question was.
func ending(bell bool) string {
	if bell {
		return "\a"
	}
	return "\x1b\\"
}

// replyColor answers a question for a colour.
func (s *System) replyColor(what string, c emulator.Color, bell bool) {
	r, g, b, _ := c.RGB()
	s.Replyf("\x1b]%s;rgb:%02x%02x/%02x%02x/%02x%02x%s", what, r, r, g, g, b, b, ending(bell))
}

// palettes is XTPUSHCOLORS's stack, of which each place can also be used by its number.
type palettes struct {
	kept [maxPalettes]colors
	used int // pushed and not popped
	last int // kept at all
}

// PushColors is XTPUSHCOLORS: on the stack, or with a number into that place.
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

// PopColors is XTPOPCOLORS.
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

// ReportColors is XTREPORTCOLORS.
func (s *System) ReportColors() {
	s.Replyf("\x1b[?%d;%d#Q", s.palettes.used, s.palettes.last)
}

// append appends what sets the colours where none are set.
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

// noColors takes all colours back that a program set.
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
