package pane

import (
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandemux/emulator"
	"tandemux/ui/motion"
)

// maxMatches is the largest number of matches that are found.
const maxMatches = 100_000

// search is a view's search and its result.
type search struct {
	pattern string // as typed
	re      finder // nil without a search
	fold    bool   // ignore case
	literal bool   // the pattern is not a valid regular expression, so it is searched for as text
	back    bool   // towards older lines

	count   int  // number of matches as of the last move, at most maxMatches
	current int  // number of the match that the cursor is on, from 1; 0 is none
	around  bool // the last move wrapped around an end of the text

	drawn struct { // the matches in the stretch that was drawn last
		gen   uint64
		first int
		at    stretch
		hits  []span
	}
}

// span is a half-open range: of cells, bytes, rows or lines.
type span struct{ from, to int }

// finder returns the half-open range of the first match in text, nil if there is none.
type finder func(text []byte) []int

// compile sets re and fold from the pattern. A pattern without upper case letters ignores case:
// the text is made lower case before it is searched.
func (s *search) compile() {
	s.fold = !upper(s.pattern)
	if regexp.QuoteMeta(s.pattern) == s.pattern {
		s.re = plainly(s.pattern)
		return
	}
	re, err := regexp.Compile(s.pattern)
	if err != nil {
		s.literal, s.re = true, plainly(s.pattern)
		return
	}
	s.re = re.FindIndex
}

func plainly(text string) finder {
	re := regexp.MustCompile(regexp.QuoteMeta(text)) // the regexp is one literal, which regexp finds without its matcher
	return re.FindIndex
}

// upper reports whether a pattern has upper case letters. Letters behind a backslash don't count.
func upper(pattern string) bool {
	escaped := false
	for _, r := range pattern {
		if !escaped && unicode.IsUpper(r) {
			return true
		}
		escaped = r == '\\' && !escaped
	}
	return false
}

// all calls found with each match in text that is not empty, until found returns false.
func (s *search) all(text []byte, found func(from, to int) bool) {
	for at := 0; at < len(text); {
		m := s.re(text[at:])
		if m == nil {
			return
		}
		if m[1] == m[0] { // skip an empty match
			_, n := utf8.DecodeRune(text[at+m[1]:])
			at += m[1] + max(n, 1)
			continue
		}
		if !found(at+m[0], at+m[1]) {
			return
		}
		at += m[1]
	}
}

func appendCell(text []byte, c *emulator.Cell, fold bool) []byte {
	r := c.Rune
	switch {
	case r == 0 && c.Width == 0:
		return text
	case r == 0:
		return append(text, ' ')
	case r < utf8.RuneSelf:
		if fold && r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		text = append(text, byte(r))
	default:
		if fold {
			r = unicode.ToLower(r)
		}
		text = utf8.AppendRune(text, r)
	}
	if c.Combining != "" {
		if fold {
			return append(text, strings.ToLower(c.Combining)...)
		}
		return append(text, c.Combining...)
	}
	return text
}

// hits returns the matches on a line, as columns. The lock must be held.
func (s *search) hits(t *lines, line int) []span {
	d := &s.drawn
	if d.gen != t.seen.gen || len(d.at.starts) == 0 || line < d.first || line > d.at.last() {
		d.at = t.stretch(line)
		d.gen, d.first, d.hits = t.seen.gen, d.at.first, d.hits[:0]
		text, at := d.at.text(s.fold)
		s.all(text, func(from, to int) bool {
			d.hits = append(d.hits, span{at[from], d.at.end(at[to-1])})
			return len(d.hits) < maxMatches
		})
	}
	var on []span
	for _, h := range d.hits {
		if h, ok := d.at.on(line, h); ok {
			on = append(on, h)
		}
	}
	return on
}

// Search searches for a regular expression from copy mode's cursor, towards older lines if back
// is set, and wraps around at the end. A pattern that is not a valid regular expression is
// searched for as text. Case is ignored unless the pattern has an upper case letter. Search
// enters copy mode, and reports whether it moved the cursor to a match.
func (v *View) Search(pattern string, back bool) bool {
	if v.copy == nil {
		v.EnterCopy()
	}
	v.search = search{pattern: pattern, back: back}
	v.full = true
	if pattern == "" {
		return false
	}
	v.search.compile()
	return v.SearchNext(false, 1)
}

// Searching returns the pattern, "" without a search.
func (v *View) Searching() string { return v.search.pattern }

// Found describes the search: the number of the match and of all matches, whether it wrapped, and
// whether the pattern was taken as text.
func (v *View) Found() string {
	s := &v.search
	var words []string
	switch {
	case s.re == nil:
		return ""
	case s.count == 0:
		words = append(words, "no match")
	case s.current == 0:
		words = append(words, counted(s.count))
	default:
		words = append(words, fmt.Sprintf("%d/%s", s.current, counted(s.count)))
	}
	if s.around {
		words = append(words, "wrapped")
	}
	if s.literal {
		words = append(words, "not a regexp, taken as text")
	}
	return strings.Join(words, ", ")
}

func counted(n int) string {
	if n >= maxMatches {
		return strconv.Itoa(maxMatches) + "+"
	}
	return strconv.Itoa(n)
}

// SearchNext goes to the nth next match in the direction of the search, or with reverse in the
// opposite direction. It reports whether there is a match.
func (v *View) SearchNext(reverse bool, n int) (ok bool) {
	v.moving(func() { ok = v.search.next(v, reverse, n) })
	return ok
}

// next is SearchNext with the lock held. It may be called only in copy mode.
func (s *search) next(v *View, reverse bool, n int) (ok bool) {
	if s.re == nil {
		return false
	}
	matches := v.index.matches(v)
	s.count, s.current, s.around = len(matches), 0, false
	if len(matches) == 0 {
		return false
	}
	v.jump()
	here := v.index.offset(v, spot{v.copy.X, v.copy.Line})
	at, total := 0, len(matches)
	if s.back != reverse {
		at = sort.Search(total, func(i int) bool { return matches[i].from >= here }) - min(max(n, 1), MaxCount)
	} else {
		at = sort.Search(total, func(i int) bool { return matches[i].from > here }) + min(max(n, 1), MaxCount) - 1
	}
	s.around = at < 0 || at >= total
	at = (at%total + total) % total
	to := v.index.spot(v, matches[at].from)
	v.copy.X, v.copy.Line, v.copy.want = to.x, to.line, to.x
	centre(v, to.line)
	s.current = at + 1
	return true
}

// centre scrolls so that a line that doesn't show is in the middle.
func centre(v *View, line int) {
	v.unfold(line)
	if h := max(v.rect.H, 1); line < v.top || v.row(line) >= h {
		oldest, _ := v.bounds()
		v.top = min(max(v.step(line, -h/2), oldest), max(v.live(), oldest))
	}
}

// WordHere returns a pattern for the word at or after copy mode's cursor, "" if there is none on
// its line.
func (v *View) WordHere() (pattern string) {
	v.moving(func() {
		cells := v.at(v.copy.Line)
		n := motion.Length(cells)
		x := v.copy.X
		for x < n && motion.ClassOf(v.Separators, &cells[x], false) != motion.Word {
			x++
		}
		if x >= n {
			return
		}
		from, to := x, x
		for from > 0 && motion.ClassOf(v.Separators, &cells[from-1], false) == motion.Word {
			from--
		}
		for to < n && motion.ClassOf(v.Separators, &cells[to], false) == motion.Word {
			to++
		}
		text := regexp.QuoteMeta(emulator.LineText(cells[from:to]))
		if plain := strings.IndexFunc(text, func(r rune) bool { return r > 0x7f }) < 0; plain && v.Separators == "" {
			text = `\b` + text + `\b`
		}
		pattern = text
	})
	return pattern
}

// Position is a view's position and search, which Restore takes.
type Position struct {
	copy   *copyMode
	back   bool
	top    int
	search search
	epoch  int
}

// Position returns the view's position, copy mode's cursor and the search.
func (v *View) Position() Position {
	p := Position{back: v.back, top: v.top, search: v.search, epoch: v.epoch}
	if v.copy != nil {
		p.copy = new(*v.copy)
	}
	return p
}

// Restore returns to a position. If lines were renumbered since, a view that was in copy
// mode stays where it is.
func (v *View) Restore(p Position) {
	v.search, v.full = p.search, true
	switch {
	case p.epoch == v.epoch:
		v.copy, v.back, v.top = nil, p.back, p.top
	case p.copy != nil:
		if v.copy != nil {
			v.copy.hidden = false
		}
		return
	default:
		v.copy, v.back = nil, p.back
	}
	if p.copy == nil {
		v.index = index{}
	} else {
		v.copy = new(*p.copy)
	}
}

// Matches returns the number of matches as of the last move.
func (v *View) Matches() int { return v.search.count }
