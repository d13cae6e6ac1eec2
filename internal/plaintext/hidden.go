package plaintext

import (
	"strings"
	"unicode"
)

// Hidden reports whether a character does something to a terminal, or to the order and
// the lines in which others show, instead of showing: the controls, newline and tab with
// them, and those that Unicode has for directions, lines and paragraphs.
func Hidden(r rune) bool {
	if r < 0x300 {
		return r < ' ' || r >= 0x7f && r < 0xa0
	}
	return r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Bidi_Control, r)
}

// Clean takes the hidden characters out of a text, but for those named.
func Clean(s, but string) string {
	return strings.Map(func(r rune) rune {
		if Hidden(r) && !strings.ContainsRune(but, r) {
			return -1
		}
		return r
	}, s)
}
