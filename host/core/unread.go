package core

import (
	"maps"
	"reflect"
	"sync/atomic"
	"time"

	"tandemux/ahp"
)

// A connection's messages are in order, and so are a peer's answers to pings among what it
// sends. A ping that goes right before an action, with it, is answered before the peer can
// know of the action; what comes before that answer it has decided on what was before.

// unreadFor bounds how long a peer that answers no pings counts as not having read.
const unreadFor = 3 * time.Second

// unread is what a link's peer may not have read.
type unread struct {
	asked, answered atomic.Int64 // the numbers of the last ping, and of the last one answered
	changed         map[ahp.URI]change
}

// change is that of a channel.
type change struct {
	ping int64 // that went before it; 0 while it has not been told
	at   time.Time
}

// Changes is called before a change is applied that its subscribers must not be taken to
// know before they do, but for a principal's own. Who only watches another channel, which
// is going to tell it, too, has not read it until Tells.
func (tx Tx) Changes(ch, also *Channel, by string) {
	now := tx.c.o.Now()
	note := func(l *Link, told bool) {
		if l.Principal.ID == by || !l.Out.Pings() {
			return
		}
		c := change{at: now}
		if told {
			c.ping = tx.ping(l)
		}
		if l.changed == nil {
			l.changed = map[ahp.URI]change{}
		}
		maps.DeleteFunc(l.changed, func(_ ahp.URI, c change) bool { return !tx.unread(l, c) })
		l.changed[ch.URI] = c
	}
	for _, l := range ch.links {
		note(l, true)
	}
	for _, l := range also.links {
		if !l.Watches(ch.URI) {
			note(l, false)
		}
	}
}

// Tells is called before a channel's subscribers are told all that was waiting, or when
// what they know has become right again.
func (tx Tx) Tells(also *Channel) {
	for _, l := range also.links {
		ping := int64(0)
		for uri, c := range l.changed {
			if c.ping == 0 {
				if ping == 0 {
					ping = tx.ping(l)
				}
				c.ping = ping
				l.changed[uri] = c
			}
		}
	}
}

func (tx Tx) ping(l *Link) int64 {
	number := l.asked.Add(1)
	tx.c.out.Ping(l.Out, number)
	return number
}

// Answered notes that a link's peer has read all that was sent before a ping. It is for the
// connection's own goroutine, and needs no lock.
func (l *Link) Answered(ping int64) {
	if ping > l.answered.Load() && ping <= l.asked.Load() {
		l.answered.Store(ping)
	}
}

// Unread reports whether a link's peer has not read the last change of a channel.
func (tx Tx) Unread(l *Link, uri ahp.URI) bool {
	c, ok := l.changed[uri]
	return ok && tx.unread(l, c)
}

func (tx Tx) unread(l *Link, c change) bool {
	return (c.ping == 0 || c.ping > l.answered.Load()) && tx.c.o.Now().Sub(c.at) < unreadFor
}

// overhead is what an entry costs beside its text, roughly.
const overhead = 200

// weight estimates the memory of an action in bytes.
func weight(a ahp.Action) int {
	if d, ok := a.(ahp.TerminalData); ok { // by far the most
		return overhead + len(d.Data)
	}
	return overhead + textOf(reflect.ValueOf(a))
}

// TurnsWeight is TurnWeight of all.
func TurnsWeight(turns []ahp.Turn) int {
	return textOf(reflect.ValueOf(turns))
}

// TurnWeight is about the size of a turn on the wire.
func TurnWeight(t ahp.Turn) int {
	return overhead + textOf(reflect.ValueOf(&t).Elem())
}

// textOf is how much text there is in a value, with the overhead of what is in lists.
func textOf(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.String:
		n = v.Len()
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n = textOf(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += textOf(v.Field(i))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Len()
		}
		for i := range v.Len() {
			n += overhead + textOf(v.Index(i))
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			n += overhead + textOf(i.Key()) + textOf(i.Value())
		}
	}
	return n
}
