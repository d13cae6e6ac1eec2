package svg

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"tandemux/emulator"
)

// A cell's size and where its text stands, in the image's own units.
const (
	cellW    = 8.4
	cellH    = 18.0
	baseline = 13.4
	fontSize = 14.0
	pad      = 10.0
)

// fonts are those that have the cell's shape, the reader's own behind them.
const fonts = `ui-monospace,"Cascadia Mono","JetBrains Mono","DejaVu Sans Mono",Menlo,Consolas,monospace`

// Options says how the screen is drawn. The zero value draws the whole screen in
// dark colours.
type Options struct {
	// Colors are those that programs name without saying which they are; nil is Dark. All
	// are RGB, but for a Cursor that has the text's.
	Colors *emulator.Colors
	Title  string // of the image, for who can't see it
	// Cursor draws the cursor where the program shows one.
	Cursor bool
	// History is how many lines above the screen are drawn, as far as there are.
	History int
}

// Screen appends the image of an emulator's screen.
func Screen(buf []byte, em emulator.Emulator, o Options) []byte {
	p, own := Dark, em.Palette()
	if o.Colors != nil {
		p = *o.Colors
	}
	p.FG, p.BG, p.Cursor = cmp.Or(own.FG, p.FG), cmp.Or(own.BG, p.BG), cmp.Or(own.Cursor, p.Cursor)
	if em.Modes().ReverseScreen {
		p.FG, p.BG = p.BG, p.FG
	}
	cols, rows := em.Size()
	first := -min(max(o.History, 0), em.HistoryLen())
	w, h := float64(cols)*cellW+2*pad, float64(rows-first)*cellH+2*pad
	d := &drawing{b: buf, p: p, own: own}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.1f %.1f" role="img">`+"\n", w, h, w, h)
	if o.Title != "" {
		d.printf("<title>%s</title>\n", escape(o.Title))
	}
	d.printf(`<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", p.BG.Hex())
	d.printf(`<g font-family="%s" font-size="%g" xml:space="preserve" style="white-space:pre">`+"\n", escape(fonts), fontSize)
	var cells []emulator.Cell
	for y := first; y < rows; y++ {
		cells = em.Line(y, cells[:0])
		d.line(cells, pad+float64(y-first)*cellH)
	}
	if cur := em.Cursor(); o.Cursor && cur.Visible {
		d.cursor(cur, em.Line(cur.Y, cells[:0]), pad+float64(cur.Y-first)*cellH)
	}
	return append(d.b, "</g>\n</svg>\n"...)
}

// drawing is an image on its way.
type drawing struct {
	b   []byte
	p   emulator.Colors
	own emulator.Palette // the program's
}

func (d *drawing) printf(format string, args ...any) { d.b = fmt.Appendf(d.b, format, args...) }

// look is how a run of cells is drawn.
type look struct {
	fg, bg, ul emulator.Color // RGB
	attrs      emulator.Attrs
	underline  emulator.Underline
	link       string
}

// rgb gives the colour that is shown for one that was named; otherwise is for
// the default.
func (d *drawing) rgb(c, otherwise emulator.Color) emulator.Color {
	if i, ok := c.Index(); ok {
		return d.own.At(i, d.p)
	}
	return cmp.Or(c, otherwise)
}

func (d *drawing) look(c *emulator.Cell) look {
	s := c.Style
	l := look{attrs: s.Attrs, underline: s.Underline, link: safeLink(c.Link)}
	l.fg, l.bg = d.rgb(s.FG, d.p.FG), d.rgb(s.BG, d.p.BG)
	if s.Attrs&emulator.Reverse != 0 {
		l.fg, l.bg = l.bg, l.fg
	}
	l.ul = d.rgb(s.UnderlineColor, l.fg)
	l.attrs &^= emulator.Reverse | emulator.Blink | emulator.Protected
	return l
}

// line draws the cells of a row whose top is at y: the grounds first, as
// characters may reach beyond their cells.
func (d *drawing) line(cells []emulator.Cell, y float64) {
	looks := make([]look, len(cells))
	for i := range cells {
		looks[i] = d.look(&cells[i])
	}
	for i := 0; i < len(cells); {
		n := 1
		for i+n < len(cells) && looks[i+n].bg == looks[i].bg {
			n++
		}
		if looks[i].bg != d.p.BG {
			d.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%g" fill="%s"/>`+"\n", x(i), y, float64(n)*cellW, cellH, looks[i].bg.Hex())
		}
		i += n
	}
	for i := 0; i < len(cells); {
		n := d.run(cells[i:], looks[i:])
		d.text(cells[i:i+n], &looks[i], i, y)
		i += n
	}
}

// x is the left edge of a column.
func x(col int) float64 { return pad + float64(col)*cellW }

// run gives the number of cells that are drawn together. A wide character, or
// one that is drawn as a shape, is drawn alone.
func (d *drawing) run(cells []emulator.Cell, looks []look) int {
	if alone(&cells[0]) {
		if cells[0].Width == 2 && len(cells) > 1 && cells[1].Width == 0 {
			return 2
		}
		return 1
	}
	n := 1
	for n < len(cells) && looks[n] == looks[0] && !alone(&cells[n]) {
		n++
	}
	return n
}

func alone(c *emulator.Cell) bool { return c.Width != 1 || c.Combining != "" || isShape(c.Rune) }

// text draws a run of cells from a column on.
func (d *drawing) text(cells []emulator.Cell, l *look, col int, y float64) {
	text, w := runText(cells, l), float64(len(cells))*cellW
	blank := strings.TrimRight(text, " ") == ""
	if blank && l.underline == emulator.NoUnderline && l.attrs&(emulator.Strike|emulator.Overline) == 0 {
		return
	}
	if l.link != "" {
		d.printf(`<a href="%s">`, escape(l.link))
	}
	switch r := cells[0].Rune; {
	case blank:
	case len(cells) == 1 && isShape(r) && l.attrs&emulator.Conceal == 0:
		d.shape(r, x(col), y, l.fg.Hex(), opacity(l))
	default:
		lead := len(text) - len(strings.TrimLeft(text, " "))
		text = strings.TrimRight(text, " ")
		cols := utf8.RuneCountInString(text) - lead
		if alone(&cells[0]) {
			cols = len(cells)
		}
		d.printf(`<text x="%.1f" y="%.1f" fill="%s"%s%s textLength="%.1f" lengthAdjust="spacingAndGlyphs">%s</text>`,
			x(col+lead), y+baseline, l.fg.Hex(), opacity(l), fontOf(l), float64(cols)*cellW, escape(text[lead:]))
	}
	d.lines(l, x(col), y, w)
	if l.link != "" {
		d.b = append(d.b, "</a>"...)
	}
	d.b = append(d.b, '\n')
}

// runText is the text of a run, one character a cell unless it is drawn alone.
func runText(cells []emulator.Cell, l *look) string {
	var b strings.Builder
	for i := range cells {
		c := &cells[i]
		switch {
		case c.Width == 0:
		case c.Rune < 0x20 || c.Rune >= 0x7f && c.Rune < 0xa0 || l.attrs&emulator.Conceal != 0 || !inXML(c.Rune):
			b.WriteByte(' ')
		default:
			b.WriteRune(c.Rune)
			b.WriteString(c.Combining)
		}
	}
	return b.String()
}

func fontOf(l *look) string {
	s := ""
	if l.attrs&emulator.Bold != 0 {
		s += ` font-weight="bold"`
	}
	if l.attrs&emulator.Italic != 0 {
		s += ` font-style="italic"`
	}
	return s
}

func opacity(l *look) string {
	if l.attrs&emulator.Faint != 0 {
		return ` opacity="0.6"`
	}
	return ""
}

// cursor draws the cursor over the row at y.
func (d *drawing) cursor(cur emulator.Cursor, cells []emulator.Cell, y float64) {
	c := d.p.Cursor
	if c.IsDefault() {
		c = d.p.FG
	}
	w := cellW
	if cur.X+1 < len(cells) && cells[cur.X].Width == 2 {
		w = 2 * cellW
	}
	switch cur.Shape {
	case emulator.CursorUnderline:
		d.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="2" fill="%s"/>`+"\n", x(cur.X), y+cellH-2, w, c.Hex())
	case emulator.CursorBar:
		d.printf(`<rect x="%.1f" y="%.1f" width="2" height="%g" fill="%s"/>`+"\n", x(cur.X), y, cellH, c.Hex())
	default:
		d.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%g" fill="%s"/>`+"\n", x(cur.X), y, w, cellH, c.Hex())
		if cur.X < len(cells) {
			l := d.look(&cells[cur.X])
			l.fg, l.link = d.p.BG, ""
			n := 1
			if w > cellW {
				n = 2
			}
			d.text(cells[cur.X:cur.X+n], &l, cur.X, y)
		}
	}
}

// safeLink gives a link that is safe to click, "" for others.
func safeLink(uri string) string {
	for _, scheme := range [...]string{"http://", "https://", "mailto:"} {
		if len(uri) > len(scheme) && strings.EqualFold(uri[:len(scheme)], scheme) {
			return uri
		}
	}
	return ""
}

var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// escape writes text so that it is no markup. What XML can't have at all is left
// out.
func escape(s string) string {
	return markup.Replace(strings.Map(func(r rune) rune {
		if inXML(r) {
			return r
		}
		return -1
	}, s))
}

// inXML reports whether a character may be in XML 1.0 (production 2, Char).
func inXML(r rune) bool {
	return r == 0x9 || r == 0xa || r == 0xd || r >= 0x20 && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd || r >= 0x10000 && r <= 0x10ffff
}
