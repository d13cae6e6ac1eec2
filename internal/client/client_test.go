package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/find"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/wsrpc"
)

func TestHandshake(t *testing.T) {
	_, _, c, _ := start(t, Options{})
	if c.profile != ahp.V1 || c.serverSeq.Load() != 10 || c.ClientID() != "me" || c.Err() != nil {
		t.Errorf("profile %v, serverSeq %d, id %q, err %v", c.profile, c.serverSeq.Load(), c.ClientID(), c.Err())
	}
}

// TestFollow: what is followed comes with the root; what the host doesn't give then is asked
// for, and what was left meanwhile is not followed again.
func TestFollow(t *testing.T) {
	s, r := newScript(t), newRecord(t)
	made := make(chan *Client)
	go func() {
		c, err := Connect(context.Background(), Options{
			Dial: s.dial, ClientID: "me", Info: ahp.Implementation{Name: "test"}, Sink: r, Reconnect: true, Follow: []ahp.URI{t1, t2},
		})
		if err != nil {
			t.Error(err)
		}
		made <- c
	}()
	follows := func(uris string) string {
		return strings.Replace(helloParams, `"ahp-root://"]`, `"ahp-root://"`+uris+`]`, 1)
	}
	p := s.accept()
	p.reply(p.expect("initialize", follows(`,"ahp-terminal:/1","ahp-terminal:/2"`)), `{"protocolVersion":"1.0.0","serverSeq":7,"snapshots":[`+rootSnapshot(7)+`,`+terminalSnapshot(t1, 7)+`]}`)
	r.want("connected", "snapshot ahp-root:// 7", "snapshot ahp-terminal:/1 7")
	p.fail(p.expect("subscribe", `{"channel":"ahp-terminal:/2"}`), ahp.NotFound("no terminal"))
	r.want("gone ahp-terminal:/2")
	defer (<-made).Close()
	p.drop()
	r.want("reconnecting: …")
	p = s.accept()
	p.fail(p.expect("reconnect", ""), ahp.NotFound("no client me"))
	p.reply(p.expect("initialize", follows(`,"ahp-terminal:/1"`)), `{"protocolVersion":"1.0.0","serverSeq":9,"snapshots":[`+rootSnapshot(9)+`,`+terminalSnapshot(t1, 9)+`]}`)
	r.want("connected", "snapshot ahp-root:// 9", "snapshot ahp-terminal:/1 9")
}

func TestHandshakeFails(t *testing.T) {
	for _, tt := range []struct {
		name  string
		play  func(p *peer)
		check func(err error) bool
	}{
		{"an error answer", func(p *peer) {
			p.fail(p.expect("initialize", ""), ahp.UnsupportedVersion([]string{"1.0.0"}))
			p.conn.Close(1002, "no common version")
		}, func(err error) bool { return ahp.CodeOf(err) == ahp.CodeUnsupportedVersion }},
		{"a version that was not offered", func(p *peer) {
			p.reply(p.expect("initialize", ""), `{"protocolVersion":"3.0.0","serverSeq":1,"snapshots":[]}`)
		}, func(err error) bool { return strings.Contains(err.Error(), `"3.0.0"`) }},
		{"an answer that is none", func(p *peer) {
			p.reply(p.expect("initialize", ""), `"hello"`)
		}, func(err error) bool { return strings.HasPrefix(err.Error(), "initialize: ") }},
		{"a close", func(p *peer) {
			p.expect("initialize", "")
			p.conn.Close(1013, "too many clients")
		}, func(err error) bool { return strings.Contains(err.Error(), "too many clients") }},
		{"a lost connection", func(p *peer) { p.drop() }, func(err error) bool { return err != nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t)
			got := make(chan error, 1)
			go func() {
				_, err := Connect(context.Background(), Options{Dial: s.dial, Reconnect: true})
				got <- err
			}()
			tt.play(s.accept())
			if err := within(t, "Connect", got); err == nil || !tt.check(err) {
				t.Errorf("Connect returned %v", err)
			}
		})
	}
}

// TestAHostThatNeverAnswers costs the deadline, given or not.
func TestAHostThatNeverAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		begun := time.Now()
		_, err := Connect(context.Background(), Options{Dial: s.dial})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Connect returned %v", err)
		}
		if d := time.Since(begun); d < handshakeWait || d > handshakeWait+3*time.Second {
			t.Errorf("took %v", d)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := Connect(ctx, Options{Dial: s.dial}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Connect returned %v", err)
		}
		s.accept()
		s.accept()
	})
}

func TestDialErrorIsReturned(t *testing.T) {
	s := newScript(t)
	s.refuse = []error{errRefused}
	if _, err := Connect(context.Background(), Options{Dial: s.dial, Reconnect: true}); !errors.Is(err, errRefused) {
		t.Errorf("Connect returned %v", err)
	}
}

func TestSubscription(t *testing.T) {
	_, p, c, r := start(t, Options{})
	p.action(t1, 11, `{"type":"terminal/data","data":"early"}`, "")
	got := make(chan error, 1)
	go func() { got <- c.Subscribe(context.Background(), t1) }()
	req := p.expect("subscribe", `{"channel":"ahp-terminal:/1"}`)
	p.action(t1, 12, `{"type":"terminal/data","data":"before the answer"}`, "")
	p.reply(req, `{"snapshot":`+terminalSnapshot(t1, 20)+`}`)
	p.action(t1, 20, `{"type":"terminal/data","data":"in the snapshot"}`, "")
	p.action(t1, 21, `{"type":"terminal/data","data":"new"}`, "")
	p.action(t1, 21, `{"type":"terminal/data","data":"twice"}`, "")
	p.action(t1, 22, `{ "type":"terminal/data", "data":"spelled o\u0064dly" }`, "")
	p.action(t2, 23, `{"type":"terminal/data","data":"another's"}`, "")
	p.action(t1, 24, `{"type":"terminal/exited","exitCode":0}`, "")
	p.action(t1, 25, `{"type":"chat/delta"}`, "")
	p.action(t1, 26, `{"type":"terminal/data","data":7}`, "") // Not an action; nothing is lost by it but itself.
	p.action(ahp.RootURI, 27, `{"type":"root/terminalsChanged","terminals":[]}`, "")
	p.conn.Notify("root/sessionAdded", map[string]string{"channel": ahp.RootURI})
	if err := within(t, "Subscribe", got); err != nil {
		t.Fatal(err)
	}
	r.want(
		"snapshot ahp-terminal:/1 20",
		`terminal/data ahp-terminal:/1 21 "new"`,
		`terminal/data ahp-terminal:/1 22 "spelled oddly"`,
		"terminal/exited ahp-terminal:/1 24",
		"chat/delta ahp-terminal:/1 25",
		"root/terminalsChanged ahp-root:// 27",
	)
	if c.serverSeq.Load() != 27 {
		t.Errorf("serverSeq is %d", c.serverSeq.Load())
	}

	subscribe(t, c, p, r, t1, 30) // Again: a new snapshot.
	c.Unsubscribe(t1)
	c.Unsubscribe(t1)
	p.expect("unsubscribe", `{"channel":"ahp-terminal:/1"}`)
	p.action(t1, 31, `{"type":"terminal/data","data":"late"}`, "")
	p.action(ahp.RootURI, 32, `{"type":"root/activeSessionsChanged","activeSessions":1}`, "")
	r.want("root/activeSessionsChanged ahp-root:// 32")
}

func TestSubscribeFails(t *testing.T) {
	_, p, c, r := start(t, Options{})
	got := make(chan error, 1)
	go func() { got <- c.Subscribe(context.Background(), t1) }()
	p.fail(p.expect("subscribe", ""), ahp.NotFound("no terminal %s", t1))
	if err := within(t, "Subscribe", got); ahp.CodeOf(err) != ahp.CodeNotFound || err.Error() != "no terminal "+t1 {
		t.Errorf("Subscribe returned %v", err)
	}
	p.action(t1, 11, `{"type":"terminal/cleared"}`, "")

	// Given up: what comes later is not wanted, and the host is told.
	ctx, cancel := context.WithCancel(context.Background())
	go func() { got <- c.Subscribe(ctx, t1) }()
	req := p.expect("subscribe", "")
	cancel()
	if err := within(t, "Subscribe", got); !errors.Is(err, context.Canceled) {
		t.Errorf("Subscribe returned %v", err)
	}
	p.expect("unsubscribe", `{"channel":"ahp-terminal:/1"}`)
	p.reply(req, `{"snapshot":`+terminalSnapshot(t1, 12)+`}`)
	p.action(t1, 13, `{"type":"terminal/cleared"}`, "")

	// Unsubscribed before the answer.
	go func() { got <- c.Subscribe(context.Background(), t2) }()
	req = p.expect("subscribe", "")
	c.Unsubscribe(t2)
	p.reply(req, `{"snapshot":`+terminalSnapshot(t2, 14)+`}`)
	within(t, "Subscribe", got)
	p.action(t2, 15, `{"type":"terminal/cleared"}`, "")

	// A channel without state.
	go func() { got <- c.Subscribe(context.Background(), "ahp-otlp:/logs") }()
	p.expect("unsubscribe", `{"channel":"ahp-terminal:/2"}`)
	p.reply(p.expect("subscribe", ""), `{}`)
	if err := within(t, "Subscribe", got); err != nil {
		t.Error(err)
	}
	p.action("ahp-otlp:/logs", 16, `{"type":"x/y"}`, "")
	r.want("x/y ahp-otlp:/logs 16")
}

func TestCall(t *testing.T) {
	_, p, c, r := start(t, Options{})
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	call := func() {
		var res ahp.ReadResult
		err := c.Call(context.Background(), ahp.MethodRead, ahp.ReadParams{Channel: t1, What: ahp.ReadScreen}, &res)
		got <- answer{res.Text, err}
	}
	go call()
	p.reply(p.expect(ahp.MethodRead, `{"channel":"ahp-terminal:/1","what":"screen"}`), `{"text":"$ "}`)
	if a := within(t, "Call", got); a.err != nil || a.text != "$ " {
		t.Errorf("got %v", a)
	}
	go call()
	p.fail(p.expect(ahp.MethodRead, ""), &ahp.Error{Code: ahp.CodePermissionDenied, Message: "not yours", Data: map[string]int{"n": 1}})
	a := within(t, "Call", got)
	var e *ahp.Error
	if !errors.As(a.err, &e) || e.Code != ahp.CodePermissionDenied || string(e.Data.(json.RawMessage)) != `{"n":1}` {
		t.Errorf("got %v", a.err)
	}
	short, cancel := context.WithCancel(context.Background())
	go func() { got <- answer{err: c.Call(short, ahp.MethodRead, ahp.ReadParams{Channel: t1}, nil)} }()
	asked := p.expect(ahp.MethodRead, "")
	cancel()
	p.expect(find.MethodCancel, `{"channel":"ahp-root://","id":`+string(asked.ID)+`}`)
	if a := within(t, "Call", got); !errors.Is(a.err, context.Canceled) {
		t.Errorf("got %v", a.err)
	}
	go call()
	p.expect(ahp.MethodRead, "")
	p.drop()
	if a := within(t, "Call", got); !errors.Is(a.err, ErrOutcomeUnknown) {
		t.Errorf("got %v", a.err)
	}
	<-c.Done()
	r.want("closed: …")
	if err := c.Call(context.Background(), "ping", nil, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	if c.Err() == nil {
		t.Error("a lost connection is no error")
	}
}

func TestDispatch(t *testing.T) {
	_, p, c, r := start(t, Options{})
	subscribe(t, c, p, r, t1, 20)
	if seq, err := c.Dispatch(t1, ahp.TerminalInput{Data: "ls\r"}); err != nil || seq != 1 {
		t.Fatal(seq, err)
	}
	p.expect("dispatchAction", `{"channel":"ahp-terminal:/1","clientSeq":1,"action":{"type":"terminal/input","data":"ls\r"}}`)
	p.action(t1, 21, `{"type":"terminal/input","data":"ls\r"}`, origin(1))
	r.want("terminal/input ahp-terminal:/1 21 own 1")

	type answer struct {
		e   ahp.Envelope
		err error
	}
	got := make(chan answer, 1)
	dispatch := func(ctx context.Context, uri string, a ahp.Action) {
		e, err := c.DispatchWait(ctx, uri, a)
		got <- answer{e, err}
	}
	ctx := context.Background()
	go dispatch(ctx, t1, ahp.TerminalTitleChanged{Title: "x"})
	p.expect("dispatchAction", `{"channel":"ahp-terminal:/1","clientSeq":2,"action":{"type":"terminal/titleChanged","title":"x"}}`)
	p.action(t1, 22, `{"type":"terminal/titleChanged","title":"theirs"}`, `,"origin":{"clientId":"other","clientSeq":2}`)
	p.action(t1, 23, `{"type":"terminal/titleChanged","title":"x"}`, origin(2))
	if a := within(t, "the echo", got); a.err != nil || a.e.ServerSeq != 23 {
		t.Errorf("got %+v", a)
	}
	r.want("terminal/titleChanged ahp-terminal:/1 22 own 2", "terminal/titleChanged ahp-terminal:/1 23 own 2")

	go dispatch(ctx, t1, ahp.TerminalCleared{})
	p.expect("dispatchAction", "")
	p.action(t1, 24, `{"type":"terminal/cleared"}`, origin(3)+`,"rejectionReason":"held by a session"`)
	a := within(t, "the refusal", got)
	var rejected *RejectedError
	if !errors.As(a.err, &rejected) || a.err.Error() != "held by a session" || a.e.ServerSeq != 24 {
		t.Errorf("got %+v", a)
	}
	r.want("terminal/cleared ahp-terminal:/1 24 own 3 refused: held by a session")

	// Without a subscription the echo comes, too; others' do not.
	go dispatch(ctx, t2, ahp.TerminalCleared{})
	p.expect("dispatchAction", "")
	p.action(t2, 25, `{"type":"terminal/cleared"}`, `,"origin":{"clientId":"other","clientSeq":4}`)
	p.action(t2, 26, `{"type":"terminal/cleared"}`, origin(4))
	if a := within(t, "the echo", got); a.err != nil {
		t.Error(a.err)
	}
	r.want("terminal/cleared ahp-terminal:/2 26 own 4")

	// A refusal whose number is not new still counts.
	go dispatch(ctx, t1, ahp.TerminalCleared{})
	p.expect("dispatchAction", "")
	p.action(t1, 21, `{"type":"terminal/cleared"}`, origin(5)+`,"rejectionReason":"no"`)
	if a := within(t, "the refusal", got); a.err == nil {
		t.Error("not refused")
	}
	r.want("terminal/cleared ahp-terminal:/1 21 own 5 refused: no")

	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	go dispatch(short, "ahp-terminal:/none", ahp.TerminalCleared{})
	if a := within(t, "the deadline", got); !errors.Is(a.err, context.DeadlineExceeded) {
		t.Errorf("got %v", a.err)
	}
	if _, err := c.Dispatch(t1, nil); err == nil {
		t.Error("no action was dispatched")
	}
	go dispatch(ctx, t1, ahp.TerminalCleared{})
	p.expect("dispatchAction", "")
	p.expect("dispatchAction", "")
	p.drop()
	if a := within(t, "the end", got); !errors.Is(a.err, ErrOutcomeUnknown) {
		t.Errorf("got %v", a.err)
	}
	<-c.Done()
	if _, err := c.Dispatch(t1, ahp.TerminalCleared{}); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// TestPendingActionsAreBounded: a host that never echoes costs no memory.
func TestPendingActionsAreBounded(t *testing.T) {
	_, p, c, _ := start(t, Options{})
	go func() {
		for {
			select {
			case <-p.in:
			case <-p.conn.Done():
				return
			}
		}
	}()
	first := make(chan error, 1)
	go func() {
		_, err := c.DispatchWait(context.Background(), t1, ahp.TerminalCleared{})
		first <- err
	}()
	for {
		c.mu.Lock()
		n := len(c.pending)
		c.mu.Unlock()
		if n == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	big := strings.Repeat("x", 1<<20)
	for range 20 {
		if _, err := c.Dispatch(t1, ahp.TerminalInput{Data: big}); err != nil && !errors.Is(err, jsonrpc.ErrQueueFull) {
			t.Fatal(err)
		}
	}
	if err := within(t, "the displaced action", first); !errors.Is(err, ErrOutcomeUnknown) {
		t.Errorf("got %v", err)
	}
	for range 2 * maxPending {
		if _, err := c.Dispatch(t1, ahp.TerminalInput{Data: "x"}); err != nil && !errors.Is(err, jsonrpc.ErrQueueFull) {
			t.Fatal(err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) > maxPending || c.pendingBytes > maxPendingBytes {
		t.Errorf("%d actions of %d bytes are pending", len(c.pending), c.pendingBytes)
	}
}

// TestSinkMayDispatch: the Sink may call what does not wait.
func TestSinkMayDispatch(t *testing.T) {
	r := newRecord(t)
	var c *Client
	ready := make(chan struct{})
	r.on = func(line string) {
		if strings.HasPrefix(line, "terminal/exited") {
			<-ready
			c.Dispatch(t1, ahp.TerminalCleared{})
			c.Unsubscribe(t1)
		}
	}
	var p *peer
	_, p, c, _ = start(t, Options{Sink: r})
	close(ready)
	r.want("connected", "snapshot ahp-root:// 10")
	subscribe(t, c, p, r, t1, 20)
	p.action(t1, 21, `{"type":"terminal/exited"}`, "")
	p.expect("dispatchAction", "")
	p.expect("unsubscribe", "")
	r.want("terminal/exited ahp-terminal:/1 21")
}

func TestReplay(t *testing.T) {
	s, p, c, r := start(t, Options{Reconnect: true})
	subscribe(t, c, p, r, t1, 20)
	subscribe(t, c, p, r, t2, 21)
	p.action(t1, 22, `{"type":"terminal/data","data":"a"}`, "")
	r.want(`terminal/data ahp-terminal:/1 22 "a"`)
	outcomes := make(chan error, 3)
	for i := range 3 {
		go func() {
			_, err := c.DispatchWait(context.Background(), t1, ahp.TerminalTitleChanged{Title: fmt.Sprint("t", i)})
			outcomes <- err
		}()
		p.expect("dispatchAction", "")
	}
	p.drop()
	r.want("reconnecting: …")
	p = s.accept()
	req := p.expect("reconnect", `{"channel":"ahp-root://","clientId":"me","lastSeenServerSeq":22,"subscriptions":["ahp-root://","ahp-terminal:/1","ahp-terminal:/2"],"_meta":{"tandemux/continues":true}}`)
	p.action(t1, 25, `{"type":"terminal/data","data":"too early"}`, "")
	if _, err := c.Dispatch(t1, ahp.TerminalCleared{}); !errors.Is(err, ErrDisconnected) {
		t.Errorf("dispatched while disconnected: %v", err)
	}
	if err := c.Call(context.Background(), "ping", nil, nil); !errors.Is(err, ErrDisconnected) {
		t.Errorf("called while disconnected: %v", err)
	}
	p.reply(req, `{"type":"replay","missing":["ahp-terminal:/2"],"actions":[`+strings.Join([]string{
		envelope(t1, 22, `{"type":"terminal/data","data":"a"}`, ""), // Seen already.
		envelope(t1, 23, `{"type":"terminal/data","data":"b"}`, ""),
		envelope(t1, 24, `{"type":"terminal/titleChanged","title":"t1"}`, origin(2)),
		envelope(ahp.RootURI, 26, `{"type":"root/terminalsChanged","terminals":[]}`, ""),
	}, ",")+`]}`)
	// 1 and 3 were not processed; they keep their numbers and order.
	for _, seq := range []int{1, 3} {
		if req := p.expect("dispatchAction", ""); !strings.Contains(string(req.Params), fmt.Sprintf(`"clientSeq":%d,`, seq)) {
			t.Errorf("sent again: %s, want %d", req.Params, seq)
		}
	}
	r.want(
		"connected", "gone ahp-terminal:/2",
		`terminal/data ahp-terminal:/1 23 "b"`,
		"terminal/titleChanged ahp-terminal:/1 24 own 2",
		"root/terminalsChanged ahp-root:// 26",
	)
	p.action(t1, 27, `{"type":"terminal/titleChanged","title":"t0"}`, origin(1))
	p.action(t1, 28, `{"type":"terminal/titleChanged","title":"t2"}`, origin(3)+`,"rejectionReason":"too late"`)
	p.action(t2, 29, `{"type":"terminal/cleared"}`, "")
	refused := 0
	for range 3 {
		if err := within(t, "an outcome", outcomes); err != nil {
			refused++
			if err.Error() != "too late" {
				t.Error(err)
			}
		}
	}
	if refused != 1 {
		t.Errorf("%d were refused, want one", refused)
	}
	r.want("terminal/titleChanged ahp-terminal:/1 27 own 1", "terminal/titleChanged ahp-terminal:/1 28 own 3 refused: too late")
	if seq, err := c.Dispatch(t1, ahp.TerminalCleared{}); err != nil || seq != 4 {
		t.Errorf("the next action has number %d, %v", seq, err)
	}
}

func TestSnapshotsAfterReconnect(t *testing.T) {
	s, p, c, r := start(t, Options{Reconnect: true})
	subscribe(t, c, p, r, t1, 20)
	subscribe(t, c, p, r, t2, 21)
	outcome := make(chan error, 1)
	go func() {
		_, err := c.DispatchWait(context.Background(), t1, ahp.TerminalCleared{})
		outcome <- err
	}()
	p.expect("dispatchAction", "")
	p.drop()
	r.want("reconnecting: …")
	p = s.accept()
	// The host's numbers went backwards, as after a restart.
	p.reply(p.expect("reconnect", ""), `{"type":"snapshot","snapshots":[`+rootSnapshot(5)+`,`+terminalSnapshot(t1, 5)+`]}`)
	p.expect("dispatchAction", `{"channel":"ahp-terminal:/1","clientSeq":1,"action":{"type":"terminal/cleared"}}`)
	r.want("connected", "gone ahp-terminal:/2", "snapshot ahp-root:// 5", "snapshot ahp-terminal:/1 5")
	p.action(t1, 6, `{"type":"terminal/cleared"}`, origin(1))
	r.want("terminal/cleared ahp-terminal:/1 6 own 1")
	if err := within(t, "the echo", outcome); err != nil {
		t.Error(err)
	}
	if c.serverSeq.Load() != 6 {
		t.Errorf("serverSeq is %d", c.serverSeq.Load())
	}
}

func TestFallBackToInitialize(t *testing.T) {
	s, p, c, r := start(t, Options{Reconnect: true})
	subscribe(t, c, p, r, t1, 20)
	subscribe(t, c, p, r, t2, 21)
	outcome := make(chan error, 1)
	go func() {
		_, err := c.DispatchWait(context.Background(), t1, ahp.TerminalCleared{})
		outcome <- err
	}()
	p.expect("dispatchAction", "")
	p.drop()
	r.want("reconnecting: …")
	p = s.accept()
	p.fail(p.expect("reconnect", ""), ahp.NotFound("no client me"))
	p.hello("0.9.4", 3) // On the same socket.
	if err := within(t, "the unknown outcome", outcome); !errors.Is(err, ErrOutcomeUnknown) {
		t.Error(err)
	}
	p.action(t1, 4, `{"type":"terminal/data","data":"before its snapshot"}`, "")
	p.subscribed(t1, 5)
	p.fail(p.expect("subscribe", `{"channel":"ahp-terminal:/2"}`), ahp.NotFound("no terminal"))
	p.action(t1, 6, `{"type":"terminal/data","data":"x"}`, "")
	r.want("connected", "snapshot ahp-root:// 3", "snapshot ahp-terminal:/1 5", "gone ahp-terminal:/2", `terminal/data ahp-terminal:/1 6 "x"`)
	if want, _ := ahp.ProfileOf("0.9.4"); c.profile != want {
		t.Errorf("profile is %v", c.profile)
	}

	// Lost again before all channels are back: they are not forgotten.
	p.drop()
	r.want("reconnecting: …")
	p = s.accept()
	p.fail(p.expect("reconnect", ""), ahp.NotFound("no client me"))
	p.hello("1.0.0", 30)
	p.expect("subscribe", "")
	r.want("connected", "snapshot ahp-root:// 30")
	p.drop()
	r.want("reconnecting: …")
	p = s.accept()
	p.reply(p.expect("reconnect", `{"channel":"ahp-root://","clientId":"me","lastSeenServerSeq":30,"subscriptions":["ahp-root://"],"_meta":{"tandemux/continues":true}}`), `{"type":"replay","actions":[],"missing":[]}`)
	p.subscribed(t1, 31)
	r.want("connected", "snapshot ahp-terminal:/1 31")
}

func TestInputIsNotSentTwiceToOldHosts(t *testing.T) {
	s, p, c, r := startVersion(t, Options{Reconnect: true}, "0.9.0")
	subscribe(t, c, p, r, t1, 20)
	for _, a := range []ahp.Action{ahp.TerminalInput{Data: "rm x\r"}, ahp.TerminalTitleChanged{Title: "y"}} {
		if _, err := c.Dispatch(t1, a); err != nil {
			t.Fatal(err)
		}
		p.expect("dispatchAction", "")
	}
	p.drop()
	p = s.accept()
	p.reply(p.expect("reconnect", ""), `{"type":"replay","actions":[],"missing":[]}`)
	p.expect("dispatchAction", `{"channel":"ahp-terminal:/1","clientSeq":2,"action":{"type":"terminal/titleChanged","title":"y"}}`)
}

func TestClaimsForOldHosts(t *testing.T) {
	_, p, c, _ := startVersion(t, Options{}, "0.5.0")
	claim := ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/s", Chat: "ahp-chat:/c"}
	if _, err := c.Dispatch(t1, ahp.TerminalClaimed{Claim: claim}); err != nil {
		t.Fatal(err)
	}
	p.expect("dispatchAction", `{"channel":"ahp-terminal:/1","clientSeq":1,"action":{"type":"terminal/claimed","claim":{"kind":"session","session":"ahp-session:/s"},"x-tandemux/seen":10}}`)
}

func TestSubscribeOutlivesTheConnection(t *testing.T) {
	s, p, c, r := start(t, Options{Reconnect: true})
	got := make(chan error, 1)
	go func() { got <- c.Subscribe(context.Background(), t1) }()
	p.expect("subscribe", "")
	p.drop()
	p = s.accept()
	p.reply(p.expect("reconnect", ""), `{"type":"replay","actions":[],"missing":[]}`)
	p.subscribed(t1, 40)
	if err := within(t, "Subscribe", got); err != nil {
		t.Fatal(err)
	}
	r.want("reconnecting: …", "connected", "snapshot ahp-terminal:/1 40")
	p.drop()
	p = s.accept()
	p.expect("reconnect", "") // Not answered: Subscribe waits as long as it may.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := c.Subscribe(ctx, t2); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Subscribe returned %v", err)
	}
	go func() { got <- c.Subscribe(context.Background(), t2) }()
	c.Close()
	if err := within(t, "Subscribe", got); !errors.Is(err, ErrClosed) {
		t.Errorf("Subscribe returned %v", err)
	}
}

// TestPauses measures the pauses between attempts, on a clock of its own.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, c, r := start(t, Options{Reconnect: true})
		time.Sleep(time.Minute) // A steady connection.
		s.mu.Lock()
		s.dials = nil
		for range 9 {
			s.refuse = append(s.refuse, errRefused)
		}
		s.mu.Unlock()
		lost := time.Now()
		p.drop()
		p = s.accept()
		p.reply(p.expect("reconnect", ""), `{"type":"replay","actions":[],"missing":[]}`)
		r.want("reconnecting: …", "connected")
		var pauses []time.Duration
		for _, d := range s.dials {
			pauses = append(pauses, d.Sub(lost).Round(time.Millisecond))
			lost = d
		}
		ms := time.Millisecond
		want := []time.Duration{0, 50 * ms, 100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 2000 * ms, 2000 * ms, 2000 * ms}
		if !slices.Equal(pauses, want) {
			t.Errorf("paused %v\nwant   %v", pauses, want)
		}
		// A connection that is lost at once is no reason to hurry.
		lost = time.Now()
		p.drop()
		s.accept()
		if d := s.dials[len(s.dials)-1].Sub(lost); d < 2*time.Second {
			t.Errorf("dialled after %v", d)
		}
		c.Close()
		r.want("reconnecting: …", "closed")
	})
}

// TestAHostThatHangsIsLeft: an attempt that is not answered is given up and
// made anew.
func TestAHostThatHangsIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, c, r := start(t, Options{Reconnect: true})
		p.drop()
		p = s.accept()
		p.expect("reconnect", "") // And no answer.
		begun := time.Now()
		p = s.accept()
		if d := time.Since(begun); d < handshakeWait || d > handshakeWait+5*time.Second {
			t.Errorf("tried again after %v", d)
		}
		p.reply(p.expect("reconnect", ""), `{"type":"replay","actions":[],"missing":[]}`)
		r.want("reconnecting: …", "connected")
		c.Close()
	})
}

func TestTheEnd(t *testing.T) {
	for _, tt := range []struct {
		name string
		play func(s *script, p *peer)
		want string // the last status
		took time.Duration
	}{
		{"the host is done", func(_ *script, p *peer) { p.conn.Close(1000, "bye") }, "closed: closed by the peer: bye (1000)", 0},
		{"the token is revoked", func(_ *script, p *peer) { p.conn.Close(1008, "the token was revoked") }, "closed: closed by the peer: the token was revoked (1008)", 0},
		{"the host refuses a reconnect", func(s *script, p *peer) {
			s.refuse = []error{errRefused, fmt.Errorf("dial: %w", &wsrpc.StatusError{Code: 403})}
			p.drop()
		}, "closed: dial: the host answered 403 Forbidden", 0},
		{"the host refuses to initialize", func(s *script, p *peer) {
			p.drop()
			p = s.accept()
			p.fail(p.expect("reconnect", ""), ahp.NotFound("who?"))
			p.fail(p.expect("initialize", ""), ahp.PermissionDenied("not you"))
		}, "closed: not you", 0},
		{"the host stops and does not come back", func(s *script, p *peer) {
			for range 100 {
				s.refuse = append(s.refuse, errRefused)
			}
			p.conn.Close(1001, "the host is stopping")
		}, "closed: closed by the peer: the host is stopping (1001)", leaving},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, p, c, r := start(t, Options{Reconnect: true})
				begun := time.Now()
				tt.play(s, p)
				<-c.Done()
				if d := time.Since(begun); d < tt.took || d > tt.took+3*time.Second {
					t.Errorf("took %v", d)
				}
				r.mu.Lock()
				last := r.lines[len(r.lines)-1]
				r.mu.Unlock()
				if last != tt.want || c.Err() == nil {
					t.Errorf("ended with %q and %v, want %q", last, c.Err(), tt.want)
				}
				if err := c.Subscribe(context.Background(), t1); !errors.Is(err, ErrClosed) {
					t.Errorf("Subscribe returned %v", err)
				}
			})
		})
	}
}

// TestAHostComesBack after it said that it goes away.
func TestAHostComesBack(t *testing.T) {
	s, p, _, r := start(t, Options{Reconnect: true})
	s.mu.Lock()
	s.refuse = []error{errRefused, errRefused}
	s.mu.Unlock()
	p.conn.Close(1001, "upgrade")
	p = s.accept()
	p.reply(p.expect("reconnect", ""), `{"type":"replay","actions":[],"missing":[]}`)
	r.want("reconnecting: …", "connected")
}

func TestClose(t *testing.T) {
	s, p, c, r := start(t, Options{Reconnect: true})
	if _, err := c.Dispatch(t1, ahp.TerminalInput{Data: "last words"}); err != nil {
		t.Fatal(err)
	}
	c.Close()
	c.Close()
	p.expect("dispatchAction", "") // Sent before the close.
	<-p.conn.Done()
	if c.Err() != nil {
		t.Error(c.Err())
	}
	r.want("closed")
	if len(s.dials) != 1 {
		t.Errorf("dialled %d times", len(s.dials))
	}

	// While there is no connection.
	_, p, c, r = start(t, Options{Reconnect: true})
	hold := make(chan struct{})
	c.o.Dial = func(ctx context.Context) (jsonrpc.Transport, error) {
		close(hold)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	p.drop()
	<-hold
	c.Close()
	r.want("reconnecting: …", "closed")
}

func TestStatusNames(t *testing.T) {
	if got := fmt.Sprint(Connected, Reconnecting, Closed); got != "connected reconnecting closed" {
		t.Error(got)
	}
}
