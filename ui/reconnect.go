package ui

import (
	"context"
	"fmt"
	"time"

	"tandemux/ahp"
	"tandemux/ui/link"
	"tandemux/ui/loop"
	"tandemux/ui/status"
	"tandemux/ui/tty"
	"tandemux/ui/words"
)

const (
	// keepTime is how long after the loss of a connection typed keys are kept, to
	// be sent when it is back. What was typed blind is meant for what the screen
	// shows; after a longer time nobody knows any more what that will be.
	keepTime = 10 * time.Second
	// maxKept bounds the typed keys that are kept, in bytes.
	maxKept = 64 << 10
	// quietTime is how long an outage lasts before its times are shown.
	quietTime = 2 * time.Second
	// reportTime is how long the status line tells of keys that were not sent.
	reportTime = 30 * time.Second
)

// needsLink says why a paste was not taken.
const needsLink = "a paste of this size needs the connection"

// outage is a connection in trouble, and what was typed meanwhile.
type outage struct {
	id     int // so that an old timer is known
	since  time.Time
	next   time.Time // of the next attempt, zero as long as nobody needs to know
	why    error
	silent time.Time // since when a host that is connected has not answered

	kept      []outgoing
	keptBytes int
	keptKeys  int
	resuming  bool // connected again, kept keys are about to go
	refused   int  // keys that were not taken, or kept for too long
	lost      int  // keys that were sent and of which nothing is known
	report    string
	skip      bool // the rest of a paste whose beginning was not taken
	pasting   bool // the rest of a paste whose beginning was taken
}

// retrying takes the news that reconnecting has failed once more.
func (m *Model) retrying(r link.Retry) {
	if m.link.State != link.Reconnecting {
		return
	}
	if m.away.why = r.Err; m.env.Now().Sub(r.Since) >= quietTime {
		m.away.next = r.Next
	}
	m.loop.Dirty |= loop.Chrome
}

// lostInput takes the news that nobody knows what became of some characters.
func (m *Model) lostInput(n int) {
	m.away.lost += n
	if m.link.Up() && !m.away.resuming {
		m.tellOutage()
	}
}

// silent takes the news that the host has not answered since then.
func (m *Model) silent(since time.Time) {
	m.away.silent = since
	m.loop.Dirty |= loop.Chrome
	if since.IsZero() && m.link.Up() {
		m.tellOutage()
	}
}

// lose begins an outage.
func (m *Model) lose(why error) {
	a := &m.away
	a.id++
	a.next, a.silent, a.why, a.report = time.Time{}, time.Time{}, why, ""
	if !a.resuming { // else it is the same outage still, and what is kept waits
		a.since = m.env.Now()
	}
	a.resuming = false
	id := a.id
	m.loop.After(keepTime-m.env.Now().Sub(a.since), func() {
		if m.away.id == id && !m.link.Up() {
			m.forgetKept()
		}
	})
}

// forgetKept gives up what was kept.
func (m *Model) forgetKept() {
	a := &m.away
	a.refused += a.keptKeys
	a.kept, a.keptBytes, a.keptKeys = nil, 0, 0
	m.loop.Dirty |= loop.Chrome
}

// unreachable reports whether the host can't be reached, and since when.
func (m *Model) unreachable() (since time.Time, yes bool) {
	switch {
	case !m.link.Up() || m.away.resuming:
		return m.away.since, true
	case !m.away.silent.IsZero():
		return m.away.silent, true
	}
	return time.Time{}, false
}

// mayKeep reports whether n bytes that were typed are taken now: always while the
// host answers, and otherwise while they will be sent soon if at all. What is not
// taken is counted and shown.
func (m *Model) mayKeep(n int) bool {
	since, trouble := m.unreachable()
	if !trouble || m.away.pasting {
		return true
	}
	if m.link.State == link.Reconnecting && m.link.Can(link.CanRetry) {
		m.link.Host.Retry()
	}
	m.loop.Dirty |= loop.Chrome
	if m.link.State == link.Closed || m.env.Now().Sub(since) > keepTime || m.away.keptBytes+n > maxKept {
		m.away.refused++
		if n > maxKept {
			m.loop.Say(status.Warning, needsLink)
		}
		return false
	}
	return true
}

// keepInput takes input while the connection is lost; it reports false when it is
// to go its way.
func (m *Model) keepInput(o outgoing) bool {
	a := &m.away
	if m.link.Up() && !a.resuming {
		return false
	}
	if a.keptBytes+len(o.data) > maxFlow { // the rest of a long paste
		a.refused += max(o.keys, 1)
		return true
	}
	a.kept = append(a.kept, outgoing{uri: o.uri, data: append([]byte(nil), o.data...), part: o.part})
	a.keptBytes += len(o.data)
	a.keptKeys += max(o.keys, 1)
	m.loop.Dirty |= loop.Chrome
	return true
}

// regain ends an outage. What was kept goes when everything has come that the
// host has to say of the time without connection: it answers requests behind
// that.
func (m *Model) regain() {
	m.away.next, m.away.silent = time.Time{}, time.Time{}
	if len(m.away.kept) == 0 {
		m.tellOutage()
		return
	}
	m.away.resuming = true
	id := m.away.id
	m.loop.Async("look at the terminals again", func(ctx context.Context) (func(), error) {
		err := m.link.Host.Subscribe(ctx, ahp.RootURI)
		return func() {
			if m.away.id != id || !m.link.Up() {
				return // lost again, which has forgotten it
			}
			m.away.resuming = false
			if err != nil {
				m.forgetKept()
			}
			m.sendKept()
			m.tellOutage()
		}, err
	})
}

// sendKept sends what was kept to the terminals that are still there.
func (m *Model) sendKept() {
	a := &m.away
	kept := a.kept
	a.kept, a.keptBytes, a.keptKeys = nil, 0, 0
	for _, o := range kept {
		if !m.panes.Terms.Typable(m.panes.Terms.Get(o.uri)) {
			a.refused += max(o.keys, 1)
			continue
		}
		m.send(o.uri, o.data)
		if o.part {
			m.kb.out[len(m.kb.out)-1].part = true
		}
	}
}

// tellOutage says what became of the keys of an outage that is over.
func (m *Model) tellOutage() {
	a := &m.away
	text := ""
	if a.refused > 0 {
		text = words.Plural(a.refused, "key") + " typed meanwhile not sent"
	}
	if a.lost > 0 {
		if text != "" {
			text += "; "
		}
		text += words.Plural(a.lost, "key") + " typed before may not have arrived"
	}
	a.refused, a.lost = 0, 0
	if text == "" {
		return
	}
	a.report = text
	m.loop.Dirty |= loop.Chrome
	m.loop.After(reportTime, func() {
		if m.away.report == text {
			m.away.report = ""
			m.loop.Dirty |= loop.Chrome
		}
	})
}

// trouble is what the status line says of the connection, "" when all is well.
func (m *Model) trouble() (text string, kind status.Kind) {
	a := &m.away
	const clock = "15:04:05"
	switch {
	case m.link.State == link.Reconnecting && a.next.IsZero():
		text = "connection lost, reconnecting" + m.outer.Look.Ellipsis
	case m.link.State == link.Reconnecting:
		text = fmt.Sprintf("no connection since %s, next try %s", a.since.Format(clock), a.next.Format(clock))
	case !a.silent.IsZero():
		text = "the host has not answered since " + a.silent.Format(clock)
	default:
		return a.report, status.Warning
	}
	if a.keptKeys > 0 {
		text += ", " + words.Plural(a.keptKeys, "key") + " wait"
	}
	if a.refused > 0 {
		text += ", " + words.Plural(a.refused, "key") + " not sent"
	}
	if !a.next.IsZero() && a.why != nil {
		text += ": " + words.Clean(a.why.Error())
	}
	return text, status.Warning
}

// unsent says in the note of leaving that keys were not sent.
func (m *Model) unsent() string {
	if n := m.away.keptKeys + m.away.refused; n > 0 {
		return "; " + words.Plural(n, "key") + " typed meanwhile not sent"
	}
	return ""
}

// mayPaste reports whether a part of a paste is taken. One that comes in several
// is taken whole or not at all, as its end says to the program that it is over.
func (m *Model) mayPaste(p tty.Paste) bool {
	a := &m.away
	if p.First {
		_, trouble := m.unreachable()
		a.skip = trouble && !p.Last
		a.pasting = !a.skip && !p.Last
		if a.skip {
			a.refused++
			m.loop.Say(status.Warning, needsLink)
		}
	}
	skip := a.skip
	a.skip = a.skip && !p.Last
	return !skip
}

// pasted ends a paste that was taken.
func (m *Model) pasted(p tty.Paste) {
	if p.Last {
		m.away.pasting = false
	}
}
