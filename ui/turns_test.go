package ui

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// narrow is an outer terminal that takes little at once.
type narrow struct {
	bytes.Buffer
	rnd *rand.Rand
}

func (n *narrow) TryWrite(p []byte) int {
	k := n.rnd.IntN(len(p) + 1)
	n.Write(p[:k])
	return k
}

// TestTurnsWriteInOrder: what a terminal does not take at once follows before all else, in
// whichever turns it was drawn, and no turn that must not wait is begun before.
func TestTurnsWriteInOrder(t *testing.T) {
	for seed := range uint64(200) {
		out := &narrow{rnd: rand.New(rand.NewPCG(seed, 1))}
		late := 0
		turn := &turns{term: out, loop: func(tea.Msg) { late++ }}
		want := ""
		for range 50 {
			frame := strings.Repeat(string(rune('a'+out.rnd.IntN(26))), 1+out.rnd.IntN(9))
			turn.tries = out.rnd.IntN(3) > 0
			if !turn.tries {
				turn.flush()
			}
			turn.write([]byte(frame))
			want += frame
			if turn.tries && len(turn.rest) > 0 && late == 0 {
				t.Fatal("nobody writes the rest")
			}
		}
		turn.tries = false
		turn.flush()
		if out.String() != want {
			t.Fatalf("seed %d: written\n%s\nnot\n%s", seed, out, want)
		}
	}
}

// TestATurnThatBreaks ends the interface in order: whoever brought the message goes on.
func TestATurnThatBreaks(t *testing.T) {
	var broke any
	turn := &turns{runs: true, broke: func(v any, _ []byte) { broke = v }} // without a model
	if turn.now(Wake{}, true); broke == nil {
		t.Fatal("nobody was told")
	}
	if turn.now(Wake{}, true) || turn.now(Wake{}, false) {
		t.Error("a turn began behind one that broke")
	}
	if turn.end(); !turn.mu.TryLock() {
		t.Error("the turn was not given back")
	}
}
