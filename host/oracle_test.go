package host_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/internal/soak"
)

// FuzzDispatch plays a conversation that its input spells: three clients of
// three principals create, claim, type, resize, rename, clear and dispose,
// rightly and wrongly, with messages whole and damaged. The reducers are the
// oracle: what an observer of each generation folds from the actions is what
// the host says its state is; a refusal changes nothing and reaches its sender
// alone; each dispatch that can be answered is answered once; and nobody does
// what the claim does not allow (R17, G48).
func FuzzDispatch(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x01\x01\x00\x02\x02\x00\x03\x03\x00\x00\x04\x00"))
	f.Add([]byte("\x00\x00\x01\x00\x05\x02\x01\x06\x03\x02\x07\x01\x00\x08\x00\x01\x09\x00\x02\x01\x01"))
	for seed := range uint64(soak.Short(3, 8)) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		b := make([]byte, 150)
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		f.Add(b)
	}
	w := start(f)
	agent := w.token("terminal:read", "terminal:create", "terminal:input", "terminal:claim").Token
	driver := w.token("terminal:read", "terminal:create", "terminal:input", "terminal:claim", "session").Token
	n := 0
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 400 {
			return
		}
		w.t = t
		n++
		play(t, w, fmt.Sprint(n), agent, driver, program)
	})
}

// game is one conversation.
type game struct {
	t         *testing.T
	w         *fixture
	name      string
	players   []*player
	observers []*observer
	program   []byte
	terms     map[ahp.URI]bool
}

type player struct {
	*peer
	operates bool
	seq      int64
	answers  map[int64]int // by clientSeq
	refused  map[int64]bool
}

func play(t *testing.T, w *fixture, name, agent, driver string, program []byte) {
	g := &game{t: t, w: w, name: name, program: program, terms: map[ahp.URI]bool{}}
	for i, token := range []string{"", agent, driver} {
		p := &player{operates: i == 0, answers: map[int64]int{}, refused: map[int64]bool{}}
		if id := fmt.Sprintf("p%d-%s", i, name); token == "" {
			p.peer = w.connect(id)
		} else {
			p.peer = w.connectTCP(id, token)
		}
		if i == 1 {
			p.initialize()
		} else {
			p.drive(fmt.Sprint("ahp-session:/", 2-i/2))
		}
		g.players = append(g.players, p)
	}
	for i, v := range []string{"1.0.0", "0.9.0", "0.5.0"} {
		g.observers = append(g.observers, g.observe(fmt.Sprintf("o%d-%s", i, name), v))
	}
	for len(g.program) >= 3 {
		g.step()
	}
	g.compare("at the end")
	for uri := range g.terms {
		g.players[0].must(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: uri}, nil)
	}
	for _, p := range g.players {
		p.hangUp()
	}
	for _, o := range g.observers {
		o.hangUp()
	}
}

func (g *game) next() byte {
	if len(g.program) == 0 {
		return 0
	}
	b := g.program[0]
	g.program = g.program[1:]
	return b
}

// of picks one of list.
func of[T any](b byte, list ...T) T { return list[int(b)%len(list)] }

// step is one thing that somebody does.
func (g *game) step() {
	p := of(g.next(), g.players...)
	op, arg := g.next(), g.next()
	uri := fmt.Sprintf("ahp-terminal:/%s-%d", g.name, arg>>6)
	switch {
	case op < 30:
		claim := of(arg, ahp.Claim{Kind: ahp.ClaimClient, ClientID: p.name}, session("1", "a"), session("2", ""), ahp.Claim{Kind: ahp.ClaimClient, ClientID: "x"})
		err := p.call(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{Channel: uri, Claim: claim, Meta: &ahp.CreateMeta{Command: []string{"cat"}}}, nil)
		if (err == nil) && g.terms[uri] {
			g.t.Fatalf("%s was created twice", uri)
		}
		if err == nil {
			g.terms[uri] = true
			for _, o := range g.observers {
				o.see(uri)
			}
		}
	case op < 38:
		if err := p.call(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: uri}, nil); err == nil {
			if !g.terms[uri] {
				g.t.Fatalf("%s was disposed of though it did not exist", uri)
			}
			delete(g.terms, uri)
			for _, o := range g.observers {
				o.sync()
				delete(o.terms, uri)
			}
		}
	case op < 46:
		g.compare(fmt.Sprint("after ", op))
	default:
		g.dispatch(p, uri, op, arg)
	}
}

func session(id, call string) ahp.Claim {
	return ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/" + id, Chat: "ahp-chat:/" + id, TurnID: call, ToolCallID: call}
}

// dispatch sends an action, perhaps damaged, and checks its answer.
func (g *game) dispatch(p *player, uri ahp.URI, op, arg byte) {
	a := of[ahp.Action](op,
		ahp.TerminalInput{Data: of(arg, "x", "\n", "\x1b[2J", "漢", "")},
		ahp.TerminalResized{Cols: int(arg) * 9, Rows: int(arg) % 50},
		ahp.TerminalTitleChanged{Title: of(arg, "one", "two", "", "a\x00b", strings.Repeat("x", 2000))},
		ahp.TerminalClaimed{Claim: of(arg, ahp.Claim{Kind: ahp.ClaimClient, ClientID: p.name}, session("1", ""), session("1", "b"), session("2", "c"),
			ahp.Claim{Kind: ahp.ClaimClient, ClientID: g.players[0].name}, ahp.Claim{Kind: "x"})},
		ahp.TerminalCleared{},
		ahp.TerminalData{Data: "forged"}, ahp.TerminalExited{}, ahp.TerminalCwdChanged{Cwd: "file:///"},
		ahp.RootConfigChanged{Config: map[string]any{"a": 1}}, ahp.RootTerminalsChanged{},
		ahp.Unknown{Type: "terminal/new", Raw: json.RawMessage(`{"type":"terminal/new"}`)},
	)
	seq := p.seq + 1
	if arg%16 == 15 {
		seq = int64(arg) - 100 // repeated, or none
	} else {
		p.seq = seq
	}
	if arg%32 == 31 {
		uri = ahp.RootURI
	}
	msg, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": ahp.MethodDispatchAction, "params": ahp.DispatchParams{Channel: uri, ClientSeq: seq, Action: a}})
	if err != nil {
		g.t.Fatal(err)
	}
	whole := op < 200
	if !whole { // Something in it is something else now.
		old := of(arg, `"type"`, `"data":"`, `"cols":`, `clientSeq`, `"params":{`, `}`, `"terminal/`, `"channel"`)
		msg = []byte(strings.Replace(string(msg), old, of(op, "", "7", `"x":1,`+old, `[`, `"Type"`, old+old), 1))
	}
	before := g.state(uri)
	answered := p.answers[seq]
	p.sendRaw(string(msg))
	p.sync()
	if !whole {
		return
	}
	known, _ := ahp.ClientDispatchable(a.ActionType())
	exists := g.terms[uri] || uri == ahp.RootURI
	if got := p.answers[seq] - answered; known && exists && got != 1 || !(known && exists) && got != 0 {
		g.t.Fatalf("%s: %+v on %s with clientSeq %d was answered %d times", p.name, a, uri, seq, got)
	}
	if !known || !exists || uri == ahp.RootURI {
		return
	}
	after := g.state(uri)
	if p.refused[seq] && !reflect.DeepEqual(before, after) {
		g.t.Fatalf("%s: %+v was refused, but made\n%+v\nof\n%+v", p.name, a, after, before)
	}
	if arg%16 != 15 && !p.refused[seq] {
		g.allowed(p, a, before, after)
	}
}

// allowed checks an action that was accepted against the claim it met.
func (g *game) allowed(p *player, a ahp.Action, before, after ahp.TerminalState) {
	own := before.Claim.Kind == ahp.ClaimClient && before.Claim.ClientID == p.name
	foreign := before.Claim.Kind == ahp.ClaimClient && before.Claim.ClientID != p.name // each player is a principal
	switch a := a.(type) {
	case ahp.TerminalInput:
		if foreign || before.Claim.Kind == ahp.ClaimSession && p.operates {
			g.t.Fatalf("%s typed into a terminal held by %+v", p.name, before.Claim)
		}
	case ahp.TerminalResized, ahp.TerminalTitleChanged, ahp.TerminalCleared:
		if foreign && !p.operates {
			g.t.Fatalf("%s: %T on a terminal held by %+v", p.name, a, before.Claim)
		}
	case ahp.TerminalClaimed:
		if foreign && !p.operates || a.Claim.Kind == ahp.ClaimClient && a.Claim.ClientID != p.name {
			g.t.Fatalf("%s claimed %+v from %+v", p.name, a.Claim, before.Claim)
		}
		if after.Claim.Kind != a.Claim.Kind || after.Claim.Session != a.Claim.Session || after.Claim.ClientID != a.Claim.ClientID {
			g.t.Fatalf("%s claimed %+v and %+v came of it", p.name, a.Claim, after.Claim)
		}
		return
	default:
		g.t.Fatalf("%s: %+v was accepted", p.name, a)
	}
	if before.Claim != after.Claim || !own && !p.operates && before.Claim.Kind == ahp.ClaimClient {
		g.t.Fatalf("%s: %T moved the claim from %+v to %+v", p.name, a, before.Claim, after.Claim)
	}
}

// state is a terminal's, without its content, by the first observer.
func (g *game) state(uri ahp.URI) ahp.TerminalState {
	o := g.observers[0]
	o.sync()
	if f := o.terms[uri]; f != nil {
		return f.term.Shape()
	}
	return ahp.TerminalState{}
}

// sync takes everything that the host has sent by now, and counts answers.
func (p *player) sync() {
	p.t.Helper()
	p.request(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil, func(e ahp.Envelope) {
		switch {
		case e.Origin != nil && e.Origin.ClientID == p.name:
			p.answers[e.Origin.ClientSeq]++
			p.refused[e.Origin.ClientSeq] = e.RejectionReason != ""
		case e.RejectionReason != "":
			p.t.Fatalf("%s hears of a refusal: %+v", p.name, e)
		}
	})
}

// observer folds everything.
type observer struct {
	*peer
	root  ahp.RootState
	terms map[ahp.URI]*fold
}

func (g *game) observe(name, version string) *observer {
	o := &observer{peer: g.w.connect(name), terms: map[ahp.URI]*fold{}}
	var r ahp.InitializeResult
	o.must(ahp.MethodInitialize, ahp.InitializeParams{
		Channel: ahp.RootURI, ProtocolVersions: []string{version}, ClientID: name, InitialSubscriptions: []ahp.URI{ahp.RootURI},
	}, &r)
	if err := json.Unmarshal(r.Snapshots[0].State, &o.root); err != nil {
		g.t.Fatal(err)
	}
	return o
}

func (o *observer) fold(e ahp.Envelope) {
	switch f := o.terms[e.Channel]; {
	case e.RejectionReason != "" || e.Origin != nil && e.Origin.ClientID == o.name:
		o.t.Fatalf("%s hears of a refusal, or of what it did not do: %+v", o.name, e)
	case e.Channel == ahp.RootURI:
		o.root = ahp.ReduceRoot(o.root, e.Action)
	case f != nil:
		if _, ok := e.Action.(ahp.TerminalInput); ok {
			o.t.Fatalf("%s hears what was typed", o.name)
		}
		f.apply(e)
	}
}

func (o *observer) see(uri ahp.URI) {
	var r ahp.SubscribeResult
	o.request(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: uri}, &r, o.fold)
	o.terms[uri] = o.starting(*r.Snapshot)
}

func (o *observer) sync() {
	o.request(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil, o.fold)
}

// compare holds what the observers have folded against what the host says.
func (g *game) compare(when string) {
	for _, o := range g.observers {
		s := o.resubscribe(o.fold)
		s.Terminals, o.root.Terminals = append([]ahp.TerminalInfo{}, s.Terminals...), append([]ahp.TerminalInfo{}, o.root.Terminals...)
		if !reflect.DeepEqual(s, o.root) {
			g.t.Fatalf("%s, %s has the root\n%+v\nthe host\n%+v", when, o.name, o.root, s)
		}
		for uri, f := range o.terms {
			var r ahp.SubscribeResult
			o.request(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: uri}, &r, o.fold)
			if got, want := f.look(), o.starting(*r.Snapshot).look(); got != want {
				g.t.Fatalf("%s, %s has of %s\n%s\nthe host\n%s", when, o.name, uri, got, want)
			}
		}
	}
}
