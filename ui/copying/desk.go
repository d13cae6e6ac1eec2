package copying

import (
	"context"

	"tandemux/ui/clipboard"
	"tandemux/ui/loop"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// maxScrollback bounds the text of a terminal that is edited or saved, in bytes;
// the oldest lines are left out.
const maxScrollback = 64 << 20

// edit opens all of the focused terminal's text in the person's
// editor, in a pane of its own that shows alone.
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
		cp.panes.Create(cp.panes.Beside(area, at), argv, "")
	})
}

// save writes all of the focused terminal's text to a file.
func (cp *Copying) save(v *pane.View, args []string) {
	text, _, cut := v.Text(maxScrollback)
	if text == "" {
		cp.loop.Say(status.Info, "there is no text here")
		return
	}
	cp.clip.Save(args, "save scrollback to", text, cut)
}

// OpenLink opens an address; where nothing can, it is copied.
func (cp *Copying) OpenLink(uri string) {
	if cp.desk == nil {
		cp.CopyLink(uri)
		return
	}
	cp.loop.Call("open "+words.Clean(uri), func(context.Context) error { return cp.desk.Open(uri) }, func() {
		cp.loop.Say(status.Info, "opened %s", uri)
	})
}

// CopyLink copies an address.
func (cp *Copying) CopyLink(uri string) { cp.clip.Copy(clipboard.Copied{Text: uri, What: uri}) }
