package ahp

import (
	"sync"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// ones has the lowest bit of each byte set, highs the highest.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// load8 reads eight bytes; the compiler makes one load of it.
func load8[T string | []byte](s T, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

// special is not zero when one of the eight bytes is a control character, a
// quote or a backslash. It may also be so for others above such a byte.
func special(x uint64) uint64 {
	quote := x ^ '"'*ones
	slash := x ^ '\\'*ones
	return ((x-0x20*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

// plain is the length of the longest prefix of s[i:] that stands for itself in
// a JSON string, as far as ASCII goes: without control characters, quotes,
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

// appendString appends s as a JSON string, byte for byte as encoding/json
// writes it without HTML escapes: invalid UTF-8 as � in its escaped form,
// U+2028 and U+2029 escaped.
func appendString(buf []byte, s string) []byte {
	buf = append(buf, '"')
	start := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			i += plain(s, i, false)
			if i < len(s) && s[i] < utf8.RuneSelf {
				buf = append(buf, s[start:i]...)
				buf = appendEscape(buf, s[i])
				i++
				start = i
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			buf = append(buf, s[start:i]...)
			buf = append(buf, `\ufffd`...)
			start = i + n
		} else if r == '\u2028' || r == '\u2029' {
			buf = append(buf, s[start:i]...)
			buf = append(buf, `\u202`...)
			buf = append(buf, hexDigits[r&0xf])
			start = i + n
		}
		i += n
	}
	buf = append(buf, s[start:]...)
	return append(buf, '"')
}

// appendEscape appends an ASCII character that a JSON string must escape.
func appendEscape(buf []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(buf, '\\', c)
	case '\b':
		return append(buf, `\b`...)
	case '\f':
		return append(buf, `\f`...)
	case '\n':
		return append(buf, `\n`...)
	case '\r':
		return append(buf, `\r`...)
	case '\t':
		return append(buf, `\t`...)
	}
	return append(buf, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}

// unquote reads the JSON string whose first byte after the opening quote is
// msg[i]. end is the index behind the closing quote. ok is false for what
// encoding/json would refuse, and for invalid UTF-8, which it would repair.
func unquote(msg []byte, i int) (s string, end int, ok bool) {
	start := i
	i += plain(msg, i, true)
	if i < len(msg) && msg[i] == '"' {
		if !utf8.Valid(msg[start:i]) {
			return "", 0, false
		}
		return string(msg[start:i]), i + 1, true
	}
	// The text is put together in a buffer that is used again, so that what is
	// allocated is the result alone. Invalid UTF-8 cannot hide in front of or
	// behind an escape, which stands for whole characters: one look at the end
	// does.
	scratch := scratches.Get().(*[]byte)
	out := (*scratch)[:0]
	defer func() {
		if cap(out) <= maxScratch {
			*scratch = out
		}
		scratches.Put(scratch)
	}()
	for i < len(msg) {
		out = append(out, msg[start:i]...)
		switch msg[i] {
		case '"':
			if !utf8.Valid(out) {
				return "", 0, false
			}
			return string(out), i + 1, true
		case '\\':
			r, n := unescape(msg[i:])
			if n == 0 {
				return "", 0, false
			}
			if r < utf8.RuneSelf {
				out = append(out, byte(r))
			} else {
				out = utf8.AppendRune(out, r)
			}
			i += n
		default: // A bare control character.
			return "", 0, false
		}
		start = i
		i += plain(msg, i, true)
	}
	return "", 0, false
}

// maxScratch bounds what unquote keeps for the next text.
const maxScratch = 1 << 20

var scratches = sync.Pool{New: func() any { return new([]byte) }}

// unescape reads one escape sequence, which starts with a backslash; n is its
// length, 0 when it is malformed. Surrogates without a partner are U+FFFD.
func unescape(b []byte) (r rune, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r, ok := hex4(b[2:])
		if !ok {
			return 0, 0
		}
		if r < 0xd800 || r > 0xdfff {
			return r, 6
		}
		if r < 0xdc00 && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if low, ok := hex4(b[8:]); ok && low >= 0xdc00 && low <= 0xdfff {
				return (r-0xd800)<<10 | (low - 0xdc00) + 0x10000, 12
			}
		}
		return utf8.RuneError, 6
	}
	return 0, 0
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
