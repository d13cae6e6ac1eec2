package ui

import (
	"context"

	"tandemux/ui/clipboard"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// Desk is what the interface needs of the machine that it runs on. It starts no
// process and writes no file itself. The methods are called outside of the loop.
type Desk interface {
	// Open shows an address with the person's program for such; it returns when
	// that was started. Addresses come from programs: it refuses what could do
	// more than show something.
	Open(uri string) error
	// Edit puts text into a file that only this user can read and gives the
	// command that edits it from a line on, counted from 1, and then removes it.
	Edit(text string, line int) (argv []string, err error)
	// Save writes text to a file that is not there yet; ~ is the home directory.
	// It gives the file's full name.
	Save(path, text string) (full string, err error)
}

// maxScrollback bounds the text of a terminal that is edited or saved, in bytes;
// the oldest lines are left out.
const maxScrollback = 64 << 20

// editScrollback opens all of the focused terminal's text in the person's
// editor, in a pane of its own that shows alone.
func (m *Model) editScrollback(v *pane.View) {
	if m.cfg.Desk == nil {
		m.loop.Say(status.Info, "there is no editor to open it in")
		return
	}
	text, line, cut := v.Text(maxScrollback)
	if text == "" {
		m.loop.Say(status.Info, "there is no text here")
		return
	}
	at, area := m.panes.FocusID(), m.panes.Area()
	m.loop.Async("edit scrollback", func(context.Context) (func(), error) {
		argv, err := m.cfg.Desk.Edit(text, line)
		if err != nil {
			return nil, err
		}
		return func() {
			if cut {
				m.loop.Say(status.Warning, "the oldest lines are left out")
			}
			m.panes.Create(m.panes.Beside(area, at), argv, "")
		}, nil
	})
}

// saveScrollback writes all of the focused terminal's text to a file.
func (m *Model) saveScrollback(v *pane.View, path string) {
	text, _, cut := v.Text(maxScrollback)
	if text == "" {
		m.loop.Say(status.Info, "there is no text here")
		return
	}
	m.clip.Save("save scrollback to", path, text, cut)
}

// openLink opens an address; where nothing can, it is copied.
func (m *Model) openLink(uri string) {
	if m.cfg.Desk == nil {
		m.copyLink(uri)
		return
	}
	m.loop.Async("open "+words.Clean(uri), func(context.Context) (func(), error) {
		err := m.cfg.Desk.Open(uri)
		return func() {
			if err == nil {
				m.loop.Say(status.Info, "opened %s", uri)
			}
		}, err
	})
}

// copyLink copies an address.
func (m *Model) copyLink(uri string) { m.clip.Copy(clipboard.Copied{Text: uri, What: uri}) }
