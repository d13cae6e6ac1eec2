package client

import (
	"encoding/json"
	"time"

	"tandemux/ahp"
)

// silence is how long a host may neither answer what is open nor send anything
// else before it is sent a ping, and again before it counts as silent.
const silence = 2 * time.Second

// vigil watches whether a host answers, while something is unanswered: a stopped
// process, or a network that swallows everything, ends no connection. Nothing
// runs while all is answered. The client's lock guards it.
type vigil struct {
	timer  *time.Timer // nil while nothing is watched
	link   *link       // that is watched
	heard  uint64      // what the link had heard when the timer was set
	since  time.Time   // when it was last known to be there
	asked  time.Time   // a ping went out then; zero for none
	ponged bool        // that ping was answered
	said   bool        // Silent was called
}

// begin watches what was just sent, unless a watch is on already.
func (v *vigil) begin(c *Client) {
	if v.timer != nil || c.o.Observe == nil && c.o.GiveUp == 0 {
		return
	}
	l := c.link
	*v = vigil{link: l, heard: l.heard.Load(), since: time.Now()}
	v.timer = time.AfterFunc(silence, func() { c.look(l) })
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

// look is what the timer does.
func (c *Client) look(l *link) {
	c.mu.Lock()
	v := &c.vigil
	if v.timer == nil || v.link != l || c.link != l {
		c.mu.Unlock()
		return
	}
	tell, since, drop := false, time.Time{}, false
	switch heard := l.heard.Load(); {
	case len(c.pending) == 0, v.ponged && c.pending[len(c.pending)-1].at.Before(v.asked):
		// All is answered, or the host answers and leaves the rest for good. What was
		// on its way when the host stopped does not show that.
		tell = v.end()
	case heard != v.heard:
		tell, v.said = v.said, false
		v.heard, v.since, v.asked, v.ponged = heard, time.Now(), time.Time{}, false
		v.timer.Reset(silence)
	case v.asked.IsZero():
		asked := time.Now()
		v.asked = asked
		l.rpc.Go(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, func(json.RawMessage, error) { //nolint:errcheck // lost connections end the watch
			l.heard.Add(1)
			c.answered(l, asked)
		})
		v.timer.Reset(silence)
	default:
		tell, since = !v.said, v.since
		v.said = true
		drop = c.o.GiveUp > 0 && time.Since(v.since) >= c.o.GiveUp
		v.timer.Reset(silence)
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
	c.mu.Unlock()
	if said {
		c.o.Observe.Silent(time.Time{})
	}
}
