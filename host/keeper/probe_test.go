package keeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestProbe: asking whether a keeper could be talked to takes it from nobody.
func TestProbe(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	for range 5 {
		if _, err := Probe(context.Background(), k.socket); err != nil {
			t.Fatalf("Probe = %v", err)
		}
	}
	if _, err := c.List(context.Background()); err != nil {
		t.Errorf("the host of before: %v", err)
	}
	if _, err := Probe(context.Background(), k.socket+"-not"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("a keeper that is not there: %v", err)
	}
	for speaks, meets := range map[string]bool{"4 6": false, "1 1": false, "2 9": true} {
		k := startKeeper(t, "/usr/bin/env", versionsEnv+"="+speaks)
		var err error
		until(t, "the keeper to answer", func() bool {
			_, err = Probe(context.Background(), k.socket)
			return !errors.Is(err, ErrNotRunning)
		})
		if meets != (err == nil) || !meets && !errors.Is(err, ErrVersion) {
			t.Errorf("a keeper of versions %s: %v", speaks, err)
		}
	}
}

// TestProbeCounts: who runs is said without taking the keeper over.
func TestProbeCounts(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	if n, err := Probe(context.Background(), k.socket); err != nil || len(n.Running) != 0 {
		t.Errorf("without children: %+v, %v", n, err)
	}
	p := spawn(t, c, shell("lives", "read x"))
	n, err := Probe(context.Background(), k.socket)
	if err != nil || len(n.Running) != 1 || n.Running[0].Pid != p.Pid || n.Pid != c.Pid() {
		t.Errorf("with one child: %+v, %v", n, err)
	}
	if err := c.Err(); err != nil {
		t.Errorf("the host was superseded: %v", err)
	}
}

// TestStoppedKeeper: whoever waits for a keeper that was stopped is told so.
func TestStoppedKeeper(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	if err := syscall.Kill(c.Pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	until(t, "the keeper to stop", func() bool { return isStopped(c.Pid()) })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	want := fmt.Sprintf("is stopped: `kill -CONT %d`", c.Pid())
	_, dial := Dial(ctx, k.socket)
	_, probe := Probe(ctx, k.socket)
	_, list := c.List(ctx)
	for what, err := range map[string]error{"Dial": dial, "List": list} {
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s = %v", what, err)
		}
	}
	if probe == nil {
		t.Error("a stopped keeper is probed")
	}
}

// TestIdleKeeper: a keeper without host and children ends; one that still keeps how a
// child ended does not.
func TestIdleKeeper(t *testing.T) {
	t.Parallel()
	k := startKeeper(t, "/usr/bin/env", idleEnv+"=1s") // enough to be reached in, on a busy machine
	c := k.dial()
	spawn(t, c, shell("quick", "exit 5"))
	<-c.Exits()
	c.Close()
	time.Sleep(1200 * time.Millisecond) // it must not end, so there is nothing to wait for
	c = k.dial()
	if e := <-c.Exits(); e.Code != 5 {
		t.Errorf("the exit is %+v", e)
	}
	if err := c.Forget(context.Background(), "quick"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1200 * time.Millisecond) // as above, for the host's sake
	if err := c.Err(); err != nil {
		t.Fatalf("it ended under its host: %v", err)
	}
	c.Close()
	until(t, "the keeper to end", func() bool {
		_, err := Probe(context.Background(), k.socket)
		return errors.Is(err, ErrNotRunning)
	})
}
