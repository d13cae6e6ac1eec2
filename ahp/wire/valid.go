package wire

import "unicode/utf8"

// validUTF8 is utf8.ValidString, several times as fast for text that is neither
// ASCII alone nor has many kinds of characters.
func validUTF8(s string) bool {
	for i := 0; i < len(s); {
		if i+8 <= len(s) {
			x := load8(s, i)
			if x&highs == 0 {
				i += 8
				continue
			}
			if n := run(x); n > 0 {
				i += n
				continue
			}
		}
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return false
		}
		i += n
	}
	return true
}

// run is the length of the well-formed character at the start of x if that is
// easily told, else 0.
func run(x uint64) int {
	switch b := byte(x); {
	case b < 0x80:
		return 1
	case b >= 0xc2 && b <= 0xdf && x&0xc000 == 0x8000:
		return 2
	case b >= 0xe1 && b <= 0xec && x&0xc0c000 == 0x808000:
		return 3
	}
	return 0
}
