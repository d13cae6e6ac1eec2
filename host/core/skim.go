package core

import (
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
)

const (
	// skimPause is the least time between two screens in a flood.
	skimPause = 33 * time.Millisecond
	// A turn with fewer than skimLittle bytes of output is calm. Skimming ends after
	// skimQuiet of calm turns, or after as long as a link asked for, at most skimLongest.
	skimLittle  = 16 << 10
	skimQuiet   = 50 * time.Millisecond
	skimLongest = 2 * time.Second
	// skimStop is how long after the last flood turn the screen is shown. A flood has a turn
	// each 8 ms, so it has probably ended.
	skimStop = 12 * time.Millisecond
	// A link with more than skimBehind bytes queued is not sent a screen in between.
	skimBehind = 64 << 10
)

// Skimmed is a body whose output may be skimmed: during a flood, a link that asked for it
// is sent the screen now and then instead of all output.
type Skimmed interface {
	Body
	// Screen applies what is pending and returns the state with only the screen as content.
	Screen(tx Tx) any
}

// skim is the state of skimming a channel's output; nil while no link skims.
type skim struct {
	links []*Link
	size  int  // bytes of output since the last screen
	much  bool // this turn is no calm one
	told  bool // the links were sent some of it, see mustTell
	open  bool // output has ended within a sequence that must be sent whole
	busy  bool // showScreen is applying what is pending
	shown time.Time
	since time.Time     // of the last turn that was not calm
	pause time.Duration // calm from since on until skimming ends
	quiet *time.Timer   // fires skimStop after a flood turn, and at the end
}

// Skim sends a link screens instead of the channel's output until the output has been calm
// for a while, or the link subscribes again. It reports whether the channel can be skimmed.
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

// unskim sends a link all output again.
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

// skips notes an action that is about to be sent, and reports whether links that skim
// don't get it.
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

// mustTell reports whether output may contain something that no screen shows: a bell, or
// an OSC for the clipboard or a notification.
func (s *skim) mustTell(text string) bool {
	began, from := s.open, lastOSC(text)
	if from > 0 {
		began = true
	}
	// An OSC ends with BEL, ESC, CAN, SUB or ST.
	s.open = began && !strings.ContainsAny(text[from:], "\a\x1b\x18\x1a\u009c") || strings.HasSuffix(text, "\x1b")
	return began || s.open || strings.Contains(text, "\a")
}

// lastOSC is the index behind the introducer of the last OSC in text, 0 if there is none.
func lastOSC(text string) int {
	const c1 = "\u009d"
	at := 0
	if strings.Contains(text, c1) { // fast when there is none
		at = strings.LastIndex(text, c1) + len(c1)
	}
	// Floods have more ESCs than brackets, so look for brackets.
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

// showScreens is called after each turn, and sends a screen when one is due.
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

// calm is called by the timer. It shows the last output, and ends skimming when due.
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
	s.busy = true // Screen applies what is pending, which calls showScreens
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
