package emulator

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Depth is how many colours a receiver of VT bytes can show.
type Depth uint8

// The colour depths, in rising order.
const (
	NoColors  Depth = iota // attributes only
	Colors16               // SGR 30–37, 40–47, 90–97, 100–107
	Colors256              // and 38;5;n
	TrueColor              // and 38;2;r;g;b
)

// Profile says what the receiver of encoded bytes understands. The zero value is the poorest
// terminal.
type Profile struct {
	Colors Depth
	// Underlines: underline styles (4:n) and underline colours (58:…). Without it, every
	// underline becomes a single one in the text's colour.
	Underlines bool
	// Overline: SGR 53.
	Overline bool
	// Hyperlinks: OSC 8.
	Hyperlinks bool
	// Protect: DECSCA. It is never drawn, so only engines need it.
	Protect bool
}

// Full is the profile of this module's engines: they understand everything.
var Full = Profile{
	Colors: TrueColor, Underlines: true, Overline: true, Hyperlinks: true,
	Protect: true,
}

// AppendStyle is Full.AppendStyle.
func AppendStyle(buf []byte, from, to Style) []byte {
	return Full.AppendStyle(buf, from, to)
}

// AppendStyle appends the shortest SGR, and DECSCA, that turns style from into style to on a
// receiver with profile p. It appends nothing if they look the same there.
func (p Profile) AppendStyle(buf []byte, from, to Style) []byte {
	if from == to {
		return buf
	}
	if p != Full {
		from, to = p.Style(from), p.Style(to)
	}
	if from.Attrs&Protected != to.Attrs&Protected {
		if to.Attrs&Protected != 0 {
			buf = append(buf, "\x1b[1\"q"...)
		} else {
			buf = append(buf, "\x1b[0\"q"...)
		}
	}
	from.Attrs &^= Protected
	to.Attrs &^= Protected
	if from == to {
		return buf
	}
	if to == (Style{}) {
		return append(buf, "\x1b[m"...)
	}
	// Write both the difference and a reset with the full style, and keep the
	// shorter one.
	start := len(buf)
	buf = closeSGR(appendDelta(append(buf, "\x1b["...), &from, &to))
	mid := len(buf)
	buf = closeSGR(appendDelta(append(buf, "\x1b[0;"...), &Style{}, &to))
	if n := len(buf) - mid; n < mid-start {
		copy(buf[start:], buf[mid:])
		return buf[:start+n]
	}
	return buf[:mid]
}

// AppendStyleFast is a faster Full.AppendStyle whose result may be a few bytes longer: it
// removes attributes by a reset. The styles must differ.
func AppendStyleFast(buf []byte, from, to *Style) []byte {
	switch {
	case (from.Attrs^to.Attrs)&Protected != 0:
		return AppendStyle(buf, *from, *to)
	case to.Attrs&^Protected == 0 && *to == (Style{Attrs: to.Attrs}):
		return append(buf, "\x1b[m"...)
	case from.Attrs&^to.Attrs != 0, from.Underline != 0 && to.Underline == 0, from.UnderlineColor != 0 && to.UnderlineColor == 0:
		return closeSGR(appendDelta(append(buf, "\x1b[0;"...), &Style{}, to))
	}
	return closeSGR(appendDelta(append(buf, "\x1b["...), from, to))
}

// closeSGR turns the last parameter's separator into the final byte.
func closeSGR(buf []byte) []byte {
	buf[len(buf)-1] = 'm'
	return buf
}

// flagSGR has the parameters of the attributes. appendDelta ends bold and faint itself.
var flagSGR = [...]struct {
	bit     Attrs
	on, off string
}{
	{Bold, "1;", ""},
	{Faint, "2;", ""},
	{Italic, "3;", "23;"},
	{Blink, "5;", "25;"},
	{Reverse, "7;", "27;"},
	{Conceal, "8;", "28;"},
	{Strike, "9;", "29;"},
	{Overline, "53;", "55;"},
}

// underlineSGR is indexed by Underline.
var underlineSGR = [...]string{"24;", "4;", "4:2;", "4:3;", "4:4;", "4:5;"}

// appendDelta appends the parameters that turn from into to, each followed by
// a semicolon.
func appendDelta(buf []byte, from, to *Style) []byte {
	if changed := (from.Attrs ^ to.Attrs) &^ Protected; changed != 0 {
		was := from.Attrs
		if was&^to.Attrs&(Bold|Faint) != 0 {
			// 22 ends bold and faint alike, so the one that stays is set again.
			buf = append(buf, "22;"...)
			was &^= Bold | Faint
			changed = was ^ to.Attrs
		}
		for i := range flagSGR {
			switch f := &flagSGR[i]; {
			case changed&f.bit == 0:
			case to.Attrs&f.bit != 0:
				buf = append(buf, f.on...)
			default:
				buf = append(buf, f.off...)
			}
		}
	}
	if from.Underline != to.Underline && int(to.Underline) < len(underlineSGR) {
		buf = append(buf, underlineSGR[to.Underline]...)
	}
	if from.FG != to.FG {
		buf = appendColor(buf, to.FG, 30)
	}
	if from.BG != to.BG {
		buf = appendColor(buf, to.BG, 40)
	}
	if from.UnderlineColor != to.UnderlineColor {
		buf = appendUnderlineColor(buf, to.UnderlineColor)
	}
	return buf
}

// decimal has the numbers 0 to 255, each with a semicolon behind it.
var decimal = func() (t [256]string) {
	for i := range t {
		t[i] = strconv.Itoa(i) + ";"
	}
	return t
}()

// appendColor appends a foreground (base 30) or background (base 40) colour. It uses
// semicolons, which every terminal with the depth understands.
func appendColor(buf []byte, c Color, base int) []byte {
	if i, ok := c.Index(); ok {
		switch {
		case i < 8:
			return append(buf, decimal[base+int(i)]...)
		case i < 16:
			return append(buf, decimal[base+60+int(i)-8]...)
		}
		return append(append(append(buf, decimal[base+8]...), "5;"...), decimal[i]...)
	}
	if r, g, b, ok := c.RGB(); ok {
		buf = append(append(buf, decimal[base+8]...), "2;"...)
		return append(append(append(buf, decimal[r]...), decimal[g]...), decimal[b]...)
	}
	return append(buf, decimal[base+9]...)
}

// appendUnderlineColor appends an underline colour. It uses colons: with semicolons, a
// terminal that doesn't know 58 would take the parts for attributes.
func appendUnderlineColor(buf []byte, c Color) []byte {
	if i, ok := c.Index(); ok {
		return append(append(buf, "58:5:"...), decimal[i]...)
	}
	if r, g, b, ok := c.RGB(); ok {
		return fmt.Appendf(buf, "58:2::%d:%d:%d;", r, g, b)
	}
	return append(buf, "59;"...)
}

// AppendLink appends the OSC 8 that sets the pen's hyperlink; an empty uri ends it. A uri or
// id that could end the sequence early is left out.
func AppendLink(buf []byte, uri, id string) []byte {
	if !plain(uri, "") {
		uri = ""
	}
	buf = append(buf, "\x1b]8;"...)
	if uri != "" && id != "" && plain(id, ";:") {
		buf = append(buf, "id="...)
		buf = append(buf, id...)
	}
	buf = append(buf, ';')
	buf = append(buf, uri...)
	return append(buf, "\x1b\\"...)
}

// plain reports whether s has neither control characters, C1 included, nor any
// of the bytes in not.
func plain(s, not string) bool {
	for i, r := range s {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return false
		}
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return false
			}
		}
		for j := 0; j < len(not); j++ {
			if r == rune(not[j]) {
				return false
			}
		}
	}
	return true
}

// StyleReport returns a style as DECRQSS reports it: a reset and the parameters of SGR that
// set it, colours with colons as in xterm.
func StyleReport(s Style) string {
	s.Attrs &^= Protected
	text := strings.TrimPrefix(string(AppendStyle(nil, Style{}, s)), "\x1b[")
	text = strings.TrimPrefix(strings.TrimSuffix(text, "m"), "0;")
	out := "0"
	if text == "" {
		return out
	}
	for parts := strings.Split(text, ";"); len(parts) > 0; {
		n := 1
		switch {
		case parts[0] != "38" && parts[0] != "48" || len(parts) < 3:
		case parts[1] == "5":
			n = 3
		case parts[1] == "2" && len(parts) >= 5:
			n = 5
			parts[1] = "2:" // an empty colour space
		}
		out += ";" + strings.Join(parts[:n], ":")
		parts = parts[n:]
	}
	return out
}
