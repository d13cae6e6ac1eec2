package grapheme

import (
	_ "embed"
	"encoding/binary"
)

//go:generate go run gen.go

// ranges are the runes that are not Plain: of each range how many before it are, its
// length and its prop. A range is behind the one before it.
//
//go:embed ranges.bin
var ranges []byte

// Class is a rune's part in grapheme clusters (UAX #29).
type Class uint8

// The classes.
const (
	Other       Class = iota
	Control           // breaks on both sides, shows nothing
	Extend            // joins what is before it, kept by Indic conjuncts
	ExtendPlain       // joins what is before it
	Linker            // Indic virama
	Spacing           // spacing mark
	ZWJ
	Prepend // joins what follows in UAX #29; here it stands alone
	Regional
	L
	V
	T
	Hangul // a syllable, LV or LVT
	Pict
	Consonant
)

// Prop packs a rune's width (low two bits) and class.
type Prop uint8

// Width is the number of columns of the rune by itself.
func (p Prop) Width() int { return int(p & 3) }

// Class is the rune's class.
func (p Prop) Class() Class { return Class(p >> 2) }

// starterClasses are the classes of runes that begin a cell of their own unless
// they continue a cluster of several runes, or Hangul that is not composed: next
// to each other they never join.
const starterClasses = 1<<Other | 1<<Pict | 1<<Hangul | 1<<Consonant

// Starts reports whether p is one of starterClasses and shows something.
func (p Prop) Starts() bool { return starterClasses>>p.Class()&1 != 0 && p.Width() > 0 }

const (
	propBlock  = 256
	propBlocks = 1 << 21 / propBlock // for any 21 bits, as a cell has them

	// Plain and Wide are the props of runes that only have a width.
	Plain   = Prop(1)
	Wide    = Prop(2)
	control = Prop(Control << 2)
)

// props is a two-stage table: the number of the block of r/256, then the prop of
// r%256 in it. Blocks of a single prop are shared.
var props struct {
	index  [propBlocks]uint8
	blocks [256][propBlock]Prop
}

func init() {
	n := 0
	add := func(b [propBlock]Prop) uint8 {
		props.blocks[n] = b
		n++
		return uint8(n - 1)
	}
	uniform := map[Prop]uint8{}
	shared := func(p Prop) uint8 {
		i, ok := uniform[p]
		if !ok {
			var b [propBlock]Prop
			for j := range b {
				b[j] = p
			}
			i = add(b)
			uniform[p] = i
		}
		return i
	}
	plain := shared(Plain)
	for i := range props.index {
		props.index[i] = plain
	}
	own := map[rune]bool{} // blocks of several props
	set := func(from, to rune, p Prop) {
		for r := from; r <= to; {
			i, end := r/propBlock, r|(propBlock-1)
			if r%propBlock == 0 && end <= to {
				props.index[i] = shared(p)
			} else {
				if !own[i] {
					props.index[i] = add(props.blocks[props.index[i]])
					own[i] = true
				}
				end = min(end, to)
				for j := r; j <= end; j++ {
					props.blocks[props.index[i]][j%propBlock] = p
				}
			}
			r = end + 1
		}
	}
	at := rune(0)
	for b := ranges; len(b) > 0; {
		gap, n := binary.Uvarint(b)
		length, m := binary.Uvarint(b[n:])
		at += rune(gap) + rune(length)
		set(at-rune(length), at-1, Prop(b[n+m]))
		b = b[n+m+1:]
	}
	set(0, 0x1f, control)
	set(0x7f, 0x9f, control)
}

// Of gives a rune's prop; r must be a valid rune.
func Of(r rune) Prop {
	return props.blocks[props.index[uint32(r)>>8%propBlocks]][uint8(r)]
}
