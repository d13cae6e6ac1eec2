package control

// Charset is a graphic set that can be designated. Unknown sets print as ASCII.
type Charset uint8

const (
	ASCII Charset = iota
	setGraphics
	setUK
	setTechnical
	setSupplemental
	Latin1 // 96 characters: G1 to G3 only
	National94
)

// national lists the sets from National94 on, which a terminal has only in mode 42: what they print in
// place of nationalPlaces.
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

const NumCharsets = int(National94) + len(national)

// setNames are the designations that a snapshot writes: the bytes after the one that names G0 to G3.
var setNames = [NumCharsets]string{
	"B", "0", "A", ">", "<", "A", "4", "5", "R", "Q", "K", "Y", "6", "%6", "Z", "7", "=",
}

// sets94 and sets96 map the end of a designation to its set.
var (
	sets94 = map[string]Charset{
		"2": setGraphics, "C": National94 + 1, "f": National94 + 2, "9": National94 + 3,
		"E": National94 + 6, "`": National94 + 6, "H": National94 + 9, "%5": setSupplemental,
	}
	sets96 = map[string]Charset{"A": Latin1}
)

// glyphs has what each set prints for the bytes from 0x20 on; zero stands for the byte itself.
var glyphs [NumCharsets][96]rune

func init() {
	for s, name := range setNames {
		if Charset(s) != Latin1 {
			sets94[name] = Charset(s)
		}
	}
	overlay(setGraphics, 0x60, graphics)
	glyphs[setGraphics]['_'-0x20] = ' '
	overlay(setUK, '#', "£")
	overlay(setTechnical, 0x21, technical)
	for b := range rune(96) {
		glyphs[Latin1][b] = 0xa0 + b
		glyphs[setSupplemental][b] = 0xa0 + b
	}
	for _, s := range []Charset{Latin1, setSupplemental} {
		glyphs[s][0x0d] = '-' // A soft hyphen would not show.
	}
	// These places of DEC's multinational set differ from Latin-1.
	for b, r := range map[byte]rune{0x28: '¤', 0x57: 'Œ', 0x5d: 'Ÿ', 0x77: 'œ', 0x7d: 'ÿ'} {
		glyphs[setSupplemental][b-0x20] = r
	}
	for i, text := range national {
		for k, r := range []rune(text) {
			glyphs[int(National94)+i][nationalPlaces[k]-0x20] = r
		}
	}
}

// overlay puts text into a set from byte at on, and skips spaces.
func overlay(s Charset, at int, text string) {
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

// Charsets is the state of ISO 2022: four sets, the one in GL, and one for the
// next character only.
type Charsets struct {
	G      [4]Charset
	GL     uint8
	Single uint8 // SS2, SS3: 2 or 3, else 0
}

// Active reports whether ASCII may print as something else.
func (c *Charsets) Active() bool {
	return c.Single != 0 || c.G[c.GL] != ASCII
}

// Map returns what an ASCII byte prints, and ends a single shift.
func (c *Charsets) Map(b byte) rune {
	set := c.G[c.GL]
	if c.Single != 0 {
		set = c.G[c.Single]
		c.Single = 0
	}
	if r := glyphs[set][b-0x20]; r != 0 {
		return r
	}
	return rune(b)
}

// Designate makes set g (0 to 3) the one that the end of a designation names. National sets need mode
// 42, except the British one, which is older.
func (c *Charsets) Designate(g int, is96 bool, name string, national bool) {
	set := sets94[name]
	if is96 {
		set = sets96[name]
	}
	if set >= National94 && !national {
		set = ASCII
	}
	c.G[g] = set
}

// Name returns the end of the set's designation.
func (s Charset) Name() string { return setNames[s] }
