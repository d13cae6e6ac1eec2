package wire

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// ones has the lowest bit of each byte set, highs the highest.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// load8 reads eight bytes, little endian. The compiler makes it one load.
func load8[T string | []byte](s T, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

// special returns a mask of the bytes of x that are control characters, quotes or
// backslashes. Only the lowest marked byte is certain: a carry may mark others above it.
func special(x uint64) uint64 {
	quote := x ^ '"'*ones
	slash := x ^ '\\'*ones
	return ((x-0x20*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// plain returns the length of the longest prefix of s[i:] without control characters, quotes,
// backslashes and, unless high is set, bytes of 0x80 and above.
func plain[T string | []byte](s T, i int, high bool) int {
	start := i
	for i+8 <= len(s) {
		x := load8(s, i)
		if special(x) != 0 || !high && x&highs != 0 {
			break
		}
		i += 8
	}
	for i < len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf && !high {
			break
		}
		i++
	}
	return i - start
}

// unescape reads the \uXXXX, or the pair of them for surrogates, that b begins with. n is its
// length, 0 if it is malformed. A surrogate without a partner becomes U+FFFD.
func unescape(b []byte) (r rune, n int) {
	r, ok := hex4(b)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := hex4(b[6:]); ok {
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			return r, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 reads \uXXXX.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
