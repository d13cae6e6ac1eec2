package filter

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"

	fast "github.com/segmentio/asm/utf8"

	"tandemux/internal/plaintext"
)

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
	if k := plaintext.Unfinished(p); k > 0 {
		d.n = copy(d.held[:], p[len(p)-k:])
		p = p[:len(p)-k]
	}
	if fast.Valid(p) {
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

// AppendState appends the state of decoder and filter, as SetState reads it: nothing
// when both are between sequences and runes.
func AppendState(dst []byte, d *Decoder, f *Filter) []byte {
	if d.n == 0 && f.state == ground && !f.torn && !f.gap {
		return dst
	}
	flags := byte(0)
	if f.long {
		flags |= 1
	}
	if f.torn {
		flags |= 2
	}
	if f.gap {
		flags |= 4
	}
	dst = append(dst, byte(f.state), f.kind, flags, f.prefix, f.inter, byte(f.tmux), byte(d.n))
	dst = append(dst, d.held[:d.n]...)
	dst = binary.AppendUvarint(dst, uint64(f.number))
	dst = binary.AppendUvarint(dst, uint64(len(f.held)))
	dst = append(dst, f.held...)
	dst = binary.AppendUvarint(dst, uint64(len(f.begun)))
	return append(dst, f.begun...)
}

var errState = errors.New("the state of the output's stream is damaged")

// SetState reads what AppendState wrote; nothing means at rest.
func SetState(b []byte, d *Decoder, f *Filter) error {
	d.n, *f = 0, Filter{Settings: f.Settings}
	if len(b) == 0 {
		return nil
	}
	if len(b) < 7 || state(b[0]) > passEscape || b[5] > byte(len(tmuxMark)) || int(b[6]) > len(d.held) || len(b) < 7+int(b[6]) {
		return errState
	}
	in := Filter{
		Settings: f.Settings, state: state(b[0]), kind: b[1], long: b[2]&1 != 0, torn: b[2]&2 != 0, gap: b[2]&4 != 0, prefix: b[3], inter: b[4], tmux: int(b[5]),
	}
	n := int(b[6])
	held := b[7 : 7+n]
	b = b[7+n:]
	number, size := binary.Uvarint(b)
	if size <= 0 || number > 1<<20 {
		return errState
	}
	in.number = int(number)
	b = b[size:]
	for _, to := range []*[]byte{&in.held, &in.begun} {
		length, size := binary.Uvarint(b)
		if size <= 0 || length > uint64(len(b)-size) || length > maxHeld+maxBegun {
			return errState
		}
		*to = append(*to, b[size:size+int(length)]...)
		b = b[size+int(length):]
	}
	*f = in
	d.n = copy(d.held[:], held)
	return nil
}
