package requests

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandemux/host/core"
)

// TestTurns: what waits while others are given states is done in one turn, in order, up to
// so many bytes; who gives up is not in it, and a panic is its own connection's. The next
// batch begins when the last one has left. After one that shared states, who comes back
// waits longer, and nobody else does.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, err := core.New(core.Options{State: t.TempDir(), Now: time.Now, Log: slog.New(slog.DiscardHandler), Clients: 10})
		if err != nil {
			t.Fatal(err)
		}
		s := &Server{Options: Options{Core: c}}
		s.states = states{core: c, work: &s.serving}
		var mu sync.Mutex
		var did []string
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			did = append(did, what)
		}
		turn := func(ctx context.Context, name string, do func(b *batch)) *Conn {
			conn := &Conn{s: s}
			go func() {
				defer func() {
					if p := recover(); p != nil {
						note(name + " panics")
					}
				}()
				if err := conn.turn(ctx, strings.HasPrefix(name, "back"), func(_ core.Tx, b *batch) {
					note(name)
					if do != nil {
						do(b)
					}
				}); errors.Is(err, context.Canceled) {
					note(name + " gives up")
				}
			}()
			synctest.Wait()
			return conn
		}
		expect := func(want ...string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(did, want) {
				t.Errorf("done: %v; want %v", did, want)
			}
			did = nil
		}
		first := []*Conn{turn(t.Context(), "a", nil), turn(t.Context(), "b", nil)}
		expect("a", "b")
		ctx, giveUp := context.WithCancel(t.Context())
		waiting := []*Conn{
			turn(t.Context(), "c", func(b *batch) { b.shared = sharedRate / 5 }),
			turn(ctx, "d", nil),
			turn(t.Context(), "e", func(*batch) { panic("e") }),
			turn(t.Context(), "f", func(b *batch) { b.size = maxMade }),
			turn(t.Context(), "g", nil),
		}
		expect()
		giveUp()
		expect("d gives up")
		first[0].batch.leave()
		expect("c", "e", "f", "e panics")
		one := waiting[0].batch
		if waiting[2].batch != one || waiting[3].batch != one || one.left != 3 || waiting[4].batch != nil {
			t.Error(fmt.Sprint("the batch has ", one.left, " requests"))
		}
		back := []*Conn{turn(t.Context(), "back 1", nil), turn(t.Context(), "back 2", nil)}
		for range 3 {
			expect()
			one.leave()
		}
		expect("g") // in its place
		waiting[4].batch.leave()
		time.Sleep(199 * time.Millisecond)
		expect()
		time.Sleep(time.Millisecond)
		expect("back 1", "back 2")
		back[0].batch.leave()
		back[1].batch.leave()
		first[1].batch.leave()
		if s.states.in != 0 {
			t.Errorf("%d batches are left", s.states.in)
		}
	})
}
