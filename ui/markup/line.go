package markup

import (
	"iter"
	"strings"
	"unicode/utf8"

	"tandemux/emulator"
	"tandemux/ui/paint"
)

// Role is the meaning of a piece of text, which decides its colour.
type Role uint8

const (
	Plain Role = iota
	Muted
	Accent
	heading
	codeText
	LinkText
	quote
	User
	Passed
	Failed
	Running
	Warned
	Added
	Removed
	keyword
	literal
	comment
	callee
	roles // how many there are
)

// Attr is the emphasis of a piece of text.
type Attr uint8

const (
	Bold Attr = 1 << iota
	Italic
	Underline
	Strike
)

// Run is text of one style.
type Run struct {
	Text string
	Role Role
	Attr Attr
	Link string // its URL, "" for none
}

// Line is a row of the transcript.
type Line struct {
	Runs []Run
	// Soft says that the line was wrapped, and continues in the next one.
	Soft bool
	// Lead is the number of cells at the front that are not part of the text, such as frames and
	// bullets.
	Lead int
}

// Text is the line's text without its lead.
func (l Line) Text() string {
	var b strings.Builder
	for _, r := range l.Runs {
		b.WriteString(r.Text)
	}
	s := b.String()
	return s[Cells(s, l.Lead):]
}

// Find returns the ranges of cells in which the line has a text. Case is ignored unless the text
// has capitals.
func (l Line) Find(what string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		if what == "" {
			return
		}
		text := l.Text()
		hay := text
		if strings.ToLower(what) == what {
			if hay = strings.ToLower(text); len(hay) != len(text) {
				hay = text // offsets would not match
			}
		}
		for at := 0; ; {
			i := strings.Index(hay[at:], what)
			if i < 0 {
				return
			}
			i, at = at+i, at+i+len(what)
			from := l.Lead + paint.Width(text[:i])
			if !yield(from, from+paint.Width(text[i:at])) {
				return
			}
		}
	}
}

// Cells is the length in bytes of the first n cells of s.
func Cells(s string, n int) int {
	if n <= 0 {
		return 0
	}
	at, used := 0, 0
	for g := emulator.ClustersOf(s); used < n && g.Next(); {
		used += g.Width()
		at += len(g.Value())
	}
	return at
}

// Width is the width of runs in cells.
func Width(runs []Run) int {
	w := 0
	for _, r := range runs {
		w += paint.Width(r.Text)
	}
	return w
}

// Margin is what precedes the text on the first line and on the other lines.
type Margin struct{ first, Rest []Run }

// Indent returns a margin of first, and as many blanks on the other lines.
func Indent(first []Run) Margin {
	return Margin{first, []Run{{Text: strings.Repeat(" ", Width(first))}}}
}

// within returns the margin inside another one.
func (m Margin) within(outer Margin) Margin {
	return Margin{Join(outer.first, m.first), Join(outer.Rest, m.Rest)}
}

// After is the margin of the lines after the first.
func (m Margin) After() Margin { return Margin{m.Rest, m.Rest} }

// Join concatenates runs.
func Join(a, b []Run) []Run {
	if len(a) == 0 {
		return b
	}
	return append(append(make([]Run, 0, len(a)+len(b)), a...), b...)
}

// blank returns a line that has only the margin, without trailing blanks.
func (m Margin) blank(w int) Line {
	runs := m.fit(w).Rest
	for len(runs) > 0 && strings.Trim(runs[len(runs)-1].Text, " ") == "" {
		runs = runs[:len(runs)-1]
	}
	return Line{Runs: runs, Lead: Width(runs)}
}

// fit drops a margin that leaves too few cells for text.
func (m Margin) fit(w int) Margin {
	const least = 8
	if Width(m.first) > max(w-least, 0) || Width(m.Rest) > max(w-least, 0) {
		return Margin{}
	}
	return m
}

// wrapping breaks runs into lines.
type wrapping struct {
	w     int
	m     Margin
	lines []Line
	cur   []Run
	used  int
	blank []Run // the blanks before the word
	word  []Run
	wordW int
}

// Wrap breaks text at blanks and "\n" into lines of at most w cells. Longer words are broken
// anywhere.
func Wrap(runs []Run, w int, m Margin) []Line {
	p := wrapping{w: max(w, 1), m: m.fit(w)}
	p.begin()
	for _, r := range runs {
		p.take(r)
	}
	p.flush()
	p.end(false)
	return p.lines
}

func (p *wrapping) margin() []Run {
	if len(p.lines) == 0 {
		return p.m.first
	}
	return p.m.Rest
}

func (p *wrapping) begin() {
	lead := p.margin()
	p.cur, p.used, p.blank = append([]Run(nil), lead...), Width(lead), nil
}

func (p *wrapping) end(soft bool) {
	p.lines = append(p.lines, Line{Runs: merged(p.cur), Soft: soft, Lead: Width(p.margin())})
}

// merged joins neighbouring runs of the same style.
func merged(runs []Run) []Run {
	out := runs[:0]
	for from := 0; from < len(runs); {
		like := runs[from]
		to, size := from+1, len(runs[from].Text)
		for to < len(runs) && runs[to].Role == like.Role && runs[to].Attr == like.Attr && runs[to].Link == like.Link {
			size += len(runs[to].Text)
			to++
		}
		r := runs[from]
		if to > from+1 {
			var b strings.Builder
			b.Grow(size)
			for _, k := range runs[from:to] {
				b.WriteString(k.Text)
			}
			r.Text = b.String()
		}
		out = append(out, r)
		from = to
	}
	return out
}

func (p *wrapping) next(soft bool) {
	p.end(soft)
	p.begin()
}

// take splits a run into words.
func (p *wrapping) take(r Run) {
	start, kind := 0, 0 // 1 a word, 2 blanks
	emit := func(end int) {
		if end > start {
			piece := r
			piece.Text = r.Text[start:end]
			if kind == 2 {
				p.flush()
				p.blank = append(p.blank, piece)
			} else {
				p.add(piece)
			}
		}
		start = end
	}
	for i, c := range r.Text {
		now := 1
		switch c {
		case '\n':
			emit(i)
			p.flush()
			p.next(false)
			start, kind = i+1, 0
			continue
		case ' ':
			now = 2
		}
		if now != kind {
			emit(i)
			kind = now
		}
	}
	emit(len(r.Text))
}

// add appends a piece to the word. Lines may break around wide characters.
func (p *wrapping) add(r Run) {
	if isASCII(r.Text) {
		p.word, p.wordW = append(p.word, r), p.wordW+len(r.Text)
		return
	}
	from, at := 0, 0
	for g := emulator.ClustersOf(r.Text); g.Next(); {
		size := len(g.Value())
		if g.Width() > 1 {
			p.piece(r, from, at)
			p.flush()
			p.piece(r, at, at+size)
			p.flush()
			from = at + size
		}
		at += size
	}
	p.piece(r, from, len(r.Text))
}

func (p *wrapping) piece(r Run, from, to int) {
	if to > from {
		r.Text = r.Text[from:to]
		p.word, p.wordW = append(p.word, r), p.wordW+paint.Width(r.Text)
	}
}

// flush puts the word on the line or, if it doesn't fit, on the next.
func (p *wrapping) flush() {
	if len(p.word) == 0 {
		return
	}
	gap := Width(p.blank)
	if p.used+gap+p.wordW > p.w && p.used > Width(p.margin()) {
		p.next(true)
		gap = 0
	}
	if p.used+gap+p.wordW <= p.w {
		p.cur = append(append(p.cur, p.blank...), p.word...)
		p.used += gap + p.wordW
	} else {
		p.force()
	}
	p.blank, p.word, p.wordW = nil, nil, 0
}

// force breaks a word that is longer than a line.
func (p *wrapping) force() {
	for _, r := range p.word {
		from, at := 0, 0
		put := func(to int) {
			if to > from {
				piece := r
				piece.Text = r.Text[from:to]
				p.cur = append(p.cur, piece)
			}
			from = to
		}
		for g := emulator.ClustersOf(r.Text); g.Next(); {
			if n := g.Width(); p.used+n > p.w {
				put(at)
				p.next(true)
				p.used += n
			} else {
				p.used += n
			}
			at += len(g.Value())
		}
		put(at)
	}
}

// WrapAnywhere breaks a line of text, such as code, at any cell and keeps its blanks.
func WrapAnywhere(runs []Run, w int, m Margin) []Line {
	p := wrapping{w: max(w, 1), m: m.fit(w)}
	p.begin()
	p.word = runs
	p.force()
	p.end(false)
	return p.lines
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Cut shortens runs to w cells. If it cuts something, the result ends with mark.
func Cut(runs []Run, w int, mark string) []Run {
	if Width(runs) <= w {
		return runs
	}
	var out []Run
	left := max(w-paint.Width(mark), 0)
	for _, r := range runs {
		n := paint.Width(r.Text)
		if n > left {
			r.Text = paint.Cut(r.Text, left, "")
			if r.Text != "" {
				out = append(out, r)
			}
			break
		}
		out, left = append(out, r), left-n
	}
	if mark = paint.Cut(mark, w, ""); mark != "" {
		out = append(out, Run{Text: mark, Role: Muted})
	}
	return out
}
