package client

import (
	"testing"
	"testing/synctest"
	"time"

	"tandemux/ahp"
)

// TestAlive: over a network a host that has nothing to say is asked whether it is there; one
// that does not answer is missed and given up though nothing was sent.
func TestAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, c, obs := observed(t, Options{Reconnect: true, GiveUp: 10 * time.Second, Alive: 15 * time.Second})
		for range 3 {
			began := time.Now()
			p.reply(p.expect("ping", `{"channel":"ahp-root://"}`), `{}`)
			if d := time.Since(began); d < 15*time.Second || d > 20*time.Second {
				t.Errorf("it was asked after %v", d)
			}
		}
		// One that says something is not asked.
		for i := range 10 {
			time.Sleep(10 * time.Second)
			p.action(ahp.RootURI, 20+i, `{"type":"root/activeSessionsChanged","activeSessions":1}`, "")
			synctest.Wait()
		}
		if n := len(p.in); n > 0 {
			t.Errorf("it was asked %d times although it speaks", n)
		}
		began := time.Now()
		time.Sleep(20 * time.Second)
		q := s.accept()
		if d := time.Since(began); d < 25*time.Second || d > 35*time.Second {
			t.Errorf("given up after %v", d)
		}
		q.reply(q.expect("reconnect", ""), resumed)
		synctest.Wait()
		obs.mu.Lock()
		if n := len(obs.silent); n != 2 || !obs.silent[1].IsZero() || obs.silent[0].Sub(began) < 15*time.Second {
			t.Errorf("silences %v, since %v", obs.silent, began)
		}
		obs.mu.Unlock()
		// What is typed while it is being asked changes nothing.
		time.Sleep(16 * time.Second)
		ping := q.expect("ping", "")
		c.Dispatch(t1, ahp.TerminalInput{Data: "a"}) //nolint:errcheck // it is connected
		time.Sleep(4 * time.Second)
		q.reply(ping, `{}`)
		q.expect("dispatchAction", "")
		q.action(t1, 40, `{"type":"terminal/input","data":"a"}`, origin(1))
		synctest.Wait()
		obs.mu.Lock()
		if n := len(obs.silent); n != 4 || !obs.silent[3].IsZero() {
			t.Errorf("silences %v", obs.silent)
		}
		obs.mu.Unlock()
		time.Sleep(20 * time.Second)
		q.reply(q.expect("ping", ""), `{}`) // and it is asked again
		p.conn.Close(1000, "")
		c.Close()
	})
}

// TestSlept: after the machine has slept a connection must answer at once, whether it was
// noticed by a key or by itself; and an attempt to reconnect does not wait.
func TestSlept(t *testing.T) {
	for name, typed := range map[string]bool{"typing": true, "idle": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p, c, obs := observed(t, Options{Reconnect: true, GiveUp: 10 * time.Second, Alive: 15 * time.Second, MaxPause: time.Hour})
				time.Sleep(time.Second)
				c.mu.Lock()
				woke := time.Now()
				c.wall = func(t time.Time) time.Time {
					if t.Before(woke) {
						return t.Round(0)
					}
					return t.Round(0).Add(time.Hour)
				}
				c.mu.Unlock()
				if typed {
					c.Dispatch(t1, ahp.TerminalInput{Data: "a"}) //nolint:errcheck // it is connected
				}
				q := s.accept()
				limit := 3 * silence
				if !typed {
					limit += 15 * time.Second
				}
				if d := time.Since(woke); d > limit {
					t.Errorf("given up after %v", d)
				}
				q.reply(q.expect("reconnect", ""), resumed)
				obs.want("reconnecting: the host has stopped answering", "connected")
				p.conn.Close(1000, "")
				c.Close()
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		_, p, c, _ := observed(t, Options{})
		woke := time.Now().Add(7 * time.Second)
		c.wall = func(t time.Time) time.Time {
			if t.Before(woke) {
				return t.Round(0)
			}
			return t.Round(0).Add(time.Hour)
		}
		began := time.Now()
		c.wait(time.Hour, nil)
		if d := time.Since(began); d > 10*time.Second {
			t.Errorf("it waited %v", d)
		}
		p.conn.Close(1000, "")
		c.Close()
	})
}

// TestRoundTrip: one answer of several that comes at once tells how far away the host is.
func TestRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, c, obs := observed(t, Options{})
		for i, d := range []time.Duration{300, 70, 200, 70, 90} {
			c.Dispatch(t1, ahp.TerminalInput{Data: "a"}) //nolint:errcheck // it is connected
			p.expect("dispatchAction", "")
			time.Sleep(d * time.Millisecond)
			p.action(t1, 11+i, `{"type":"terminal/input","data":"a"}`, origin(i+1))
			obs.want("terminal/input …")
		}
		for i := range 3 { // the handshake's is forgotten
			c.Dispatch(t1, ahp.TerminalInput{Data: "a"}) //nolint:errcheck // it is connected
			p.expect("dispatchAction", "")
			time.Sleep(80 * time.Millisecond)
			p.action(t1, 21+i, `{"type":"terminal/input","data":"a"}`, origin(i+6))
			obs.want("terminal/input …")
		}
		if d := c.RoundTrip(); d != 70*time.Millisecond {
			t.Errorf("a round trip takes %v", d)
		}
		c.Close()
	})
}
