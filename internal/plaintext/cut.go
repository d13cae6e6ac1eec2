package plaintext

import (
	"strings"
	"unicode/utf8"
)

// lineWithin is how far from a cut a line's end is looked for, in bytes.
const lineWithin = 4 << 10

// Head is the beginning of a text, at most n bytes: whole lines when one ends
// close to the cut, or else whole characters.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n]
	if i := strings.LastIndexByte(s, '\n'); i >= len(s)-lineWithin {
		return s[:i+1]
	}
	return s[:len(s)-Unfinished(s)]
}

// Unfinished is how many bytes at the end of a text begin a character that is not whole, 0 to 3.
func Unfinished[T string | []byte](s T) int {
	for k := 1; k < utf8.UTFMax && k <= len(s); k++ {
		if utf8.RuneStart(s[len(s)-k]) {
			if utf8.FullRune([]byte(s[len(s)-k:])) {
				return 0
			}
			return k
		}
	}
	return 0
}

// Clip is the beginning of a text, at most n bytes of it, cut at a character and marked where
// something was cut.
func Clip(s string, n int, mark string) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}

// Tail is the end of a text, at most n bytes: whole lines when one begins close
// to the cut, or else whole characters.
func Tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	if i := strings.IndexByte(s[:min(len(s), lineWithin)], '\n'); i >= 0 {
		return s[i+1:]
	}
	for i := range min(len(s), utf8.UTFMax) {
		if utf8.RuneStart(s[i]) {
			return s[i:]
		}
	}
	return s
}
