package chat

import (
	"strings"
	"unicode/utf8"

	"tandemux/emulator"
	"tandemux/ui/paint"
)

// role is what a piece of text is, from which its colour follows.
type role uint8

const (
	plain role = iota
	muted
	accent
	heading
	codeText
	linkText
	quote
	user
	passed
	failed
	running
	warned
	added
	removed
	keyword
	literal
	comment
	callee
	roles // how many there are
)

// attr is how a piece of text is emphasised.
type attr uint8

const (
	bold attr = 1 << iota
	italic
	underline
	strike
)

// run is text of one look.
type run struct {
	text string
	role role
	attr attr
	link string // where it leads, mostly empty
}

// line is a row of the transcript.
type line struct {
	runs []run
	// soft says that the next line goes on with this one: it was wrapped there.
	soft bool
	// lead is how many cells at the front are no text of the line: frames, bullets
	// of lines before.
	lead int
}

// text is what the line says without its lead.
func (l line) text() string {
	var b strings.Builder
	for _, r := range l.runs {
		b.WriteString(r.text)
	}
	s := b.String()
	return s[cells(s, l.lead):]
}

// cells is the length in bytes of the first n cells of s.
func cells(s string, n int) int {
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

// width of runs in cells.
func width(runs []run) int {
	w := 0
	for _, r := range runs {
		w += paint.Width(r.text)
	}
	return w
}

// margin is what stands before the text of lines.
type margin struct{ first, rest []run }

// indent is a margin of a text, and as many blanks on the following lines.
func indent(first []run) margin {
	return margin{first, []run{{text: strings.Repeat(" ", width(first))}}}
}

// within puts a margin inside of another.
func (m margin) within(outer margin) margin {
	return margin{join(outer.first, m.first), join(outer.rest, m.rest)}
}

// after is the margin of what follows the first line.
func (m margin) after() margin { return margin{m.rest, m.rest} }

func join(a, b []run) []run {
	if len(a) == 0 {
		return b
	}
	return append(append(make([]run, 0, len(a)+len(b)), a...), b...)
}

// blank is a line that has nothing but a margin, of which blanks are left out.
func (m margin) blank(w int) line {
	runs := m.fit(w).rest
	for len(runs) > 0 && strings.Trim(runs[len(runs)-1].text, " ") == "" {
		runs = runs[:len(runs)-1]
	}
	return line{runs: runs, lead: width(runs)}
}

// fit shortens a margin that leaves a text less than a few cells.
func (m margin) fit(w int) margin {
	const least = 8
	if width(m.first) > max(w-least, 0) || width(m.rest) > max(w-least, 0) {
		return margin{}
	}
	return m
}

// wrapping breaks runs into lines.
type wrapping struct {
	w     int
	m     margin
	lines []line
	cur   []run
	used  int
	blank []run // blanks that stand before the next word if it fits
	word  []run
	wordW int
}

// wrap breaks text at blanks into lines of at most w cells; "\n" breaks it too.
// Words that are too long are broken anywhere.
func wrap(runs []run, w int, m margin) []line {
	p := wrapping{w: max(w, 1), m: m.fit(w)}
	p.begin()
	for _, r := range runs {
		p.take(r)
	}
	p.flush()
	p.end(false)
	return p.lines
}

func (p *wrapping) margin() []run {
	if len(p.lines) == 0 {
		return p.m.first
	}
	return p.m.rest
}

func (p *wrapping) begin() {
	lead := p.margin()
	p.cur, p.used, p.blank = append([]run(nil), lead...), width(lead), nil
}

func (p *wrapping) end(soft bool) {
	p.lines = append(p.lines, line{runs: merged(p.cur), soft: soft, lead: width(p.margin())})
}

// merged joins neighbours of the same look.
func merged(runs []run) []run {
	out := runs[:0]
	for from := 0; from < len(runs); {
		to, size := from+1, len(runs[from].text)
		for to < len(runs) && alike(runs[to], runs[from]) {
			size += len(runs[to].text)
			to++
		}
		r := runs[from]
		if to > from+1 {
			var b strings.Builder
			b.Grow(size)
			for _, k := range runs[from:to] {
				b.WriteString(k.text)
			}
			r.text = b.String()
		}
		out = append(out, r)
		from = to
	}
	return out
}

func alike(a, b run) bool { return a.role == b.role && a.attr == b.attr && a.link == b.link }

func (p *wrapping) next(soft bool) {
	p.end(soft)
	p.begin()
}

// take cuts a run into words.
func (p *wrapping) take(r run) {
	start, kind := 0, 0 // 1 a word, 2 blanks
	emit := func(end int) {
		if end > start {
			piece := r
			piece.text = r.text[start:end]
			if kind == 2 {
				p.flush()
				p.blank = append(p.blank, piece)
			} else {
				p.add(piece)
			}
		}
		start = end
	}
	for i, c := range r.text {
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
	emit(len(r.text))
}

// add makes a piece part of the word; lines may break between wide characters.
func (p *wrapping) add(r run) {
	if isASCII(r.text) {
		p.word, p.wordW = append(p.word, r), p.wordW+len(r.text)
		return
	}
	from, at := 0, 0
	for g := emulator.ClustersOf(r.text); g.Next(); {
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
	p.piece(r, from, len(r.text))
}

func (p *wrapping) piece(r run, from, to int) {
	if to > from {
		r.text = r.text[from:to]
		p.word, p.wordW = append(p.word, r), p.wordW+paint.Width(r.text)
	}
}

// flush puts the word on the line, or on the next.
func (p *wrapping) flush() {
	if len(p.word) == 0 {
		return
	}
	gap := width(p.blank)
	if p.used+gap+p.wordW > p.w && p.used > width(p.margin()) {
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
				piece.text = r.text[from:to]
				p.cur = append(p.cur, piece)
			}
			from = to
		}
		for g := emulator.ClustersOf(r.text); g.Next(); {
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

// hard breaks one line of text, such as code, anywhere: blanks matter in it.
func hard(runs []run, w int, m margin) []line {
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

// cut shortens runs to w cells, ending them with a mark where something was cut.
func cut(runs []run, w int, mark string) []run {
	if width(runs) <= w {
		return runs
	}
	var out []run
	left := max(w-paint.Width(mark), 0)
	for _, r := range runs {
		n := paint.Width(r.text)
		if n > left {
			r.text = paint.Cut(r.text, left, "")
			if r.text != "" {
				out = append(out, r)
			}
			break
		}
		out, left = append(out, r), left-n
	}
	if mark = paint.Cut(mark, w, ""); mark != "" {
		out = append(out, run{text: mark, role: muted})
	}
	return out
}
