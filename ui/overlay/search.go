package overlay

import (
	tea "charm.land/bubbletea/v2"

	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// SearchDo is what a search prompt does as it is typed into.
type SearchDo struct {
	// Changed takes the text after each change and says how the search stands.
	Changed func(text string) string
	// Step goes to the next match, with reverse against the direction.
	Step func(reverse bool) string
	// Done takes the text when it is accepted, or that it was not.
	Done func(text string, ok bool)
}

// Search asks what to look for on the last row of the area and looks for it at
// once.
type Search struct {
	label  string
	line   editor.Text
	past   []string // what was looked for before, the newest last
	at     int      // in past; its length while none of it is chosen
	note   string
	search SearchDo
}

// NewSearch gives an empty search prompt.
func NewSearch(label string, past []string, do SearchDo) *Search {
	return &Search{label: label, past: past, at: len(past), search: do}
}

// Key implements Overlay. Up and down choose from what was looked for before.
func (s *Search) Key(k tea.Key) bool {
	switch stroke := editor.Stroke(k); stroke {
	case "esc", "ctrl+c", "ctrl+g":
		s.search.Done("", false)
		return true
	case "enter":
		s.search.Done(s.line.String(), true)
		return true
	case "ctrl+s", "ctrl+n":
		s.note = s.search.Step(false)
	case "ctrl+r", "ctrl+p":
		s.note = s.search.Step(true)
	case "up", "down":
		s.recall(map[string]int{"up": -1, "down": 1}[stroke])
	case "backspace", "ctrl+h":
		if s.line.String() == "" {
			s.search.Done("", false)
			return true
		}
		s.edit(k)
	default:
		s.edit(k)
	}
	return false
}

func (s *Search) edit(k tea.Key) {
	was := s.line.String()
	if s.line.Key(k); s.line.String() != was {
		s.note = s.search.Changed(s.line.String())
	}
}

// recall takes another one of what was looked for before.
func (s *Search) recall(n int) {
	at := min(max(s.at+n, 0), len(s.past))
	if at == s.at {
		return
	}
	text := ""
	if s.at = at; at < len(s.past) {
		text = s.past[at]
	}
	s.line = editor.Line(text)
	s.note = s.search.Changed(text)
}

// Paste implements Overlay.
func (s *Search) Paste(text string) {
	s.line.Insert(text)
	s.note = s.search.Changed(s.line.String())
}

// Draw implements Overlay.
func (s *Search) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	return lastRow(c, area, s.label, &s.line, s.note, l)
}
