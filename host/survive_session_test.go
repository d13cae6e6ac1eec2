package host_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"tandemux/ahp"
)

// TestSessionOverDeath: a session that is asked for, or its end, is there or gone once
// it is answered, whenever the host dies: before it reads the request, while it carries
// it out, and before its answer arrives.
func TestSessionOverDeath(t *testing.T) {
	t.Parallel()
	m := startMortal(t)
	c, _ := m.client("owner")
	rnd := rand.New(rand.NewPCG(4, 4))
	// carry asks, and has the host die meanwhile.
	carry := func(i int, method string, params any) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if i%2 == 0 { // it gets the request, and does nothing with it
			m.cmd.Process.Signal(syscall.SIGSTOP)
		}
		done := make(chan error, 1)
		go func() { done <- c.Carry(ctx, method, params, nil) }()
		time.Sleep(time.Duration(rnd.IntN(3000)) * time.Microsecond) // so that it dies at any instant
		m.kill()
		m.revive()
		c.Retry()
		if err := <-done; err != nil {
			t.Fatalf("round %d: %s: %v", i, method, err)
		}
	}
	listed := func() int {
		var r ahp.ListSessionsResult
		m.call(c, ahp.MethodListSessions, ahp.ListSessionsParams{Channel: ahp.RootURI}, &r)
		return len(r.Items)
	}
	for i := range 6 {
		uri := fmt.Sprint("ahp-session:/x", i)
		carry(i, ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: uri, WorkingDirectories: []ahp.URI{"file://" + ahp.URI(m.dir)}})
		if n := listed(); n != 1 {
			t.Fatalf("round %d: %d sessions when one was made", i, n)
		}
		carry(i/2, ahp.MethodDisposeSession, ahp.SubscribeParams{Channel: uri})
		if n := listed(); n != 0 {
			t.Fatalf("round %d: %d sessions when it was ended", i, n)
		}
	}
	m.leaveNothing(c)
}
