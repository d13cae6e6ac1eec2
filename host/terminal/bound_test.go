package terminal

import (
	"math/rand/v2"
	"strings"
	"testing"

	"tandemux/ahp"
)

// TestBound: a Take brings no more than there is room for, or nothing, and says so; the
// records that are made of it are no larger than was counted. A checkpoint takes what
// there is.
func TestBound(t *testing.T) {
	t.Parallel()
	full := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 11))
		term := fed(t, nil)
		term.Take()
		for range 1 + r.IntN(20) {
			term.give(string(markedProgram(r)) + strings.Repeat("\"\x1b]0;\"\u2028\x07x", r.IntN(50)))
		}
		term.queue.mu.Lock()
		n := term.records()
		term.queue.mu.Unlock()
		term.Bound(n - 1)
		if actions, k := term.Take(); !k.Full || len(actions) > 0 {
			t.Fatalf("seed %d: %d actions in %d bytes", seed, len(actions), n-1)
		}
		if _, k, content := term.Content(MaxWire); !k.Full || content == nil {
			t.Fatalf("seed %d: content %v in %d bytes", seed, content, n-1)
		}
		var actions []ahp.Action
		var k Taken
		if seed%2 == 0 {
			term.Bound(n)
			actions, k = term.Take()
		} else {
			actions, k, _ = term.Checkpoint(false, new([]byte))
		}
		if k.Full {
			t.Fatalf("seed %d: nothing was taken", seed)
		}
		size := 0
		for _, rec := range k.Records(nil) {
			size += 64 + len(rec.Data)
		}
		for _, a := range actions {
			if d, ok := a.(ahp.TerminalData); ok {
				size += 64 + len(d.Data)
				continue
			}
			if strings.HasPrefix(a.ActionType(), "host/") {
				continue
			}
			b, err := ahp.Encode(ahp.V1, ahp.Envelope{
				Channel: strings.Repeat("u", 255), Action: a, ServerSeq: 1 << 52, Origin: &ahp.Origin{ClientID: strings.Repeat("c", 64), ClientSeq: 1 << 52},
			})
			if err != nil {
				t.Fatal(err)
			}
			size += 64 + len(b)
		}
		if size > n {
			t.Fatalf("seed %d: %d bytes of records, %d were counted", seed, size, n)
		}
		if len(actions) > 0 {
			full++
		}
	}
	if full < 50 {
		t.Errorf("only %d takes had something", full)
	}
}
