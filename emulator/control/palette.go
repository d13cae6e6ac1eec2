package control

import (
	"bytes"
	"fmt"
	"strconv"

	"tandemux/emulator"
)

// SetColors is what the outer terminal shows from now on; a change between light and
// dark is reported when the program wants to know.
func (s *System) SetColors(c emulator.Colors, wants bool) {
	was := s.Outer.Dark()
	if s.Outer = c; wants && c.Dark() != was {
		s.reportScheme()
	}
}

func (s *System) setDynamic(n int, c emulator.Color) {
	switch n {
	case 10:
		s.Palette.FG = c
	case 11:
		s.Palette.BG = c
	case 12:
		s.Palette.Cursor = c
	}
	s.Repaint = true
}

// oscDynamic is OSC 10, 11, 12: colours, or question marks, of n and those that
// follow it.
func (s *System) oscDynamic(n int, b []byte, bell bool) {
	for _, spec := range bytes.Split(b, []byte{';'}) {
		if n > 12 {
			return
		}
		if string(spec) == "?" {
			s.replyColor(strconv.Itoa(n), s.Palette.Dynamic(n, s.Outer), bell)
		} else if c, ok := emulator.ParseColor(string(spec)); ok {
			s.setDynamic(n, c)
		}
		n++
	}
}

// oscPalette is OSC 4: pairs of index and colour, or question mark.
func (s *System) oscPalette(b []byte, bell bool) {
	parts := bytes.Split(b, []byte{';'})
	for i := 0; i+1 < len(parts); i += 2 {
		n, err := strconv.ParseUint(string(parts[i]), 10, 8)
		if err != nil {
			continue
		}
		if string(parts[i+1]) == "?" {
			s.replyColor(fmt.Sprintf("4;%d", n), s.Palette.At(uint8(n), s.Outer), bell)
		} else if c, ok := emulator.ParseColor(string(parts[i+1])); ok {
			if s.Palette.Indexed == nil {
				s.Palette.Indexed = map[uint8]emulator.Color{}
			}
			s.Palette.Indexed[uint8(n)] = c
			s.Repaint = true
		}
	}
}

// oscResetPalette is OSC 104: some colours, or all.
func (s *System) oscResetPalette(b []byte, _ bool) {
	s.Repaint = true
	if len(b) == 0 {
		s.Palette.Indexed = nil
		return
	}
	for _, p := range bytes.Split(b, []byte{';'}) {
		if n, err := strconv.ParseUint(string(p), 10, 8); err == nil {
			delete(s.Palette.Indexed, uint8(n))
		}
	}
	if len(s.Palette.Indexed) == 0 {
		s.Palette.Indexed = nil
	}
}

// replyColor answers a question for a colour, ended as the question was.
func (s *System) replyColor(what string, c emulator.Color, bell bool) {
	end := "\x1b\\"
	if bell {
		end = "\a"
	}
	r, g, b, _ := c.RGB()
	s.Reply(fmt.Sprintf("\x1b]%s;rgb:%02x%02x/%02x%02x/%02x%02x%s", what, r, r, g, g, b, b, end))
}
