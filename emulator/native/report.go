package native

import "tandemux/emulator"

// Cells are of a nominal size: an engine knows no pixels.
const (
	cellWidth  = emulator.CellWidth
	cellHeight = emulator.CellHeight
)

// deviceAttributes is what DECID and DA1 ask for, in xterm's order and as far as it is
// so: a VT420 (64) with selective erase (6),
// horizontal scrolling (21), colour (22) and rectangles (28). deviceAttributes2 is DA2:
// a VT420 as xterm says it, whose patch level stands for what is here: programs take
// what they may use from it. deviceAttributes3 is DA3: the unit's number, "ctty" in
// hexadecimal.
const (
	deviceAttributes  = "\x1b[?64;6;21;22;28c"
	deviceAttributes2 = "\x1b[>41;390;0c"
	deviceAttributes3 = "\x1bP!|63747479\x1b\\"
)

// atZero answers what is asked for by a parameter of zero.
func atZero(answer string) func(*Engine) {
	return func(e *Engine) {
		if e.parser.Raw(0) == 0 {
			e.sys.Reply(answer)
		}
	}
}

// reportResize is what mode 2048 reports.
func (e *Engine) reportResize() {
	e.sys.Replyf("\x1b[48;%d;%d;%d;%dt", e.rows, e.cols, e.rows*cellHeight, e.cols*cellWidth)
}

// keyModifierOptions is XTMODKEYS; only modifyOtherKeys is kept.
func (e *Engine) keyModifierOptions() {
	if e.parser.Raw(0) == 4 {
		e.modes.KeyMods = min(e.parser.Raw(1), 2)
	} else if e.parser.Raw(0) == 0 {
		e.modes.KeyMods = 0
	}
}
