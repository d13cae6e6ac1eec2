package chat

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// grammar is CommonMark with strikethrough. Tables, tasks and bare addresses are
// recognised where blocks are rendered: goldmark's extensions cost half a
// millisecond of every start.
var grammar = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(append(parser.DefaultInlineParsers(), util.Prioritized(striking{}, 500))...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
})

// maxNesting bounds how deep lists and quotes are rendered; what is deeper is
// rendered as at that depth.
const maxNesting = 12

// blocks renders a chunk.
type blocks struct {
	w     int
	g     *glyphs
	src   []byte
	off   int // of src in the text
	first int // number of the chunk's first line
	codes []code
	depth int
}

func (b *blocks) document() []line {
	return b.children(grammar().Parse(text.NewReader(b.src)), margin{}, true)
}

// children renders the blocks in a node, with a blank line between them if they
// are loose.
func (b *blocks) children(n ast.Node, m margin, loose bool) []line {
	b.depth++
	defer func() { b.depth-- }()
	var out []line
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		from := b.first
		b.first += len(out)
		gap := loose && len(out) > 0
		if gap {
			b.first++
		}
		lines := b.block(c, m)
		b.first = from
		if len(lines) == 0 {
			continue
		}
		if gap {
			out = append(out, m.blank(b.w))
		}
		out = append(out, lines...)
		m = m.after()
	}
	return out
}

func (b *blocks) block(n ast.Node, m margin) []line {
	switch n := n.(type) {
	case *ast.Heading:
		r := b.inlines(n, run{role: plain, attr: bold})
		if n.Level <= 2 {
			r = b.inlines(n, run{role: heading, attr: bold})
		}
		if n.Level == 1 {
			for i := range r {
				r[i].attr |= underline
			}
		}
		return wrap(r, b.w, m)
	case *ast.Paragraph, *ast.TextBlock:
		return b.paragraph(n, m)
	case *ast.Blockquote:
		bar := []run{{text: b.g.quote + " ", role: quote}}
		if b.depth > maxNesting {
			bar = nil
		}
		return b.children(n, margin{bar, bar}.within(m), true)
	case *ast.List:
		return b.list(n, m)
	case *ast.FencedCodeBlock:
		lang := ""
		if n.Info != nil {
			_, lang = fenceOf("```" + string(n.Info.Segment.Value(b.src)))
		}
		return b.code(n, lang, m)
	case *ast.CodeBlock:
		return b.code(n, "", m)
	case *ast.ThematicBreak:
		m = m.fit(b.w)
		return []line{{runs: join(m.first, []run{{text: strings.Repeat(b.g.rule, max(min(b.w-width(m.first), 40), 1)), role: muted}}), lead: width(m.first)}}
	case *ast.HTMLBlock:
		return wrap([]run{{text: b.raw(n), role: muted}}, b.w, m)
	}
	return nil
}

// raw is the text of a block's lines.
func (b *blocks) raw(n ast.Node) string {
	var s strings.Builder
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		s.Write(seg.Value(b.src))
	}
	return strings.TrimRight(s.String(), "\n")
}

// code renders a block of code within a list or quote, or an indented one.
func (b *blocks) code(n ast.Node, lang string, m margin) []line {
	var out []line
	k := code{line: b.first, lang: lang}
	if l := n.Lines(); l.Len() > 0 {
		first, last := l.At(0), l.At(l.Len()-1)
		k.from, k.to = b.off+first.Start, b.off+last.Stop
	}
	b.codes = append(b.codes, k)
	w := b.w - width(m.rest)
	var s lexing
	put := func(lines []line) {
		for _, l := range lines {
			l.runs, l.lead = join(m.first, l.runs), l.lead+width(m.first)
			m = m.after()
			out = append(out, l)
		}
	}
	if w < 8 {
		w, m = b.w, margin{}
	}
	put(codeHead(lang, w, b.g))
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		put(codeLine(string(bytes.TrimRight(seg.Value(b.src), "\n")), lang, &s, w, b.g))
	}
	return out
}

func (b *blocks) list(n *ast.List, m margin) []line {
	if b.depth > maxNesting {
		return b.children(n, m, false)
	}
	var out []line
	number := n.Start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		mark := b.g.bullet + " "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d%c ", number, n.Marker)
			number++
		}
		item := indent([]run{{text: mark, role: accent}}).within(m)
		from := b.first
		b.first += len(out)
		gap := !n.IsTight && len(out) > 0
		if gap {
			b.first++
		}
		lines := b.children(c, item, !n.IsTight)
		b.first = from
		if len(lines) == 0 {
			lines = wrap(nil, b.w, item)
		}
		if gap {
			out = append(out, m.blank(b.w))
		}
		out = append(out, lines...)
		m = m.after()
	}
	return out
}

// paragraph renders text, or the table that it is.
func (b *blocks) paragraph(n ast.Node, m margin) []line {
	if lines := n.Lines(); lines.Len() > 1 && bytes.IndexByte(b.src, '|') >= 0 {
		rows := make([]string, lines.Len())
		for i := range rows {
			seg := lines.At(i)
			rows[i] = strings.TrimSpace(string(seg.Value(b.src)))
		}
		if before, t, ok := tableOf(rows); ok {
			var out []line
			if len(before) > 0 {
				out = wrap(b.parsed(strings.Join(before, "\n"), run{}), b.w, m)
				m = m.after()
			}
			return append(out, b.table(t, m)...)
		}
	}
	r := merged(b.inlines(n, run{}))
	if _, item := n.Parent().(*ast.ListItem); item && n.PreviousSibling() == nil {
		r = b.task(r)
	}
	if len(r) == 0 {
		return nil
	}
	return wrap(r, b.w, m)
}

// task draws the box of an item that begins with [ ] or [x].
func (b *blocks) task(r []run) []run {
	if len(r) == 0 || len(r[0].text) < 3 || r[0].text[0] != '[' {
		return r
	}
	box, rest := run{text: b.g.box + " ", role: muted}, r[0]
	switch strings.ToLower(r[0].text[:3]) {
	case "[x]":
		box = run{text: b.g.checked + " ", role: passed}
	case "[ ]":
	default:
		return r
	}
	if rest.text = rest.text[3:]; rest.text != "" && rest.text[0] != ' ' {
		return r
	}
	rest.text = strings.TrimPrefix(rest.text, " ")
	return join([]run{box, rest}, r[1:])
}

// parsed gives the runs of a text by itself.
func (b *blocks) parsed(s string, base run) []run {
	sub := blocks{w: b.w, g: b.g, src: []byte(s)}
	doc := grammar().Parse(text.NewReader(sub.src))
	if c := doc.FirstChild(); c != nil && c.NextSibling() == nil {
		if _, ok := c.(*ast.Paragraph); ok {
			return sub.inlines(c, base)
		}
	}
	base.text = s
	return []run{base}
}
