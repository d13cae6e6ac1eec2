package core

import (
	"maps"
	"reflect"
	"sync/atomic"
	"time"

	"tandemux/ahp"
)

// A connection delivers messages in order, and a peer answers pings in order with what it
// sends. A ping is sent right before an action. Whatever the peer sends before it answers
// that ping, it decided without knowing of the action.

// unreadFor is how long a change counts as unread if the peer does not answer the ping.
const unreadFor = 3 * time.Second

// unread is what a link's peer may not have read.
type unread struct {
	asked, answered atomic.Int64 // numbers of the last ping sent, and of the last answered
	changed         map[ahp.URI]change
}

// change is the last change of a channel.
type change struct {
	ping int64 // sent right before the change; 0 until the change is sent
	at   time.Time
}

// Changes is called before a change of ch is applied, and makes it unread for the
// subscribers of ch and also, except for those of the principal by. Those that only watch
// also, which sends the change later, have not read it before Tells.
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

// Tells is called before a channel sends its subscribers the changes that were waiting, or
// when those were taken back, so that the subscribers' knowledge is right again.
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

// Answered notes that the link's peer has answered a ping. The connection's own goroutine
// calls it, without the lock.
func (l *Link) Answered(ping int64) {
	if ping > l.answered.Load() && ping <= l.asked.Load() {
		l.answered.Store(ping)
	}
}

// Unread reports whether a link's peer may not have read the last change of a channel.
func (tx Tx) Unread(l *Link, uri ahp.URI) bool {
	c, ok := l.changed[uri]
	return ok && tx.unread(l, c)
}

func (tx Tx) unread(l *Link, c change) bool {
	return (c.ping == 0 || c.ping > l.answered.Load()) && tx.c.o.Now().Sub(c.at) < unreadFor
}

// overhead is roughly what an entry costs besides its text, in bytes.
const overhead = 200

// actionBytes estimates the memory of an action, in bytes.
func actionBytes(a ahp.Action) int {
	if d, ok := a.(ahp.TerminalData); ok { // by far the most
		return overhead + len(d.Data)
	}
	return overhead + textOf(reflect.ValueOf(a))
}

// TurnsBytes returns the sum of TurnBytes.
func TurnsBytes(turns []ahp.Turn) int {
	return textOf(reflect.ValueOf(turns))
}

// TurnBytes estimates the size of a turn on the wire, in bytes.
func TurnBytes(t ahp.Turn) int {
	return overhead + textOf(reflect.ValueOf(&t).Elem())
}

// textOf is the bytes of text in a value, with an overhead for each list and map entry.
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
