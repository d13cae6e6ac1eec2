package client

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandemux/ahp"
	"tandemux/internal/jsonrpc"
)

// observer is a record that is also told of trouble, which it notes apart: it
// may come at any time.
type observer struct {
	*record
	mu      sync.Mutex
	retries []Retry
	lost    []string
	silent  []time.Time
}

func (o *observer) Retrying(r Retry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.retries = append(o.retries, r)
}

func (o *observer) Lost(uri ahp.URI, input string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lost = append(o.lost, fmt.Sprintf("%s %q", uri, input))
}

func (o *observer) Silent(since time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.silent = append(o.silent, since)
}

// observed is start with an observer.
func observed(t *testing.T, o Options) (*script, *peer, *Client, *observer) {
	t.Helper()
	obs := &observer{record: newRecord(t)}
	o.Sink, o.Observe = obs, obs
	s, p, c, _ := start(t, o)
	obs.want("connected", "snapshot ahp-root:// 10")
	return s, p, c, obs
}

const resumed = `{"type":"replay","actions":[],"missing":[]}`

// TestRetriesAreReported: who waits for an hour is told since when, when the
// next attempt is made and why the last one failed, and can have it at once.
func TestRetriesAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, c, obs := observed(t, Options{Reconnect: true, MaxPause: 30 * time.Second})
		time.Sleep(time.Minute)
		lost := time.Now()
		s.mu.Lock()
		for range 1000 {
			s.refuse = append(s.refuse, errRefused)
		}
		s.mu.Unlock()
		p.drop()
		time.Sleep(time.Hour)
		synctest.Wait()
		obs.mu.Lock()
		all := obs.retries
		obs.mu.Unlock()
		if n := len(all); n < 100 || n > 200 {
			t.Errorf("%d attempts in an hour", n)
		}
		last := all[len(all)-1]
		if !last.Since.Equal(lost) || last.Err != errRefused || time.Until(last.Next) > 30*time.Second || last.Next.Before(time.Now()) {
			t.Errorf("the last report is %+v, now %v", last, time.Now())
		}
		// Somebody presses a key and holds it down for two seconds.
		s.mu.Lock()
		before := len(s.dials)
		s.mu.Unlock()
		for range 40 {
			c.Retry()
			time.Sleep(50 * time.Millisecond)
		}
		s.mu.Lock()
		if n := len(s.dials) - before; n < 3 || n > 5 {
			t.Errorf("%d attempts in two seconds of wanting one", n)
		}
		s.refuse = nil
		s.mu.Unlock()
		c.Retry()
		p = s.accept()
		p.reply(p.expect("reconnect", ""), resumed)
		obs.want("reconnecting: …", "connected")
		c.Close()
	})
}

// TestRestart: a host that makes room for another one is tried without growing
// pauses, so that nobody is away for a second.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, c, r := start(t, Options{Reconnect: true, MaxPause: 30 * time.Second})
		for range 14 { // seven tenths of a second
			s.refuse = append(s.refuse, errRefused)
		}
		begun := time.Now()
		p.conn.Close(jsonrpc.CloseRestart, "upgrade")
		p = s.accept()
		p.reply(p.expect("reconnect", ""), resumed)
		r.want("reconnecting: …", "connected")
		if d := time.Since(begun); d > time.Second {
			t.Errorf("away for %v", d)
		}
		c.Close()
	})
}

// TestAwayForLong: a machine that is shut down may come back, where Options say
// that it is waited for.
func TestAwayForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, c, r := start(t, Options{Reconnect: true, Away: -1})
		for range 9 {
			s.refuse = append(s.refuse, errRefused)
		}
		p.conn.Close(jsonrpc.CloseAway, "the host is stopping")
		p = s.accept()
		p.reply(p.expect("reconnect", ""), resumed)
		r.want("reconnecting: …", "connected")
		c.Close()
	})
}

// TestAbsent: a client gives up when for a while there has been no host, and nothing
// to start one, and not because there was none now and then.
func TestAbsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nobody := fmt.Errorf("%w: nothing is left of it", ErrAbsent)
		s, p, c, r := start(t, Options{Reconnect: true, Absence: 3 * time.Second, MaxPause: 500 * time.Millisecond})
		for i := range 12 {
			s.refuse = append(s.refuse, []error{nobody, nobody, errRefused}[i%3])
		}
		p.drop()
		p = s.accept()
		p.reply(p.expect("reconnect", ""), resumed)
		r.want("reconnecting: …", "connected")
		for range 50 {
			s.refuse = append(s.refuse, nobody)
		}
		begun := time.Now()
		p.drop()
		<-c.Done()
		if d := time.Since(begun); d < 3*time.Second || d > 4*time.Second {
			t.Errorf("gave up after %v", d)
		}
		if err := c.Carry(t.Context(), ahp.MethodPing, nil, nil); !errors.Is(err, ErrClosed) || !errors.Is(err, ErrAbsent) {
			t.Errorf("a call afterwards: %v", err)
		}
		c.Close()
	})
}

// TestLostInput: what was typed and sent, and is unknown to the host that
// answers after a lost connection, is named.
func TestLostInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, c, obs := observed(t, Options{Reconnect: true})
		for _, a := range []ahp.Action{ahp.TerminalInput{Data: "ls\r"}, ahp.TerminalResized{Cols: 3, Rows: 4}, ahp.TerminalInput{Data: "x"}} {
			if _, err := c.Dispatch(t1, a); err != nil {
				t.Fatal(err)
			}
		}
		p.action(t1, 11, `{"type":"terminal/input","data":"ls\r"}`, origin(1))
		obs.want("terminal/input …")
		p.drop()
		p = s.accept()
		p.fail(p.expect("reconnect", ""), ahp.NotFound("who?"))
		p.hello("1.0.0", 3)
		obs.want("reconnecting: …", "connected", "snapshot ahp-root:// 3")
		synctest.Wait()
		obs.mu.Lock()
		if got := fmt.Sprint(obs.lost); got != `[ahp-terminal:/1 "x"]` {
			t.Errorf("lost %v", got)
		}
		obs.mu.Unlock()
		c.Close()
	})
}

// TestSilence: a host that is stopped, or a network that swallows everything, is
// noticed while something is unanswered; while all is answered nothing runs.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, c, obs := observed(t, Options{Reconnect: true})
		silences := func() (all []time.Time) {
			synctest.Wait()
			obs.mu.Lock()
			defer obs.mu.Unlock()
			all, obs.silent = obs.silent, nil
			return all
		}
		time.Sleep(time.Hour)
		if n := len(p.in); n > 0 || c.vigil.timer != nil {
			t.Fatalf("an idle client sent %d messages", n)
		}
		// One that answers, slowly, is not silent.
		c.Dispatch(t1, ahp.TerminalInput{Data: "a"})
		time.Sleep(silence + silence/2)
		p.expect("dispatchAction", "")
		ping := p.expect("ping", `{"channel":"ahp-root://"}`)
		p.action(t1, 11, `{"type":"terminal/input","data":"a"}`, origin(1))
		p.reply(ping, `{}`)
		obs.want("terminal/input …")
		time.Sleep(time.Minute)
		if got := silences(); len(got) > 0 || c.vigil.timer != nil {
			t.Errorf("a slow host was called silent: %v", got)
		}
		// One that never answers for an action answers a ping: it is there.
		c.Dispatch(t1, ahp.TerminalInput{Data: "b"})
		p.expect("dispatchAction", "")
		time.Sleep(silence + silence/2)
		p.reply(p.expect("ping", ""), `{}`)
		time.Sleep(time.Minute)
		if got := silences(); len(got) > 0 || c.vigil.timer != nil {
			t.Errorf("a host that ignores an action was called silent: %v", got)
		}
		// What is sent while a ping is under way is watched like all else.
		c.Dispatch(t1, ahp.TerminalInput{Data: "b2"})
		p.expect("dispatchAction", "")
		time.Sleep(silence + silence/2)
		ping = p.expect("ping", "")
		c.Dispatch(t1, ahp.TerminalInput{Data: "b3"})
		p.expect("dispatchAction", "")
		p.reply(ping, `{}`)
		time.Sleep(time.Minute)
		if got := silences(); len(got) != 1 || got[0].IsZero() {
			t.Errorf("silences of a host that stopped after a ping: %v", got)
		}
		p.reply(p.expect("ping", ""), `{}`)
		if got := silences(); len(got) != 1 || !got[0].IsZero() || c.vigil.timer != nil {
			t.Errorf("the end of its silence: %v", got)
		}
		// What was on its way when the host stopped is no answer to the ping.
		c.Dispatch(t1, ahp.TerminalInput{Data: "b4"})
		p.expect("dispatchAction", "")
		time.Sleep(silence + silence/2)
		ping = p.expect("ping", "")
		p.action(t1, 12, `{"type":"terminal/data","data":"late"}`, "")
		time.Sleep(time.Minute)
		if got := silences(); len(got) != 1 || got[0].IsZero() {
			t.Errorf("silences of a host that stopped with a message on its way: %v", got)
		}
		p.reply(ping, `{}`)
		if got := silences(); len(got) != 1 || !got[0].IsZero() || c.vigil.timer != nil {
			t.Errorf("the end of that silence: %v", got)
		}
		p.reply(p.expect("ping", ""), `{}`)
		synctest.Wait()
		// One that is stopped is silent until it goes on.
		began := time.Now()
		c.Dispatch(t1, ahp.TerminalInput{Data: "c"})
		time.Sleep(time.Minute)
		if got := silences(); len(got) != 1 || got[0].Sub(began) > time.Second {
			t.Errorf("silences of a stopped host: %v, it stopped at %v", got, began)
		}
		p.expect("dispatchAction", "")
		p.reply(p.expect("ping", ""), `{}`)
		if got := silences(); len(got) != 1 || !got[0].IsZero() || c.vigil.timer != nil {
			t.Errorf("the end of a silence: %v", got)
		}
		c.Close()
	})
}

// TestSilentRequest: a host that is stopped is noticed while only a request is open, and
// one that takes long to answer it is not silent.
func TestSilentRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, c, obs := observed(t, Options{Reconnect: true})
		silent := func(want ...bool) {
			t.Helper()
			synctest.Wait()
			obs.mu.Lock()
			defer obs.mu.Unlock()
			var got []bool
			for _, since := range obs.silent {
				got = append(got, !since.IsZero())
			}
			if obs.silent = nil; !slices.Equal(got, want) {
				t.Errorf("silences %v, want %v", got, want)
			}
			if over := len(want) == 0 || !want[len(want)-1]; over && c.vigil.timer != nil {
				t.Error("it is watched on")
			}
		}
		done := make(chan error, 1)
		call := func() *jsonrpc.Request {
			go func() { done <- c.Call(t.Context(), ahp.MethodWait, ahp.WaitParams{Channel: t1}, nil) }()
			return p.expect(ahp.MethodWait, "")
		}
		// A wait of an hour, at a host that says that it is there.
		wait := call()
		time.Sleep(silence + silence/2)
		p.reply(p.expect(ahp.MethodPing, ""), `{}`)
		time.Sleep(time.Hour)
		silent()
		p.reply(wait, `{}`)
		if err := <-done; err != nil {
			t.Error(err)
		}
		silent()
		// A host that is stopped meanwhile, and goes on.
		wait = call()
		time.Sleep(time.Minute)
		silent(true)
		p.reply(p.expect(ahp.MethodPing, ""), `{}`)
		silent(false)
		p.reply(wait, `{}`)
		if err := <-done; err != nil {
			t.Error(err)
		}
		// A request that is answered at once leaves nothing behind.
		p.reply(call(), `{}`)
		<-done
		time.Sleep(time.Minute)
		silent()
		if n := len(p.in); n > 0 {
			t.Errorf("%d messages after the answer", n)
		}
		c.Close()
	})
}

// TestGiveUp: a connection that swallows everything is given up where Options
// say so, and what was typed is sent on the next.
func TestGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, c, obs := observed(t, Options{Reconnect: true, GiveUp: 15 * time.Second})
		began := time.Now()
		c.Dispatch(t1, ahp.TerminalInput{Data: "a"})
		q := s.accept()
		if d := time.Since(began); d < 15*time.Second || d > 20*time.Second {
			t.Errorf("given up after %v", d)
		}
		q.reply(q.expect("reconnect", ""), resumed)
		q.expect("dispatchAction", `{"channel":"ahp-terminal:/1","clientSeq":1,"action":{"type":"terminal/input","data":"a"}}`)
		obs.want("reconnecting: the host has stopped answering", "connected")
		synctest.Wait()
		obs.mu.Lock()
		if n := len(obs.silent); n != 2 || !obs.silent[1].IsZero() || len(obs.lost) > 0 {
			t.Errorf("silences %v, lost %v", obs.silent, obs.lost)
		}
		obs.mu.Unlock()
		p.conn.Close(1000, "")
		c.Close()
	})
}
