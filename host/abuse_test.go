package host_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/internal/wsrpc"
)

// TestRates: who asks or acts too often is told so, is not carried out, and can
// go on later; others do not notice.
func TestRates(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) {
		// So few that a slow machine does not earn itself more while it asks.
		c.Limits.RequestRate, c.Limits.RequestBurst, c.Limits.DispatchRate, c.Limits.DispatchBurst = 2, 40, 2, 40
	})
	const uri = "ahp-terminal:/t"
	p := w.connect("p")
	p.initialize()
	p.create(uri, "cat")
	refused := 0
	for range 300 {
		err := p.call(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
		switch {
		case err == nil:
		case ahp.CodeOf(err) == ahp.CodeConflict && strings.Contains(err.Error(), "slow down"):
			refused++
		default:
			t.Fatal(err)
		}
	}
	if refused < 100 || refused > 290 {
		t.Errorf("%d of 300 requests at once were refused", refused)
	}
	for i := range int64(300) {
		p.dispatch(uri, i+1, ahp.TerminalTitleChanged{Title: fmt.Sprint("title ", i+1)})
	}
	last, denied, again := "", 0, int64(0)
	for i := range int64(300) {
		switch e := p.echo(i + 1); {
		case e.RejectionReason == "":
			last = e.Action.(ahp.TerminalTitleChanged).Title
		case strings.Contains(e.RejectionReason, "slow down"):
			denied, again = denied+1, i+1
		default:
			t.Fatal(e)
		}
	}
	if denied < 100 || denied > 290 {
		t.Errorf("%d of 300 actions at once were refused", denied)
	}
	q := w.connect("q")
	q.initialize()
	if s := q.subscribe(uri); !strings.Contains(string(s.State), fmt.Sprintf("%q", last)) {
		t.Errorf("the last title accepted was %q, the state is %s", last, s.State)
	}
	// What was refused for its haste may be sent again, under its number.
	w.until("it may act again", func() bool {
		p.dispatch(uri, again, ahp.TerminalTitleChanged{Title: "again"})
		return p.echo(again).RejectionReason == ""
	})
}

// TestNothingLeaks: the host's logs, at their most talkative, and the audit log
// hold nothing that was typed, shown or read, no environment, no argument and no
// secret of a token (docs/contributing/decisions.md §3).
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	log := &syncBuffer{}
	var dir string
	w := start(t, func(c *host.Config) {
		c.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug - 4, AddSource: true}))
		c.Roots = []string{c.State}
		dir = c.State
	})
	if err := os.WriteFile(filepath.Join(dir, "letter"), []byte("leak-file"), 0o600); err != nil {
		t.Fatal(err)
	}
	token := w.token()
	const uri = "ahp-terminal:/t"
	p := w.connectTCP("p", token.Token)
	p.initialize(ahp.RootURI)
	p.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "p"}, Name: "leak-name",
		Meta: &ahp.CreateMeta{Env: map[string]string{"LEAK": "leak-env"}, Command: []string{
			"sh", "-c", `printf '\033]2;leak-title\007leak-shown\n'; : leak-argument; while read l; do eval "$l"; done`,
		}},
	}, nil)
	p.subscribe(uri)
	p.output(uri, "leak-shown")
	seq := int64(0)
	act := func(a ahp.Action) {
		seq++
		p.dispatch(uri, seq, a)
		p.echo(seq)
	}
	act(ahp.TerminalInput{Data: "leak-typed; printf '\\033]7;file:///leak-cwd\\007\\033]133;C\\007leak-command'\n"})
	act(ahp.TerminalTitleChanged{Title: "leak-renamed\x00"})
	act(ahp.TerminalClaimed{Claim: ahp.Claim{Kind: "nobody"}})
	p.sendRaw(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"` + uri + `","clientSeq":50,"action":{"type":"terminal/input","data":["leak-list"]}}}`)
	p.sendRaw(`{"jsonrpc":"2.0","method":"dispatchAction","params":{"leak-params"`)
	p.sendRaw(`leak-rubbish`)
	p.sendRaw(`{"jsonrpc":"2.0","method":"leak-notification","params":{"a":"leak-member"}}`)
	p.sendRaw(`{"jsonrpc":"2.0","id":1000,"method":"initialize","params":{"clientId":"leak-client","token":"leak-token"}}`)
	p.sendRaw(`{"jsonrpc":"2.0","id":1001,"method":"authenticate","params":{"resource":"https://x","token":"leak-bearer"}}`)
	var read struct{ Data string }
	p.must("resourceRead", map[string]any{"channel": ahp.RootURI, "uri": "file://" + filepath.Join(dir, "letter")}, &read)
	if read.Data != "leak-file" {
		t.Fatalf("the file holds %q", read.Data)
	}
	var text ahp.ReadResult
	p.must(ahp.MethodRead, ahp.ReadParams{Channel: uri, What: ahp.ReadRaw}, &text)
	q := w.connect("q")
	q.initialize()
	q.subscribe(uri)
	q.dispatch(uri, 1, ahp.TerminalInput{Data: "leak-refused"})
	q.echo(1)
	p.must(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: uri}, nil)
	if _, err := w.try("x", wsrpc.Target{URL: "ws://" + w.tcp.Addr().String() + "/ahp", Token: "tandemux_leak-wrong-token"}); err == nil {
		t.Error("a wrong token was let in")
	}
	w.admin.must(ahp.MethodTokenRevoke, ahp.TokenRevokeParams{Channel: ahp.RootURI, ID: token.ID}, nil)
	w.shutdown()
	audit, err := os.ReadFile(filepath.Join(dir, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"host's log": log.String(), "audit log": string(audit)} {
		if len(text) < 100 {
			t.Errorf("the %s is all but empty: %q", name, text)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "leak") || strings.Contains(line, token.Token) {
				t.Errorf("the %s says %s", name, line)
			}
		}
	}
}

// TestLayoutPlaces: a token that may not write layouts cannot take all places.
func TestLayoutPlaces(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) { c.Limits.Layouts = 4 })
	reader := w.connectTCP("reader", w.token("terminal:read").Token)
	reader.initialize()
	for i := range 4 {
		err := reader.call(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: fmt.Sprint("x-tandemux-layout:/", i)}, nil)
		if want := map[bool]int{true: 0, false: ahp.CodeConflict}[i < 2]; ahp.CodeOf(err) != want {
			t.Errorf("the reader's layout %d: %v", i, err)
		}
	}
	p := w.connect("p")
	p.initialize()
	p.subscribe("x-tandemux-layout:/2")
	p.subscribe("x-tandemux-layout:/3")
	reader.subscribe("x-tandemux-layout:/3") // it is there
}
