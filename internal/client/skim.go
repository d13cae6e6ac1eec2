package client

import (
	"encoding/json"
	"time"

	"tandemux/ahp"
)

const (
	// A terminal that prints floodBytes within floodTime floods: 5 MB a second.
	floodBytes = 512 << 10
	floodTime  = 100 * time.Millisecond
)

// flood is how much a channel brings. It is the reader goroutine's, but for skims.
type flood struct {
	bytes int
	since time.Time
	// Guarded by the client's lock:
	skims  bool // screens come instead, or have been asked for
	states int  // states that have been asked for, and have not come
}

// add reports whether that much more is a flood.
func (f *flood) add(n int, now time.Time) bool {
	if now.Sub(f.since) >= floodTime {
		f.bytes, f.since = 0, now
	}
	if f.bytes += n; f.bytes < floodBytes {
		return false
	}
	f.bytes = 0
	return true
}

// skim asks for screens in place of a terminal's output when that is a flood, and the
// screen is enough.
func (l *link) skim(ch *channel, n int) {
	c, f := l.c, &ch.flood
	if c.o.Skim == nil || !f.add(n, time.Now()) || !c.o.Skim.Skims(ch.uri) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// A state that comes ends the skimming here; asked for behind it, it would not end there.
	if f.skims || f.states > 0 || c.channels[ch.uri] != ch {
		return
	}
	f.skims = true
	ask(l, ahp.MethodSkim, ahp.SubscribeParams{Channel: ch.uri}, func(_ json.RawMessage, err error) {
		if err != nil { // The host is older, perhaps. It is not asked again.
			c.log.Debug("skim", "err", err)
		}
	})
}

// skimmed takes a screen.
func (l *link) skimmed(raw json.RawMessage) error {
	c := l.c
	var s ahp.Skimmed
	if err := ahp.Unmarshal(raw, &s); err != nil {
		return err
	}
	c.mu.Lock()
	ch := c.channels[s.Resource]
	pass := ch != nil && ch.skims && ch.live && s.FromSeq >= ch.last
	if pass {
		ch.last, ch.skims = s.FromSeq, !s.Last
	}
	c.mu.Unlock()
	c.saw(s.FromSeq)
	if pass {
		c.o.Skim.Skimmed(s.Snapshot)
	}
	return nil
}
