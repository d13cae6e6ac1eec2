package markup

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"tandemux/ui/words"
)

// maxEmphasis is the depth of nested emphasis that is rendered.
const maxEmphasis = 32

// inlines returns the runs of a block's text.
func (b *blocks) inlines(n ast.Node, base Run) []Run {
	var out []Run
	b.inline(n, base, &out, 0)
	return out
}

func (b *blocks) inline(n ast.Node, base Run, out *[]Run, depth int) {
	if depth > maxEmphasis {
		return
	}
	put := func(r Run, s string) {
		if r.Text = s; s != "" {
			*out = append(*out, r)
		}
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r := base
		switch c := c.(type) {
		case *ast.Text:
			s := unescaped(c.Segment.Value(b.src))
			switch {
			case c.HardLineBreak():
				s += "\n"
			case c.SoftLineBreak():
				s += " "
			}
			if r.Link == "" && strings.Contains(s, "://") {
				linkify(s, r, out)
				continue
			}
			put(r, s)
		case *ast.String:
			put(r, string(c.Value))
		case *ast.CodeSpan:
			r.Role = codeText
			var s strings.Builder
			for k := c.FirstChild(); k != nil; k = k.NextSibling() {
				if t, ok := k.(*ast.Text); ok {
					s.WriteString(strings.ReplaceAll(string(t.Segment.Value(b.src)), "\n", " "))
				}
			}
			put(r, s.String())
		case *ast.Emphasis:
			r.Attr |= Italic
			if c.Level == 2 {
				r.Attr = base.Attr | Bold
			}
			b.inline(c, r, out, depth+1)
		case *struck:
			r.Attr |= Strike
			b.inline(c, r, out, depth+1)
		case *ast.Link:
			r.Role, r.Link = LinkText, Address(c.Destination)
			b.inline(c, r, out, depth+1)
		case *ast.Image:
			r.Role, r.Link = LinkText, Address(c.Destination)
			put(r, "image: ")
			b.inline(c, r, out, depth+1)
		case *ast.AutoLink:
			r.Role, r.Link = LinkText, Address(c.URL(b.src))
			put(r, string(c.Label(b.src)))
		case *ast.RawHTML:
			r.Role = Muted
			for i := range c.Segments.Len() {
				seg := c.Segments.At(i)
				put(r, strings.ReplaceAll(string(seg.Value(b.src)), "\n", " "))
			}
		default:
			b.inline(c, r, out, depth+1)
		}
	}
}

// Address returns the destination of a link as a URL for terminals (OSC 8), "" if it can't be
// one.
func Address(dest []byte) string {
	s := string(dest)
	if len(s) > 2048 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return ""
	}
	return s
}

// unescaped resolves backslash escapes and character references.
func unescaped(s []byte) string {
	if !bytes.ContainsAny(s, `\&`) {
		return string(s)
	}
	s = util.UnescapePunctuations(s)
	s = util.ResolveNumericReferences(s)
	return words.Lines(string(util.ResolveEntityNames(s)))
}

func linkify(s string, base Run, out *[]Run) {
	put := func(text, link string) {
		if text == "" {
			return
		}
		r := base
		r.Text = text
		if link != "" {
			r.Role, r.Link = LinkText, link
		}
		*out = append(*out, r)
	}
	at := 0
	for _, m := range words.Addresses([]byte(s)) {
		end := m[1]
		if n := strings.IndexFunc(s[m[0]:end], func(r rune) bool { return r >= 0x7f }); n >= 0 {
			end = m[0] + n
		}
		put(s[at:m[0]], "")
		put(s[m[0]:end], Address([]byte(s[m[0]:end])))
		at = end
	}
	put(s[at:], "")
}

// struck is struck-through text.
type struck struct{ ast.BaseInline }

var kindStruck = ast.NewNodeKind("Struck")

func (*struck) Kind() ast.NodeKind { return kindStruck }

// Dump implements ast.Node.
func (n *struck) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// striking parses GitHub's ~~text~~. It implements parser.DelimiterProcessor and
// parser.InlineParser.
type striking struct{}

func (striking) Trigger() []byte { return []byte{'~'} }

func (striking) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	l, segment := block.PeekLine()
	n := parser.ScanDelimiter(l, before, 2, striking{})
	if n == nil || n.OriginalLength > 2 || before == '~' {
		return nil
	}
	n.Segment = segment.WithStop(segment.Start + n.OriginalLength)
	block.Advance(n.OriginalLength)
	pc.PushDelimiter(n)
	return n
}

func (striking) IsDelimiter(b byte) bool { return b == '~' }

func (striking) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (striking) OnMatch(int) ast.Node { return &struck{} }
