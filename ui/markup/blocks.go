package markup

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

// grammar is CommonMark with strikethrough. Tables, tasks and bare URLs are recognised when
// blocks are rendered: goldmark's extensions would cost half a millisecond at every start.
var grammar = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(append(parser.DefaultInlineParsers(), util.Prioritized(striking{}, 500))...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
})

// maxNesting is the depth of lists and quotes beyond which no margin is added.
const maxNesting = 12

// blocks renders a chunk into lines.
type blocks struct {
	w     int
	g     *Glyphs
	src   []byte
	off   int // offset of src in the text
	first int // number of the chunk's first line
	codes []code
	depth int
}

// children renders the blocks in a node. If loose is set, there are blank lines between them.
func (b *blocks) children(n ast.Node, m Margin, loose bool) []Line {
	b.depth++
	defer func() { b.depth-- }()
	return b.each(n, m, loose, b.block)
}

// each renders the nodes in a node with render. If loose is set, there are blank lines between
// them.
func (b *blocks) each(n ast.Node, m Margin, loose bool, render func(ast.Node, Margin) []Line) []Line {
	var out []Line
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		from := b.first
		b.first += len(out)
		gap := loose && len(out) > 0
		if gap {
			b.first++
		}
		lines := render(c, m)
		b.first = from
		if len(lines) == 0 {
			continue
		}
		if gap {
			out = append(out, m.blank(b.w))
		}
		out = append(out, lines...)
		m = m.After()
	}
	return out
}

func (b *blocks) block(n ast.Node, m Margin) []Line {
	switch n := n.(type) {
	case *ast.Heading:
		r := b.inlines(n, Run{Role: Plain, Attr: Bold})
		if n.Level <= 2 {
			r = b.inlines(n, Run{Role: heading, Attr: Bold})
		}
		if n.Level == 1 {
			for i := range r {
				r[i].Attr |= Underline
			}
		}
		return Wrap(r, b.w, m)
	case *ast.Paragraph, *ast.TextBlock:
		return b.paragraph(n, m)
	case *ast.Blockquote:
		bar := []Run{{Text: b.g.Quote + " ", Role: quote}}
		if b.depth > maxNesting {
			bar = nil
		}
		return b.children(n, Margin{bar, bar}.within(m), true)
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
		return []Line{{Runs: Join(m.first, []Run{{Text: strings.Repeat(b.g.Rule, max(min(b.w-Width(m.first), 40), 1)), Role: Muted}}), Lead: Width(m.first)}}
	case *ast.HTMLBlock:
		return Wrap([]Run{{Text: strings.Join(b.rows(n), "\n"), Role: Muted}}, b.w, m)
	}
	return nil
}

func (b *blocks) rows(n ast.Node) []string {
	out := make([]string, n.Lines().Len())
	for i := range out {
		seg := n.Lines().At(i)
		out[i] = strings.TrimRight(string(seg.Value(b.src)), "\n")
	}
	return out
}

// code renders a code block that is in a list or quote, or is indented.
func (b *blocks) code(n ast.Node, lang string, m Margin) []Line {
	var out []Line
	k := code{line: b.first}
	if l := n.Lines(); l.Len() > 0 {
		first, last := l.At(0), l.At(l.Len()-1)
		k.from, k.to = b.off+first.Start, b.off+last.Stop
	}
	b.codes = append(b.codes, k)
	w := b.w - Width(m.Rest)
	var s Highlighter
	put := func(lines []Line) {
		for _, l := range lines {
			l.Runs, l.Lead = Join(m.first, l.Runs), l.Lead+Width(m.first)
			m = m.After()
			out = append(out, l)
		}
	}
	if w < 8 {
		w, m = b.w, Margin{}
	}
	put(codeHead(lang, w, b.g))
	for _, row := range b.rows(n) {
		put(codeLine(row, lang, &s, w, b.g))
	}
	return out
}

func (b *blocks) list(n *ast.List, m Margin) []Line {
	if b.depth > maxNesting {
		return b.children(n, m, false)
	}
	number := n.Start
	return b.each(n, m, !n.IsTight, func(c ast.Node, m Margin) []Line {
		mark := b.g.Bullet + " "
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d%c ", number, n.Marker)
			number++
		}
		item := Indent([]Run{{Text: mark, Role: Accent}}).within(m)
		if lines := b.children(c, item, !n.IsTight); len(lines) > 0 {
			return lines
		}
		return Wrap(nil, b.w, item)
	})
}

// paragraph renders a paragraph, or the table that it has.
func (b *blocks) paragraph(n ast.Node, m Margin) []Line {
	if n.Lines().Len() > 1 && bytes.IndexByte(b.src, '|') >= 0 {
		if before, t, ok := tableOf(b.rows(n)); ok && b.w-max(Width(m.first), Width(m.Rest)) >= 4*len(t.align) {
			var out []Line
			if len(before) > 0 {
				out = Wrap(b.parsed(strings.Join(before, "\n"), Run{}), b.w, m)
				m = m.After()
			}
			return append(out, b.table(t, m)...)
		}
	}
	r := merged(b.inlines(n, Run{}))
	if _, item := n.Parent().(*ast.ListItem); item && n.PreviousSibling() == nil {
		r = b.task(r)
	}
	if len(r) == 0 {
		return nil
	}
	return Wrap(r, b.w, m)
}

// task draws the box of an item that begins with [ ] or [x].
func (b *blocks) task(r []Run) []Run {
	if len(r) == 0 || len(r[0].Text) < 3 || r[0].Text[0] != '[' {
		return r
	}
	box, rest := Run{Text: b.g.Box + " ", Role: Muted}, r[0]
	switch strings.ToLower(r[0].Text[:3]) {
	case "[x]":
		box = Run{Text: b.g.Checked + " ", Role: Passed}
	case "[ ]":
	default:
		return r
	}
	if rest.Text = rest.Text[3:]; rest.Text != "" && rest.Text[0] != ' ' {
		return r
	}
	rest.Text = strings.TrimPrefix(rest.Text, " ")
	return Join([]Run{box, rest}, r[1:])
}

// parsed returns the runs of a text that is parsed by itself.
func (b *blocks) parsed(s string, base Run) []Run {
	sub := blocks{w: b.w, g: b.g, src: []byte(s)}
	doc := grammar().Parse(text.NewReader(sub.src))
	if c := doc.FirstChild(); c != nil && c.NextSibling() == nil {
		if _, ok := c.(*ast.Paragraph); ok {
			return sub.inlines(c, base)
		}
	}
	base.Text = s
	return []Run{base}
}
