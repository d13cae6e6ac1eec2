package pane

import (
	"strings"

	"tandemux/ui/paint"
)

// Sought is a line that was found without its number.
type Sought struct {
	Text    string // as far as that was kept
	Below   int    // how many lines, what was wrapped being one, were below it
	Pattern string // by which it was found
}

// leastCut is how long a text is at least that may not be the whole line, in bytes.
const leastCut = 1000

// GoText enters copy mode with the cursor on a line, the nearest with that text to where it
// was, and looks for its pattern; false if there is none any more. Until the cursor moves it stays
// on that text, also when a resize wraps the lines anew. r is where the view will be drawn.
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

// goTo goes there. The lock must be held.
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

// lineWith gives the line that is sought.
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
