package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/host/listen"
	"tandemux/internal/client"
	"tandemux/internal/endpoint"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/local"
	"tandemux/internal/wsrpc"
)

// chaosView is a client that was there all the time, as the interface is one.
type chaosView struct {
	*client.Client
	*client.Mirror

	mu   sync.Mutex // guards the following, and the open ends of terminals
	up   time.Time  // connected since, zero while not
	down time.Time  // when the connection was lost last
	conn net.Conn
	open map[int64]*chaosTerm
	many int  // the most terminals that were listed
	less bool // then fewer were, though none has gone
}

// Close ends it.
func (v *chaosView) Close() { v.Client.Close() }

func (x *chaos) view(id string) *chaosView {
	v := &chaosView{Mirror: client.NewMirror(16 << 20), open: map[int64]*chaosTerm{}}
	path := filepath.Join(x.dirs.Runtime, listen.SocketName)
	dial := func(ctx context.Context) (jsonrpc.Transport, error) {
		return wsrpc.Dial(ctx, wsrpc.Target{URL: "ws://localhost/", Dial: func(ctx context.Context) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
			if err == nil {
				v.mu.Lock()
				v.conn = c
				v.mu.Unlock()
			}
			return c, err
		}})
	}
	o := client.Options{Dial: (&local.Reviver{Dirs: x.dirs, Connect: dial}).Dial, ClientID: id, Sink: v, Wants: client.Wants{Observe: v}, Reconnect: true}
	endpoint.Endpoint{Dirs: x.dirs}.Pace(&o)
	c, err := client.Connect(x.ctx(), o)
	x.must(err)
	v.mu.Lock()
	v.Client = c
	v.mu.Unlock()
	return v
}

// Status implements client.Sink.
func (v *chaosView) Status(s client.Status, err error) {
	v.mu.Lock()
	if v.up = (time.Time{}); s == client.Connected {
		v.up = time.Now()
	} else {
		v.down = time.Now()
	}
	v.mu.Unlock()
	v.Mirror.Status(s, err)
}

// connected reports whether there is a connection; with anew set, one that was
// made after a time.
func (v *chaosView) connected(anew bool, after time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.up.IsZero() && (!anew || v.up.After(after))
}

func (v *chaosView) since() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.up
}

// lostAt is when the last connection was lost, after a time at the earliest.
func (v *chaosView) lostAt(after time.Time) time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.down.After(after) {
		return v.down
	}
	return after
}

// cut ends the connection without a word.
func (v *chaosView) cut() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.conn.Close()
}

// enter types the next number; without a connection it does nothing.
func (v *chaosView) enter(t *chaosTerm, line string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.Client == nil {
		return
	}
	seq, err := v.Dispatch(t.uri, ahp.TerminalInput{Data: line})
	if err != nil {
		return
	}
	t.sent++
	t.seqs[seq] = t.sent
	v.open[seq] = t
}

// Action implements client.Sink: a refusal of what was typed says that it may not
// have arrived.
func (v *chaosView) Action(e ahp.Envelope) {
	if _, typed := e.Action.(ahp.TerminalInput); typed && e.Origin != nil {
		v.mu.Lock()
		if t := v.open[e.Origin.ClientSeq]; t != nil && e.Origin.ClientID == v.ClientID() {
			if e.RejectionReason != "" {
				t.doubtful[t.seqs[e.Origin.ClientSeq]] = true
			}
			delete(v.open, e.Origin.ClientSeq)
			delete(t.seqs, e.Origin.ClientSeq)
		}
		v.mu.Unlock()
	}
	if list, is := e.Action.(ahp.RootTerminalsChanged); is {
		many := 0
		for _, t := range list.Terminals {
			if strings.HasPrefix(t.Resource, chaosScheme) { // not of a run, or of the interface
				many++
			}
		}
		v.mu.Lock()
		v.less = v.less || many < v.many
		v.many = max(v.many, many)
		v.mu.Unlock()
	}
	v.Mirror.Action(e)
}

// lacked reports whether a list was shorter than one before it.
func (v *chaosView) lacked() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.less
}

// Lost implements client.Observer.
func (v *chaosView) Lost(uri ahp.URI, input string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for seq, t := range v.open {
		if t.uri == uri && strings.Contains(input, strconv.Itoa(t.seqs[seq])) {
			t.doubtful[t.seqs[seq]] = true
		}
	}
}

// Retrying implements client.Observer.
func (v *chaosView) Retrying(client.Retry) {}

// Silent implements client.Observer.
func (v *chaosView) Silent(time.Time) {}

// spoken reports whether it was said that a number may not have arrived, or
// nothing is known of it yet.
func (v *chaosView) spoken(t *chaosTerm, n int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if t.doubtful[n] {
		return true
	}
	for _, open := range t.seqs {
		if open == n {
			return true
		}
	}
	return false
}

// openInterface opens the interface on a pty.
func (x *chaos) openInterface() {
	x.Helper()
	var env []string
	for _, k := range []string{"PATH", "HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "SHELL", "TERM", "COLORTERM", "LANG", "LC_ALL"} {
		env = append(env, k+"="+os.Getenv(k))
	}
	ui, err := startTty(x.bin, env, 100, 24, []string{filepath.Join(x.bin, "tandemux"), "attach", "chaos"})
	x.must(err)
	x.ui = ui
	if screen, ok := ui.waitUntil(func(screen, _ string) bool { return strings.HasPrefix(screen, "$") }); !ok {
		x.Fatalf("the interface shows no prompt:\n%s", screen)
	}
}
