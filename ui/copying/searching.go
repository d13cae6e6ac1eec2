package copying

import (
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/pane"
	"tandemux/ui/status"
)

// search asks what to look for and looks for it as it is typed. Without a text
// it goes on with what was looked for before.
func (cp *Copying) search(v *pane.View, back bool) {
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
	cp.loop.Open(overlay.NewSearch(overlay.Asking{
		Label: label, Past: cp.loop.Searches,
		Changed: look,
		Step: func(reverse bool) string {
			v.SearchNext(reverse, 1)
			return v.Found()
		},
		Done: func(text string, ok bool) {
			switch {
			case !ok:
				v.Restore(from)
			case text == "" && len(cp.loop.Searches) == 0:
				cp.loop.Say(status.Info, "nothing was searched for yet")
			case text == "":
				cp.lookFor(v, cp.loop.LastSearch(), back)
			case v.Searching() == text && v.Copying():
				cp.loop.Searched(text)
				cp.sayFound(v)
			default:
				cp.lookFor(v, text, back)
			}
			cp.loop.Dirty |= loop.Panes | loop.Chrome
		},
	}))
}

// lookFor looks for a pattern.
func (cp *Copying) lookFor(v *pane.View, pattern string, back bool) {
	cp.loop.Searched(pattern)
	v.Search(pattern, back)
	cp.sayFound(v)
}

// sayFound says what the view can't show: that there is no match.
func (cp *Copying) sayFound(v *pane.View) {
	if v.Matches() == 0 {
		cp.loop.Say(status.Info, "%q is not there", v.Searching())
	}
}

// searchNext goes to the nth next match; in a view without a search it looks for
// what was looked for last.
func (cp *Copying) searchNext(v *pane.View, reverse bool, n int) {
	switch {
	case v.Searching() != "":
		v.SearchNext(reverse, n)
		cp.sayFound(v)
	case len(cp.loop.Searches) > 0:
		cp.lookFor(v, cp.loop.LastSearch(), reverse)
	default:
		cp.loop.Say(status.Info, "nothing was searched for yet")
	}
}

// searchWord looks for the word at copy mode's cursor.
func (cp *Copying) searchWord(v *pane.View, back bool) {
	if pattern := v.WordHere(); pattern != "" {
		cp.lookFor(v, pattern, back)
		return
	}
	cp.loop.Say(status.Info, "there is no word here")
}
