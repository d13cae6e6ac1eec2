package native

import "cotty/emulator"

// Mark says what a shell said about a line (OSC 133, 633).
type Mark uint8

// The marks of a line.
const (
	MarkPrompt Mark = 1 << iota // a prompt begins on it
	MarkInput                   // the command line begins on it
	MarkOutput                  // output begins on it
)

// Mark gives the marks of line y, numbered as for Line.
func (e *Engine) Mark(y int) Mark {
	switch {
	case y >= e.rows || -y > e.hist.len():
		return 0
	case y < 0:
		return e.hist.at(e.hist.len() + y).marks
	}
	return e.scr.lines[y].marks
}

// shellMark notes a shell's mark on its line and passes it on.
func (e *Engine) shellMark(number string, body []byte) {
	if len(body) == 0 {
		return
	}
	if number != "7501;" && (len(body) == 1 || body[1] == ';') {
		r := e.scr.lines[e.cur.y]
		switch body[0] {
		case 'A', 'P':
			if number == "133;" || body[0] == 'A' {
				r.marks |= MarkPrompt
			}
		case 'B':
			r.marks |= MarkInput
		case 'C':
			r.marks |= MarkOutput
		}
	}
	e.event(emulator.EventMark, "", number+string(body))
}
