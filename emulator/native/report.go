package native

import (
	"fmt"
	"strings"

	"tandemux/emulator"
)

// Cells are of a nominal size: an engine knows no pixels.
const (
	cellWidth  = emulator.CellWidth
	cellHeight = emulator.CellHeight
)

// reply is for the pty.
func (e *Engine) reply(s string) { e.event(emulator.EventReply, "", s) }

func (e *Engine) replyf(format string, args ...any) { e.reply(fmt.Sprintf(format, args...)) }

// deviceAttributes is DA1.
func (e *Engine) deviceAttributes() {
	if e.raw(0) == 0 {
		e.identify()
	}
}

// identify says what DECID and DA1 ask for, in xterm's order and as far as it is
// so: a VT420 (64) with selective erase (6), terminal state reports (17),
// horizontal scrolling (21), colour (22) and rectangles (28).
func (e *Engine) identify() { e.reply("\x1b[?64;6;17;21;22;28c") }

// deviceAttributes2 is DA2: a VT420 as xterm says it, whose patch level stands
// for what is here. Programs take what they may use from it.
func (e *Engine) deviceAttributes2() {
	if e.raw(0) == 0 {
		e.reply("\x1b[>41;390;0c")
	}
}

// deviceAttributes3 is DA3: the unit's number, "ctty" in hexadecimal.
func (e *Engine) deviceAttributes3() {
	if e.raw(0) == 0 {
		e.reply("\x1bP!|63747479\x1b\\")
	}
}

// reportVersion is XTVERSION.
func (e *Engine) reportVersion() {
	if e.raw(0) != 0 {
		return
	}
	v := clean([]byte(e.version), 64)
	switch {
	case v == "":
		v = "tandemux"
	case !strings.HasPrefix(v, "tandemux"):
		v = "tandemux(" + v + ")"
	}
	e.reply("\x1bP>|" + v + "\x1b\\")
}

// statusReport is DSR.
func (e *Engine) statusReport() {
	switch e.raw(0) {
	case 5:
		e.reply("\x1b[0n")
	case 6:
		e.replyf("\x1b[%d;%dR", e.line()+1, e.column()+1)
	}
}

// privateReports are the answers to DSR with a question mark that are always
// the same: no printer, no user-defined keys locked, a North American
// keyboard, no locator, no macros, no data errors, no sessions.
var privateReports = map[int]string{
	15: "\x1b[?13n",
	25: "\x1b[?20n",
	26: "\x1b[?27;1;0;0n",
	53: "\x1b[?50n",
	55: "\x1b[?50n",
	56: "\x1b[?57;0n",
	62: "\x1b[0*{",
	75: "\x1b[?70n",
	85: "\x1b[?83n",
}

func (e *Engine) privateStatusReport() {
	switch n := e.raw(0); n {
	case 6:
		if e.level < 4 {
			e.replyf("\x1b[?%d;%dR", e.line()+1, e.column()+1) // No pages yet.
			return
		}
		e.replyf("\x1b[?%d;%d;1R", e.line()+1, e.column()+1)
	case 63:
		e.replyf("\x1bP%d!~0000\x1b\\", e.raw(1))
	case 996:
		e.reportScheme()
	default:
		if s, ok := privateReports[n]; ok {
			e.reply(s)
		}
	}
}

func (e *Engine) reportScheme() {
	if e.outer.Dark() {
		e.reply("\x1b[?997;1n")
	} else {
		e.reply("\x1b[?997;2n")
	}
}

// reportMode is DECRQM.
func (e *Engine) reportMode(table map[int]mode, prefix string) {
	if e.level < 3 {
		return
	}
	n := e.raw(0)
	e.replyf("\x1b[%s%d;%d$y", prefix, n, e.modeState(table, n))
}

// reportResize is what mode 2048 reports.
func (e *Engine) reportResize() {
	e.replyf("\x1b[48;%d;%d;%d;%dt", e.rows, e.cols, e.rows*cellHeight, e.cols*cellWidth)
}

// reportKitty is the kitty keyboard protocol's question.
func (e *Engine) reportKitty() {
	e.replyf("\x1b[?%du", e.scr.kitty.flags())
}

// keyModifierOptions is XTMODKEYS; only modifyOtherKeys is kept.
func (e *Engine) keyModifierOptions() {
	if e.raw(0) == 4 {
		e.keyMods = min(e.raw(1), 2)
	} else if e.raw(0) == 0 {
		e.keyMods = 0
	}
}

func (e *Engine) resetKeyModifierOptions() {
	if e.raw(0) == 4 {
		e.keyMods = 0
	}
}

func (e *Engine) reportKeyModifierOptions() {
	if e.raw(0) == 4 {
		e.replyf("\x1b[>4;%dm", e.keyMods)
	}
}

// reportParameters is DECREQTPARM.
func (e *Engine) reportParameters() {
	if n := e.raw(0); n <= 1 {
		e.replyf("\x1b[%d;1;1;128;128;1;0x", n+2)
	}
}

// windowOp is XTWINOPS, of which the reports of size and the title stack are
// there. The title is never reported: a child could have put commands in it.
func (e *Engine) windowOp() {
	switch e.raw(0) {
	case 11:
		e.reply("\x1b[1t")
	case 13:
		e.reply("\x1b[3;0;0t")
	case 14:
		e.replyf("\x1b[4;%d;%dt", e.rows*cellHeight, e.cols*cellWidth)
	case 15:
		e.replyf("\x1b[5;%d;%dt", e.rows*cellHeight, e.cols*cellWidth)
	case 16:
		e.replyf("\x1b[6;%d;%dt", cellHeight, cellWidth)
	case 18:
		e.replyf("\x1b[8;%d;%dt", e.rows, e.cols)
	case 19:
		e.replyf("\x1b[9;%d;%dt", e.rows, e.cols)
	case 20:
		e.reply("\x1b]L\x1b\\")
	case 21:
		e.reply("\x1b]l\x1b\\")
	case 22:
		if what := e.raw(1); what != 1 {
			if len(e.titles) == maxTitles {
				e.titles = e.titles[1:]
			}
			e.titles = append(e.titles, e.title)
		}
	case 23:
		if n := len(e.titles); e.raw(1) != 1 && n > 0 {
			title := e.titles[n-1]
			e.titles = e.titles[:n-1]
			e.setTitle(title)
		}
	}
}
