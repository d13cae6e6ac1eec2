package filter

import "unicode/utf8"

// Decoder makes valid UTF-8 of the pty's bytes: a rune that is split between
// reads is held until it is whole (at most three bytes), invalid bytes become
// U+FFFD, one for each longest start of a rune (Unicode, 3.9). It comes before
// filter and emulator, so that host and viewers get the same characters.
type Decoder struct {
	held [utf8.UTFMax]byte
	n    int
	out  []byte // reused
}

// Headroom is the space that Decode has in front of what was read.
const Headroom = 8

const replacement = "\uFFFD"

// Decode takes what was read in buf[Headroom:] and gives it repaired. The
// result is valid until the next call and mostly lies in buf. In front of what
// was read it writes only what the bytes were that it holds.
func (d *Decoder) Decode(buf []byte) []byte {
	p := buf[Headroom-d.n:]
	copy(p, d.held[:d.n])
	d.n = 0
	if k := Incomplete(p); k > 0 {
		d.n = copy(d.held[:], p[len(p)-k:])
		p = p[:len(p)-k]
	}
	if utf8.Valid(p) {
		return p
	}
	d.out = d.out[:0]
	for len(p) > 0 {
		good, bad := span(p)
		d.out = append(d.out, p[:good]...)
		if bad > 0 {
			d.out = append(d.out, replacement...)
		}
		p = p[good+bad:]
	}
	return d.out
}

// Open reports that the input is in the middle of a rune.
func (d *Decoder) Open() bool { return d.n > 0 }

// Flush ends the input: a rune that never came whole is replaced.
func (d *Decoder) Flush() []byte {
	if d.n == 0 {
		return nil
	}
	d.n = 0
	return []byte(replacement)
}

// Incomplete is the length of a rune's start at the end of p, 0 to 3.
func Incomplete(p []byte) int {
	for k := 1; k < utf8.UTFMax && k <= len(p); k++ {
		b := p[len(p)-k]
		if b < utf8.RuneSelf {
			return 0
		}
		if utf8.RuneStart(b) {
			if utf8.FullRune(p[len(p)-k:]) {
				return 0
			}
			return k
		}
	}
	return 0
}

// span is the length of the valid text at the start of p, and of the invalid
// bytes after it that stand for one U+FFFD.
func span(p []byte) (good, bad int) {
	for good < len(p) {
		if p[good] < utf8.RuneSelf {
			good++
			continue
		}
		r, n := utf8.DecodeRune(p[good:])
		if r != utf8.RuneError || n != 1 {
			good += n
			continue
		}
		bad = 1
		for rest := p[good:]; bad < len(rest) && !utf8.FullRune(rest[:bad]); {
			// rest[:bad] could begin a rune; see whether it can with one more.
			if !utf8.FullRune(rest[:bad+1]) {
				bad++
				continue
			}
			break
		}
		return good, bad
	}
	return good, 0
}
