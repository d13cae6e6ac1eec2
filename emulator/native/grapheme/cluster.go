package grapheme

import (
	"strings"
	"unicode/utf8"
)

const vs16 = 0xfe0f // the selector of an emoji's form

// ClusterWidth is the number of columns of a cluster: emulator.ClusterWidth.
func ClusterWidth(text []byte) int {
	w := 0
	first, _ := utf8.DecodeRune(text)
	for len(text) > 0 && w < 2 {
		r, n := utf8.DecodeRune(text)
		if text = text[n:]; Widens(r, first) {
			return 2
		}
		w += Of(r).Width()
	}
	return min(w, 2)
}

// Joins reports whether a rune of class c continues the cluster s, which the
// classes that always do (marks) are not asked about. UAX #29 GB6–GB13, without
// GB9b.
func Joins(s string, c Class) bool {
	last, n := utf8.DecodeLastRuneInString(s)
	switch c {
	case Regional:
		return n == len(s) && JoinsRune(last, c)
	case Pict:
		return Of(last).Class() == ZWJ && pictBefore(s)
	case Consonant:
		return conjunct(s)
	}
	return JoinsRune(last, c)
}

// JoinsRune is Joins for a single rune.
func JoinsRune(last rune, c Class) bool {
	lc := Of(last).Class()
	switch c {
	case Regional:
		return lc == Regional
	case L, Hangul:
		return lc == L
	case V:
		return lc == L || lc == V || lc == Hangul && (last-0xac00)%28 == 0
	case T:
		return lc == V || lc == T || lc == Hangul
	}
	return false
}

// pictBefore reports whether s is … ExtPict Extend* ZWJ.
func pictBefore(s string) bool {
	s = s[:len(s)-len("\u200d")]
	for len(s) > 0 {
		r, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
		switch Of(r).Class() {
		case Extend, ExtendPlain, Linker:
		case Pict:
			return true
		default:
			return false
		}
	}
	return false
}

// conjunct reports whether s ends with a consonant that a linker binds to the
// next one.
func conjunct(s string) bool {
	linked := false
	for len(s) > 0 {
		r, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
		switch Of(r).Class() {
		case Linker:
			linked = true
		case Extend, ZWJ:
		case Consonant:
			return linked
		default:
			return false
		}
	}
	return false
}

// Widens reports whether r is the selector of an emoji's form (VS16), and turns what
// begins with first into a wide emoji.
func Widens(r, first rune) bool {
	return r == vs16 && (first < 0x80 && strings.ContainsRune("0123456789#*", first) || first >= 0x80 && Of(first).Class() == Pict)
}

// Decode is utf8.DecodeRune with fast paths for what needs no further look
// than at the form of its bytes: all but the first and last of each length.
func Decode(p []byte) (rune, int) {
	switch b := p[0]; {
	case b-0xe1 <= 0xef-0xe1 && b != 0xed:
		if len(p) > 2 && p[1]&0xc0 == 0x80 && p[2]&0xc0 == 0x80 {
			return rune(b&0xf)<<12 | rune(p[1]&0x3f)<<6 | rune(p[2]&0x3f), 3
		}
	case b-0xc2 <= 0xdf-0xc2:
		if len(p) > 1 && p[1]&0xc0 == 0x80 {
			return rune(b&0x1f)<<6 | rune(p[1]&0x3f), 2
		}
	case b == 0xf0:
		if len(p) > 3 && p[1]-0x90 <= 0xbf-0x90 && p[2]&0xc0 == 0x80 && p[3]&0xc0 == 0x80 {
			return rune(p[1]&0x3f)<<12 | rune(p[2]&0x3f)<<6 | rune(p[3]&0x3f), 4
		}
	}
	return utf8.DecodeRune(p)
}
