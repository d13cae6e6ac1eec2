//go:build ignore

// gen writes ranges.bin: for each rune its width (emulator.RuneWidth) and its
// part in grapheme clusters, found by asking uax29.
package main

import (
	"encoding/binary"
	"log"
	"os"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"tandemux/emulator"
	. "tandemux/emulator/native/grapheme"
)

// one reports whether the parts form a single cluster.
func one(parts ...rune) bool {
	n := 0
	for it := graphemes.FromString(string(parts)); it.Next(); {
		n++
	}
	return n == 1
}

const zwj, ka, virama, woman = 0x200d, 0x915, 0x94d, 0x1f469

func class(r rune) Class {
	switch {
	case r == zwj:
		return ZWJ
	case r >= 0x1f1e6 && r <= 0x1f1ff:
		return Regional
	case r >= 0xac00 && r <= 0xd7a3:
		return Hangul // LV or LVT, by arithmetic.
	case r == 0xff9e || r == 0xff9f:
		return Other // Halfwidth voicing marks have a cell of their own everywhere.
	case !one(r, 0x300):
		return Control
	case one('a', r):
		switch {
		case !one(woman, r, zwj, woman):
			return Spacing
		case one(ka, r, ka):
			return Linker
		case one(ka, virama, r, ka):
			return Extend
		}
		return ExtendPlain
	case one(r, 'a'):
		return Prepend
	case one(0xac01, r):
		return T
	case one(0xac00, r):
		return V
	case one(r, 0x1100):
		return L
	case one(woman, zwj, r):
		return Pict
	case one(ka, virama, r):
		return Consonant
	}
	return Other
}

func main() {
	var out []byte
	start, cur, end := rune(0), Plain, rune(0)
	for r := rune(0xa0); r <= 0x110000; r++ {
		p := Plain
		if r < 0x110000 && (r < 0xd800 || r > 0xdfff) {
			p = Prop(class(r)<<2) | Prop(emulator.RuneWidth(r))
		}
		if p == cur {
			continue
		}
		if cur != Plain {
			out = binary.AppendUvarint(out, uint64(start-end))
			out = append(binary.AppendUvarint(out, uint64(r-start)), byte(cur))
			end = r
		}
		start, cur = r, p
	}
	if err := os.WriteFile("ranges.bin", out, 0o644); err != nil {
		log.Fatal(err)
	}
}
