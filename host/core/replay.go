package core

import "tandemux/ahp"

// replayLog keeps a channel's latest actions for clients that come back. It is
// bounded in bytes of text and in entries; the oldest go first.
type replayLog struct {
	maxBytes, maxCount int

	// floor is the sequence number below which the log has a hole: a client
	// that has seen floor or more can be given the rest.
	floor   int64
	entries []ahp.Envelope // ascending; entries[:head] are gone
	head    int
	bytes   int
}

func (l *replayLog) add(e ahp.Envelope) {
	l.entries = append(l.entries, e)
	l.bytes += weight(e.Action)
	for l.bytes > l.maxBytes || len(l.entries)-l.head > l.maxCount {
		gone := &l.entries[l.head]
		l.floor = gone.ServerSeq
		l.bytes -= weight(gone.Action)
		*gone = ahp.Envelope{}
		l.head++
	}
	if l.head > 32 && l.head > len(l.entries)/2 {
		n := copy(l.entries, l.entries[l.head:])
		clear(l.entries[n:])
		l.entries = l.entries[:n]
		l.head = 0
	}
}

// since gives the actions after seq; ok is false when some of them are gone.
// The result is valid until the next add.
func (l *replayLog) since(seq int64) (es []ahp.Envelope, ok bool) {
	if seq < l.floor {
		return nil, false
	}
	all := l.entries[l.head:]
	lo, hi := 0, len(all)
	for lo < hi {
		if m := (lo + hi) / 2; all[m].ServerSeq <= seq {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return all[lo:], true
}
