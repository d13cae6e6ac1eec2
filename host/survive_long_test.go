package host_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cotty/ahp"
)

// TestRecoveryTime measures how long fifty terminals, each with a megabyte and more
// of history and some of them printing, are without a host that was killed, up to
// the answer of the next one; and until a client has what it missed.
func TestRecoveryTime(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv("COTTY_ROUNDS"))
	if err != nil {
		t.Skip("set COTTY_ROUNDS to the number of rounds")
	}
	m := startMortal(t)
	c, mirror := m.client("owner")
	const terminals = 50
	for i := range terminals {
		uri := fmt.Sprint("ahp-terminal:/r", i)
		script := `i=0; while [ $i -lt 15000 ]; do i=$((i+1)); echo "line $i of a terminal with a history, as a build or a test prints it"; done; echo ready; `
		if i < 5 {
			script += `while sleep 0.02; do echo tick; done`
		} else {
			script += `exec cat`
		}
		m.call(c, ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
			Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "owner"}, Meta: &ahp.CreateMeta{Command: []string{"sh", "-c", script}},
		}, nil)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if err := c.Subscribe(ctx, uri); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	for i := range terminals {
		m.shows(mirror, fmt.Sprint("ahp-terminal:/r", i), "ready")
	}
	time.Sleep(2 * time.Second) // let the last checkpoints be whole
	m.took = nil
	var back []time.Duration
	for i := range rounds {
		m.kill()
		began := time.Now()
		m.revive()
		c.Retry()
		mark := fmt.Sprintf("mark-%d-", i)
		uri := fmt.Sprint("ahp-terminal:/r", 5+i%45)
		m.types(c, uri, mark+"\n")
		m.until("the mark is back", func() bool {
			s, _ := mirror.Terminal(uri)
			have := text(s)
			return strings.Contains(have[max(0, len(have)-4096):], mark)
		})
		back = append(back, time.Since(began))
	}
	for _, d := range [][]time.Duration{m.took, back} {
		slices.Sort(d)
		t.Logf("p50 %v, p99 %v, longest %v", d[len(d)/2], d[len(d)*99/100], d[len(d)-1])
	}
	m.leaveNothing(c)
}
