package native

//go:generate go run gen.go

// class is a rune's part in grapheme clusters (UAX #29).
type class uint8

const (
	clsOther       class = iota
	clsControl           // breaks on both sides, shows nothing
	clsExtend            // joins what is before it, kept by Indic conjuncts
	clsExtendPlain       // joins what is before it
	clsLinker            // Indic virama
	clsSpacing           // spacing mark
	clsZWJ
	clsPrepend // joins what follows in UAX #29; here it stands alone
	clsRegional
	clsL
	clsV
	clsT
	clsHangul // a syllable, LV or LVT
	clsPict
	clsConsonant
)

// prop packs a rune's width (low two bits) and class.
type prop uint8

func (p prop) width() int   { return int(p & 3) }
func (p prop) class() class { return class(p >> 2) }

type propRange struct {
	from, to rune
	class    class
	width    uint8
}

// starterClasses are the classes of runes that begin a cell of their own unless
// they continue a cluster of several runes, or Hangul that is not composed: next
// to each other they never join.
const starterClasses = 1<<clsOther | 1<<clsPict | 1<<clsHangul | 1<<clsConsonant

// starts reports whether p is one of starterClasses and shows something.
func (p prop) starts() bool { return starterClasses>>p.class()&1 != 0 && p.width() > 0 }

const (
	propBlock   = 256
	propBlocks  = 1 << 21 / propBlock // for any 21 bits, as a cell has them
	plainProp   = prop(1)
	wideProp    = prop(2)
	controlProp = prop(clsControl << 2)
)

// props is a two-stage table: the number of the block of r/256, then the prop of
// r%256 in it. Blocks of a single prop are shared.
var props struct {
	index  [propBlocks]uint8
	blocks [256][propBlock]prop
}

func init() {
	n := 0
	add := func(b [propBlock]prop) uint8 {
		props.blocks[n] = b
		n++
		return uint8(n - 1)
	}
	uniform := map[prop]uint8{}
	shared := func(p prop) uint8 {
		i, ok := uniform[p]
		if !ok {
			var b [propBlock]prop
			for j := range b {
				b[j] = p
			}
			i = add(b)
			uniform[p] = i
		}
		return i
	}
	plain := shared(plainProp)
	for i := range props.index {
		props.index[i] = plain
	}
	own := map[rune]bool{} // blocks of several props
	set := func(from, to rune, p prop) {
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
	for _, g := range propRanges {
		set(g.from, g.to, prop(g.class<<2)|prop(g.width))
	}
	set(0, 0x1f, controlProp)
	set(0x7f, 0x9f, controlProp)
}

// propOf gives a rune's prop; r must be a valid rune.
func propOf(r rune) prop {
	return props.blocks[props.index[uint32(r)>>8%propBlocks]][uint8(r)]
}
