package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tandemux/internal/jsonrpc"
	"tandemux/internal/wsrpc"
)

// wire is an AHP client written by hand: it sends whole messages and looks at
// whole messages, with none of our client's code between.
type wire struct {
	t      jsonrpc.Transport
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex // guards the following
	got     []string   // everything received
	seen    int        // messages before this one were expected already
	changed chan struct{}
	err     error
}

var wires sync.Map // *testscript.TestScript and name → *wire

type wireKey struct {
	ts   *testscript.TestScript
	name string
}

func openWire(url, token string) (*wire, error) {
	ctx, cancel := context.WithCancel(context.Background())
	dial, stop := context.WithTimeout(ctx, waitLimit)
	defer stop()
	t, err := wsrpc.Dial(dial, wsrpc.Target{URL: url, Token: token})
	if err != nil {
		cancel()
		return nil, err
	}
	w := &wire{t: t, cancel: cancel, done: make(chan struct{}), changed: make(chan struct{})}
	go func() {
		defer close(w.done)
		for {
			msg, err := t.Read(ctx)
			w.mu.Lock()
			if err != nil {
				w.err = err
			} else {
				w.got = append(w.got, string(msg))
			}
			close(w.changed)
			w.changed = make(chan struct{})
			w.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return w, nil
}

// expect waits for a message that matches, after those expected before.
func (w *wire) expect(re *regexp.Regexp) (string, error) {
	limit := time.NewTimer(waitLimit)
	defer limit.Stop()
	for {
		w.mu.Lock()
		for i := w.seen; i < len(w.got); i++ {
			if got := w.got[i]; re.MatchString(got) {
				w.seen = i + 1
				w.mu.Unlock()
				return got, nil
			}
		}
		err, changed, rest := w.err, w.changed, strings.Join(w.got[w.seen:], "\n")
		w.mu.Unlock()
		if err != nil {
			return "", fmt.Errorf("connection ended (%w) before %q; unmatched:\n%s", err, re, rest)
		}
		select {
		case <-changed:
		case <-limit.C:
			return "", fmt.Errorf("waited %v for %q; unmatched:\n%s", waitLimit, re, rest)
		}
	}
}

// cmdRPC drives hand-written AHP clients:
//
//	[!] rpc open NAME URL [TOKEN]     ! expects a refusal, whose text is stdout
//	rpc send NAME 'JSON'
//	rpc expect NAME REGEXP            waits for a message; it becomes stdout
//	rpc silent NAME REGEXP            no message so far matched
//	rpc closed NAME                   waits for the end of the connection
//	rpc close NAME
func cmdRPC(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: rpc VERB NAME ...")
	}
	verb, key, rest := args[0], wireKey{ts, args[1]}, args[2:]
	for i, arg := range rest {
		// @FILE stands for a file's contents: addresses and tokens that a
		// script learned.
		if file, ok := strings.CutPrefix(arg, "@"); ok {
			rest[i] = strings.TrimSpace(ts.ReadFile(file))
		}
	}
	if verb == "open" {
		token := ""
		if len(rest) > 1 {
			token = rest[1]
		}
		w, err := openWire(rest[0], token)
		if neg {
			if err == nil {
				ts.Fatalf("the host accepted the connection")
			}
			fmt.Fprintln(ts.Stdout(), err)
			return
		}
		ts.Check(err)
		wires.Store(key, w)
		ts.Defer(func() { w.cancel(); w.t.Close(1000, ""); <-w.done })
		return
	}
	v, ok := wires.Load(key)
	if !ok {
		ts.Fatalf("no connection %s was opened", args[1])
	}
	w, arg := v.(*wire), strings.Join(rest, " ")
	switch verb {
	case "send":
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		ts.Check(w.t.Write(ctx, []byte(arg)))
	case "expect":
		msg, err := w.expect(regexp.MustCompile(arg))
		ts.Check(err)
		fmt.Fprintln(ts.Stdout(), msg)
	case "silent":
		re := regexp.MustCompile(arg)
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, m := range w.got {
			if re.MatchString(m) {
				ts.Fatalf("a message matched %q: %s", re, m)
			}
		}
	case "closed":
		select {
		case <-w.done:
		case <-time.After(waitLimit):
			ts.Fatalf("the connection did not end in %v", waitLimit)
		}
	case "close":
		w.t.Close(1000, "") //nolint:errcheck // the host may have been faster
	default:
		ts.Fatalf("unknown verb %s", verb)
	}
}
