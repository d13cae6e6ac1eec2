package tty

import (
	"bytes"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
)

// Color is an answer of the terminal about one of its colours (OSC 4, 10, 11,
// 12).
type Color struct {
	Code  int            // 4 palette, 10 text, 11 background, 12 cursor
	Index int            // in the palette, 0 to 15; 0 for the others
	Value emulator.Color // RGB
}

// Scheme says whether the terminal is dark or light: the answer to CSI ? 996 n,
// or the report of a change that mode 2031 asks for.
type Scheme struct{ Dark bool }

// ColorCount is the number of colours that colorQuery asks for.
const ColorCount = 3 + 16

// colorQuery asks for the text, background, cursor and basic colours.
var colorQuery = func() string {
	var b strings.Builder
	for _, code := range [...]string{"10", "11", "12"} {
		b.WriteString("\x1b]" + code + ";?\x1b\\")
	}
	for i := range 16 {
		b.WriteString("\x1b]4;" + strconv.Itoa(i) + ";?\x1b\\")
	}
	return b.String()
}()

// AskColors returns the queries for the terminal's colours. A Fence follows the answers.
func AskColors(c Caps) string {
	if c.Console {
		return ""
	}
	return colorQuery + fenceQuery
}

// maxAnswer is the longest answer about a colour, in bytes. Longer strings that nobody asked for
// are keys.
const maxAnswer = 64

// lateAnswer is sequence for ESC and the start of a string while no answer is expected: that is a
// key of two bytes, unless it is an answer about a colour.
func lateAnswer(b []byte) (n int, ok bool) {
	if b[1] != ']' || !answering(b) {
		return 2, true
	}
	if n, ok = stringSequence(b[:min(len(b), maxAnswer)]); ok {
		if _, is := colorOf(b[:n]); is {
			return n, true
		}
		return 2, true
	}
	if len(b) >= maxAnswer {
		return 2, true
	}
	return n, false
}

// answering reports whether b, which starts with ESC ], may be an answer about a colour or the
// start of one. Nobody types that within one read.
func answering(b []byte) bool {
	if len(b) < 3 {
		return false
	}
	b = b[2:]
	for _, start := range [...]string{"10;rgb", "11;rgb", "12;rgb"} {
		if n := min(len(b), len(start)); string(b[:n]) == start[:n] {
			return true
		}
	}
	if b[0] != '4' {
		return false
	}
	if b = b[1:]; len(b) == 0 {
		return true
	}
	if b[0] != ';' {
		return false
	}
	b = bytes.TrimLeft(b[1:], "0123456789")
	n := min(len(b), len(";rgb"))
	return string(b[:n]) == ";rgb"[:n]
}

// colorOf parses a whole OSC that is an answer about a colour.
func colorOf(seq []byte) (tea.Msg, bool) {
	body, ok := strings.CutPrefix(string(seq), "\x1b]")
	if !ok || len(seq) > maxAnswer {
		return nil, false
	}
	body = strings.TrimSuffix(strings.TrimSuffix(body, "\a"), "\x1b\\")
	code, spec, ok := strings.Cut(body, ";")
	c := Color{}
	switch code {
	case "10", "11", "12":
		c.Code, _ = strconv.Atoi(code)
	case "4":
		var index string
		index, spec, ok = strings.Cut(spec, ";")
		n, err := strconv.Atoi(index)
		if err != nil || n < 0 || n > 15 {
			return nil, false
		}
		c.Code, c.Index = 4, n
	default:
		return nil, false
	}
	if !ok {
		return nil, false
	}
	c.Value, ok = parseColor(spec)
	return c, ok
}

// parseColor parses rgb:R/G/B and rgba:R/G/B/A with one to four hexadecimal digits each
// (XParseColor), and #RRGGBB.
func parseColor(spec string) (emulator.Color, bool) {
	if rest, ok := strings.CutPrefix(spec, "rgba:"); ok {
		parts := strings.Split(rest, "/")
		spec = "rgb:" + strings.Join(parts[:len(parts)-1], "/")
	} else if !strings.HasPrefix(spec, "rgb:") && (len(spec) != 7 || spec[0] != '#') {
		return 0, false
	}
	return emulator.ParseColor(spec)
}

// Dark reports whether a colour is nearer to black than to white; known is
// false for a colour that isn't RGB.
func Dark(c emulator.Color) (dark, known bool) {
	_, _, _, known = c.RGB()
	return known && emulator.Colors{BG: c}.Dark(), known
}
