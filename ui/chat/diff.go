package chat

import (
	"fmt"
	"strings"
)

// maxDiff bounds the product of the lines of two texts that are compared line by
// line; beyond it the whole middle counts as changed.
const maxDiff = 1 << 20

// change is what became of a file.
type change struct {
	path        string
	fresh, gone bool // the file is new, or deleted
	hunks       []hunk
	plus, minus int
	unread      string // why there are no hunks
}

// hunk is a run of lines of a diff: each begins with ' ', '+' or '-'.
type hunk struct {
	from, to int // the first line's number before and after, counted from 1
	lines    []string
}

// around is how many unchanged lines stand around those that changed.
const around = 3

// diffOf compares two texts line by line.
func diffOf(path, before, after string, had bool) change {
	c := change{path: path, fresh: !had, gone: had && after == "" && before != ""}
	a, b := splitLines(before), splitLines(after)
	ops := compare(a, b)
	for _, o := range ops {
		switch o[0] {
		case '+':
			c.plus++
		case '-':
			c.minus++
		}
	}
	c.hunks = cutHunks(ops)
	return c
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// compare gives the lines of both texts in order, each with what became of it.
func compare(a, b []string) []string {
	var out []string
	put := func(op string, lines []string) {
		for _, l := range lines {
			out = append(out, op+l)
		}
	}
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	put(" ", a[:head])
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(x)*len(y) > maxDiff {
		put("-", x)
		put("+", y)
	} else {
		out = append(out, subsequence(x, y)...)
	}
	put(" ", a[len(a)-tail:])
	return out
}

// subsequence compares by the longest common subsequence.
func subsequence(x, y []string) []string {
	n, m := len(x), len(y)
	best := make([]int32, (n+1)*(m+1))
	at := func(i, j int) *int32 { return &best[i*(m+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if x[i] == y[j] {
				*at(i, j) = *at(i+1, j+1) + 1
			} else {
				*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			}
		}
	}
	out := make([]string, 0, n+m)
	i, j := 0, 0
	for i < n || j < m {
		switch {
		case i < n && j < m && x[i] == y[j]:
			out = append(out, " "+x[i])
			i, j = i+1, j+1
		case i < n && (j == m || *at(i+1, j) >= *at(i, j+1)):
			out = append(out, "-"+x[i])
			i++
		default:
			out = append(out, "+"+y[j])
			j++
		}
	}
	return out
}

// cutHunks leaves out what did not change, but for the lines around.
func cutHunks(ops []string) []hunk {
	keep := make([]bool, len(ops))
	for i, o := range ops {
		if o[0] != ' ' {
			for k := max(i-around, 0); k <= min(i+around, len(ops)-1); k++ {
				keep[k] = true
			}
		}
	}
	var hunks []hunk
	before, after, within := 1, 1, false
	for i, o := range ops {
		if keep[i] {
			if !within {
				hunks = append(hunks, hunk{from: before, to: after})
			}
			h := &hunks[len(hunks)-1]
			h.lines = append(h.lines, o)
		}
		within = keep[i]
		if o[0] != '+' {
			before++
		}
		if o[0] != '-' {
			after++
		}
	}
	return hunks
}

// parseDiff reads a unified diff that came as text.
func parseDiff(path, text string) change {
	c := change{path: path}
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		switch {
		case strings.HasPrefix(l, "@@"):
			h := hunk{from: 1, to: 1}
			fmt.Sscanf(l, "@@ -%d", &h.from)
			if i := strings.Index(l, " +"); i > 0 {
				fmt.Sscanf(l[i:], " +%d", &h.to)
			}
			c.hunks = append(c.hunks, h)
		case len(c.hunks) == 0 || l == "" || strings.HasPrefix(l, `\`):
		case l[0] == '+' || l[0] == '-' || l[0] == ' ':
			h := &c.hunks[len(c.hunks)-1]
			h.lines = append(h.lines, l)
			if l[0] == '+' {
				c.plus++
			} else if l[0] == '-' {
				c.minus++
			}
		}
	}
	return c
}

// title is what a change is, on one line.
func (c change) title(g *glyphs) []run {
	r := []run{{text: c.path, attr: bold}}
	switch {
	case c.fresh:
		r = append(r, run{text: " new", role: muted})
	case c.gone:
		r = append(r, run{text: " deleted", role: removed})
	}
	if c.plus > 0 {
		r = append(r, run{text: fmt.Sprintf(" +%d", c.plus), role: added})
	}
	if c.minus > 0 {
		r = append(r, run{text: fmt.Sprintf(" -%d", c.minus), role: removed})
	}
	if c.unread != "" {
		r = append(r, run{text: " " + g.dot + " " + c.unread, role: muted})
	}
	return r
}

// render draws the change, at most that many rows of its lines; rest is how many
// lines are left out.
func (c change) render(w, most int, g *glyphs) (out []line, rest int) {
	lang := languageOf(c.path)
	digits := 1
	for _, h := range c.hunks {
		digits = max(digits, len(fmt.Sprint(h.to+len(h.lines))), len(fmt.Sprint(h.from+len(h.lines))))
	}
	numbers := w >= 30
	var s lexing
	for i, h := range c.hunks {
		before, after := h.from, h.to
		if i > 0 && most > len(out) {
			out = append(out, line{runs: []run{{text: g.ellipsis, role: muted}}, lead: 1})
		}
		s = lexing{}
		for _, l := range h.lines {
			if len(out) >= most {
				rest++
				continue
			}
			n, mark, style := after, " ", plain
			switch l[0] {
			case '+':
				mark, style = "+", added
				after++
			case '-':
				n, mark, style = before, "-", removed
				before++
			default:
				before, after = before+1, after+1
			}
			lead := []run{{text: mark + " ", role: style}}
			if numbers {
				lead = []run{{text: fmt.Sprintf("%*d ", digits, n), role: muted}, {text: mark + " ", role: style}}
			}
			var text []run
			if style == plain {
				text = s.line(l[1:], lang)
			} else if l[1:] != "" {
				text = []run{{text: l[1:], role: style}}
			}
			out = append(out, hard(text, w, indent(lead))...)
		}
	}
	if len(out) > most {
		out = out[:most]
	}
	return out, rest
}
