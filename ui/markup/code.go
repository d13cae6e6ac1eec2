package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// codeHead is the line above a block of code: its language. One without has none.
func codeHead(lang string, w int, g *Glyphs) []Line {
	if lang == "" || w < 8 {
		return nil
	}
	lang = strings.ToValidUTF8(lang[:min(len(lang), 20)], "")
	r := []Run{{Text: g.Corner + g.Rule + " " + lang, Role: Muted}}
	return []Line{{Runs: Cut(r, w, g.Ellipsis), Lead: 2}}
}

// codeLine is a line of code, wrapped where it is too long.
func codeLine(text, lang string, s *Highlighter, w int, g *Glyphs) []Line {
	bar := []Run{{Text: g.Bar + " ", Role: Muted}}
	r := s.Line(text, lang)
	if len(r) == 0 {
		return []Line{{Runs: bar[:1], Lead: 2}}
	}
	return WrapAnywhere(r, w, Margin{bar, bar})
}

// Highlighter is the highlighter's state between lines: what a line before left open.
type Highlighter struct {
	open string // what ends it, "" for nothing open
	role Role
}

// Line gives the runs of a line of code. What the language has no rules for is
// plain: highlighting is a help, not a parser.
func (s *Highlighter) Line(text, lang string) []Run {
	if text == "" {
		return nil
	}
	l := languages()[strings.ToLower(lang)]
	switch {
	case l == nil:
		return []Run{{Text: text}}
	case l.diff:
		return []Run{{Text: text, Role: diffRole(text)}}
	}
	p := lexer{l: l, s: s, text: text}
	p.run()
	return p.out
}

// diffRole colours a line of a unified diff.
func diffRole(text string) Role {
	switch {
	case strings.HasPrefix(text, "+++"), strings.HasPrefix(text, "---"), strings.HasPrefix(text, "diff "), strings.HasPrefix(text, "index "):
		return Muted
	case strings.HasPrefix(text, "@@"):
		return callee
	case strings.HasPrefix(text, "+"):
		return Added
	case strings.HasPrefix(text, "-"):
		return Removed
	}
	return Plain
}

// lexer cuts a line into runs.
type lexer struct {
	l    *language
	s    *Highlighter
	text string
	at   int
	out  []Run
}

func (p *lexer) put(to int, r Role) {
	if to <= p.at {
		return
	}
	if n := len(p.out); n > 0 && p.out[n-1].Role == r {
		p.out[n-1].Text += p.text[p.at:to]
	} else {
		p.out = append(p.out, Run{Text: p.text[p.at:to], Role: r})
	}
	p.at = to
}

func (p *lexer) run() {
	if p.s.open != "" {
		p.until(p.s.open, p.s.role, 0)
	}
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch {
		case p.comment(rest), p.quoted(rest):
		case isWordStart(rest):
			p.word(rest)
		case rest[0] >= '0' && rest[0] <= '9':
			n := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != '_' })
			if n < 0 {
				n = len(rest)
			}
			p.put(p.at+n, literal)
		default:
			_, n := utf8.DecodeRuneInString(rest)
			p.put(p.at+n, Plain)
		}
	}
}

// until colours up to the text that ends something, or the whole line and leaves
// it open.
func (p *lexer) until(end string, r Role, skip int) {
	from := p.at + skip
	for i := from; i < len(p.text); i++ {
		if p.text[i] == '\\' && r == literal && end != "'''" {
			i++
			continue
		}
		if strings.HasPrefix(p.text[i:], end) {
			p.put(i+len(end), r)
			p.s.open = ""
			return
		}
	}
	p.put(len(p.text), r)
	p.s.open, p.s.role = end, r
}

func (p *lexer) comment(rest string) bool {
	for _, c := range p.l.line {
		if strings.HasPrefix(rest, c) && (c != "#" || p.at == 0 || p.text[p.at-1] == ' ' || p.text[p.at-1] == '\t') {
			p.put(len(p.text), comment)
			return true
		}
	}
	if b := p.l.block; b[0] != "" && strings.HasPrefix(rest, b[0]) {
		p.until(b[1], comment, len(b[0]))
		return true
	}
	return false
}

func (p *lexer) quoted(rest string) bool {
	for _, q := range p.l.long {
		if strings.HasPrefix(rest, q) {
			p.until(q, literal, len(q))
			return true
		}
	}
	if !strings.Contains(p.l.quotes, rest[:1]) {
		return false
	}
	p.until(rest[:1], literal, 1)
	p.s.open = "" // these end with their line
	return true
}

func isWordStart(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '_' || r == '$' || r == '@' || unicode.IsLetter(r)
}

func (p *lexer) word(rest string) {
	n := strings.IndexFunc(rest[1:], func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if n < 0 {
		n = len(rest) - 1
	}
	for n++; n < len(rest) && !utf8.RuneStart(rest[n]); {
		n++
	}
	w := rest[:n]
	key := w
	if p.l.fold {
		key = strings.ToLower(w)
	}
	switch {
	case p.l.words[key]:
		p.put(p.at+n, keyword)
	case values[key]:
		p.put(p.at+n, literal)
	case n < len(rest) && rest[n] == '(':
		p.put(p.at+n, callee)
	case p.l.keys && n < len(rest) && (rest[n] == ':' || rest[n] == '='):
		p.put(p.at+n, callee)
	default:
		p.put(p.at+n, Plain)
	}
}

// values are words that mean a value nearly everywhere.
var values = set("true false nil null None True False undefined NULL nullptr")
