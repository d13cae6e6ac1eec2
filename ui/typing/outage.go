package typing

import (
	"context"
	"fmt"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/ui/link"
	"tandemux/ui/loop"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
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

// Retrying takes the news that reconnecting has failed once more.
func (ty *Typing) Retrying(r link.Retry) {
	if ty.link.State != link.Reconnecting {
		return
	}
	if ty.away.why = r.Err; ty.loop.Now().Sub(r.Since) >= quietTime {
		ty.away.next = r.Next
	}
	ty.loop.Dirty |= loop.Chrome
}

// Lost takes the news that nobody knows what became of some characters.
func (ty *Typing) Lost(n int) {
	ty.away.lost += n
	if ty.link.Up() && !ty.away.resuming {
		ty.tellOutage()
	}
}

// Silent takes the news that the host has not answered since then.
func (ty *Typing) Silent(since time.Time) {
	ty.away.silent = since
	ty.loop.Dirty |= loop.Chrome
	if since.IsZero() && ty.link.Up() {
		ty.tellOutage()
	}
}

// Disconnected begins an outage.
func (ty *Typing) Disconnected(why error) {
	a := &ty.away
	a.id++
	a.next, a.silent, a.why, a.report = time.Time{}, time.Time{}, why, ""
	if !a.resuming { // else it is the same outage still, and what is kept waits
		a.since = ty.loop.Now()
	}
	a.resuming = false
	id := a.id
	ty.loop.After(keepTime-ty.loop.Now().Sub(a.since), func() {
		if ty.away.id == id && !ty.link.Up() {
			ty.forgetKept()
		}
	})
}

// forgetKept gives up what was kept.
func (ty *Typing) forgetKept() {
	a := &ty.away
	a.refused += a.keptKeys
	a.kept, a.keptBytes, a.keptKeys = nil, 0, 0
	ty.loop.Dirty |= loop.Chrome
}

// unreachable reports whether the host can't be reached, and since when.
func (ty *Typing) unreachable() (since time.Time, yes bool) {
	switch {
	case !ty.link.Up() || ty.away.resuming:
		return ty.away.since, true
	case !ty.away.silent.IsZero():
		return ty.away.silent, true
	}
	return time.Time{}, false
}

// mayReach reports whether another host that has a terminal is connected. What is typed
// there meanwhile is not kept, as several hosts may be away for long: it is said, and the
// connection tried at once.
func (ty *Typing) mayReach(t *terminals.Terminal) bool {
	if t.Host() == "" || ty.link.UpAt(t.URI) {
		return true
	}
	ty.link.Retry(t.URI)
	ty.loop.Say(status.Warning, "not typed: %s", ty.panes.Absent(t.URI))
	return false
}

// RegainedAt goes on with what is typed into another host's terminals.
func (ty *Typing) RegainedAt(host string) {
	for uri, f := range ty.flows {
		if hosted.Host(uri) == host {
			ty.goOn(uri, f)
		}
	}
}

// mayKeep reports whether n bytes that were typed are taken now: always while the
// host answers, and otherwise while they will be sent soon if at all. What is not
// taken is counted and shown.
func (ty *Typing) mayKeep(t *terminals.Terminal, n int) bool {
	since, trouble := ty.unreachable()
	if !trouble || ty.away.pasting || t.Host() != "" {
		return true
	}
	if ty.link.State == link.Reconnecting {
		ty.link.Host.Retry()
	}
	ty.loop.Dirty |= loop.Chrome
	if ty.link.State == link.Closed || ty.loop.Now().Sub(since) > keepTime || ty.away.keptBytes+n > maxKept {
		ty.away.refused++
		if n > maxKept {
			ty.loop.Say(status.Warning, needsLink)
		}
		return false
	}
	return true
}

// keep takes input while the connection is lost; it reports false when it is
// to go its way.
func (ty *Typing) keep(o outgoing) bool {
	a := &ty.away
	if ty.link.Up() && !a.resuming || hosted.Host(o.uri) != "" {
		return false
	}
	if a.keptBytes+len(o.data) > maxFlow { // the rest of a long paste
		a.refused += max(o.keys, 1)
		return true
	}
	a.kept = append(a.kept, outgoing{uri: o.uri, data: append([]byte(nil), o.data...), part: o.part})
	a.keptBytes += len(o.data)
	a.keptKeys += max(o.keys, 1)
	ty.loop.Dirty |= loop.Chrome
	return true
}

// Regained ends an outage: pastes go on, and what was kept goes when everything has come that the
// host has to say of the time without connection: it answers requests behind
// that.
func (ty *Typing) Regained() {
	// The connection sends a piece that was under way again, unless it is to a host that knows
	// nothing of it.
	for uri, f := range ty.flows {
		if hosted.Host(uri) == "" {
			ty.goOn(uri, f)
		}
	}
	ty.away.next, ty.away.silent = time.Time{}, time.Time{}
	if len(ty.away.kept) == 0 {
		ty.tellOutage()
		return
	}
	ty.away.resuming = true
	id := ty.away.id
	ty.loop.Async("look at the terminals again", func(ctx context.Context) (func(), error) {
		err := ty.link.Host.Subscribe(ctx, ahp.RootURI)
		return func() {
			if ty.away.id != id || !ty.link.Up() {
				return // lost again, which has forgotten it
			}
			ty.away.resuming = false
			if err != nil {
				ty.forgetKept()
			}
			ty.sendKept()
			ty.tellOutage()
		}, err
	})
}

// sendKept sends what was kept to the terminals that are still there.
func (ty *Typing) sendKept() {
	a := &ty.away
	kept := a.kept
	a.kept, a.keptBytes, a.keptKeys = nil, 0, 0
	for _, o := range kept {
		if !ty.panes.Terms.Typable(ty.panes.Terms.Get(o.uri)) {
			a.refused += max(o.keys, 1)
			continue
		}
		ty.Send(o.uri, o.data)
		if o.part {
			ty.out[len(ty.out)-1].part = true
		}
	}
}

// tellOutage says what became of the keys of an outage that is over.
func (ty *Typing) tellOutage() {
	a := &ty.away
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
	ty.loop.Dirty |= loop.Chrome
	ty.loop.After(reportTime, func() {
		if ty.away.report == text {
			ty.away.report = ""
			ty.loop.Dirty |= loop.Chrome
		}
	})
}

// Trouble is what the status line says of the connection, "" when all is well.
func (ty *Typing) Trouble() (text string, kind status.Kind) {
	a := &ty.away
	const clock = "15:04:05"
	switch {
	case ty.link.State == link.Reconnecting && a.next.IsZero():
		text = "connection lost, reconnecting" + ty.outer.Look.Ellipsis
	case ty.link.State == link.Reconnecting:
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

// Unsent says in the note of leaving that keys were not sent.
func (ty *Typing) Unsent() string {
	if n := ty.away.keptKeys + ty.away.refused; n > 0 {
		return "; " + words.Plural(n, "key") + " typed meanwhile not sent"
	}
	return ""
}

// mayPaste reports whether a part of a paste is taken. One that comes in several
// is taken whole or not at all, as its end says to the program that it is over.
func (ty *Typing) mayPaste(p tty.Paste) bool {
	a := &ty.away
	if p.First {
		_, trouble := ty.unreachable()
		a.skip = trouble && !p.Last
		a.pasting = !a.skip && !p.Last
		if a.skip {
			a.refused++
			ty.loop.Say(status.Warning, needsLink)
		}
	}
	skip := a.skip
	a.skip = a.skip && !p.Last
	return !skip
}
