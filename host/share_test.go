package host_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host"
)

// share makes a guest's token for a terminal.
func (p *peer) share(terminal string, scopes ...string) (r ahp.TokenNewResult) {
	p.t.Helper()
	p.must(ahp.MethodTokenNew, ahp.TokenNewParams{
		Channel: ahp.RootURI, Name: "ana", Terminal: terminal, Share: true, Scopes: scopes, Expires: time.Now().Add(time.Hour).UnixMilli(),
	}, &r)
	return r
}

// comes opens a guest's connection, as a browser's page does.
func (w *fixture) comes(name, token, title string, subscriptions ...string) *peer {
	w.t.Helper()
	p := w.connectTCP(name, token)
	p.must(ahp.MethodInitialize, ahp.InitializeParams{
		Channel: ahp.RootURI, ProtocolVersions: []string{"1.0.0"}, ClientID: name, InitialSubscriptions: subscriptions,
		ClientInfo: &ahp.Implementation{Name: "tandemux-web", Title: title},
	}, nil)
	return p
}

// TestShareSeesOne: a guest who only looks is refused each request and each action but
// those that look at the one terminal; nothing that the guest is told names another one,
// and nothing has changed after.
func TestShareSeesOne(t *testing.T) {
	t.Parallel()
	w := start(t)
	o := w.connect("o")
	o.initialize(ahp.RootURI)
	const mine, other = "ahp-terminal:/mine", "ahp-terminal:/withheld-other"
	o.create(mine, "sh", "-c", "echo ready; cat")
	o.create(other, "sh", "-c", "echo withheld-output; cat")
	o.subscribe("x-tandemux-layout:/withheld-layout")
	o.output(mine, "ready")
	o.output(other, "withheld-output")
	state := func() (all []any) {
		for _, uri := range []string{mine, other, "x-tandemux-layout:/withheld-layout"} {
			all = append(all, string(o.subscribe(uri).State))
		}
		var list ahp.TokenListResult
		o.must(ahp.MethodTokenList, ahp.SubscribeParams{Channel: ahp.RootURI}, &list)
		for i := range list.Items {
			list.Items[i].LastUsed = 0
		}
		return append(all, list)
	}
	g := w.comes("g", o.share(mine, "terminal:read").Token, "Firefox", ahp.RootURI, mine)
	before := state()

	looks := []string{ahp.MethodFeed, "subscribe", ahp.MethodSkim, ahp.MethodRead, ahp.MethodCommand, ahp.MethodCommands, ahp.MethodWait, ahp.MethodMark, "x-tandemux/search"}
	// A feed of what the guest was not given to feed is closed. What is answered whatever the channel is, and what that may tell.
	anyway := map[string]func(map[string]any) bool{
		ahp.MethodPing: func(r map[string]any) bool { return len(r) == 0 },
		"listSessions": func(r map[string]any) bool { return len(r["items"].([]any)) == 0 },
		ahp.MethodHost: func(r map[string]any) bool {
			return len(r["urls"].([]any)) == 0 && len(r["listen"].([]any)) == 0 && r["pid"] == 0.0 && r["terminals"] == 0.0 && r["clients"] == 0.0
		},
		"x-tandemux/search": func(r map[string]any) bool { return len(r["items"].([]any)) <= 1 },
		"resolveSessionConfig": func(r map[string]any) bool {
			text, _ := json.Marshal(r)
			return !strings.Contains(string(text), "withheld") && !strings.Contains(string(text), w.dir)
		},
	}
	channels := []string{ahp.RootURI, mine, other, "ahp-terminal:/none", "x-tandemux-layout:/withheld-layout", ahp.ActivityURI, "ahp-session:/withheld", "ahp-chat:/withheld", "file:///etc"}
	id := 100000
	for _, method := range host.Methods(w.host) {
		for _, channel := range channels {
			id++
			params := map[string]any{
				"channel": channel, "uri": "file:///etc/passwd", "what": "screen", "name": "x", "pattern": "withheld|ready", "terminal": other, "shares": mine, "id": "x",
				"until": "exit", "timeoutMs": 1, "command": "new-tab", "provider": "x", "session": "ahp-session:/withheld", "resource": "x", "commandId": "1",
			}
			g.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
			raw, m, err := g.next()
			for err == nil && string(m.ID) != fmt.Sprint(id) {
				raw, m, err = g.next()
			}
			if err != nil {
				t.Fatalf("%s on %s: %v", method, channel, err)
			}
			if strings.Contains(strings.ReplaceAll(string(raw), channel, ""), "withheld") {
				t.Errorf("%s on %s tells %s", method, channel, raw)
			}
			if m.Error != nil {
				continue
			}
			var result map[string]any
			json.Unmarshal(m.Result, &result) //nolint:errcheck // null, for some
			fits := anyway[method]
			switch {
			case channel == mine && slices.Contains(looks, method):
			case channel == ahp.RootURI && method == ahp.MethodSubscribe: // the list has the one
			case fits != nil && fits(result):
			default:
				t.Errorf("%s on %s is answered: %s", method, channel, raw)
			}
		}
	}
	seq := int64(0)
	for _, kind := range ahp.ActionTypes() {
		for _, channel := range channels {
			seq++
			g.send(map[string]any{"jsonrpc": "2.0", "method": ahp.MethodDispatchAction, "params": map[string]any{
				"channel": channel, "clientSeq": seq, "action": map[string]any{
					"type": kind, "data": "typed\n", "title": "x", "cols": 10, "rows": 5, "claim": ahp.Claim{Kind: ahp.ClaimClient, ClientID: "g"}, "terminal": other,
				},
			}})
			g.must(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil) // it was decided
		}
	}
	if after := state(); !reflect.DeepEqual(before, after) {
		t.Errorf("the guest changed something:\n%s\nwas\n%s", after, before)
	}
}

// TestShareIsSeen: the owner is told who a terminal is shared with and who looks, a guest
// who may takes it in their own name, and the end of the share ends the guest's connection
// at once: the owner's word, or the time.
func TestShareIsSeen(t *testing.T) {
	t.Parallel()
	w := start(t)
	o := w.connect("o")
	o.initialize(ahp.RootURI)
	const uri = "ahp-terminal:/mine"
	o.create(uri, "cat")
	rows := func(what string, fits func(m *ahp.TerminalMeta) bool) {
		t.Helper()
		var last any
		w.until(what, func() bool {
			m := o.rows()[uri].Meta
			last = m
			return fits(m)
		})
		_ = last
	}
	none := func(m *ahp.TerminalMeta) bool { return len(m.Shares) == 0 }
	looks := func(titles ...string) func(m *ahp.TerminalMeta) bool {
		return func(m *ahp.TerminalMeta) bool {
			return len(m.Shares) == 1 && m.Shares[0].Name == "ana" && slices.Equal(m.Shares[0].Clients, titles)
		}
	}
	for what, p := range map[string]ahp.TokenNewParams{
		"no terminal": {Share: true, Expires: time.Now().Add(time.Hour).UnixMilli()}, "no end": {Share: true, Terminal: uri},
	} {
		p.Channel, p.Name = ahp.RootURI, "x"
		if err := o.call(ahp.MethodTokenNew, p, nil); ahp.CodeOf(err) != ahp.CodeInvalidParams {
			t.Errorf("a share with %s: %v", what, err)
		}
	}
	r := o.share(uri)
	rows("it is shared, and nobody looks", looks())
	g := w.comes("g", r.Token, "Firefox on \u202eLinux\x1b[31m", ahp.RootURI, uri)
	rows("the guest looks", looks("Firefox on Linux[31m"))
	for _, info := range g.rows() {
		if len(info.Meta.Shares) > 0 {
			t.Error("the guest is told of guests")
		}
	}
	g.dispatch(uri, 1, ahp.TerminalInput{Data: "stolen\n"})
	if e := g.echo(1); e.RejectionReason == "" {
		t.Error("the guest typed without the claim")
	}
	g.dispatch(uri, 2, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "g"}})
	if e := g.echo(2); e.RejectionReason != "" {
		t.Errorf("the guest may not take it: %s", e.RejectionReason)
	}
	rows("the claim names the guest", func(m *ahp.TerminalMeta) bool { return m.Holder == "ana" && m.Principal == "token:"+r.ID })
	g.dispatch(uri, 3, ahp.TerminalInput{Data: "hello\n"})
	o.output(uri, "hello")
	second := w.comes("g2", r.Token, "Safari", uri)
	rows("both look", looks("Firefox on Linux[31m", "Safari"))
	second.hangUp()
	rows("one has gone", looks("Firefox on Linux[31m"))

	o.must(ahp.MethodTokenRevoke, ahp.TokenRevokeParams{Channel: ahp.RootURI, Shares: uri}, nil)
	for {
		if _, _, err := g.next(); err != nil {
			if !strings.Contains(err.Error(), "1008") && !strings.Contains(err.Error(), "revoked") {
				t.Errorf("the guest's connection ends with %v", err)
			}
			break
		}
	}
	rows("it is not shared any more", none)
	if err := o.call(ahp.MethodTokenRevoke, ahp.TokenRevokeParams{Channel: ahp.RootURI, Shares: uri}, nil); ahp.CodeOf(err) != ahp.CodeNotFound {
		t.Errorf("a second end: %v", err)
	}

	// The time ends it, too.
	o.must(ahp.MethodTokenNew, ahp.TokenNewParams{Channel: ahp.RootURI, Name: "ana", Terminal: uri, Share: true, Expires: time.Now().Add(4 * time.Second).UnixMilli()}, &r)
	g = w.comes("g3", r.Token, "Firefox", uri)
	for {
		if _, _, err := g.next(); err != nil {
			break
		}
	}
	rows("its time is over", none)
}

// TestUnproved: whose person has not proved that they are there may allow nothing that agents
// ask for, though the token has all scopes.
func TestUnproved(t *testing.T) {
	t.Parallel()
	var proved atomic.Bool
	w := start(t, withAgents(newScripted("scripted")), func(c *host.Config) { c.Proved = func(string, bool) bool { return proved.Load() } })
	p := w.connectTCP("p", w.token().Token)
	p.initialize()
	ask := ahp.CreateSessionParams{Channel: "ahp-session:/2", Meta: &ahp.SessionMeta{Confirm: ahp.ConfirmAll}}
	if err := p.call(ahp.MethodCreateSession, ask, nil); err == nil || !strings.Contains(err.Error(), "a passkey has to confirm this first") {
		t.Errorf("unproved: %v", err)
	}
	const uri = ahp.URI("ahp-terminal:/t")
	p.create(uri, "cat")
	g := w.guest("g")
	go g.call(ahp.MethodAsk, ahp.AskParams{Channel: uri, TimeoutMs: 60000, Reason: "please", Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: "x-tandemux-agent:/g"}}, nil) //nolint:errcheck // the claim says it
	until(t, "the question", func() bool { return p.rows()[uri].Meta.Ask != nil })
	yes := ahp.AnswerParams{Channel: uri, ID: p.rows()[uri].Meta.Ask.ID, Grant: true}
	if err := p.call(ahp.MethodAnswer, yes, nil); err == nil || !strings.Contains(err.Error(), "a passkey has to confirm this first") {
		t.Errorf("unproved, to a question: %v", err)
	}
	proved.Store(true)
	p.must(ahp.MethodAnswer, yes, nil)
	if err := p.call(ahp.MethodCreateSession, ask, nil); err != nil && strings.Contains(err.Error(), "passkey") {
		t.Errorf("proved: %v", err)
	}
}
