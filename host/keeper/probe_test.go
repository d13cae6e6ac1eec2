package keeper

import (
	"context"
	"errors"
	"testing"
)

// TestProbe: asking whether a keeper could be talked to takes it from nobody.
func TestProbe(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	for range 5 {
		if err := Probe(context.Background(), k.socket); err != nil {
			t.Fatalf("Probe = %v", err)
		}
	}
	if _, err := c.List(context.Background()); err != nil {
		t.Errorf("the host of before: %v", err)
	}
	if err := Probe(context.Background(), k.socket+"-not"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("a keeper that is not there: %v", err)
	}
	for speaks, meets := range map[string]bool{"3 5": false, "1 1": true, "2 9": true} {
		k := startKeeper(t, "/usr/bin/env", versionsEnv+"="+speaks)
		var err error
		until(t, "the keeper to answer", func() bool {
			err = Probe(context.Background(), k.socket)
			return !errors.Is(err, ErrNotRunning)
		})
		if meets != (err == nil) || !meets && !errors.Is(err, ErrVersion) {
			t.Errorf("a keeper of versions %s: %v", speaks, err)
		}
	}
}
