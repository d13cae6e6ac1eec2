package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxEscape is the length of the longest escape of an ASCII character.
const maxEscape = len(`\u0000`)

// maxStretch is how many bytes are quoted between two checks for room.
const maxStretch = 1 << 10

// stretch returns the room that quoting n bytes needs, at most that for maxStretch.
func stretch(n int) int { return min(n, maxStretch)*maxEscape + 8 }

// appendQuoted appends s as a JSON string, byte for byte as encoding/json writes it without
// HTML escapes. It checks and copies eight bytes at a time in one pass.
func appendQuoted(buf []byte, s string) []byte {
	if !utf8.ValidString(s) || separators(s) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.Encode(s) //nolint:errcheck // a string can always be encoded
		return append(buf, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
	}
	buf = append(buf, '"')
	for len(s) > 0 {
		// Make room for a stretch, whatever has to be escaped.
		n := min(len(s), maxStretch)
		buf = slices.Grow(buf, stretch(n))
		at := len(buf)
		buf = buf[:at+quote(buf[at:cap(buf)], s[:n])]
		s = s[n:]
	}
	return append(buf, '"')
}

// quote writes s, escaped, into dst and returns the length. dst must have room for it and
// eight bytes more.
func quote(dst []byte, s string) int {
	i, k := 0, 0
	for i+8 <= len(s) {
		x := load8(s, i)
		binary.LittleEndian.PutUint64(dst[k:], x)
		m := special(x)
		if m == 0 {
			i, k = i+8, k+8
			continue
		}
		n := bits.TrailingZeros64(m) / 8
		i, k = i+n, k+n
		k += escape(dst[k:], s[i])
		i++
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			k += escape(dst[k:], c)
		} else {
			dst[k] = c
			k++
		}
	}
	return k
}

// Size returns the length of s, in bytes, as a JSON string without its quotes.
func Size(s string) int {
	n := len(s)
	for i := 0; i < len(s); i++ {
		for i+8 <= len(s) {
			m := special(load8(s, i))
			if m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i < len(s) && (s[i] < 0x20 || s[i] == '"' || s[i] == '\\') {
			n += len(`u0000`)
			if shortEscapes[s[i]] != 0 {
				n += len(`n`) - len(`u0000`)
			}
		}
	}
	return n
}

// escape writes the escape sequence of an ASCII character and returns its length.
func escape(dst []byte, c byte) int {
	if e := shortEscapes[c&0x7f]; e != 0 {
		dst[0], dst[1] = '\\', e
		return 2
	}
	_ = dst[5]
	dst[0], dst[1], dst[2], dst[3] = '\\', 'u', '0', '0'
	dst[4], dst[5] = hexDigits[c>>4], hexDigits[c&0xf]
	return 6
}

var shortEscapes = [128]byte{
	'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't',
}

// shortMeanings is the inverse of shortEscapes, with the slash.
var shortMeanings = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// separators reports whether s has U+2028 or U+2029, which encoding/json
// escapes.
func separators(s string) bool {
	return strings.Contains(s, "\u2028") || strings.Contains(s, "\u2029")
}

// unquoteTo appends the value of the JSON string whose opening quote is in front of msg. msg
// must be valid UTF-8. end is the index behind the closing quote. ok is false for what
// encoding/json would refuse.
func unquoteTo(buf, msg []byte) (out []byte, end int, ok bool) {
	buf = slices.Grow(buf, len(msg)+8)
	k := len(buf)
	dst := buf[:cap(buf)]
	i := 0
	for i < len(msg) {
		if i+8 <= len(msg) {
			x := load8(msg, i)
			binary.LittleEndian.PutUint64(dst[k:], x)
			m := special(x)
			if m == 0 {
				i, k = i+8, k+8
				continue
			}
			n := bits.TrailingZeros64(m) / 8
			i, k = i+n, k+n
		}
		switch c := msg[i]; {
		case c == '"':
			return dst[:k], i + 1, true
		case c == '\\':
			n := 0
			if k, n = unescapeTo(dst, k, msg[i:]); n == 0 {
				return buf, 0, false
			}
			i += n
		case c < 0x20:
			return buf, 0, false
		default:
			dst[k] = c
			i, k = i+1, k+1
		}
	}
	return buf, 0, false
}

var escESC = []byte(`\u001b`)

// unescapeTo writes the character of the escape sequence that b begins with to dst[k:]. It
// returns the index behind it in dst and the sequence's length, 0 if it is malformed.
func unescapeTo(dst []byte, k int, b []byte) (next, n int) {
	if len(b) < 2 {
		return k, 0
	}
	if c := shortMeanings[b[1]]; c != 0 {
		dst[k] = c
		return k + 1, 2
	}
	if bytes.HasPrefix(b, escESC) {
		dst[k] = 0x1b
		return k + 1, 6
	}
	r, n := unescape(b)
	if n == 0 {
		return k, 0
	}
	return k + utf8.EncodeRune(dst[k:], r), n
}
