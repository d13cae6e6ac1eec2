package guard

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// checker judges one command; it knows how deep in shells within shells it is,
// and what the line's variables may hold.
type checker struct {
	policy  Policy
	depth   int
	assigns []string
}

// word is a word of a command. Of what is not known, text is what of it is.
type word struct {
	text   string
	known  bool
	runs   bool     // its value is what a command prints
	pieces []string // of a word that isn't known
}

// line judges a line of a shell's language.
func (c *checker) line(line string) *Refusal {
	if len(line) > MaxLine {
		return tooLong
	}
	if c.depth++; c.depth > maxDepth {
		return &Refusal{Rule: RuleBounds, What: "shells within shells"}
	}
	defer func() { c.depth-- }()
	if r := c.policy.pattern(line); r != nil {
		return r
	}
	if nesting(line) > maxNesting {
		return &Refusal{Rule: RuleBounds, What: "brackets within brackets"}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return c.crude(line)
	}
	return c.walk(file)
}

// nesting is how deep brackets nest at most, quotes not considered.
func nesting(line string) int {
	depth, most := 0, 0
	for i := range len(line) {
		switch line[i] {
		case '(', '{', '[':
			depth++
			most = max(most, depth)
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
	}
	return most
}

// crude judges what is not the shell's language as we know it by its words.
func (c *checker) crude(line string) *Refusal {
	for _, w := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n;&|(){}<>\"'`$=", r) }) {
		if which := c.policy.blocked(strings.ReplaceAll(w, `\`, "")); which != "" {
			return &Refusal{Rule: RuleCommand, What: which}
		}
	}
	if len(c.policy.Allow) > 0 {
		return &Refusal{Rule: RuleAllow, What: clip(line)}
	}
	return nil
}

// walk judges all that a parsed line runs.
func (c *checker) walk(file *syntax.File) (found *Refusal) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if a, ok := n.(*syntax.Assign); ok && a.Value != nil {
			w := known(a.Value)
			c.assigns = append(c.assigns, w.text)
		}
		return true
	})
	syntax.Walk(file, func(n syntax.Node) bool {
		if found != nil {
			return false
		}
		found = c.node(n)
		return found == nil
	})
	return found
}

func (c *checker) node(n syntax.Node) *Refusal {
	switch n := n.(type) {
	case *syntax.CmdSubst, *syntax.ProcSubst:
		if !c.policy.Uses && c.policy.has("$(") {
			return &Refusal{Rule: RulePattern, What: "$("}
		}
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			return c.piped(n.Y)
		}
	case *syntax.Stmt:
		return c.statement(n)
	case *syntax.Redirect:
		return c.redirect(n)
	case *syntax.CallExpr:
		return c.simple(knownAll(n.Args))
	}
	return nil
}

// program is the name of what a statement runs in the end, "" where it runs several.
func (c *checker) program(s *syntax.Stmt) string {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	return path.Base(c.innermost(knownAll(call.Args)).text)
}

// piped judges what reads a pipe: a shell would run what comes out of it.
func (c *checker) piped(s *syntax.Stmt) *Refusal {
	name := c.program(s)
	if !shells[name] || !c.policy.has("| sh") {
		return nil
	}
	return &Refusal{Rule: RulePattern, What: "| " + name}
}

// statement judges a here-document for a shell.
func (c *checker) statement(s *syntax.Stmt) *Refusal {
	if !shells[c.program(s)] {
		return nil
	}
	for _, r := range s.Redirs {
		body := r.Hdoc
		if r.Op == syntax.WordHdoc {
			body = r.Word
		}
		if body == nil {
			continue
		}
		if refused := c.line(known(body).text); refused != nil {
			return refused
		}
	}
	return nil
}

// redirect judges where output goes, however it is quoted.
func (c *checker) redirect(r *syntax.Redirect) *Refusal {
	if r.Word == nil || r.Op == syntax.RdrIn || r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc || r.Op == syntax.WordHdoc {
		return nil
	}
	text := "> " + path.Clean("/"+strings.TrimPrefix(known(r.Word).text, "/"))
	return c.policy.found(text, func(pat Pattern) bool { return pat.Text[0] == '>' })
}

func knownAll(args []*syntax.Word) []word {
	words := make([]word, len(args))
	for i, a := range args {
		words[i] = known(a)
	}
	return words
}

// known is what a word is, without running anything.
func known(w *syntax.Word) word {
	out := word{known: true}
	var b strings.Builder
	parts(w.Parts, false, &b, &out)
	out.text = b.String()
	return out
}

func parts(list []syntax.WordPart, quoted bool, b *strings.Builder, out *word) {
	for _, p := range list {
		switch p := p.(type) {
		case *syntax.Lit:
			text := unescape(p.Value, quoted)
			b.WriteString(text)
			out.pieces = append(out.pieces, text)
		case *syntax.SglQuoted:
			text := p.Value
			if p.Dollar {
				text, out.known = ansi(text), out.known && !strings.Contains(text, `\`)
			}
			b.WriteString(text)
			out.pieces = append(out.pieces, text)
		case *syntax.DblQuoted:
			parts(p.Parts, true, b, out)
		default:
			out.known = false
			if own, ok := p.(*syntax.ParamExp); ok && own.Param != nil && own.Param.Value == "!" {
				b.WriteString("%!") // a job of its own
			} else {
				b.WriteString("$")
			}
			syntax.Walk(p, func(n syntax.Node) bool {
				switch n := n.(type) {
				case *syntax.CmdSubst, *syntax.ProcSubst:
					out.runs = true
				case *syntax.Lit:
					out.pieces = append(out.pieces, unescape(n.Value, false))
				case *syntax.SglQuoted:
					out.pieces = append(out.pieces, n.Value)
				}
				return true
			})
		}
	}
}

// unescape takes the backslashes out of a literal.
func unescape(s string, quoted bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansi decodes $'…' as far as names of programs need it.
func ansi(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		base, most, from := 8, 3, i
		if s[i] == 'x' || s[i] == 'u' || s[i] == 'U' {
			base, most, from = 16, map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[i]], i+1
		}
		n, end := 0, from
		for end < len(s) && end < from+most {
			d := strings.IndexByte("0123456789abcdef"[:base], s[end]|0x20)
			if d < 0 {
				break
			}
			n = n*base + d
			end++
		}
		if end == from {
			b.WriteByte(s[i])
			continue
		}
		b.WriteRune(rune(n))
		i = end - 1
	}
	return b.String()
}

// Typed is what was typed of a line that is not entered yet. It is a value; the zero one is
// an empty line.
type Typed struct{ line string }

// keysOf are what terminals send for keys: Enter by its number, all others, and the marks
// of a paste.
var (
	enterKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b(\[13(;\d*)?u|OM)`) })
	otherKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|O[@-~]|[^\[O])`) })
)

// Type gives the line after data was typed, and all that its Enters enter, a line each.
// What a shell's editor does otherwise, such as fetching an older line, is not seen.
func (t Typed) Type(data string) (next Typed, entered string) {
	data = otherKey().ReplaceAllString(enterKey().ReplaceAllString(data, "\r"), "")
	line := []rune(t.line)
	var lines []string
	for _, r := range data {
		switch r {
		case '\r', '\n':
			lines = append(lines, string(line))
			line = line[:0]
		case 0x7f, '\b':
			line = line[:max(0, len(line)-1)]
		case 3, 0x15: // ctrl+c, ctrl+u
			line = line[:0]
		default:
			if r >= ' ' || r == '\t' {
				line = append(line, r)
			}
		}
	}
	return Typed{string(line[:min(len(line), MaxLine)])}, strings.Join(lines, "\n")
}

// With is the whole line of which end was typed last.
func (t Typed) With(end string) string {
	if _, all := t.Type(end + "\r"); strings.HasSuffix(all, end) {
		return all
	}
	return end
}
