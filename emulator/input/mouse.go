package input

import (
	"strconv"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
)

// MouseEvent is what happened to the mouse over a pane.
type MouseEvent struct {
	tea.Mouse // X and Y are 0-based cells of the pane's terminal
	Kind      MouseKind
}

// MouseKind says what happened.
type MouseKind uint8

// The kinds.
const (
	MousePress MouseKind = iota
	MouseRelease
	MouseMotion
	MouseWheel
)

// Wants reports whether a program in these modes is told about the event.
func (e MouseEvent) Wants(m emulator.Modes) bool {
	switch m.Mouse {
	case emulator.MouseOff:
		return false
	case emulator.MouseX10:
		return e.Kind == MousePress && e.Button >= tea.MouseLeft && e.Button <= tea.MouseRight
	case emulator.MouseNormal:
		return e.Kind != MouseMotion
	case emulator.MouseButton:
		return e.Kind != MouseMotion || e.Button != tea.MouseNone
	default:
		return true
	}
}

// buttons are the codes of xterm's mouse reports.
var buttons = map[tea.MouseButton]int{
	tea.MouseLeft: 0, tea.MouseMiddle: 1, tea.MouseRight: 2, tea.MouseNone: 3,
	tea.MouseWheelUp: 64, tea.MouseWheelDown: 65, tea.MouseWheelLeft: 66, tea.MouseWheelRight: 67,
	tea.MouseBackward: 128, tea.MouseForward: 129, tea.MouseButton10: 130, tea.MouseButton11: 131,
}

// AppendMouse appends the report of a mouse event for a program in these modes;
// nothing when it asked for none or the place has no encoding.
func AppendMouse(buf []byte, e MouseEvent, m emulator.Modes) []byte {
	code, known := buttons[e.Button]
	if !known || !e.Wants(m) || e.X < 0 || e.Y < 0 {
		return buf
	}
	sgr := m.MouseEncoding == emulator.MouseSGR || m.MouseEncoding == emulator.MouseSGRPixels
	if e.Kind == MouseRelease && !sgr {
		code = 3
	}
	if e.Kind == MouseMotion {
		code += 32
	}
	if m.Mouse != emulator.MouseX10 {
		if e.Mod&tea.ModShift != 0 {
			code += 4
		}
		if e.Mod&(tea.ModAlt|tea.ModMeta) != 0 {
			code += 8
		}
		if e.Mod&tea.ModCtrl != 0 {
			code += 16
		}
	}
	switch m.MouseEncoding {
	case emulator.MouseSGR, emulator.MouseSGRPixels:
		buf = append(buf, "\x1b[<"...)
		buf = appendParams(buf, code, e.X+1, e.Y+1)
		if e.Kind == MouseRelease {
			return append(buf, 'm')
		}
		return append(buf, 'M')
	case emulator.MouseURXVT:
		buf = append(buf, "\x1b["...)
		buf = appendParams(buf, code+32, e.X+1, e.Y+1)
		return append(buf, 'M')
	case emulator.MouseUTF8:
		if e.X+33 > 0x7ff || e.Y+33 > 0x7ff {
			return buf
		}
		buf = append(buf, "\x1b[M"...)
		for _, n := range [...]int{code + 32, e.X + 33, e.Y + 33} {
			buf = utf8.AppendRune(buf, rune(n))
		}
		return buf
	}
	// Beyond column 94 the bytes would not be UTF-8, which input is on the wire.
	if e.X+33 > 0x7f || e.Y+33 > 0x7f {
		return buf
	}
	return append(buf, 0x1b, '[', 'M', byte(code+32), byte(e.X+33), byte(e.Y+33))
}

func appendParams(buf []byte, ns ...int) []byte {
	for i, n := range ns {
		if i > 0 {
			buf = append(buf, ';')
		}
		buf = strconv.AppendInt(buf, int64(n), 10)
	}
	return buf
}

// WheelLines is how many lines a notch of the wheel moves.
const WheelLines = 3

// AppendWheelKeys appends the cursor keys that a notch of the wheel stands for
// in a full-screen program that did not ask for the mouse.
func AppendWheelKeys(buf []byte, up bool, m emulator.Modes) []byte {
	k := tea.Key{Code: tea.KeyDown}
	if up {
		k.Code = tea.KeyUp
	}
	for range WheelLines {
		buf = AppendKey(buf, k, Press, m)
	}
	return buf
}
