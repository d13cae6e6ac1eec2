package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/agent"
	"tandemux/internal/soak"
)

// one makes a fixture with a scripted agent and a client in its session.
func one(t *testing.T, p *scripted, change ...func(*host.Config)) (*fixture, *folding) {
	t.Helper()
	w := start(t, append([]func(*host.Config){withAgents(p)}, change...)...)
	a := folder(t, w.connect("a"))
	a.initialize()
	a.begin(ahp.SessionMeta{})
	return w, a
}

func (p *scripted) script(prompt, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scripts[prompt] = text
}

func lastPart(t *testing.T, turn ahp.Turn) ahp.ResponsePart {
	t.Helper()
	if len(turn.ResponseParts) == 0 {
		t.Fatalf("the turn %s has no parts", turn.ID)
	}
	return turn.ResponseParts[len(turn.ResponseParts)-1]
}

// TestAgentsThatFail: whatever an agent does wrong, its turn fails with a reason
// for every client, and the next one runs.
func TestAgentsThatFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script, kind, says string
		cancel                   bool
	}{
		{name: "error", script: "say a\nfail gone", kind: agent.KindCrashed, says: "gone"},
		{name: "panic", script: "tool t running execute x\ndie", kind: agent.KindCrashed, says: "scripted"},
		{name: "flood", script: "flood 400", kind: agent.KindProtocol, says: "more than 262144 bytes"},
		{name: "refusal", script: "stop refusal I will not", kind: "refusal", says: "I will not"},
		{name: "silence", script: "say a\nhang", kind: agent.KindTimeout, says: "has said nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newScripted("scripted")
			p.script(c.name, c.script)
			defer close(p.word("let go"))
			w, a := one(t, p, func(h *host.Config) {
				if c.name == "silence" {
					h.Limits.AgentSilence = time.Second // the next turn's, too
				}
			})
			b := folder(t, w.connect("b"))
			b.initialize()
			b.watch()
			a.prompt("t1", c.name)
			for _, f := range []*folding{a, b} {
				turn := f.ended("t1")
				last := lastPart(t, turn)
				if turn.State != ahp.TurnError || last.Kind != ahp.PartError || last.Error.ErrorType != c.kind || !strings.Contains(last.Error.Message, c.says) {
					t.Errorf("%s: the turn ended as %s", f.name, asJSON(t, turn))
				}
				if f.chat.Status.Activity() != ahp.ActivityError {
					t.Errorf("%s: status %d", f.name, f.chat.Status)
				}
			}
			b.prompt("t2", "hello")
			if turn := a.ended("t2"); lastPart(t, turn).Content != "You said: hello" {
				t.Errorf("the next turn ended as %s", asJSON(t, turn))
			}
			a.same()
			b.same()
		})
	}
}

// TestAgentThatIgnoresCancel: the clients are done with the turn at once; the
// agent's session is closed after the grace, and the next turn has another.
func TestAgentThatIgnoresCancel(t *testing.T) {
	t.Parallel()
	p := newScripted("scripted")
	p.script("hang", "say a\nhang")
	_, a := one(t, p)
	a.prompt("t1", "hang")
	a.wait("it has begun", func() bool { return a.chat.ActiveTurn != nil && len(a.chat.ActiveTurn.ResponseParts) == 1 })
	a.do(theChat, ahp.ChatTurnCancelled{TurnID: "t1"})
	a.ended("t1")
	a.prompt("t2", "hello")
	if turn := a.ended("t2"); turn.State != ahp.TurnComplete || p.opens.Load() != 2 {
		t.Errorf("the next turn ended as %s; %d sessions opened", asJSON(t, turn), p.opens.Load())
	}
	until(t, "the first session to be closed", func() bool { return p.closed.Load() == 1 })
	close(p.word("let go"))
	// What it says now belongs nowhere.
	a.prompt("t3", "hello")
	a.ended("t3")
	if text := asJSON(t, a.chat); strings.Contains(text, "too late") {
		t.Errorf("it is in the chat: %s", text)
	}
	a.same()
}

// TestAgentThatNeverOpens fails the session, and lets go of what comes too late.
func TestAgentThatNeverOpens(t *testing.T) {
	t.Parallel()
	p := newScripted("scripted")
	late := make(chan struct{})
	p.opening = func(context.Context) { <-late }
	_, a := one(t, p, func(c *host.Config) { c.Limits.AgentStart = 100 * time.Millisecond })
	a.wait("it has failed", func() bool { return a.session.Lifecycle == ahp.LifecycleFailed })
	if e := a.session.CreationError; e.ErrorType != agent.KindTimeout || !strings.Contains(e.Message, "not ready within") {
		t.Errorf("failed with %+v", e)
	}
	close(late)
	until(t, "the late session is closed", func() bool { return p.closed.Load() == 1 })
	a.prompt("t", "hello")
	if e := a.echo(a.next1); !strings.Contains(e.RejectionReason, "could not be created") {
		t.Errorf("a prompt was answered with %+v", e)
	}
}

// TestLostInATurn: a client that loses its connection in a turn comes back to the
// whole turn, by replay and by snapshot; where it did not list the session again,
// it no longer takes part.
func TestLostInATurn(t *testing.T) {
	t.Parallel()
	p := newScripted("scripted")
	p.script("work", "say one\nawait two\nsay  two\ntool t running execute x\nawait three\ntool t completed execute x\nsay three")
	w, a := one(t, p, func(c *host.Config) { c.Limits.ClientGrace = 5 * time.Second }) // who comes back on a loaded machine, too, is in time
	a.do(theSession, ahp.SessionActiveClientSet{ActiveClient: ahp.ActiveClient{ClientID: "a", Tools: []ahp.ToolDefinition{}}})
	a.prompt("t", "work")
	a.wait("it has begun", func() bool { return a.chat.ActiveTurn != nil && len(a.chat.ActiveTurn.ResponseParts) == 1 })
	b := folder(t, w.connect("b"))
	b.initialize()
	b.watch()
	close(p.word("two"))
	b.wait("the tool runs", func() bool { return len(b.chat.ActiveTurn.ResponseParts) == 2 })
	if kind := a.back(w, theSession, theChat); kind != ahp.ReconnectReplay {
		t.Errorf("came back to a %s", kind)
	}
	a.same()
	if len(a.session.ActiveClients) != 1 {
		t.Errorf("takes part: %+v", a.session.ActiveClients)
	}
	a.hangUp()
	close(p.word("three"))
	whole := b.ended("t")
	a.back(w, theChat)
	if got := a.ended("t"); asJSON(t, got) != asJSON(t, whole) || len(whole.ResponseParts) != 3 {
		t.Errorf("came back to %s\nwant %s", asJSON(t, got), asJSON(t, whole))
	}
	b.wait("a takes part no more", func() bool { return len(b.session.ActiveClients) == 0 })
	b.same()
}

// TestLossIsSeenLate: who comes back before the host has seen the loss, and does not
// list the session again, takes part no more once it has.
func TestLossIsSeenLate(t *testing.T) {
	t.Parallel()
	w, a := one(t, newScripted("scripted"))
	a.do(theSession, ahp.SessionActiveClientSet{ActiveClient: ahp.ActiveClient{ClientID: "a", Tools: []ahp.ToolDefinition{}}})
	a.echo(a.next1)
	b := folder(t, w.connect("b"))
	b.initialize()
	b.watch()
	back := folder(t, w.connect("a"))
	back.request(ahp.MethodReconnect, ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: "a", LastSeenServerSeq: a.seq, Subscriptions: []ahp.URI{theChat}}, nil)
	a.hangUp()
	b.wait("a takes part no more", func() bool { return len(b.session.ActiveClients) == 0 })
}

// TestHostRestarted: a host that ends in a turn comes back with the turn failed,
// the history whole and the queue kept, and goes on with a new session of the
// agent (AHP, Lifecycle).
func TestHostRestarted(t *testing.T) {
	p := newScripted("scripted")
	p.script("work", "say half\ntool d1 running execute x\ntool d1 completed execute x\ntool r1 running execute x\nconfirm c1 execute x")
	w, a := one(t, p)
	a.prompt("t1", "hello")
	a.ended("t1")
	a.do(theSession, ahp.SessionTitleChanged{Title: "kept"})
	a.prompt("t2", "work")
	a.do(theChat, ahp.ChatPendingMessageSet{Kind: ahp.PendingQueued, ID: "q", Message: msg("next")})
	a.wait("it waits", func() bool { return len(a.chat.QueuedMessages) == 1 && len(a.session.InputNeeded) == 1 })
	w.shutdown()
	w.startHost(withAgents(p))
	p.script("work", "say again")
	a.back(w, theSession, theChat)
	turn := a.ended("t2")
	if last := lastPart(t, turn); turn.State != ahp.TurnError || last.Error.ErrorType != "hostRestarted" || turn.ResponseParts[0].Content != "half" {
		t.Errorf("the turn ended as %s", asJSON(t, turn))
	}
	done, ran := turn.ResponseParts[1].ToolCall, turn.ResponseParts[2].ToolCall
	if done.StartedAt == "" || done.Duration == nil || ran.StartedAt == "" || ran.Duration != nil || turn.ResponseParts[3].ToolCall.StartedAt != "" {
		t.Errorf("the times of what had ended, what ran and what waited: %s", asJSON(t, turn))
	}
	if a.session.Title != "kept" || len(a.session.InputNeeded) != 0 || len(a.chat.Turns) != 2 || len(a.chat.QueuedMessages) != 1 {
		t.Errorf("session %s\nchat %s", asJSON(t, a.session), asJSON(t, a.chat))
	}
	var list ahp.ListSessionsResult
	a.request(ahp.MethodListSessions, ahp.ListSessionsParams{Channel: ahp.RootURI}, &list)
	if len(list.Items) != 1 || list.Items[0].Resource != theSession || list.Items[0].CreatedAt == "" || list.Items[0].Title != "kept" {
		t.Errorf("the list is %+v", list.Items)
	}
	a.prompt("t3", "work")
	after := a.ended("t3")
	if after.State != ahp.TurnComplete || !strings.Contains(asJSON(t, after), "without memory") || lastPart(t, after).Content != "again" {
		t.Errorf("the turn after ended as %s", asJSON(t, after))
	}
	a.wait("the queue follows", func() bool { return len(a.chat.Turns) == 4 && a.chat.ActiveTurn == nil })
	a.same()
}

// TestOlderTurns: a long chat's state is a window; fetchTurns loads what is before
// it, by an action that precedes the reply, and a cursor is used once.
func TestOlderTurns(t *testing.T) {
	t.Parallel()
	soak.Long(t, "hundreds of turns")
	p := newScripted("scripted")
	w, a := one(t, p)
	const turns = 230
	for i := range turns {
		a.prompt(fmt.Sprint("t", i), "hello")
		a.ended(fmt.Sprint("t", i))
	}
	a.hangUp()
	b := folder(t, w.connect("b"))
	b.initialize()
	until(t, "nobody watches, so the window is small", func() bool {
		b.watch()
		small := len(b.chat.Turns) < turns
		b.request(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
		if !small {
			b.send(map[string]any{"jsonrpc": "2.0", "method": ahp.MethodUnsubscribe, "params": ahp.SubscribeParams{Channel: theChat}})
		}
		return small
	})
	if b.chat.TurnsNextCursor == "" || b.chat.Turns[len(b.chat.Turns)-1].ID != fmt.Sprint("t", turns-1) {
		t.Fatalf("the window has %d turns, cursor %q", len(b.chat.Turns), b.chat.TurnsNextCursor)
	}
	if err := b.call(ahp.MethodFetchTurns, ahp.FetchTurnsParams{Channel: theChat, Cursor: "before:nothing"}, nil); ahp.CodeOf(err) != ahp.CodeInvalidParams {
		t.Errorf("an unknown cursor gives %v", err)
	}
	for used := ""; b.chat.TurnsNextCursor != ""; {
		used = b.chat.TurnsNextCursor
		had := len(b.chat.Turns)
		b.request(ahp.MethodFetchTurns, ahp.FetchTurnsParams{Channel: theChat, Cursor: used}, nil)
		if len(b.chat.Turns) <= had { // folded before the reply
			t.Fatalf("after %d turns no more came", had)
		}
		b.request(ahp.MethodFetchTurns, ahp.FetchTurnsParams{Channel: theChat, Cursor: used}, nil)
	}
	for i, turn := range b.chat.Turns {
		if turn.ID != fmt.Sprint("t", i) {
			t.Fatalf("turn %d is %s", i, turn.ID)
		}
	}
	if len(b.chat.Turns) != turns {
		t.Errorf("%d turns in the end", len(b.chat.Turns))
	}
	old := folder(t, w.connect("old"))
	old.must(ahp.MethodInitialize, ahp.InitializeParams{Channel: ahp.RootURI, ProtocolVersions: []string{"0.5.0"}, ClientID: "old"}, nil)
	var page struct {
		Turns   []ahp.Turn
		HasMore bool
	}
	old.request(ahp.MethodFetchTurns, ahp.FetchTurnsParams{Channel: theChat, Before: "t10", Limit: 4}, &page)
	if len(page.Turns) != 4 || page.Turns[0].ID != "t6" || !page.HasMore {
		t.Errorf("0.5 gets %+v", page)
	}
}

// TestSessionsInPages: every session once, the last modified first.
func TestSessionsInPages(t *testing.T) {
	w := startWith(t, newScripted("scripted"))
	a := folder(t, w.connect("a"))
	a.initialize()
	for i := range 17 {
		a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: fmt.Sprint("ahp-session:/", i)}, nil)
	}
	seen, last := map[ahp.URI]bool{}, ahp.Instant("9")
	p := ahp.ListSessionsParams{Channel: ahp.RootURI, Limit: 4}
	for pages := 1; ; pages++ {
		var r ahp.ListSessionsResult
		a.must(ahp.MethodListSessions, p, &r)
		for _, s := range r.Items {
			if seen[s.Resource] || s.ModifiedAt > last {
				t.Errorf("%s at %s comes after %s", s.Resource, s.ModifiedAt, last)
			}
			seen[s.Resource], last = true, s.ModifiedAt
		}
		if p.Cursor = r.NextCursor; p.Cursor == "" {
			if pages != 5 || len(seen) != 17 {
				t.Errorf("%d pages with %d sessions", pages, len(seen))
			}
			break
		}
	}
}

// TestSessionsForOldClients: 0.5 has a nested summary, its own words, and nothing
// that came later (docs/protocol.md, Versions).
func TestSessionsForOldClients(t *testing.T) {
	p := newScripted("scripted")
	p.script("ask", `ask {"id":"r","message":"?"}`+"\nfail it broke")
	w, a := one(t, p)
	old := w.connect("old")
	old.must(ahp.MethodInitialize, ahp.InitializeParams{Channel: ahp.RootURI, ProtocolVersions: []string{"0.5.0"}, ClientID: "old"}, nil)
	var session, chat struct {
		Snapshot struct{ State map[string]json.RawMessage }
	}
	old.must(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: theSession}, &session)
	old.must(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: theChat}, nil)
	var summary map[string]any
	json.Unmarshal(session.Snapshot.State["summary"], &summary)
	if ms, ok := summary["createdAt"].(float64); !ok || ms < 1e12 || summary["resource"] != theSession || summary["workingDirectory"] == nil {
		t.Errorf("the nested summary is %v", summary)
	}
	a.prompt("t", "ask")
	a.wait("it asks", func() bool { return len(a.session.InputNeeded) == 1 })
	old.must(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: theChat}, &chat)
	if !strings.Contains(string(chat.Snapshot.State["inputRequests"]), `"r"`) || strings.Contains(string(chat.Snapshot.State["activeTurn"]), "inputRequest") {
		t.Errorf("the chat is %s", asJSON(t, chat.Snapshot.State))
	}
	a.do(theChat, ahp.ChatInputCompleted{RequestID: "r", Response: ahp.InputCancel})
	a.ended("t")
	old.envelope("the error", func(e ahp.Envelope) bool {
		switch e.Action.(type) {
		case ahp.SessionInputNeededSet, ahp.SessionInputNeededRemoved:
			t.Errorf("0.5 was sent %s", e.Action.ActionType())
		case ahp.ChatError:
			return true
		}
		return false
	})
}

// TestWhoMayDriveSessions: scopes, tokens for one terminal, and agents from the
// side.
func TestWhoMayDriveSessions(t *testing.T) {
	w, a := one(t, newScripted("scripted"))
	reader := w.connectTCP("reader", w.token("terminal:read").Token)
	reader.initialize(ahp.RootURI)
	for method, params := range map[string]any{
		ahp.MethodCreateSession:  ahp.CreateSessionParams{Channel: "ahp-session:/2"},
		ahp.MethodDisposeSession: ahp.SubscribeParams{Channel: theSession},
		ahp.MethodCreateChat:     ahp.CreateChatParams{Channel: theSession, Chat: "ahp-chat:/2"},
		ahp.MethodDisposeChat:    ahp.SubscribeParams{Channel: theChat},
	} {
		if err := reader.call(method, params, nil); ahp.CodeOf(err) != ahp.CodePermissionDenied {
			t.Errorf("%s by a reader: %v", method, err)
		}
	}
	reader.subscribe(theChat)
	reader.dispatch(theChat, 1, ahp.ChatTurnStarted{TurnID: "x", Message: msg("hello")})
	if e := reader.echo(1); !strings.Contains(e.RejectionReason, `"session"`) {
		t.Errorf("a reader's prompt: %+v", e)
	}
	driver := w.connectTCP("driver", w.token("terminal:read", "session").Token)
	driver.initialize()
	if err := driver.call(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: "ahp-session:/2", Meta: &ahp.SessionMeta{Confirm: ahp.ConfirmAll}}, nil); err == nil || !strings.Contains(err.Error(), "approve") {
		t.Errorf("a session that approves all, by one who may not: %v", err)
	}
	if err := driver.call(ahp.MethodDisposeSession, ahp.SubscribeParams{Channel: theSession}, nil); ahp.CodeOf(err) != ahp.CodePermissionDenied {
		t.Errorf("the end of somebody else's session: %v", err)
	}
	driver.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: "ahp-session:/2"}, nil)
	driver.must(ahp.MethodDisposeSession, ahp.SubscribeParams{Channel: "ahp-session:/2"}, nil)
	a.create("ahp-terminal:/t", "cat")
	var bound ahp.TokenNewResult
	w.admin.must(ahp.MethodTokenNew, ahp.TokenNewParams{Channel: ahp.RootURI, Name: "b", Terminal: "ahp-terminal:/t"}, &bound)
	b := w.connectTCP("bound", bound.Token)
	b.initialize(ahp.RootURI, theChat)
	var list ahp.ListSessionsResult
	b.must(ahp.MethodListSessions, ahp.ListSessionsParams{Channel: ahp.RootURI}, &list)
	if len(list.Items) != 0 {
		t.Errorf("a token for one terminal sees %+v", list.Items)
	}
	for method, params := range map[string]any{
		ahp.MethodSubscribe: ahp.SubscribeParams{Channel: theChat}, ahp.MethodFetchTurns: ahp.FetchTurnsParams{Channel: theChat},
		ahp.MethodCompletions: ahp.CompletionsParams{Channel: theChat}, ahp.MethodCreateSession: ahp.CreateSessionParams{Channel: "ahp-session:/3"},
	} {
		if err := b.call(method, params, nil); ahp.CodeOf(err) != ahp.CodePermissionDenied && ahp.CodeOf(err) != ahp.CodeSessionNotFound {
			t.Errorf("%s by a token for one terminal: %v", method, err)
		}
	}
	a.prompt("t", "hello")
	a.ended("t")
	// The bound token heard of none of it.
	b.must(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
}

// TestChats: several chats in a session, each with the agent's session of its
// own; what one needs promotes the session; the last one goes with the session
// (AHP, Session Channel).
func TestChats(t *testing.T) {
	p := newScripted("scripted")
	p.script("ask", "confirm c execute x")
	w, a := one(t, p)
	root := w.connect("root")
	root.initialize(ahp.RootURI)
	m := msg("ask")
	a.request(ahp.MethodCreateChat, ahp.CreateChatParams{Channel: theSession, Chat: "ahp-chat:/2", Title: "Second", InitialMessage: &m}, nil)
	if len(a.session.Chats) != 2 || a.session.Chats[1].Title != "Second" { // folded before the reply
		t.Errorf("the session's chats are %+v", a.session.Chats)
	}
	a.wait("it needs input", func() bool { return a.session.Chats[1].Status.NeedsInput() })
	a.same()
	if !a.session.Status.NeedsInput() || p.opens.Load() != 2 {
		t.Errorf("status %d with %d sessions of the agent", a.session.Status, p.opens.Load())
	}
	for _, c := range []ahp.CreateChatParams{
		{Channel: theSession, Chat: theChat},
		{Channel: theSession, Chat: "ahp-chat:/3", Source: &ahp.ChatSource{Kind: "fork", Chat: theChat, TurnID: "t"}},
		{Channel: "ahp-session:/none", Chat: "ahp-chat:/3"},
		{Channel: theSession, Chat: "bad"},
		{Channel: theSession, Chat: "ahp-chat:/3", InitialMessage: &ahp.Message{Text: "x"}},
	} {
		if err := a.call(ahp.MethodCreateChat, c, nil); err == nil {
			t.Errorf("created a chat from %s", asJSON(t, c))
		}
	}
	a.request(ahp.MethodDisposeChat, ahp.SubscribeParams{Channel: "ahp-chat:/2"}, nil)
	a.wait("it is gone", func() bool { return len(a.session.Chats) == 1 && len(a.session.InputNeeded) == 0 })
	a.same()
	if a.session.Status.NeedsInput() {
		t.Errorf("status %d", a.session.Status)
	}
	until(t, "its agent is closed", func() bool { return p.closed.Load() == 1 })
	if err := a.call(ahp.MethodDisposeChat, ahp.SubscribeParams{Channel: theChat}, nil); ahp.CodeOf(err) != ahp.CodeConflict {
		t.Errorf("disposed of the last chat: %v", err)
	}
	a.request(ahp.MethodDisposeSession, ahp.SubscribeParams{Channel: theSession}, nil)
	until(t, "all agents are closed", func() bool { return p.closed.Load() == 2 })
}

// TestCompletions offers commands and files, in UTF-16 offsets.
func TestCompletions(t *testing.T) {
	p := newScripted("scripted")
	w := startWith(t, p)
	a := folder(t, w.connect("a"))
	a.initialize()
	a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{
		Channel: theSession, WorkingDirectories: []ahp.URI{"file://" + w.dir}, Meta: &ahp.SessionMeta{Chat: theChat},
	}, nil)
	a.watch()
	a.wait("the commands are there", func() bool { return len(a.session.Meta) > 0 })
	for _, c := range []struct {
		text   string
		offset int
		want   string
	}{
		{"/re", 3, "/review |/reset "},
		{"/rev", 4, "/review "},
		{"x /re", 5, ""},
		{"😀 @st", 6, "@state/"},
		{"@state/../../", 13, ""},
		{"@/etc/pass", 10, ""},
		{"@run/host", 9, "@run/host.lock |@run/host.sock "},
	} {
		var r ahp.CompletionsResult
		a.must(ahp.MethodCompletions, ahp.CompletionsParams{Channel: theChat, Kind: "userMessage", Text: c.text, Offset: c.offset}, &r)
		var got []string
		for _, i := range r.Items {
			got = append(got, i.InsertText)
			if i.Attachment == nil || i.Attachment.Label == "" {
				t.Errorf("%q has no attachment", i.InsertText)
			}
			if *i.RangeEnd != c.offset {
				t.Errorf("%q replaces up to %d", c.text, *i.RangeEnd)
			}
		}
		if all := strings.Join(got, "|"); all != c.want && !(c.text == "@run/host" && strings.HasPrefix(all, "@run/host")) {
			t.Errorf("%q offers %q, want %q", c.text, all, c.want)
		}
	}
	if err := a.call(ahp.MethodCompletions, ahp.CompletionsParams{Channel: theChat, Kind: "userMessage", Text: "a", Offset: 2}, nil); ahp.CodeOf(err) != ahp.CodeInvalidParams {
		t.Errorf("an offset beyond the text: %v", err)
	}
}

// TestSessionsComeAndGo: sessions that are disposed of at once, before their
// journals are with the keeper and their agents open.
func TestSessionsComeAndGo(t *testing.T) {
	t.Parallel()
	p := newScripted("scripted")
	w := startWith(t, p)
	a := folder(t, w.connect("a"))
	a.initialize()
	const n = 150
	for i := range n {
		uri := fmt.Sprint("ahp-session:/", i)
		a.send(map[string]any{"jsonrpc": "2.0", "id": 1000 + i, "method": ahp.MethodCreateSession, "params": ahp.CreateSessionParams{Channel: uri}})
		a.send(map[string]any{"jsonrpc": "2.0", "id": 2000 + i, "method": ahp.MethodDisposeSession, "params": ahp.SubscribeParams{Channel: uri}})
	}
	for range 2 * n {
		if m := a.read(); m.Error != nil {
			t.Fatalf("%s: %v", m.ID, m.Error)
		}
	}
	until(t, "every agent that was opened is closed", func() bool { return p.opens.Load() == p.closed.Load() })
}

// A change of its configuration is a change of the session.
func TestConfigurationIsAModification(t *testing.T) {
	t.Parallel()
	w := startWith(t, newScripted("scripted"))
	a := folder(t, w.connect("a"))
	a.initialize()
	a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: theSession, Meta: &ahp.SessionMeta{Chat: theChat}}, nil)
	modified := func() ahp.Instant {
		var list ahp.ListSessionsResult
		a.must(ahp.MethodListSessions, ahp.ListSessionsParams{Channel: ahp.RootURI}, &list)
		return list.Items[0].ModifiedAt
	}
	before := modified()
	until(t, "the clock is further", func() bool { return ahp.InstantOf(time.Now().UnixMilli()) > before })
	a.dispatch(theSession, 1, ahp.SessionConfigChanged{Config: map[string]any{"tandemux/confirm": "reads"}})
	if after := modified(); after <= before {
		t.Errorf("modified at %s, and at %s before", after, before)
	}
}
