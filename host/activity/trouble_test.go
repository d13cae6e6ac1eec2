package activity

import (
	"errors"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandemux/ahp"
	"tandemux/host/core"
)

// TestNothingToldBeforeRevived has trouble at a host's start, as where its disk is full: the
// channel in which it is told is an earlier host's, once that is revived. Told before, it
// began a second journal of the channel, which stayed with the keeper.
func TestNothingToldBeforeRevived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := New(Options{
			Log: slog.New(slog.DiscardHandler), Now: time.Now,
			Tokens: func() error { return nil }, Losing: func(core.Tx) error { return nil },
		})
		c := newCore(t, v.Now)
		c.Locked(func(tx core.Tx) { v.Open(tx, c) })
		told := func() (text string) {
			time.Sleep(2 * Interval) // of the bubble's time
			c.Locked(func(core.Tx) { text = v.value.Warning })
			return text
		}
		v.Warn("state directory", errors.New("no room"))
		if text := told(); text != "" {
			t.Errorf("it was told %q before the channel of an earlier host was there", text)
		}
		c.Locked(func(tx core.Tx) {
			ch := tx.NewChannel(ahp.ActivityURI, v)
			if _, err := v.Revive(ch, []byte("{}")); err != nil {
				t.Error(err)
			}
			v.Revived(tx)
		})
		if text := told(); text != "state directory: no room" {
			t.Errorf("then it was told %q", text)
		}
		c.Locked(v.Stop)
	})
}

// TestMended: a warning goes once what it is about works again, whatever was in the way.
func TestMended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := New(Options{
			Log: slog.New(slog.DiscardHandler), Now: time.Now,
			Tokens: func() error { return nil }, Losing: func(core.Tx) error { return nil },
		})
		defer v.Close()
		c := newCore(t, v.Now)
		c.Locked(func(tx core.Tx) { v.Open(tx, c) })
		var works atomic.Bool
		v.Mend("command history", fs.ErrPermission, func() error {
			if works.Load() {
				return nil
			}
			return fs.ErrPermission
		})
		for _, now := range []bool{false, true} {
			works.Store(now)
			time.Sleep(2 * mendEvery) // of the bubble's time
			c.Locked(func(core.Tx) {
				if told := len(v.troubles) > 0; told == now {
					t.Errorf("when it works (%v) it is told (%v)", now, told)
				}
			})
		}
		c.Locked(v.Stop)
	})
}
