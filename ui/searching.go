package ui

import (
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/pane"
	"tandemux/ui/status"
)

// search asks what to look for and looks for it as it is typed. Without a text
// it goes on with what was looked for before.
func (m *Model) search(v *pane.View, back bool) {
	label := "search"
	if back {
		label = "search back"
	}
	from := v.Position()
	look := func(text string) string {
		v.Restore(from)
		if text == "" {
			return ""
		}
		v.Search(text, back)
		return v.Found()
	}
	m.loop.Open(overlay.NewSearch(label, m.loop.Searches, overlay.SearchDo{
		Changed: look,
		Step: func(reverse bool) string {
			v.SearchNext(reverse, 1)
			return v.Found()
		},
		Done: func(text string, ok bool) {
			switch {
			case !ok:
				v.Restore(from)
			case text == "" && len(m.loop.Searches) == 0:
				m.loop.Say(status.Info, "nothing was searched for yet")
			case text == "":
				m.lookFor(v, m.loop.LastSearch(), back)
			case v.Searching() == text && v.Copying():
				m.loop.Searched(text)
				m.sayFound(v)
			default:
				m.lookFor(v, text, back)
			}
			m.loop.Dirty |= loop.Panes | loop.Chrome
		},
	}))
}

// lookFor looks for a pattern.
func (m *Model) lookFor(v *pane.View, pattern string, back bool) {
	m.loop.Searched(pattern)
	v.Search(pattern, back)
	m.sayFound(v)
}

// sayFound says what the view can't show: that there is no match.
func (m *Model) sayFound(v *pane.View) {
	if v.Matches() == 0 {
		m.loop.Say(status.Info, "%q is not there", v.Searching())
	}
}

// searchNext goes to the nth next match; in a view without a search it looks for
// what was looked for last.
func (m *Model) searchNext(v *pane.View, reverse bool, n int) {
	switch {
	case v.Searching() != "":
		v.SearchNext(reverse, n)
		m.sayFound(v)
	case len(m.loop.Searches) > 0:
		m.lookFor(v, m.loop.LastSearch(), reverse)
	default:
		m.loop.Say(status.Info, "nothing was searched for yet")
	}
}

// searchWord looks for the word at copy mode's cursor.
func (m *Model) searchWord(v *pane.View, back bool) {
	if pattern := v.WordHere(); pattern != "" {
		m.lookFor(v, pattern, back)
		return
	}
	m.loop.Say(status.Info, "there is no word here")
}
