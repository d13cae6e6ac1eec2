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

const (
	propBlock   = 256
	plainProp   = prop(1)
	propBlocks  = 0x110000 / propBlock
	controlProp = prop(clsControl << 2)
)

// props is a two-stage table: the block of r/256, then the prop of r%256.
// Blocks of a single prop are shared.
var props = func() (t [propBlocks]*[propBlock]prop) {
	uniform := map[prop]*[propBlock]prop{}
	shared := func(p prop) *[propBlock]prop {
		b := uniform[p]
		if b == nil {
			b = new([propBlock]prop)
			for i := range b {
				b[i] = p
			}
			uniform[p] = b
		}
		return b
	}
	plain := shared(plainProp)
	for i := range t {
		t[i] = plain
	}
	set := func(from, to rune, p prop) {
		for r := from; r <= to; {
			i, end := r/propBlock, r|(propBlock-1)
			if r%propBlock == 0 && end <= to {
				t[i] = shared(p)
			} else {
				end = min(end, to)
				own := *t[i]
				for j := r; j <= end; j++ {
					own[j%propBlock] = p
				}
				t[i] = &own
			}
			r = end + 1
		}
	}
	for _, g := range propRanges {
		set(g.from, g.to, prop(g.class<<2)|prop(g.width))
	}
	set(0, 0x1f, controlProp)
	set(0x7f, 0x9f, controlProp)
	return t
}()

// propOf gives a rune's prop; r must be a valid rune.
func propOf(r rune) prop {
	return props[uint32(r)>>8%propBlocks][uint32(r)%propBlock]
}
