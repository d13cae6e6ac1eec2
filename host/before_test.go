package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tandemux/ahp"
)

// TestBefore: what a terminal showed before stands above its output, in the stream
// that viewers get too, without control characters, and in no command. It is for
// the operator to give.
func TestBefore(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.connect("p")
	p.initialize()
	const uri = "ahp-terminal:/b"
	params := ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "p"},
		Meta: &ahp.CreateMeta{Command: []string{"sh", "-c", "echo now; sleep 1000"}, Before: "old\t1\x1b[2J\u009b2J\r\nline\x00 2\n"},
	}
	p.must(ahp.MethodCreateTerminal, params, nil)
	p.subscribe(uri)
	if r := p.answer(p.await(ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: "^now$", Past: true})); r.Reason != ahp.WaitMet {
		t.Fatalf("wait: %+v", r)
	}
	read := func(what string) string {
		var r ahp.ReadResult
		p.must(ahp.MethodRead, ahp.ReadParams{Channel: uri, What: what}, &r)
		return r.Text
	}
	if got, want := read(ahp.ReadHistory), "old\t1[2J2J\nline 2\nnow\n"; got != want {
		t.Errorf("history %q; want %q", got, want)
	}
	if got, want := read(ahp.ReadRaw), "old\t1[2J2J\r\nline 2\r\nnow\r\n"; got != want {
		t.Errorf("raw %q; want %q", got, want)
	}
	var state ahp.TerminalState
	if err := json.Unmarshal(p.subscribe(uri).State, &state); err != nil || len(state.Content) != 2 || state.Content[0].Value != "old\t1[2J2J\r\nline 2\r\n" || state.Content[1].Output != "now\r\n" {
		t.Errorf("content %+v, %v", state.Content, err)
	}
	params.Channel, params.Meta.Before = "ahp-terminal:/c", strings.Repeat("x", ahp.MaxBefore+1)
	if err := p.call(ahp.MethodCreateTerminal, params, nil); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("too long: %v", err)
	}
	agent := w.connect("agent")
	agent.must(ahp.MethodInitialize, ahp.InitializeParams{
		Channel: ahp.RootURI, ProtocolVersions: []string{"1.0.0"}, ClientID: "agent", Meta: &ahp.HelloMeta{Agent: &ahp.AgentMeta{Name: "guest"}},
	}, nil)
	params.Meta.Before, params.Claim = "x", ahp.Claim{Kind: ahp.ClaimSession, Session: "x-tandemux-agent:/agent"}
	if err := agent.call(ahp.MethodCreateTerminal, params, nil); err == nil || !strings.Contains(err.Error(), "operates") {
		t.Errorf("by an agent on the operator's socket: %v", err)
	}
	params.Claim = ahp.Claim{Kind: ahp.ClaimClient}
	q := w.connectTCP("q", w.token("terminal:create", "terminal:claim", "terminal:read").Token)
	q.initialize()
	params.Meta.Before, params.Claim.ClientID = "x", "q"
	if err := q.call(ahp.MethodCreateTerminal, params, nil); err == nil || !strings.Contains(err.Error(), "operates") {
		t.Errorf("by a token without admin: %v", err)
	}
}

// TestWaitOutput: what was shown since a mark meets it, nothing else does, and a clearing
// counts.
func TestWaitOutput(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.connect("p")
	p.initialize()
	const uri = "ahp-terminal:/o"
	p.create(uri, "sh", "-c", "stty -echo; echo ready; while read -r x; do echo $x; done")
	p.output(uri, "ready")
	wait := ahp.WaitParams{Channel: uri, Until: ahp.WaitOutput, TimeoutMs: 30}
	mark := func() {
		var m ahp.Mark
		p.must(ahp.MethodMark, ahp.MarkParams{Channel: uri}, &m)
		wait.From = &m
	}
	mark()
	if r := p.answer(p.await(wait)); r.Reason != ahp.WaitTimeout {
		t.Errorf("nothing came: %+v", r)
	}
	wait.TimeoutMs = 0
	p.dispatch(uri, 1, ahp.TerminalInput{Data: "x\n"})
	p.output(uri, "x\r\n")
	if r := p.answer(p.await(wait)); r.Reason != ahp.WaitMet {
		t.Errorf("output: %+v", r)
	}
	mark()
	id := p.await(wait)
	p.dispatch(uri, 2, ahp.TerminalCleared{})
	if r := p.answer(id); r.Reason != ahp.WaitMet {
		t.Errorf("a clearing: %+v", r)
	}
}
