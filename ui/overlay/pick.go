package overlay

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// picker is a list with a filter and a chosen row.
type picker struct {
	query  line
	chosen int // index into the rows that match
	top    int // first one shown
}

// move moves the choice by n within count rows.
func (p *picker) move(n, count int) {
	p.chosen = min(max(p.chosen+n, 0), max(count-1, 0))
}

// scroll keeps the choice within h rows shown.
func (p *picker) scroll(h, count int) {
	p.chosen = min(max(p.chosen, 0), max(count-1, 0))
	p.top = min(max(p.top, p.chosen-h+1), p.chosen)
	p.top = max(min(p.top, count-h), 0)
}

// wholeScore is the least score of a row in which a word of the query occurs as it
// is; letters in order alone score less.
const wholeScore = 50

// score rates how well text matches a query; 0 is not at all. Letters match
// either case. A query matches as a substring, best at the start of a word, or
// else as letters in order; words of the query match one by one.
func score(text, query string) int {
	total := 0
	text = strings.ToLower(text)
	for _, w := range strings.Fields(strings.ToLower(query)) {
		s := scoreWord(text, w)
		if s == 0 {
			return 0
		}
		total += s
	}
	return max(total, 1)
}

func scoreWord(text, w string) int {
	if i := strings.Index(text, w); i >= 0 {
		switch {
		case i == 0:
			return 100
		case !isWord(rune(text[i-1])):
			return 80
		default:
			return 50
		}
	}
	rest := text
	for _, r := range w {
		i := strings.IndexRune(rest, r)
		if i < 0 {
			return 0
		}
		rest = rest[i+len(string(r)):]
	}
	return max(20-(len(text)-len(rest)-len(w)), 1)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// matching gives the indices of the rows that match, the best first; rows that
// match as well stay in order.
func matching(n int, query string, text func(i int) string) []int {
	type match struct{ i, score int }
	var found []match
	for i := range n {
		if s := score(text(i), query); s > 0 {
			found = append(found, match{i, s})
		}
	}
	if strings.TrimSpace(query) != "" {
		// Letters in order are for when nothing has the words themselves.
		if slices.ContainsFunc(found, func(m match) bool { return m.score >= wholeScore }) {
			found = slices.DeleteFunc(found, func(m match) bool { return m.score < wholeScore })
		}
		slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	}
	at := make([]int, len(found))
	for i, f := range found {
		at[i] = f.i
	}
	return at
}
