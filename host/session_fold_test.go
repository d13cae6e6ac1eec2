package host_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/internal/soak"
)

const (
	theSession = ahp.SessionScheme + "/s"
	theChat    = ahp.ChatScheme + "/c"
)

// folding is a peer that folds what it gets into a session and a chat, from
// snapshots on, as a client's mirror does.
type folding struct {
	*peer
	t       testing.TB
	session ahp.SessionState
	chat    ahp.ChatState
	subs    []ahp.URI
	next1   int64 // clientSeq
}

func folder(t testing.TB, p *peer) *folding { return &folding{peer: p, t: t} }

// begin makes a session with one chat and subscribes to both.
func (f *folding) begin(meta ahp.SessionMeta) {
	f.t.Helper()
	meta.Chat = theChat
	f.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: theSession, Meta: &meta}, nil)
	f.watch()
}

func (f *folding) watch() {
	f.t.Helper()
	for _, uri := range []ahp.URI{theSession, theChat} {
		var r ahp.SubscribeResult
		f.request(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: uri}, &r)
		f.snapshot(*r.Snapshot)
	}
	f.subs = []ahp.URI{theSession, theChat}
}

func (f *folding) snapshot(s ahp.Snapshot) {
	f.t.Helper()
	var err error
	if s.Resource == theSession {
		f.session = ahp.SessionState{}
		err = json.Unmarshal(s.State, &f.session)
	} else {
		f.chat = ahp.ChatState{}
		err = json.Unmarshal(s.State, &f.chat)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// read takes one message.
func (f *folding) read() message {
	f.t.Helper()
	_, m, err := f.next()
	if err != nil {
		f.t.Fatalf("%s: %v", f.name, err)
	}
	if m.Method == ahp.MethodAction {
		var e ahp.Envelope
		if err := json.Unmarshal(m.Params, &e); err != nil {
			f.t.Fatal(err)
		}
		f.apply(e)
	}
	return m
}

func (f *folding) apply(e ahp.Envelope) {
	switch {
	case e.RejectionReason != "":
	case e.Channel == theSession:
		f.session = ahp.ReduceSession(f.session, e.Action)
	case e.Channel == theChat:
		f.chat = ahp.ReduceChat(f.chat, e.Action)
	}
}

// request is call, folding what comes before the answer.
func (f *folding) request(method string, params, result any) {
	f.t.Helper()
	f.lastID++
	id := fmt.Sprint(f.lastID)
	f.send(map[string]any{"jsonrpc": "2.0", "id": f.lastID, "method": method, "params": params})
	for {
		m := f.read()
		if string(m.ID) != id {
			continue
		}
		if m.Error != nil {
			f.t.Fatalf("%s: %s: %v", f.name, method, m.Error)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				f.t.Fatal(err)
			}
		}
		return
	}
}

// must is request: the peer's own would skip what comes before the answer.
func (f *folding) must(method string, params, result any) {
	f.t.Helper()
	f.request(method, params, result)
}

// wait reads until a state is reached.
func (f *folding) wait(what string, ok func() bool) {
	f.t.Helper()
	for !ok() {
		_, m, err := f.next()
		if err != nil {
			f.t.Fatalf("%s: waiting until %s: %v\nchat %s", f.name, what, err, asJSON(f.t, f.chat))
		}
		if m.Method == ahp.MethodAction {
			var e ahp.Envelope
			if err := json.Unmarshal(m.Params, &e); err != nil {
				f.t.Fatal(err)
			}
			f.apply(e)
		}
	}
}

func (f *folding) do(channel ahp.URI, a ahp.Action) {
	f.t.Helper()
	f.next1++
	f.dispatch(channel, f.next1, a)
}

func (f *folding) prompt(turn, text string) {
	f.t.Helper()
	f.do(theChat, ahp.ChatTurnStarted{TurnID: turn, Message: msg(text)})
}

// ended waits for the end of a turn.
func (f *folding) ended(turn string) ahp.Turn {
	f.t.Helper()
	var found ahp.Turn
	f.wait("the turn "+turn+" ends", func() bool {
		for _, t := range f.chat.Turns {
			if t.ID == turn {
				found = t
				return true
			}
		}
		return false
	})
	return found
}

func msg(text string) ahp.Message {
	return ahp.Message{Text: text, Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// same compares what was folded with the host's state now. AHP has no action for
// the session's own activity: its chats' rows tell it.
func (f *folding) same() {
	f.t.Helper()
	var r ahp.SubscribeResult
	f.request(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: theChat}, &r)
	chat := asJSON(f.t, f.chat) // with what was on its way
	f.snapshot(*r.Snapshot)
	if now := asJSON(f.t, f.chat); now != chat {
		f.t.Errorf("%s: the chat folded differs from its snapshot\nfolded   %s\nsnapshot %s", f.name, chat, now)
	}
	f.request(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: theSession}, &r)
	session := f.session
	f.snapshot(*r.Snapshot)
	session.Status = session.Status.WithActivity(f.session.Status.Activity())
	if was, now := asJSON(f.t, session), asJSON(f.t, f.session); was != now {
		f.t.Errorf("%s: the session folded differs from its snapshot\nfolded   %s\nsnapshot %s", f.name, was, now)
	}
}

// back comes back on a new connection after a loss.
func (f *folding) back(w *fixture, subs ...ahp.URI) string {
	f.t.Helper()
	seq, name, id := f.seq, f.name, f.lastID
	f.hangUp()
	p := w.connect(name)
	p.lastID = id
	f.peer = p
	var r ahp.ReconnectResult
	f.request(ahp.MethodReconnect, ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: name, LastSeenServerSeq: seq, Subscriptions: subs}, &r)
	for _, e := range r.Actions {
		f.apply(e)
		f.seq = max(f.seq, e.ServerSeq)
	}
	for _, s := range r.Snapshots {
		f.snapshot(s)
	}
	return r.Type
}

// babble does random things with a turn.
func babble(r *rand.Rand) func(s *scriptedSession, text string) {
	return func(s *scriptedSession, _ string) {
		ctx, sink := s.turn()
		for i := range 5 + r.IntN(25) {
			id := fmt.Sprint("call-", r.IntN(6), "-", s.id)
			call := agent.ToolCall{ID: id, Name: "sh", Kind: []string{"execute", "read"}[r.IntN(2)], Title: "Do " + id, Status: agent.ToolStatus(r.IntN(4))}
			switch r.IntN(9) {
			case 0, 1:
				sink.Message(fmt.Sprint("word", i, " é "))
			case 2:
				sink.Reasoning(fmt.Sprint("thought", i, " "))
			case 3:
				sink.Notice("note")
			case 4:
				call.Content = []agent.Content{{Text: fmt.Sprint("output ", i)}}
				sink.Tool(call)
			case 5:
				sink.Tool(call)
			case 6:
				if r.IntN(3) == 0 {
					call.Status = agent.ToolPending
					sink.Confirm(ctx, agent.Confirmation{Call: call, Options: []agent.Choice{{ID: "y", Name: "Yes", Group: agent.ConfirmAllowOnce}, {ID: "n", Name: "No", Group: agent.ConfirmRejectOnce}}})
				}
			case 7:
				sink.Usage(agent.Usage{InputTokens: int64(i + 1), ContextUsed: 5, ContextSize: 10})
				sink.Plan([]agent.PlanEntry{{Text: "step", Status: "completed"}})
			case 8:
				s.spec.Events.Options([]agent.Option{{AgentOption: ahp.AgentOption{ID: "mode", Name: "Mode", Choices: []agent.Choice{{ID: "m0"}, {ID: "m1"}, {ID: "m2"}}}, Value: fmt.Sprint("m", r.IntN(3))}})
			}
			if ctx.Err() != nil {
				return
			}
		}
	}
}

// meddle dispatches something random.
func (f *folding) meddle(r *rand.Rand, i int) {
	turn := ""
	if f.chat.ActiveTurn != nil {
		turn = f.chat.ActiveTurn.ID
	}
	id := fmt.Sprint("m", r.IntN(4))
	switch r.IntN(11) {
	case 0, 1, 2:
		f.prompt(fmt.Sprint(f.name, "-turn-", i), "go on")
	case 3:
		f.do(theChat, ahp.ChatTurnCancelled{TurnID: turn})
	case 4:
		f.do(theChat, ahp.ChatPendingMessageSet{Kind: ahp.PendingQueued, ID: id, Message: msg("queued")})
	case 5:
		f.do(theChat, ahp.ChatPendingMessageSet{Kind: ahp.PendingSteering, ID: id, Message: msg("steer")})
	case 6:
		f.do(theChat, ahp.ChatPendingMessageRemoved{Kind: ahp.PendingQueued, ID: id})
	case 7:
		m := msg(fmt.Sprint("draft", i))
		f.do(theChat, ahp.ChatDraftChanged{Draft: &m})
	case 8:
		f.do(theSession, ahp.SessionTitleChanged{Title: fmt.Sprint("title", i)})
	case 9:
		f.do(theSession, ahp.SessionConfigChanged{Config: map[string]any{"mode": fmt.Sprint("m", r.IntN(3))}})
	case 10:
		if len(f.chat.Turns) > 0 && r.IntN(3) == 0 {
			f.do(theChat, ahp.ChatTruncated{TurnID: f.chat.Turns[r.IntN(len(f.chat.Turns))].ID})
		} else {
			f.do(theSession, ahp.SessionActiveClientSet{ActiveClient: ahp.ActiveClient{ClientID: f.name, DisplayName: id, Tools: []ahp.ToolDefinition{}}})
		}
	}
	f.confirm(r)
}

// confirm answers what waits.
func (f *folding) confirm(r *rand.Rand) {
	for _, n := range f.session.InputNeeded {
		if n.Kind == ahp.NeedToolConfirmation {
			f.do(theChat, ahp.ChatToolCallConfirmed{TurnID: n.TurnID, ToolCallID: n.ToolCall.ToolCallID, Approved: r.IntN(2) == 0, Reason: ahp.ReasonDenied})
		}
	}
}

// TestFoldIsTheSnapshot: two clients that meddle with one session at random,
// while its agent babbles and one of them loses its connection now and then, have
// folded the same state as the host has, which is the same for both.
func TestFoldIsTheSnapshot(t *testing.T) {
	t.Parallel()
	kinds := map[string]int{}
	for seed := range uint64(soak.Size(t, soak.Short(1, 2), 30)) {
		r := rand.New(rand.NewPCG(seed, 11))
		p := newScripted("scripted")
		p.plain = seed%2 == 0
		p.run = babble(rand.New(rand.NewPCG(seed, 12)))
		w := startWith(t, p)
		a, b := folder(t, w.connect("a")), folder(t, w.connect("b"))
		a.initialize()
		b.initialize()
		a.begin(ahp.SessionMeta{})
		b.watch()
		for i := range 60 {
			f := []*folding{a, b}[r.IntN(2)]
			f.meddle(r, i)
			for range r.IntN(4) {
				var pong any
				f.request(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, &pong)
			}
			if f == b && (r.IntN(12) == 0 || i > 30 && kinds[ahp.ReconnectReplay] == 0) {
				kinds[f.back(w, theSession, theChat)]++
			}
		}
		for _, f := range []*folding{a, b, a, b} { // All has been decided, and everybody knows.
			f.request(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
		}
		// Between two snapshots a turn may begin, with what waited for the end of the one
		// before. A queue may stay: a turn that failed or was truncated leaves it.
		until(t, "both have a snapshot of the same instant", func() bool {
			for _, f := range []*folding{a, b} {
				f.wait("no turn runs", func() bool {
					f.confirm(r)
					return f.chat.ActiveTurn == nil
				})
			}
			a.same()
			b.same()
			return a.from[theChat] == b.from[theChat]
		})
		if x, y := asJSON(t, a.chat), asJSON(t, b.chat); x != y {
			t.Errorf("seed %d: the clients differ\na %s\nb %s", seed, x, y)
		}
		w.shutdown()
	}
	if kinds[ahp.ReconnectReplay] == 0 {
		t.Errorf("nobody was given a replay: %v", kinds)
	}
}
