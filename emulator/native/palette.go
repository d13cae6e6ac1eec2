package native

import (
	"bytes"
	"fmt"
	"strconv"

	"tandemux/emulator"
)

// SetColors implements emulator.Emulator.
func (e *Engine) SetColors(c emulator.Colors) {
	was := e.outer.Dark()
	e.outer = c
	if e.flags.has(flagScheme) && c.Dark() != was {
		e.reportScheme()
	}
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
			e.replyColor(strconv.Itoa(n), e.palette.Dynamic(n, e.outer), bell)
		} else if c, ok := emulator.ParseColor(string(spec)); ok {
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
			e.replyColor(fmt.Sprintf("4;%d", n), e.palette.At(uint8(n), e.outer), bell)
		} else if c, ok := emulator.ParseColor(string(parts[i+1])); ok {
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
			c = e.palette.Dynamic(10, e.outer)
		}
		e.replyColor(name, c, bell)
	} else if c, ok := emulator.ParseColor(spec); ok {
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
