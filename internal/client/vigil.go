package client

import (
	"encoding/json"
	"time"

	"tandemux/ahp"
)

// silence is how long a host may neither answer what is open nor send anything
// else before it is sent a ping, and again before it counts as silent.
const silence = 2 * time.Second

// asleep is how much further than the time that passed for this process the clock must
// have gone for the machine to have slept meanwhile.
const asleep = 5 * time.Second

// vigil watches whether a host answers, while an action or a request is unanswered: a
// stopped process, or a network that swallows everything, ends no connection. With
// Options.Alive it rests in between, and wakes to ask a host that has said nothing for so
// long. The client's lock guards it.
type vigil struct {
	timer  *time.Timer // nil while nothing is watched
	link   *link       // that is watched
	rests  bool        // nothing is unanswered
	slept  bool        // the machine has, and nothing was heard since
	set    time.Time   // when the timer was
	heard  uint64      // what the link had heard then
	since  time.Time   // when it was last known to be there
	asked  time.Time   // a ping went out then; zero for none
	ponged bool        // that ping was answered
	said   bool        // Silent was called
}

// liveness is how a host answers. The client's lock guards it, but for wall.
type liveness struct {
	vigil   vigil
	calls   int                       // requests of Call that are open
	trips   [8]time.Duration          // how long the last answers took
	answers int                       // counts them
	wall    func(time.Time) time.Time // what clocks on walls showed, for tests to set
}

// begin watches what was just sent, unless a watch is on already.
func (v *vigil) begin(c *Client) {
	if v.timer != nil && !v.rests || c.o.Observe == nil && c.o.GiveUp == 0 {
		return
	}
	if v.rests && !v.asked.IsZero() { // it is being asked
		v.rests = false
		return
	}
	slept := v.rests && c.slept(v.set)
	v.end()
	v.watch(c, c.link, silence)
	if v.slept = slept; slept {
		c.ping(c.link)
	}
}

// asks counts a request that was begun (1) or has ended (-1), which is watched meanwhile.
func (c *Client) asks(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls += n; n > 0 && c.link != nil {
		c.vigil.begin(c)
	}
}

// rest watches a connection on which all is answered, where that is wanted.
func (v *vigil) rest(c *Client, l *link) {
	if c.o.Alive > 0 {
		v.watch(c, l, c.o.Alive)
		v.rests = true
	}
}

func (v *vigil) watch(c *Client, l *link, d time.Duration) {
	now := time.Now()
	*v = vigil{link: l, heard: l.heard.Load(), since: now, set: now}
	v.timer = time.AfterFunc(d, func() { c.look(l) })
}

func (v *vigil) again() {
	v.set = time.Now()
	v.timer.Reset(silence)
}

// end stops watching, and reports whether it was said that the host is silent.
func (v *vigil) end() (said bool) {
	if v.timer == nil {
		return false
	}
	v.timer.Stop()
	said = v.said
	*v = vigil{}
	return said
}

func (c *Client) slept(since time.Time) bool {
	now := time.Now()
	return c.wall(now).Sub(c.wall(since))-now.Sub(since) > asleep
}

// ping asks the host whether it is there. The lock is held.
func (c *Client) ping(l *link) {
	asked := time.Now()
	c.vigil.asked = asked
	l.rpc.Go(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, func(json.RawMessage, error) { //nolint:errcheck // lost connections end the watch
		l.heard.Add(1)
		c.answered(l, asked)
	})
}

func (c *Client) look(l *link) {
	c.mu.Lock()
	v := &c.vigil
	if v.timer == nil || v.link != l || c.link != l {
		c.mu.Unlock()
		return
	}
	tell, since, drop := false, time.Time{}, false
	heard := l.heard.Load()
	// All is answered, or the host answers and leaves the rest for good. What was on its
	// way when the host stopped does not show that.
	done := len(c.pending) == 0 && c.calls == 0 || v.ponged && (len(c.pending) == 0 || c.pending[len(c.pending)-1].at.Before(v.asked))
	switch {
	case done && (heard != v.heard || !v.rests && v.asked.IsZero() || c.o.Alive == 0):
		tell = v.end()
		v.rest(c, l)
	case heard != v.heard:
		tell, v.said = v.said, false
		v.heard, v.since, v.asked, v.ponged, v.slept = heard, time.Now(), time.Time{}, false, false
		v.again()
	case v.asked.IsZero():
		v.slept = v.slept || c.slept(v.set)
		if c.ping(l); v.rests { // it had nothing to say before
			v.since = v.asked
		}
		v.again()
	default:
		tell, since = !v.said, v.since
		v.said = true
		drop = c.o.GiveUp > 0 && (v.slept || time.Since(v.since) >= c.o.GiveUp)
		v.again()
	}
	c.mu.Unlock()
	if tell && c.o.Observe != nil {
		c.o.Observe.Silent(since)
	}
	if drop {
		c.log.Info("the host says nothing; the connection counts as lost", "since", since)
		l.mute.Store(true)
		l.rpc.Close(closeMute, "no answer") //nolint:errcheck // never fails
	}
}

// answered takes the answer to the ping of that time, and ends a silence.
func (c *Client) answered(l *link, asked time.Time) {
	c.mu.Lock()
	if c.vigil.link == l && c.vigil.asked.Equal(asked) {
		c.vigil.ponged = true
	}
	said := c.vigil.link == l && c.vigil.said && c.vigil.end()
	if said {
		c.vigil.rest(c, l)
	}
	c.mu.Unlock()
	if said {
		c.o.Observe.Silent(time.Time{})
	}
}
