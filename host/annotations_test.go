package host_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/host/agent"
	"tandemux/internal/soak"
	"tandemux/internal/wsrpc"
)

const theAnnotations = theSession + annotation.Suffix

// comment is an annotation with one entry.
func comment(id, path, text string) annotation.Set {
	return annotation.Set{Annotation: annotation.Annotation{
		ID: id, Origin: annotation.Origin{Session: theSession}, Resource: "file://" + path, Entries: []annotation.Entry{{ID: "1", Text: ahp.Prose{Text: text}}},
	}}
}

// fileIn makes a file in a directory of its own.
func fileIn(t *testing.T) (dir, path string) {
	dir = t.TempDir()
	path = filepath.Join(dir, "a.go")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, path
}

// accepted dispatches what must not be refused.
func (p *peer) accepted(channel ahp.URI, seq int64, a ahp.Action) {
	p.t.Helper()
	p.dispatch(channel, seq, a)
	if e := p.echo(seq); e.RejectionReason != "" {
		p.t.Fatalf("%s was refused: %s", a.ActionType(), e.RejectionReason)
	}
}

// refused dispatches what must be refused for a reason.
func (p *peer) refused(channel ahp.URI, seq int64, a ahp.Action, why string) {
	p.t.Helper()
	p.dispatch(channel, seq, a)
	if e := p.echo(seq); !strings.Contains(e.RejectionReason, why) || e.RejectionReason == "" {
		p.t.Errorf("%s: refused because of %q, want %q", a.ActionType(), e.RejectionReason, why)
	}
}

// TestAnnotationsAreGiven: a queued message and a steering one take along what is there
// when the agent gets them; what could not be given waits; a file that has gone since is
// said to be.
func TestAnnotationsAreGiven(t *testing.T) {
	t.Parallel()
	p := newScripted("scripted")
	p.scripts["go"] = "say first\nawait more"
	p.scripts["queued"] = "heard"
	p.scripts["busy"] = "say busy\nawait steered"
	w := startWith(t, p)
	dir, path := fileIn(t)
	a := w.connect("a")
	a.initialize()
	a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: theSession, WorkingDirectories: []ahp.URI{"file://" + dir}, Meta: &ahp.SessionMeta{Chat: theChat}}, nil)
	a.subscribe(theChat)
	a.subscribe(theAnnotations)
	message := func(text string) ahp.Message {
		return ahp.Message{Text: text, Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}
	}
	a.accepted(theChat, 1, ahp.ChatTurnStarted{TurnID: "t1", Message: message("go")})
	a.accepted(theChat, 2, ahp.ChatPendingMessageSet{Kind: ahp.PendingQueued, ID: "q", Message: message("queued")})
	a.accepted(theAnnotations, 3, comment("n", path, "why?"))
	a.accepted(theAnnotations, 4, comment("m", path, "and this?"))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	close(p.word("more"))
	said := func(what, want string) {
		t.Helper()
		text := ""
		a.envelope(what, func(e ahp.Envelope) bool {
			switch x := e.Action.(type) {
			case ahp.ChatResponsePart:
				text += x.Part.Content
				if x.Part.Note != nil {
					text += x.Part.Note.Text + "\n"
				}
			case ahp.ChatDelta:
				text += x.Content
			}
			return strings.Contains(text, want)
		})
	}
	said("the queued message", "heard queued\n[comments] Comments on files, for you to see to:\n\na.go (the file is gone):\n- why?\n\na.go (the file is gone):\n- and this?\n")

	a.envelope("the end", func(e ahp.Envelope) bool { _, is := e.Action.(ahp.ChatTurnComplete); return is })
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a.accepted(theAnnotations, 5, comment("o", path, "late"))
	busy := message("busy")
	a.accepted(theChat, 6, ahp.ChatTurnStarted{TurnID: "t3", Message: busy})
	said("the agent is at work", "busy")
	// The same turn once more is the same, whatever was added to its message.
	a.accepted(theChat, 7, ahp.ChatTurnStarted{TurnID: "t3", Message: busy})
	a.accepted(theAnnotations, 8, annotation.EntrySet{AnnotationID: "o", Entry: annotation.Entry{ID: "2", Text: ahp.Prose{Text: "later"}}})
	a.accepted(theChat, 9, ahp.ChatPendingMessageSet{Kind: ahp.PendingSteering, ID: "s", Message: message("faster")})
	said("what the steering took along", "Said meanwhile: faster (with 1 comment)\n")
	said("what the agent got of it", "steered: faster\n[comments] Comments on files, for you to see to:\n\na.go:\n- late\n- later\n")
	close(p.word("steered"))
	var s annotation.State
	decodeState(t, a.subscribe(theAnnotations), &s)
	for _, n := range s.Annotations {
		for _, e := range n.Entries {
			if !strings.Contains(string(e.Meta), "tandemux/given") {
				t.Errorf("%s %s is not marked as given: %s", n.ID, e.ID, e.Meta)
			}
		}
	}
}

// TestAnnotationsThatWereNotGiven: what a turn had attached whose agent did not start goes
// with the next.
func TestAnnotationsThatWereNotGiven(t *testing.T) {
	t.Parallel()
	p := newScripted("scripted")
	p.scripts["go"] = "fail it broke"
	w := startWith(t, p)
	dir, path := fileIn(t)
	a := w.connect("a")
	a.initialize()
	a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: theSession, WorkingDirectories: []ahp.URI{"file://" + dir}, Meta: &ahp.SessionMeta{Chat: theChat}}, nil)
	a.subscribe(theChat)
	a.accepted(theAnnotations, 1, comment("n", path, "why?"))
	until(t, "the agent is open", func() bool { return p.opens.Load() > 0 })
	w.shutdown()
	p.refuse = &agent.Error{Kind: agent.KindStart, Message: "not now"}
	w.startHost(withAgents(p))
	a = w.connect("a")
	a.initialize(theChat)
	turn := func(seq int64, id string) (attached []ahp.Attachment) {
		t.Helper()
		a.dispatch(theChat, seq, ahp.ChatTurnStarted{TurnID: id, Message: ahp.Message{Text: "go", Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}})
		attached = a.echo(seq).Action.(ahp.ChatTurnStarted).Message.Attachments
		a.envelope("it has failed", func(e ahp.Envelope) bool { _, is := e.Action.(ahp.ChatError); return is })
		return attached
	}
	if len(turn(2, "t1")) != 1 {
		t.Error("the first turn has nothing attached")
	}
	if got := turn(3, "t2"); len(got) != 1 || !reflect.DeepEqual(got[0].AnnotationIDs, []string{"n"}) {
		t.Errorf("the second turn has attached %+v", got)
	}
}

// TestWhoAnnotates: who may drive the session does, and an agent or a reader doesn't; who
// may not learns nothing of files.
func TestWhoAnnotates(t *testing.T) {
	t.Parallel()
	w := startWith(t, newScripted("scripted"))
	dir, path := fileIn(t)
	a := w.connect("a")
	a.initialize()
	a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: theSession, WorkingDirectories: []ahp.URI{"file://" + dir}, Meta: &ahp.SessionMeta{Chat: theChat}}, nil)
	for _, c := range []struct {
		name, why string
		p         *peer
	}{
		{"reader", "it lacks the scope", w.connectTCP("reader", w.token("terminal:read").Token)},
		{"typist", "it lacks the scope", w.connectTCP("typist", w.token("terminal:read", "terminal:input").Token)},
	} {
		c.p.initialize()
		for i, at := range []string{path, path + ".gone"} {
			c.p.dispatch(theAnnotations, int64(i+1), comment("n", at, "x"))
			if e := c.p.echo(int64(i + 1)); e.RejectionReason == "" || strings.Contains(e.RejectionReason, "file") {
				t.Errorf("%s: %q", c.name, e.RejectionReason)
			}
		}
	}
	side := w.connect("side")
	side.must(ahp.MethodInitialize, map[string]any{
		"channel": ahp.RootURI, "protocolVersions": []string{"1.0.0"}, "clientId": "side", "_meta": map[string]any{"tandemux/agent": map[string]any{"name": "claude"}},
	}, nil)
	side.refused(theAnnotations, 1, comment("n", path, "x"), "agent")
	driver := w.connectTCP("driver", w.token("terminal:read", "session").Token)
	driver.initialize()
	driver.accepted(theAnnotations, 1, comment("n", path, "x"))
	// Who sees terminals sees them.
	reader := w.connectTCP("reader2", w.token("terminal:read").Token)
	reader.initialize()
	var s annotation.State
	if decodeState(t, reader.subscribe(theAnnotations), &s); len(s.Annotations) != 1 {
		t.Errorf("a reader sees %+v", s)
	}
}

// TestAnnotationsAreBounded: in number and size, each refused with its bound.
func TestAnnotationsAreBounded(t *testing.T) {
	t.Parallel()
	soak.Long(t, "as many as there may be")
	w := startWith(t, newScripted("scripted"))
	dir, path := fileIn(t)
	a := w.connect("a")
	a.initialize()
	a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: theSession, WorkingDirectories: []ahp.URI{"file://" + dir}, Meta: &ahp.SessionMeta{Chat: theChat}}, nil)
	a.refused(theAnnotations, 1, comment("n", path, strings.Repeat("x", 16<<10+1)), "longer than 16384 bytes")
	a.refused(theAnnotations, 2, comment("n", path, " \x1b\n"), "it is empty")
	many := comment("n", path, "x")
	for i := range 50 {
		many.Annotation.Entries = append(many.Annotation.Entries, annotation.Entry{ID: string(rune('A' + i)), Text: ahp.Prose{Text: "x"}})
	}
	a.refused(theAnnotations, 3, many, "more than 50")
	wide := comment("n", path, "x")
	wide.Annotation.Meta = json.RawMessage(`{"x":"` + strings.Repeat("x", 4<<10) + `"}`)
	a.refused(theAnnotations, 4, wide, "_meta: larger than 4096 bytes")
	seq := int64(4)
	for i := range 501 {
		seq++
		a.dispatch(theAnnotations, seq, comment(strings.Repeat("i", i+1), path, "x"))
	}
	if e := a.echo(seq); !strings.Contains(e.RejectionReason, "there are 500 annotations already") {
		t.Errorf("501 annotations: %q", e.RejectionReason)
	}
	large := strings.Repeat("x", 16<<10)
	for i := range 130 {
		seq++
		a.dispatch(theAnnotations, seq, comment(strings.Repeat("i", i+1), path, large))
	}
	seq++
	a.refused(theAnnotations, seq, comment(strings.Repeat("i", 200), path, large), "larger than 2097152 bytes")
}

// TestAnnotationsSurvive: they are there after kill -9 of the host, with what the agent was
// given; the session's row counts them, and they go with the session for good.
func TestAnnotationsSurvive(t *testing.T) {
	t.Parallel()
	m := startMortal(t)
	dir, path := fileIn(t)
	connect := func() *peer {
		t.Helper()
		p, err := m.try("a", wsrpc.Target{URL: "unix://" + m.socket()})
		if err != nil {
			t.Fatal(err)
		}
		p.initialize()
		return p
	}
	a := connect()
	a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: theSession, WorkingDirectories: []ahp.URI{"file://" + dir}, Meta: &ahp.SessionMeta{Chat: theChat}}, nil)
	a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: "ahp-session:/other", WorkingDirectories: []ahp.URI{"file://" + dir}}, nil)
	a.accepted(theAnnotations, 1, comment("n", path, "why?"))
	a.subscribe(theChat)
	a.accepted(theChat, 2, ahp.ChatTurnStarted{TurnID: "t", Message: ahp.Message{Text: "go", Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}})
	a.envelope("the end of the turn", func(e ahp.Envelope) bool { _, is := e.Action.(ahp.ChatTurnComplete); return is })
	a.accepted(theAnnotations, 3, comment("new", path, "and this?"))
	state := func() (s annotation.State) {
		t.Helper()
		decodeState(t, a.subscribe(theAnnotations), &s)
		return s
	}
	before := state()
	if len(before.Annotations) != 2 || !strings.Contains(string(before.Annotations[0].Entries[0].Meta), `"tandemux/given":"t"`) {
		t.Fatalf("before: %+v", before)
	}
	for range 2 {
		m.kill()
		m.revive()
		a = connect()
		if after := state(); !reflect.DeepEqual(after, before) {
			t.Fatalf("after kill -9: %+v, want %+v", after, before)
		}
	}
	var s ahp.SessionState
	decodeState(t, a.subscribe(theSession), &s)
	var sum annotation.Summary
	if err := json.Unmarshal(s.Annotations, &sum); err != nil || sum != (annotation.State{Annotations: before.Annotations}).Summary(theAnnotations) {
		t.Errorf("the session says %s, %v", s.Annotations, err)
	}
	var other annotation.State
	if decodeState(t, a.subscribe("ahp-session:/other"+annotation.Suffix), &other); len(other.Annotations) != 0 {
		t.Errorf("another session has %+v", other)
	}
	a.must(ahp.MethodDisposeSession, ahp.SubscribeParams{Channel: theSession}, nil)
	m.kill()
	m.revive()
	a = connect()
	if err := a.call(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: theAnnotations}, nil); err == nil {
		t.Error("the annotations of a disposed session are there")
	}
}

// TestAnnotationsOverACP: an agent that is spoken to by ACP reads them in its prompt.
func TestAnnotationsOverACP(t *testing.T) {
	c := talkTo(t, "prompt\nsay $PROMPT\n")
	path := filepath.Join(c.work, "a.go")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	n := comment("n", path, "why?")
	n.Annotation.Range = &annotation.Range{Start: annotation.Position{Line: 2}, End: annotation.Position{Line: 4, Character: 1}}
	c.do(theAnnotations, n)
	c.prompt("go on")
	if text := said(c.ended()); !strings.Contains(text, "text:go on") || !strings.Contains(text, "a.go, lines 3 to 5:\n- why?") {
		t.Errorf("the agent was told %q", text)
	}
}
