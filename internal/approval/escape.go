package approval

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// mostBlanks is how many blanks in a row, and mostEmpty how many empty lines,
	// are shown as they are; more are counted, as they could push what follows out
	// of sight.
	mostBlanks = 24
	mostEmpty  = 2
	// mostMarks is how many combining marks a letter may carry.
	mostMarks = 2
)

// invisible are the characters that Unicode counts as printable but that show
// nothing, or that change how others show.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x0334, Hi: 0x0338, Stride: 1}, // overlays that strike letters out
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1},
		{Lo: 0x20d0, Hi: 0x20f0, Stride: 1}, // overlays and frames
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // empty Braille pattern
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, // variation selectors
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
		{Lo: 0xfffc, Hi: 0xfffd, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}},
}

// Escape makes one line of text safe to show and hides nothing of it: control
// characters, bytes that are no UTF-8, and characters that show nothing or turn the
// direction of writing around become <U+001B> or <0xFF>; a tab is four blanks; many
// blanks in a row are counted.
func Escape(s string) string {
	plain := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			plain = false
			break
		}
	}
	if plain && !strings.Contains(s, strings.Repeat(" ", mostBlanks+1)) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	blanks, marks, letter := 0, 0, false
	endBlanks := func() {
		if blanks > mostBlanks {
			fmt.Fprintf(&b, "<%d blanks>", blanks)
		} else {
			b.WriteString(strings.Repeat(" ", blanks))
		}
		blanks = 0
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == ' ':
			blanks++
		case r == '\t':
			blanks += 4
		}
		if r == ' ' || r == '\t' {
			letter, i = false, i+n
			continue
		}
		endBlanks()
		mark := unicode.Is(unicode.M, r)
		if mark {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case !unicode.IsPrint(r), unicode.Is(invisible, r), mark && (!letter || marks > mostMarks):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
		letter = unicode.IsLetter(r) || mark && letter
		i += n
	}
	endBlanks()
	return b.String()
}

// lines escapes a text line by line; the newline at its end is left out.
func lines(text string) []string {
	var out []string
	empty := 0
	flush := func() {
		if empty > mostEmpty {
			out = append(out, fmt.Sprintf("<%d empty lines>", empty))
		} else {
			out = append(out, make([]string, empty)...)
		}
		empty = 0
	}
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if l == "" {
			empty++
			continue
		}
		flush()
		out = append(out, Escape(l))
	}
	flush()
	return out
}

// OneLine escapes a text as one line; its line breaks show, too.
func OneLine(s string) string { return Escape(strings.TrimSpace(s)) }
