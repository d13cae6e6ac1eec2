package copying

import (
	"context"

	"tandemux/ui/clipboard"
	"tandemux/ui/loop"
	"tandemux/ui/pane"
	"tandemux/ui/panes"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// search asks for a pattern and searches while it is typed. An empty one repeats the last search.
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
	step := func(reverse bool) string {
		v.SearchNext(reverse, 1)
		return v.Found()
	}
	cp.loop.Search(label, look, step, func(text string) {
		if v.Searching() == text && v.Copying() {
			cp.sayFound(v)
			return
		}
		cp.lookFor(v, text, back)
	}, func() { v.Restore(from) })
}

func (cp *Copying) lookFor(v *pane.View, pattern string, back bool) {
	cp.loop.Searched(pattern)
	v.Search(pattern, back)
	cp.sayFound(v)
}

// sayFound says if there is no match, which the view can't show.
func (cp *Copying) sayFound(v *pane.View) {
	if v.Matches() == 0 {
		cp.loop.Say(status.Info, "%q is not there", v.Searching())
	}
}

// searchNext goes to the nth next match. In a view without a search it repeats the last search.
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

// maxScrollback is how much of a terminal's text is edited or saved, in bytes. The oldest lines
// are left out.
const maxScrollback = 64 << 20

// edit opens the whole text of the focused terminal in the person's editor, in a new zoomed pane.
func (cp *Copying) edit(v *pane.View) {
	if cp.desk == nil {
		cp.loop.Say(status.Info, "there is no editor to open it in")
		return
	}
	text, line, cut := v.Text(maxScrollback)
	if text == "" {
		cp.loop.Say(status.Info, "there is no text here")
		return
	}
	at, area := cp.panes.FocusID(), cp.panes.Area()
	loop.Get(cp.loop, "edit scrollback", func(context.Context) ([]string, error) { return cp.desk.Edit(text, line) }, func(argv []string) {
		if cut {
			cp.loop.Say(status.Warning, "the oldest lines are left out")
		}
		cp.panes.Create(cp.panes.Beside(area, at), panes.Program{Argv: argv, Host: panes.Own})
	})
}

// saveScrollback writes the whole text of the focused terminal to a file.
func saveScrollback(cp *Copying, args []string) {
	_, _, v := cp.panes.Focused()
	if v == nil {
		return
	}
	text, _, cut := v.Text(maxScrollback)
	if text == "" {
		cp.loop.Say(status.Info, "there is no text here")
		return
	}
	cp.clip.Save(args, "save scrollback to", text, cut)
}

// OpenLink opens an address, or copies it if nothing can open it.
func (cp *Copying) OpenLink(uri string) {
	if cp.desk == nil {
		cp.CopyLink(uri)
		return
	}
	cp.loop.Call("open "+words.Clean(uri), func(context.Context) error { return cp.desk.Open(uri) }, func() {
		cp.loop.Say(status.Info, "opened %s", uri)
	})
}

func (cp *Copying) CopyLink(uri string) { cp.clip.Copy(clipboard.Copied{Text: uri, What: uri}) }
