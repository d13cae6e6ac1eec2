package pane

import (
	"strconv"
	"strings"
	"unicode"

	"cotty/emulator"
)

// maxSearchLines bounds how far a search looks; histories are not longer.
const maxSearchLines = 1 << 20

// search is what the reader looks for in a view.
type search struct {
	pattern string // "" is none
	fold    bool   // letters of either case match
	back    bool   // towards older lines
	none    bool   // the last search found nothing

	text []byte // of the line looked at
	cols []int  // the column of each byte of text
}

// hit is a half-open range of columns.
type hit struct{ from, to int }

// state says what the search is for.
func (s *search) state() string {
	mark := "/"
	if s.back {
		mark = "?"
	}
	text := mark + s.pattern
	if s.none {
		text += " not found"
	}
	return text
}

// find gives the matches on a line.
func (s *search) find(cells []emulator.Cell) []hit {
	s.text, s.cols = s.text[:0], s.cols[:0]
	for x := range cells {
		c := &cells[x]
		n := len(s.text)
		switch {
		case c.Width == 0 && c.Rune == 0:
			continue
		case c.Rune == 0:
			s.text = append(s.text, ' ')
		case s.fold:
			s.text = append(s.text, string(unicode.ToLower(c.Rune))...)
			s.text = append(s.text, strings.ToLower(c.Combining)...)
		default:
			s.text = append(s.text, string(c.Rune)...)
			s.text = append(s.text, c.Combining...)
		}
		for range len(s.text) - n {
			s.cols = append(s.cols, x)
		}
	}
	pattern := s.pattern
	if s.fold {
		pattern = strings.ToLower(pattern)
	}
	var hits []hit
	text := string(s.text)
	for at := 0; ; {
		i := strings.Index(text[at:], pattern)
		if i < 0 {
			return hits
		}
		last := s.cols[at+i+len(pattern)-1]
		end := last + 1
		if cells[last].Width == 2 {
			end++
		}
		hits = append(hits, hit{s.cols[at+i], end})
		at += i + len(pattern)
	}
}

// Search looks for text, towards older lines if back is set, from copy mode's
// cursor and around the end. Letters match either case unless the pattern has
// an upper case one. It enters copy mode where need be and reports whether the
// text was found; the cursor is on it then.
func (v *View) Search(pattern string, back bool) bool {
	if v.copy == nil {
		v.EnterCopy()
	}
	v.search = search{pattern: pattern, back: back, fold: strings.ToLower(pattern) == pattern}
	return v.SearchNext(false)
}

// Searching gives the text that is looked for, "" for none.
func (v *View) Searching() string { return v.search.pattern }

// SearchNext goes to the next match in the direction of the search, or with
// reverse in the other one.
func (v *View) SearchNext(reverse bool) bool {
	f := v.Feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.em == nil || v.copy == nil || v.search.pattern == "" {
		return false
	}
	f.collect()
	v.geometry(v.rect)
	v.full = true
	oldest, newest := v.bounds()
	c, back := v.copy, v.search.back != reverse
	total := min(newest-oldest+1, maxSearchLines)
	for i := range total + 1 {
		line := c.line + i
		if back {
			line = c.line - i
		}
		if line > newest {
			line -= total
		} else if line < oldest {
			line += total
		}
		x, ok := v.pick(line, back, i == 0, i == total)
		if !ok {
			continue
		}
		c.x, c.line, c.want = x, line, x
		v.search.none = false
		v.follow()
		return true
	}
	v.search.none = true
	return false
}

// pick chooses a match on a line: beyond the cursor on the first line, up to it
// when the search has come around.
func (v *View) pick(line int, back, first, around bool) (int, bool) {
	hits := v.search.find(v.at(line))
	x, found := 0, false
	for _, h := range hits {
		beyond := h.from > v.copy.x
		if back {
			beyond = h.from < v.copy.x
		}
		if first && !beyond || around && beyond {
			continue
		}
		if !found || back {
			x, found = h.from, true
		}
	}
	return x, found
}

// Line gives copy mode's place, counted from 1 at the oldest line kept.
func (v *View) Line() string {
	f := v.Feed
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.em == nil || v.copy == nil {
		return ""
	}
	oldest, _ := v.bounds()
	return strconv.Itoa(v.copy.line - oldest + 1)
}
