package ui

import (
	"context"
	"encoding/base64"

	"tandemux/ui/status"
	"tandemux/ui/words"
)

// Clipper is a Desk that knows of a program which sets the clipboard.
type Clipper interface {
	// Clip gives text to that program and gives its name, "" when there is none and
	// the outer terminal is to be asked. It returns when the program has ended, or
	// after some seconds with running true. A program that did not end with success
	// is an error.
	Clip(text string) (program string, running bool, err error)
}

// copied is a text on its way to the clipboard.
type copied struct {
	text string
	what string // names it, such as "4 lines"
	but  string // what else is to be known of it, "" for nothing
}

// copyText copies text to a paste buffer and the clipboard, and says so.
func (m *Model) copyText(text string) {
	if text == "" {
		m.loop.Say(status.Info, "there is nothing to copy")
		return
	}
	m.copy(copied{text: text, what: words.Counted(text)})
}

// copy puts text into a paste buffer and the clipboard, and says what is known of
// that: a program that ended with success has set the clipboard, the outer
// terminal does not tell whether it did.
func (m *Model) copy(c copied) {
	m.buffers.add(c.text, m.env.Now())
	desk, ok := m.cfg.Desk.(Clipper)
	if !ok {
		m.clipOuter(c, nil)
		return
	}
	b := &m.buffers
	if b.clipping {
		b.next = &c // The newest is what the clipboard is to hold.
		return
	}
	b.clipping = true
	m.loop.Async("copy", func(context.Context) (func(), error) {
		program, running, err := desk.Clip(c.text)
		return func() {
			switch {
			case err != nil || program == "":
				m.clipOuter(c, err)
			case running:
				m.loop.Say(status.Info, "gave %s to %s, which still runs%s", c.what, words.Clean(program), c.but)
			case c.but != "":
				m.loop.Say(status.Info, "copied %s%s", c.what, c.but)
			default:
				m.loop.Brief("copied %s", c.what)
			}
			b.clipping = false
			if next := b.next; next != nil {
				b.next = nil
				m.copy(*next)
			}
		}, nil
	})
}

// clipOuter asks the outer terminal to set its clipboard, and says so and why no
// program did.
func (m *Model) clipOuter(c copied, failed error) {
	why := ""
	if failed != nil {
		why = "; " + words.Clean(failed.Error())
	}
	switch not := m.clipboard(c.text); {
	case not != "":
		m.loop.Say(status.Warning, "copied %s to a paste buffer only: %s%s", c.what, not, why)
	case failed != nil:
		m.loop.Say(status.Warning, "sent %s to the terminal's clipboard%s%s", c.what, c.but, why)
	case c.but != "":
		m.loop.Say(status.Info, "sent %s to the terminal's clipboard%s", c.what, c.but)
	default:
		m.loop.Brief("sent %s to the terminal's clipboard", c.what)
	}
}

// maxClipboard bounds what is written to the outer clipboard, in bytes.
const maxClipboard = 1 << 20

// clipboard asks the outer terminal to set its clipboard (OSC 52), and says why it
// is not asked, "" when it is.
func (m *Model) clipboard(text string) (why string) {
	switch {
	case m.outer.caps.Console:
		return "the console has no clipboard"
	case len(text) > maxClipboard:
		return "more than the terminal's clipboard takes"
	}
	m.outer.raw = append(m.outer.raw, "\x1b]52;c;"...)
	m.outer.raw = base64.StdEncoding.AppendEncode(m.outer.raw, []byte(text))
	m.outer.raw = append(m.outer.raw, "\x1b\\"...)
	return ""
}
