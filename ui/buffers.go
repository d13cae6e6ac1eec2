package ui

import (
	"context"
	"fmt"
	"time"

	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/tty"
	"tandemux/ui/words"
)

const (
	// maxBuffers bounds the paste buffers; the oldest go.
	maxBuffers = 50
	// maxBuffered bounds what they hold together, in bytes; the oldest go.
	maxBuffered = 16 << 20
)

// buffer is what was copied once.
type buffer struct {
	id   int
	text string
	at   time.Time
}

// buffers are a client's paste buffers, the newest first. They end with it.
type buffers struct {
	list  []buffer
	bytes int
	last  int // id

	clipping bool    // a program is setting the clipboard
	next     *copied // what it is to be set to then; nil for nothing
}

// add puts text in front; what was copied just before is not kept twice.
func (b *buffers) add(text string, now time.Time) {
	if text == "" || len(text) > maxBuffered {
		return
	}
	if len(b.list) > 0 && b.list[0].text == text {
		b.list[0].at = now
		return
	}
	b.last++
	b.list = append([]buffer{{id: b.last, text: text, at: now}}, b.list...)
	b.bytes += len(text)
	for len(b.list) > maxBuffers || b.bytes > maxBuffered {
		n := len(b.list) - 1
		b.bytes -= len(b.list[n].text)
		b.list[n] = buffer{}
		b.list = b.list[:n]
	}
}

// find gives a buffer, the newest for 0.
func (b *buffers) find(id int) (buffer, bool) {
	for _, x := range b.list {
		if id == 0 || x.id == id {
			return x, true
		}
	}
	return buffer{}, false
}

func (b *buffers) remove(id int) {
	for i, x := range b.list {
		if x.id == id {
			b.bytes -= len(x.text)
			b.list = append(b.list[:i:i], b.list[i+1:]...)
			return
		}
	}
}

// pasteBuffer types a buffer into the focused terminal, between marks where the
// program asked for them.
func (m *Model) pasteBuffer(id int) {
	b, ok := m.buffers.find(id)
	if !ok {
		m.loop.Say(status.Info, "nothing was copied yet")
		return
	}
	if _, _, v := m.focused(); v != nil && v.Copying() {
		v.Follow()
	}
	m.loop.Dirty |= loop.Panes | loop.Chrome
	m.paste(tty.Paste{Text: b.text, First: true, Last: true})
}

// chooseBuffer opens the list of buffers.
func (m *Model) chooseBuffer() {
	rows := func() []overlay.Buffer {
		rows := make([]overlay.Buffer, len(m.buffers.list))
		for i, b := range m.buffers.list {
			rows[i] = overlay.Buffer{ID: b.id, Text: b.text, Size: words.Counted(b.text), When: words.Ago(m.env.Now().Sub(b.at))}
		}
		return rows
	}
	m.loop.Open(overlay.NewBuffers(rows, overlay.BufferDo{
		Paste: func(id int) {
			m.loop.Close()
			m.pasteBuffer(id)
		},
		Copy: func(id int) {
			if b, ok := m.buffers.find(id); ok {
				m.copyText(b.text)
			}
		},
		Delete: func(id int) {
			if m.buffers.remove(id); len(m.buffers.list) == 0 {
				m.loop.Close()
			}
		},
		Save: func(id int) { m.saveBuffer(id, "") },
	}))
}

// saveBuffer writes a buffer to a file, asking for its name without one.
func (m *Model) saveBuffer(id int, path string) {
	b, ok := m.buffers.find(id)
	if !ok {
		m.loop.Say(status.Info, "nothing was copied yet")
		return
	}
	m.save("save buffer to", path, b.text, false)
}

// save writes text to a new file of this machine, asking for its name without
// one.
func (m *Model) save(label, path, text string, cut bool) {
	if m.cfg.Desk == nil {
		m.loop.Say(status.Info, "there is nowhere to save to")
		return
	}
	write := func(path string) {
		if path == "" {
			return
		}
		m.loop.Async("save "+path, func(context.Context) (func(), error) {
			full, err := m.cfg.Desk.Save(path, text)
			return func() {
				switch {
				case err != nil:
				case cut:
					m.loop.Say(status.Warning, "saved the newest %s to %s; what came before is too much", words.Counted(text), full)
				default:
					m.loop.Say(status.Info, "saved %s to %s", words.Counted(text), full)
				}
			}, err
		})
	}
	if path != "" {
		write(path)
		return
	}
	name := fmt.Sprintf("~/tandemux-%s.txt", m.env.Now().Format("20060102-150405"))
	m.loop.Open(overlay.NewPrompt(label, name, write))
}
