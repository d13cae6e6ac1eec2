package typing

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/ui/link"
	"tandemux/ui/loop"
	"tandemux/ui/status"
	"tandemux/ui/tty"
	"tandemux/ui/words"
)

const (
	// keepTime is how long after the loss of a connection typed keys are kept, to be sent when it
	// is back. Keys typed without an echo are meant for the screen as it was; later it may have
	// changed too much.
	keepTime = 10 * time.Second
	// maxKept is the largest input that is kept from keys, in bytes.
	maxKept = 64 << 10
	// quietTime is how long an outage must last before the status line shows its times.
	quietTime = 2 * time.Second
	// reportTime is how long the status line reports keys that were not sent.
	reportTime = 30 * time.Second
)

// needsLink is the message that a paste was not taken.
const needsLink = "a paste of this size needs the connection"

// outage is the state of a host whose connection is lost or silent, and the input typed
// meanwhile.
type outage struct {
	host   string // "" for this user's own
	since  time.Time
	next   time.Time // the next attempt to connect; zero before quietTime
	why    error
	silent time.Time // since when the connected host has not answered

	kept      []outgoing
	keptBytes int
	keptKeys  int
	id        int  // counts reconnects, so that an old answer is recognised
	resuming  bool // connected again; kept keys are sent soon
	refused   int  // keys that were not taken, or kept too long
	lost      int  // keys that were sent but may not have arrived
}

// outage returns the outage of a resource's host; it may have no trouble.
func (ty *Typing) outage(uri ahp.URI) *outage {
	host := hosted.Host(uri)
	a := ty.away[host]
	if a == nil {
		a = &outage{host: host}
		ty.away[host] = a
	}
	return a
}

// up reports whether input can be sent now.
func (ty *Typing) up(a *outage) bool {
	return ty.link.UpAt(hosted.At(a.host, ahp.RootURI)) && !a.resuming
}

// Retrying says that another attempt to connect has failed.
func (ty *Typing) Retrying(r link.Retry) {
	if ty.link.State != link.Reconnecting {
		return
	}
	a := ty.outage(ahp.RootURI)
	if a.why = r.Err; ty.loop.Now().Sub(r.Since) >= quietTime {
		a.next = r.Next
	}
	ty.loop.Dirty |= loop.Chrome
}

// Lost says that n sent keys may not have arrived.
func (ty *Typing) Lost(n int) {
	a := ty.outage(ahp.RootURI)
	if a.lost += n; ty.up(a) {
		ty.tellOutage(a)
	}
}

// Silent says since when this user's own host has not answered; the zero time says that it
// answers.
func (ty *Typing) Silent(since time.Time) {
	a := ty.outage(ahp.RootURI)
	a.silent = since
	ty.loop.Dirty |= loop.Chrome
	if since.IsZero() && ty.link.Up() {
		ty.tellOutage(a)
	}
}

// Disconnected begins an outage of this user's own host.
func (ty *Typing) Disconnected(why error) {
	a := ty.outage(ahp.RootURI)
	a.next, a.silent, a.why, ty.report = time.Time{}, time.Time{}, why, ""
	if !a.resuming { // else the same outage continues, and kept input waits
		a.since = ty.loop.Now()
	}
	a.resuming = false
}

// forgetKept drops the kept input.
func (ty *Typing) forgetKept(a *outage) {
	a.refused += a.keptKeys
	a.kept, a.keptBytes, a.keptKeys = nil, 0, 0
	ty.loop.Dirty |= loop.Chrome
}

// unreachable reports whether a host can't be reached, and since when.
func (ty *Typing) unreachable(a *outage) (since time.Time, yes bool) {
	since, silent := a.since, a.silent
	if a.host != "" {
		s := ty.link.Hosts.Standing(a.host)
		since, silent = s.Since, s.Silent
	}
	if !ty.up(a) {
		return since, true
	}
	return silent, !silent.IsZero()
}

// mayKeep reports whether n typed bytes are accepted: always if the host answers, else only if
// they can still be sent soon. Refused keys are counted and shown.
func (ty *Typing) mayKeep(uri ahp.URI, n int) bool {
	a := ty.outage(uri)
	since, trouble := ty.unreachable(a)
	if !trouble || ty.pasting {
		return true
	}
	if a.host != "" {
		ty.link.Retry(uri)
	} else if ty.link.State == link.Reconnecting {
		ty.link.Host.Retry()
	}
	ty.loop.Dirty |= loop.Chrome
	if a.host == "" && ty.link.State == link.Closed || ty.loop.Now().Sub(since) > keepTime || a.keptBytes+n > maxKept {
		a.refused++
		if n > maxKept {
			ty.loop.Say(status.Warning, needsLink)
		}
		return false
	}
	return true
}

// keep keeps input while it can't be sent. It reports false if it can.
func (ty *Typing) keep(o outgoing) bool {
	a := ty.outage(o.uri)
	if ty.up(a) {
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
	if len(a.kept) == 1 {
		ty.expire(a, false)
	}
	return true
}

// expire drops the kept input when keepTime is over. If the time was over when the input was
// kept, it is the rest of a paste and stays; due is false then.
func (ty *Typing) expire(a *outage, due bool) {
	left := keepTime
	if !ty.link.UpAt(hosted.At(a.host, ahp.RootURI)) { // else it is about to go
		since, _ := ty.unreachable(a)
		left -= ty.loop.Now().Sub(since)
	}
	switch {
	case len(a.kept) == 0:
	case left > 0:
		ty.loop.After(left, func() { ty.expire(a, true) })
	case due:
		ty.forgetKept(a)
	}
}

// Regained ends the outage of a host, "" for this user's own. Pastes continue. Kept input is sent
// after everything that the host sent about the time without connection has arrived: that is
// before its answer to a request.
func (ty *Typing) Regained(host string) {
	// The connection sends an unanswered piece again, unless it is now to a host that doesn't
	// know it.
	for uri, f := range ty.flows {
		if hosted.Host(uri) == host {
			ty.goOn(uri, f)
		}
	}
	root := hosted.At(host, ahp.RootURI)
	a := ty.outage(root)
	a.next, a.silent = time.Time{}, time.Time{}
	if len(a.kept) == 0 {
		ty.tellOutage(a)
		return
	}
	a.resuming = true
	a.id++
	id := a.id
	ty.loop.Async("look at the terminals again", func(ctx context.Context) (func(), error) {
		err := ty.link.At(root).Subscribe(ctx, ahp.RootURI) // every host's root has this URI
		return func() {
			if a.id != id || !ty.link.UpAt(root) {
				return // the connection was lost again
			}
			a.resuming = false
			if err != nil {
				ty.forgetKept(a)
			}
			ty.sendKept(a)
			ty.tellOutage(a)
		}, err
	})
}

// sendKept sends the kept input to the terminals that can still be typed into.
func (ty *Typing) sendKept(a *outage) {
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

// tellOutage reports what became of the keys of an outage that is over.
func (ty *Typing) tellOutage(a *outage) {
	var said []string
	if a.refused > 0 {
		said = append(said, words.Plural(a.refused, "key")+" typed meanwhile not sent")
	}
	if a.lost > 0 {
		said = append(said, words.Plural(a.lost, "key")+" typed before may not have arrived")
	}
	a.refused, a.lost = 0, 0
	if len(said) == 0 {
		return
	}
	text := strings.Join(said, "; ")
	if a.host != "" {
		text = words.Clean(a.host) + ": " + text
	}
	ty.report = text
	ty.loop.Dirty |= loop.Chrome
	ty.loop.After(reportTime, func() {
		if ty.report == text {
			ty.report = ""
			ty.loop.Dirty |= loop.Chrome
		}
	})
}

// Trouble is the status line's text about the connections to this user's own host and to a
// resource's host, "" if both are well.
func (ty *Typing) Trouble(uri ahp.URI) (text string) {
	a := ty.outage(ahp.RootURI)
	const clock = "15:04:05"
	switch {
	case ty.link.State == link.Reconnecting && a.next.IsZero():
		text = "connection lost, reconnecting" + ty.outer.Look.Ellipsis
	case ty.link.State == link.Reconnecting:
		text = fmt.Sprintf("no connection since %s, next try %s", a.since.Format(clock), a.next.Format(clock))
	case !a.silent.IsZero():
		text = "the host has not answered since " + a.silent.Format(clock)
	default:
		a = ty.outage(uri)
		if text = ty.panes.Absent(uri); text == "" {
			return ty.report
		}
		return text + a.counts()
	}
	text += a.counts()
	if !a.next.IsZero() && a.why != nil {
		text += ": " + words.Clean(a.why.Error())
	}
	return text
}

// counts is the text about the keys typed meanwhile.
func (a *outage) counts() (text string) {
	if a.keptKeys > 0 {
		text += ", " + words.Plural(a.keptKeys, "key") + " wait"
	}
	if a.refused > 0 {
		text += ", " + words.Plural(a.refused, "key") + " not sent"
	}
	return text
}

// Unsent is the text, for the note on leaving, about keys that were not sent.
func (ty *Typing) Unsent() string {
	n := 0
	for _, a := range ty.away {
		n += a.keptKeys + a.refused
	}
	if n > 0 {
		return "; " + words.Plural(n, "key") + " typed meanwhile not sent"
	}
	return ""
}

// mayPaste reports whether a part of a paste is accepted. A paste in several parts is accepted as
// a whole or not at all, as the program must get its end.
func (ty *Typing) mayPaste(uri ahp.URI, p tty.Paste) bool {
	if p.First {
		a := ty.outage(uri)
		_, trouble := ty.unreachable(a)
		ty.skip = trouble && !p.Last
		ty.pasting = !ty.skip && !p.Last
		if ty.skip {
			a.refused++
			ty.loop.Say(status.Warning, needsLink)
		}
	}
	skip := ty.skip
	ty.skip = ty.skip && !p.Last
	return !skip
}
