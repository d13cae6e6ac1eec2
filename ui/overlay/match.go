package overlay

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How well a word of a query fits a text, the least well first.
const (
	fitsNot       = iota
	fitsScattered // its letters occur in order, others between them
	fitsWithin    // it is part of a word
	fitsPrefix    // a word begins with it
	fitsWord      // it is a word
)

// fit says how well text fits a word of a query, both in lower case, and whether at
// its very start.
func fit(text, word string) (how int, start bool) {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			break
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(word):])
		is := fitsWithin
		if !isWord(before) {
			if is = fitsPrefix; !isWord(after) {
				is = fitsWord
			}
		}
		if is > how {
			how, start = is, i == 0
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		from = i + size
	}
	if how != fitsNot {
		return how, start
	}
	rest := text
	for _, r := range word {
		i := strings.IndexRune(rest, r)
		if i < 0 {
			return fitsNot, false
		}
		_, size := utf8.DecodeRuneInString(rest[i:])
		rest = rest[i+size:]
	}
	return fitsScattered, false
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// matching gives the indices of the n rows whose text fits all words of the query,
// in either case. A row is as good as the word that fits it least: whole words
// come before beginnings of words, those before parts of words; letters that are
// merely scattered over the text count when nothing fits better. Of rows that are
// as good, those come first that begin with a word of the query; the rest stay in
// order.
func matching(n int, query string, text func(i int) string) []int {
	type match struct{ row, how, starts int }
	var found []match
	words := strings.Fields(strings.ToLower(query))
	best := fitsNot
	for i := range n {
		m := match{row: i, how: fitsWord}
		t := ""
		if len(words) > 0 {
			t = strings.ToLower(text(i))
		}
		for _, w := range words {
			how, start := fit(t, w)
			if m.how = min(m.how, how); start {
				m.starts++
			}
		}
		if m.how != fitsNot {
			found = append(found, m)
			best = max(best, m.how)
		}
	}
	if best > fitsScattered {
		found = slices.DeleteFunc(found, func(m match) bool { return m.how == fitsScattered })
	}
	slices.SortStableFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(b.how, a.how), cmp.Compare(b.starts, a.starts))
	})
	rows := make([]int, len(found))
	for i, m := range found {
		rows[i] = m.row
	}
	return rows
}
