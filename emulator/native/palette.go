package native

import (
	"bytes"
	"fmt"
	"strconv"

	"tandemux/emulator"
)

// What OSC 10, 11 and 12 answer while the outer terminal's colours are unknown.
var (
	defaultFG = emulator.RGB(0xe5, 0xe5, 0xe5)
	defaultBG = emulator.RGB(0, 0, 0)
)

// SetColors implements emulator.Emulator.
func (e *Engine) SetColors(c emulator.Colors) {
	was := e.dark()
	e.outer = c
	if e.flags.has(flagScheme) && e.dark() != was {
		e.reportScheme()
	}
}

// dark reports whether the background is nearer to black.
func (e *Engine) dark() bool {
	r, g, b, ok := e.outer.BG.RGB()
	return !ok || 299*int(r)+587*int(g)+114*int(b) < 128*1000
}

// colorOf gives what colour n (10 text, 11 background, 12 cursor) is now.
func (e *Engine) colorOf(n int) emulator.Color {
	set, outer, def := e.palette.FG, e.outer.FG, defaultFG
	switch n {
	case 11:
		set, outer, def = e.palette.BG, e.outer.BG, defaultBG
	case 12:
		set, outer = e.palette.Cursor, e.outer.Cursor
	}
	for _, c := range []emulator.Color{set, outer} {
		if _, _, _, ok := c.RGB(); ok {
			return c
		}
	}
	return def
}

// indexedColor gives what palette colour i is now.
func (e *Engine) indexedColor(i uint8) emulator.Color {
	if c, ok := e.palette.Indexed[i]; ok {
		return c
	}
	if int(i) < len(e.outer.Indexed) {
		if c := e.outer.Indexed[i]; !c.IsDefault() {
			return c
		}
	}
	return emulator.RGB(emulator.PaletteRGB(i))
}

func (e *Engine) setDynamic(n int, c emulator.Color) {
	switch n {
	case 10:
		e.palette.FG = c
	case 11:
		e.palette.BG = c
	case 12:
		e.palette.Cursor = c
	}
	e.damageAll = true
}

// oscDynamic is OSC 10, 11, 12: colours, or question marks, of n and those that
// follow it.
func (e *Engine) oscDynamic(n int, b []byte, bell bool) {
	for _, spec := range bytes.Split(b, []byte{';'}) {
		if n > 12 {
			return
		}
		if string(spec) == "?" {
			e.replyColor(strconv.Itoa(n), e.colorOf(n), bell)
		} else if c, ok := parseColor(string(spec)); ok {
			e.setDynamic(n, c)
		}
		n++
	}
}

// oscPalette is OSC 4: pairs of index and colour, or question mark.
func (e *Engine) oscPalette(b []byte, bell bool) {
	parts := bytes.Split(b, []byte{';'})
	for i := 0; i+1 < len(parts); i += 2 {
		n, err := strconv.ParseUint(string(parts[i]), 10, 16)
		if err != nil {
			continue
		}
		if n > 255 {
			e.specialColor(int(n)-256, fmt.Sprintf("4;%d", n), string(parts[i+1]), bell)
			continue
		}
		if string(parts[i+1]) == "?" {
			e.replyColor(fmt.Sprintf("4;%d", n), e.indexedColor(uint8(n)), bell)
		} else if c, ok := parseColor(string(parts[i+1])); ok {
			if e.palette.Indexed == nil {
				e.palette.Indexed = map[uint8]emulator.Color{}
			}
			e.palette.Indexed[uint8(n)] = c
			e.damageAll = true
		}
	}
}

// maxSpecial is the number of special colours: bold, underline, blink, reverse,
// italic. They are kept and told, but text is drawn in them by no terminal that
// isn't set up to, nor here.
const maxSpecial = 5

// specialColor sets special colour i or says what it is.
func (e *Engine) specialColor(i int, name, spec string, bell bool) {
	if i >= maxSpecial {
		return
	}
	if spec == "?" {
		c := e.special[i]
		if c.IsDefault() {
			c = e.colorOf(10)
		}
		e.replyColor(name, c, bell)
	} else if c, ok := parseColor(spec); ok {
		e.special[i] = c
	}
}

// oscSpecial is OSC 5: pairs of a special colour's number and colour, or
// question mark.
func (e *Engine) oscSpecial(b []byte, bell bool) {
	parts := bytes.Split(b, []byte{';'})
	for i := 0; i+1 < len(parts); i += 2 {
		if n, err := strconv.ParseUint(string(parts[i]), 10, 8); err == nil {
			e.specialColor(int(n), fmt.Sprintf("5;%d", n), string(parts[i+1]), bell)
		}
	}
}

// oscResetSpecial is OSC 105: some special colours, or all.
func (e *Engine) oscResetSpecial(b []byte, _ bool) {
	if len(b) == 0 {
		e.special = [maxSpecial]emulator.Color{}
		return
	}
	for _, p := range bytes.Split(b, []byte{';'}) {
		if n, err := strconv.ParseUint(string(p), 10, 8); err == nil && n < maxSpecial {
			e.special[n] = 0
		}
	}
}

// oscResetPalette is OSC 104: some colours, or all.
func (e *Engine) oscResetPalette(b []byte, _ bool) {
	e.damageAll = true
	if len(b) == 0 {
		e.palette.Indexed = nil
		return
	}
	for _, p := range bytes.Split(b, []byte{';'}) {
		switch n, err := strconv.ParseUint(string(p), 10, 16); {
		case err != nil:
		case n < 256:
			delete(e.palette.Indexed, uint8(n))
		case n < 256+maxSpecial:
			e.special[n-256] = 0
		}
	}
	if len(e.palette.Indexed) == 0 {
		e.palette.Indexed = nil
	}
}

// replyColor answers a question for a colour, ended as the question was.
func (e *Engine) replyColor(what string, c emulator.Color, bell bool) {
	end := "\x1b\\"
	if bell {
		end = "\a"
	}
	r, g, b, _ := c.RGB()
	e.reply(fmt.Sprintf("\x1b]%s;rgb:%02x%02x/%02x%02x/%02x%02x%s", what, r, r, g, g, b, b, end))
}

// parseColor reads rgb:R/G/B with one to four digits each, #RGB with one to four
// digits each, and names (XParseColor).
func parseColor(s string) (emulator.Color, bool) {
	var part [3]string
	if rest, ok := bytes.CutPrefix([]byte(s), []byte("rgb:")); ok {
		p := bytes.Split(rest, []byte{'/'})
		if len(p) != 3 {
			return 0, false
		}
		for i := range part {
			part[i] = string(p[i])
		}
	} else if len(s) > 1 && s[0] == '#' && (len(s)-1)%3 == 0 && len(s) <= 13 {
		n := (len(s) - 1) / 3
		for i := range part {
			part[i] = s[1+i*n : 1+(i+1)*n]
		}
	} else {
		return namedColor(s)
	}
	var v [3]uint8
	for i, p := range part {
		if len(p) < 1 || len(p) > 4 {
			return 0, false
		}
		n, err := strconv.ParseUint(p, 16, 16)
		if err != nil {
			return 0, false
		}
		if s[0] == '#' {
			// The digits are the high ones.
			v[i] = uint8(n << (16 - 4*len(p)) >> 8)
		} else {
			v[i] = uint8(n * 255 / (1<<(4*len(p)) - 1))
		}
	}
	return emulator.RGB(v[0], v[1], v[2]), true
}
