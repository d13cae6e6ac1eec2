package core

import (
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
)

const (
	// skimPause is the least time between two screens while much is printed.
	skimPause = 33 * time.Millisecond
	// skimLittle is so little output in a turn that it does not count as much, and
	// skimQuiet how long no more than that comes until skimming ends, unless a link asks
	// for longer, up to skimLongest.
	skimLittle  = 16 << 10
	skimQuiet   = 50 * time.Millisecond
	skimLongest = 2 * time.Second
	// skimStop is how long no more comes until what was printed last is shown: the next of a
	// flood's turns, which come each 8 ms, would be there.
	skimStop = 12 * time.Millisecond
	// skimBehind is what may wait for a link for which a screen is left out.
	skimBehind = 64 << 10
)

// Skimmed is a body whose output may be skimmed: where more is printed than anybody
// can read, a link is given what the screen shows instead.
type Skimmed interface {
	Body
	// Screen is the state with no more content than that, and with all that is pending.
	Screen(tx Tx) any
}

// skim is how a channel's output is skimmed. Nil is not at all.
type skim struct {
	links []*Link
	size  int  // of the output that they have not been shown
	much  bool // of it came in this turn
	told  bool // some of it they were told
	open  bool // and it ends within what has to be told whole
	busy  bool
	shown time.Time
	since time.Time     // no more than little has come
	pause time.Duration // from then on until skimming ends
	quiet *time.Timer   // at skimStop, and at the end
}

// Skim spares a link the channel's output until that has been calm for a while, or the
// link subscribes again. It reports whether the channel has any.
func (tx Tx) Skim(ch *Channel, l *Link, calm time.Duration) bool {
	if _, is := ch.Body.(Skimmed); !is {
		return false
	}
	if ch.skim == nil {
		s, c := &skim{pause: skimQuiet, since: time.Now()}, tx.c
		s.quiet = time.AfterFunc(skimQuiet, func() {
			c.Do(func(tx Tx) {
				if ch.skim == s && !tx.Closing() {
					tx.calm(ch, s)
				}
			})
		})
		ch.skim = s
	}
	s := ch.skim
	if !slices.Contains(s.links, l) {
		s.links = append(s.links, l)
	}
	if calm = min(calm, skimLongest); calm > s.pause {
		s.pause = calm
		s.quiet.Reset(calm)
	}
	return true
}

// unskim has a link told of all output from here on.
func (ch *Channel) unskim(l *Link) {
	if s := ch.skim; s != nil {
		s.links = slices.DeleteFunc(s.links, func(o *Link) bool { return o == l })
		if len(s.links) == 0 {
			ch.endSkim()
		}
	}
}

func (ch *Channel) endSkim() {
	if ch.skim != nil {
		ch.skim.quiet.Stop()
		ch.skim = nil
	}
}

// skips notes an action that is told to the channel's links, and reports whether those
// that skim are spared it.
func (tx Tx) skips(ch *Channel, a ahp.Action) bool {
	s := ch.skim
	d, is := a.(ahp.TerminalData)
	if s == nil || !is {
		return false
	}
	tx.c.out.Spared(len(d.Data))
	s.size += len(d.Data)
	s.much = s.much || s.size >= skimLittle
	if s.mustTell(d.Data) {
		s.told = true
		return false
	}
	return true
}

// mustTell reports whether there may be something in output that no screen shows: a
// bell, or a text for the clipboard or for a notification.
func (s *skim) mustTell(text string) bool {
	began, from := s.open, lastOSC(text)
	if from > 0 {
		began = true
	}
	// What ends it: BEL, ESC, CAN, SUB or ST.
	s.open = began && !strings.ContainsAny(text[from:], "\a\x1b\x18\x1a\u009c") || strings.HasSuffix(text, "\x1b")
	return began || s.open || strings.Contains(text, "\a")
}

// lastOSC is where the last OSC that text begins has its number, 0 when it begins none.
func lastOSC(text string) int {
	const c1 = "\u009d"
	at := 0
	if strings.Contains(text, c1) { // which is quick to deny
		at = strings.LastIndex(text, c1) + len(c1)
	}
	// Floods have more of ESC than of the bracket.
	for i := 0; ; i++ {
		n := strings.IndexByte(text[i:], ']')
		if n < 0 {
			return at
		}
		if i += n; i > 0 && text[i-1] == '\x1b' {
			at = max(at, i+1)
		}
	}
}

// showScreens shows links that skim what was printed in a turn, when it is time.
func (tx Tx) showScreens(ch *Channel) {
	s := ch.skim
	if s == nil || s.size == 0 || s.busy || s.open {
		return
	}
	now := time.Now()
	if s.much {
		s.since = now
		s.quiet.Reset(skimStop)
	}
	if !s.much || s.told || now.Sub(s.shown) >= skimPause {
		tx.showScreen(ch, s, false)
	}
	s.much = false
}

// calm shows what was printed last, and ends the skimming when it is time.
func (tx Tx) calm(ch *Channel, s *skim) {
	left := s.pause - time.Since(s.since)
	if left > 0 {
		s.quiet.Reset(left)
	}
	if left <= 0 || s.size > 0 && !s.open {
		tx.showScreen(ch, s, left <= 0)
	}
}

func (tx Tx) showScreen(ch *Channel, s *skim, last bool) {
	s.busy = true // what is pending is applied first
	state := ch.Body.(Skimmed).Screen(tx)
	s.busy = false
	must := last || s.told
	s.size, s.told, s.shown = 0, false, time.Now()
	raw, err := ahp.Encode(ahp.V1, state)
	if err == nil {
		raw, err = ahp.Encode(ahp.V1, ahp.Skimmed{Snapshot: ahp.Snapshot{Resource: ch.URI, State: raw, FromSeq: tx.Seq()}, Last: last})
	}
	if err != nil {
		tx.c.o.Log.Error("encode a screen", "channel", ch.URI, "err", err)
		return
	}
	b := Notification(ahp.NoteSkimmed, raw)
	for _, l := range s.links {
		if must || l.Out.Behind(skimBehind) == nil {
			tx.Send(l, b)
		}
	}
	if last {
		ch.endSkim()
	}
}
