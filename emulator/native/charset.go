package native

import "tandemux/emulator/control"

// charset is a graphic set that can be designated; sets that are not known print
// as ASCII.
type charset uint8

const (
	setASCII charset = iota
	setGraphics
	setUK
	setTechnical
	setSupplemental
	setLatin1 // 96 characters: G1 to G3 only
	setNational
)

// national are the sets that a terminal has in mode 42 only, from setNational
// on: what they have in the places of nationalPlaces.
var national = [...]string{
	"£¾ĳ½|^_`¨ƒ¼´", // Dutch
	"#@ÄÖÅÜ_éäöåü", // Finnish
	"£à°ç§^_`éùè¨", // French
	"#àâçêî_ôéùèû", // French Canadian
	"#§ÄÖÜ^_`äöüß", // German
	"£§°çé^_ùàòèì", // Italian
	"#ÄÆØÅÜ_äæøåü", // Norwegian and Danish
	"#@ÃÇÕ^_`ãçõ~", // Portuguese
	"£§¡Ñ¿^_`°ñç~", // Spanish
	"#ÉÄÖÅÜ_éäöåü", // Swedish
	"ùàéçêîèôäöüû", // Swiss
}

const nationalPlaces = `#@[\]^_` + "`{|}~"

const numSets = int(setNational) + len(national)

// setNames are the designations that a snapshot writes: what comes after the
// byte that names G0 to G3.
var setNames = [numSets]string{
	"B", "0", "A", ">", "%5", "A", "4", "5", "R", "Q", "K", "Y", "6", "%6", "Z", "7", "=",
}

// sets94 and sets96 map what a designation ends with to its set.
var (
	sets94 = map[string]charset{
		"2": setGraphics, "C": setNational + 1, "f": setNational + 2, "9": setNational + 3,
		"E": setNational + 6, "`": setNational + 6, "H": setNational + 9, "<": setSupplemental,
	}
	sets96 = map[string]charset{"A": setLatin1}
)

// glyphs are what the sets print for the bytes from 0x20 on; zero is the byte
// itself.
var glyphs [numSets][96]rune

func init() {
	for s, name := range setNames {
		if charset(s) != setLatin1 {
			sets94[name] = charset(s)
		}
	}
	overlay(setGraphics, 0x60, graphics)
	glyphs[setGraphics]['_'-0x20] = ' '
	overlay(setUK, '#', "£")
	overlay(setTechnical, 0x21, technical)
	for b := range rune(96) {
		glyphs[setLatin1][b] = 0xa0 + b
		glyphs[setSupplemental][b] = 0xa0 + b
	}
	for _, s := range []charset{setLatin1, setSupplemental} {
		glyphs[s][0x0d] = '-' // The soft hyphen would not show.
	}
	// Where DEC's multinational set is not Latin-1.
	for b, r := range map[byte]rune{0x28: '¤', 0x57: 'Œ', 0x5d: 'Ÿ', 0x77: 'œ', 0x7d: 'ÿ'} {
		glyphs[setSupplemental][b-0x20] = r
	}
	for i, text := range national {
		for k, r := range []rune(text) {
			glyphs[int(setNational)+i][nationalPlaces[k]-0x20] = r
		}
	}
}

// overlay puts text into a set from byte at on; spaces are left out.
func overlay(s charset, at int, text string) {
	for _, r := range text {
		if r != ' ' {
			glyphs[s][at-0x20] = r
		}
		at++
	}
}

const (
	// graphics is DEC Special Graphics from 0x60 on (VT100 user guide, table
	// 3-9).
	graphics = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"
	// technical is DEC Technical from 0x21 on (VT330/340, chapter 2).
	technical = "⎷┌─⌠⌡│⎡⎣⎤⎦⎛⎝⎞⎠⎨⎬           ≤≠≥∫∴∝∞÷Δ∇ΦΓ∼≃Θ×Λ⇔⇒≡ΠΨ Σ  √ΩΞΥ⊂⊃∩∪∧∨¬αβχδεφγηιθκλ ν∂πψρστ ƒωξυζ←↑→↓"
)

// charsets is the state of ISO 2022: four sets, the one in GL, and one for the
// next character only.
type charsets struct {
	g      [4]charset
	gl     uint8
	single uint8 // SS2, SS3: 2 or 3, else 0
}

func (c *charsets) active() bool {
	return c.single != 0 || c.g[c.gl] != setASCII
}

// mapByte gives what an ASCII byte prints and ends a single shift.
func (c *charsets) mapByte(b byte) rune {
	set := c.g[c.gl]
	if c.single != 0 {
		set = c.g[c.single]
		c.single = 0
	}
	if r := glyphs[set][b-0x20]; r != 0 {
		return r
	}
	return rune(b)
}

// designate makes set g, 0 to 3, what the end of a designation names. National
// sets need mode 42, but for the British one, which came before it.
func (e *Engine) designate(g int, is96 bool, name string) {
	set := sets94[name]
	if is96 {
		set = sets96[name]
	}
	if set >= setNational && !e.modes.Has(control.National) {
		set = setASCII
	}
	e.cur.charsets.g[g] = set
	e.setPlain()
}

// setPlain works out whether ASCII may be printed as it is, on lines of single size.
func (e *Engine) setPlain() {
	e.plain = !e.cur.charsets.active() && !e.modes.Has(control.Insert) && !e.doubled
}
