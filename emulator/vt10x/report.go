package vt10x

import (
	"fmt"
	"strings"

	"tandemux/emulator"
)

// What this terminal says it is: a VT220 with ANSI colour.
const (
	deviceAttributes    = "\x1b[?62;22c"
	secondaryAttributes = "\x1b[>1;10;0c"
	tertiaryAttributes  = "\x1bP!|00000000\x1b\\"
)

func (e *engine) attributes(s sequence, answer string) {
	if s.at(0, 0) == 0 {
		e.reply(answer)
	}
}

func (e *engine) reportVersion(s sequence) {
	if s.at(0, 0) == 0 {
		e.reply("\x1bP>|" + clean(e.version, 64) + "\x1b\\")
	}
}

// status is DSR.
func (e *engine) status(s sequence) {
	switch s.at(0, 0) {
	case 5:
		e.reply("\x1b[0n")
	case 6:
		e.reply(e.position("\x1b["))
	}
}

// privateStatus is the DEC DSR: the cursor's place, no printer, keys unlocked,
// light or dark.
func (e *engine) privateStatus(s sequence) {
	switch s.at(0, 0) {
	case 6:
		e.reply(e.position("\x1b[?")) // A VT220 has no pages.
	case 15:
		e.reply("\x1b[?13n")
	case 25:
		e.reply("\x1b[?21n")
	case 996:
		e.reportScheme()
	}
}

func (e *engine) reportScheme() {
	if e.outer.Dark() {
		e.reply("\x1b[?997;1n")
	} else {
		e.reply("\x1b[?997;2n")
	}
}

// SetColors implements emulator.Emulator.
func (e *engine) SetColors(c emulator.Colors) {
	was := e.outer.Dark()
	e.outer = c
	if e.modes.ColorScheme && c.Dark() != was {
		e.reportScheme()
	}
}

// position is the cursor report, relative to the region under origin mode.
func (e *engine) position(intro string) string {
	x, y, _ := e.at()
	if e.flags.origin {
		y -= e.top
	}
	return fmt.Sprintf("%s%d;%dR", intro, y+1, x+1)
}

// reportMode is DECRQM: 1 set, 2 reset, 0 unknown.
func (e *engine) reportMode(s sequence, prefix string, table map[int]mode) {
	n := s.at(0, 0)
	v := 0
	if m, ok := table[n]; ok {
		v = 2
		if m.get(e) {
			v = 1
		}
	}
	e.reply(fmt.Sprintf("\x1b[%s%d;%d$y", prefix, n, v))
}

// window is XTWINOPS, of which the size and the title stack are known.
func (e *engine) window(s sequence) {
	switch s.at(0, 0) {
	case 18:
		e.reply(fmt.Sprintf("\x1b[8;%d;%dt", e.rows, e.cols))
	case 19:
		e.reply(fmt.Sprintf("\x1b[9;%d;%dt", e.rows, e.cols))
	case 22:
		if s.at(1, 0) == 1 {
			return // The icon's title.
		}
		if len(e.titles) == maxTitles {
			e.titles = append(e.titles[:0], e.titles[1:]...)
		}
		e.titles = append(e.titles, e.title)
	case 23:
		if n := len(e.titles); n > 0 && s.at(1, 0) != 1 {
			title := e.titles[n-1]
			e.titles = e.titles[:n-1]
			e.setTitle(title)
		}
	}
}

// dcs runs a DCS: DECRQSS and XTGETTCAP, which knows nothing.
func (e *engine) dcs(text string) {
	switch {
	case strings.HasPrefix(text, "$q"):
		e.reportSetting(text[2:])
	case strings.HasPrefix(text, "+q"):
		e.reply("\x1bP0+r\x1b\\")
	}
}

// reportSetting is DECRQSS.
func (e *engine) reportSetting(name string) {
	switch name {
	case "m":
		e.reply("\x1bP1$r" + emulator.StyleReport(e.pen.Style) + "m\x1b\\")
	case "r":
		e.reply(fmt.Sprintf("\x1bP1$r%d;%dr\x1b\\", e.top+1, e.bottom+1))
	case " q":
		n := 2*int(e.cursor.Shape) + 2
		if e.cursor.Blink || e.cursor.Default {
			n--
		}
		e.reply(fmt.Sprintf("\x1bP1$r%d q\x1b\\", n))
	case "\"p":
		e.reply("\x1bP1$r62;1\"p\x1b\\")
	default:
		e.reply("\x1bP0$r\x1b\\")
	}
}
