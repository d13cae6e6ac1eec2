package core

import (
	"errors"
	"log/slog"
	"testing"

	"tandemux/ahp"
	"tandemux/host/journal/record"
)

// TestDamagedChannelIsNotReplayed: what a damaged journal has lost, clients may
// have seen, and the host makes it anew; they are given states, not what follows
// from what is left (make chaos, a damaged journal under a flood).
func TestDamagedChannelIsNotReplayed(t *testing.T) {
	for _, damage := range []error{nil, errors.New("a bit has flipped")} {
		c := &Core{o: Options{Log: slog.New(slog.DiscardHandler)}, seq: sequence{last: 1000}}
		ch := &Channel{URI: "ahp-terminal:/t", log: replayLog{maxBytes: 1 << 20, maxCount: 100}}
		m := &record.Contents{Damage: damage, Log: []record.Entry{{Seq: 7, Env: ahp.Envelope{Action: ahp.TerminalData{Data: "x"}, ServerSeq: 7}}}}
		tx := c.Lock()
		tx.Resume(ch, nil, m)
		tx.Unlock()
		if _, ok := ch.log.since(500); ok != (damage == nil) {
			t.Errorf("damage %v: a client that saw 500 is given a replay: %v", damage, ok)
		}
	}
}
