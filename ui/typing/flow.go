package typing

import (
	"bytes"
	"time"

	"tandemux/ahp"
	"tandemux/ui/status"
)

const (
	// maxFlow is the largest input that waits for one terminal, in bytes.
	maxFlow = 64 << 20
	// retryTime is how long after a refusal a piece is sent again. The host refuses it while the
	// program has not read earlier input.
	retryTime = 50 * time.Millisecond
	// refusedTime is how long a refused piece is sent again.
	refusedTime = 30 * time.Second
	// lostTime is how long after a reconnect the host may take to answer for a piece that was
	// sent before it.
	lostTime = 5 * time.Second
)

// flow is input for a terminal that takes more than one message.
type flow struct {
	data  []byte    // begins with the piece that was sent and not answered
	piece int       // its length
	seq   int64     // its dispatch; 0 if none is unanswered
	since time.Time // when the piece was first refused; zero if it was not
	wait  bool      // a refused piece is sent again later
}

// Settle sends the input that was gathered during an update.
func (ty *Typing) Settle() {
	if len(ty.out) > 0 {
		ty.last = ty.loop.Now()
	}
	for _, o := range ty.out {
		f := ty.flows[o.uri]
		if f == nil && ty.keep(o) {
			continue
		}
		switch {
		case f == nil && len(o.data) <= maxInput && !o.part:
			seq, ok := ty.link.Dispatch(o.uri, ahp.TerminalInput{Data: string(o.data)})
			if ty.predict(o, seq, ok); !ok && !ty.link.UpAt(o.uri) {
				ty.keep(o)
			}
			continue
		case f == nil:
			f = &flow{}
			ty.flows[o.uri] = f
			ty.link.Sink.HearInput(true)
		case string(o.data) == "\x03":
			f.interrupt()
		}
		if len(f.data)+len(o.data) > maxFlow {
			ty.loop.Say(status.Warning, "more than %d MiB wait to be typed: the rest is left out", maxFlow>>20)
			continue
		}
		f.data = append(f.data, o.data...)
		ty.advance(o.uri, f)
	}
	ty.out = ty.out[:0]
}

func (ty *Typing) endFlow(uri ahp.URI) {
	delete(ty.flows, uri)
	ty.link.Sink.HearInput(len(ty.flows) > 0)
}

// interrupt drops the input that has not been sent, as Ctrl-C is for what was sent before. The
// end of a bracketed paste stays.
func (f *flow) interrupt() {
	rest := f.data[f.piece:]
	end := []byte("\x1b[201~")
	if i := bytes.LastIndex(rest, end); i >= 0 {
		rest = rest[i:]
	} else {
		rest = nil
	}
	f.data = append(f.data[:f.piece], rest...)
}

// advance sends the next piece, if no piece is unanswered.
func (ty *Typing) advance(uri ahp.URI, f *flow) {
	if f.seq != 0 || f.wait || !ty.link.UpAt(uri) {
		return
	}
	if len(f.data) == 0 {
		ty.endFlow(uri)
		return
	}
	n := len(f.data)
	if n > maxInput {
		n = cutRune(f.data[:maxInput])
	}
	seq, ok := ty.link.Dispatch(uri, ahp.TerminalInput{Data: string(f.data[:n])})
	switch {
	case !ok && !ty.link.UpAt(uri):
		return // Regained calls advance again
	case !ok:
		ty.endFlow(uri) // Dispatch has reported it
		return
	}
	f.seq, f.piece = seq, n
	ty.predict(outgoing{uri: uri, part: true}, seq, true)
}

// Took handles the host's confirmation of input. e is this client's own.
func (ty *Typing) Took(e ahp.Envelope) {
	f := ty.flows[e.Channel]
	if f == nil || e.Origin.ClientSeq != f.seq {
		return
	}
	f.data = f.data[f.piece:]
	f.seq, f.piece, f.since = 0, 0, time.Time{}
	ty.advance(e.Channel, f)
}

// Refused handles the host's refusal of input, and reports whether it was a flow's piece. If the
// person may type into the terminal, it only has no room yet.
func (ty *Typing) Refused(e ahp.Envelope) bool {
	f := ty.flows[e.Channel]
	if f == nil || e.Origin.ClientSeq != f.seq {
		return false
	}
	now := ty.loop.Now()
	if f.since.IsZero() {
		f.since = now
	}
	f.seq = 0
	if !ty.panes.Terms.Typable(ty.panes.Terms.Get(e.Channel)) || now.Sub(f.since) > refusedTime {
		ty.cutOff(e.Channel, f, e.RejectionReason)
		return true
	}
	f.wait = true
	uri := e.Channel
	ty.loop.After(retryTime, func() {
		if ty.flows[uri] == f {
			f.wait = false
			ty.advance(uri, f)
		}
	})
	return true
}

func (ty *Typing) cutOff(uri ahp.URI, f *flow, why string) {
	ty.endFlow(uri)
	ty.loop.Say(status.Warning, "the last %d KiB were not typed: %s", (len(f.data)+1023)>>10, why)
}

func (ty *Typing) goOn(uri ahp.URI, f *flow) {
	if f.seq == 0 {
		ty.advance(uri, f)
		return
	}
	seq := f.seq
	ty.loop.After(lostTime, func() {
		if ty.flows[uri] == f && f.seq == seq {
			ty.cutOff(uri, f, "the connection was lost")
		}
	})
}
