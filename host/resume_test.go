package host

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
		h := &Host{log: slog.New(slog.DiscardHandler), seq: sequence{last: 1000}}
		ch := &channel{uri: "ahp-terminal:/t", body: &term{}, log: replayLog{maxBytes: 1 << 20, maxCount: 100}}
		m := &record.Contents{Damage: damage, Log: []record.Entry{{Seq: 7, Env: ahp.Envelope{Action: ahp.TerminalData{Data: "x"}, ServerSeq: 7}}}}
		tx := h.lock()
		h.resume(tx, ch, nil, m)
		tx.unlock()
		if _, ok := ch.log.since(500); ok != (damage == nil) {
			t.Errorf("damage %v: a client that saw 500 is given a replay: %v", damage, ok)
		}
	}
}
