package vt10x

import (
	"strings"
	"unicode/utf8"

	"tandemux/emulator"
)

// Bounds of what waits to be taken. Beyond them new events are dropped; a title
// then is still what Title says.
const (
	maxEvents     = 1024
	maxEventBytes = 4 << 20
	maxTitle      = 1024
	maxTitles     = 16
)

// events are those since the last take.
type events struct {
	list  []emulator.Event
	bytes int
}

func (q *events) add(ev emulator.Event) {
	size := len(ev.Name) + len(ev.Text)
	if len(q.list) >= maxEvents || q.bytes+size > maxEventBytes {
		return
	}
	q.list = append(q.list, ev)
	q.bytes += size
}

func (q *events) take() []emulator.Event {
	list := q.list
	*q = events{}
	return list
}

func (e *engine) reply(s string) {
	e.events.add(emulator.Event{Kind: emulator.EventReply, Text: s})
}

func (e *engine) event(kind emulator.EventKind, name, text string) {
	e.events.add(emulator.Event{Kind: kind, Name: name, Text: text})
}

// setTitle takes a title without its control characters and in bounds.
func (e *engine) setTitle(s string) {
	s = clean(s, maxTitle)
	e.title = s
	e.event(emulator.EventTitle, "", s)
}

// clean is s as valid UTF-8 without control characters, at most n bytes.
func clean(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
