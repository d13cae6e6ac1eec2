package pane

import (
	"strings"

	"tandemux/ui/paint"
)

// Sought identifies a line by its text, for lines whose numbers are unknown.
type Sought struct {
	Text    string // may be only the beginning of the line if it has leastCut bytes or more
	Below   int    // number of lines below it then; wrapped lines count once
	Pattern string // a search that finds it
}

// leastCut is the shortest Sought.Text, in bytes, that may be cut.
const leastCut = 1000

// GoText enters copy mode, moves the cursor to a line with the text of to, the one nearest to
// where the line was, and searches for its pattern. It reports whether there is such a line.
// Until the cursor moves it stays on the line, even when a resize rewraps it. r is where the view
// will be drawn.
func (v *View) GoText(to Sought, r paint.Rect) (ok bool) {
	v.EnterCopy()
	v.with(func(*Feed) {
		if v.rect.Empty() {
			v.rect = r
		}
		if v.copy != nil {
			v.sought = &to
			ok = to.goTo(v)
		}
	})
	return ok
}

// goTo is GoText in copy mode and with the lock held.
func (to *Sought) goTo(v *View) bool {
	at, ok := v.lineWith(to)
	if !ok {
		v.sought = nil
		return false
	}
	v.search = search{pattern: to.Pattern, back: true}
	v.search.compile()
	v.copy.Line, v.copy.X = at.last(), len(v.at(at.last()))
	if !v.search.next(v, false, 1) || v.copy.Line < at.first || v.copy.Line > at.last() {
		v.copy.Line, v.copy.X, v.copy.want = at.first, 0, 0
		centre(v, at.first)
	}
	v.full, v.back = true, true
	return true
}

// lineWith returns the line that to identifies.
func (t *lines) lineWith(to *Sought) (found stretch, ok bool) {
	want := strings.Join(strings.Fields(to.Text), " ")
	oldest, newest := t.bounds()
	best := 0
	begun := false
	for n, line := 0, newest; line >= oldest; {
		s := t.stretch(line)
		line = s.first - 1
		text, _ := s.text(false)
		got := strings.Join(strings.Fields(string(text)), " ")
		if begun = begun || got != ""; !begun {
			continue
		}
		off := n - to.Below
		if off < 0 {
			off = -off
		}
		if (got == want || len(to.Text) >= leastCut && strings.HasPrefix(got, want)) && (!ok || off < best) {
			found, best, ok = s, off, true
		}
		if ok && n-to.Below > best {
			break
		}
		n++
	}
	return found, ok
}
