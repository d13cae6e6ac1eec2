package host_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/agent"
)

// gated is a provider that wants somebody to log in first.
type gated struct {
	*scripted
	in *atomic.Bool
}

func (g *gated) Open(ctx context.Context, s agent.Spec) (agent.Session, error) {
	if !g.in.Load() {
		return nil, &agent.Error{Kind: agent.KindAuthRequired, Message: "log in first", Auth: g.auth}
	}
	return g.scripted.Open(ctx, s)
}

// Probe tells the ways to log in, as an agent does that has not run yet.
func (g *gated) Probe(context.Context) (agent.Info, error) {
	i := g.Info()
	i.Auth = []agent.AuthMethod{
		{ID: "key", Name: "Key", Kind: agent.AuthEnv, Variables: []string{"KEY"}},
		{ID: "pane", Name: "In a pane", Kind: agent.AuthTerminal, Command: []string{"sh", "-c", "echo as $WHO; read x; exit $x"}, Env: map[string]string{"WHO": "me"}},
		{ID: "login", Name: "By itself", Kind: agent.AuthAgent},
	}
	return i, nil
}

// The login of an agent opens a terminal that runs its command; when that has
// succeeded, the session that waits for it begins.
func TestLoginInATerminal(t *testing.T) {
	t.Parallel()
	var in atomic.Bool
	p := &gated{newScripted("scripted"), &in}
	w := start(t, func(c *host.Config) { c.Agents = []agent.Provider{p} })
	a := folder(t, w.connect("a"))
	a.initialize()
	a.subscribe(ahp.RootURI)
	a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: "ahp-session:/1", WorkingDirectories: []ahp.URI{"file://" + w.dir}}, nil)
	a.subscribe("ahp-session:/1")
	failed := func(e ahp.Envelope) bool { _, ok := e.Action.(ahp.SessionCreationFailed); return ok }
	ready := func(e ahp.Envelope) bool { _, ok := e.Action.(ahp.SessionReady); return ok }
	var state ahp.SessionState
	decodeState(t, a.subscribe("ahp-session:/1"), &state)
	if state.Lifecycle != ahp.LifecycleFailed {
		a.envelope("the failure", failed)
	}
	ask := func(method string, terminal ahp.URI) (r ahp.LoginResult, err error) {
		return r, a.call(ahp.MethodLogin, ahp.LoginParams{Channel: ahp.RootURI, Method: method, Terminal: terminal, Session: "ahp-session:/1"}, &r)
	}
	if _, err := ask("none", "ahp-terminal:/l"); ahp.CodeOf(err) != ahp.CodeNotFound || !strings.Contains(err.Error(), `["key" "pane" "login"]`) {
		t.Errorf("a way that there isn't: %v", err)
	}
	if _, err := ask("key", "ahp-terminal:/l"); ahp.CodeOf(err) != ahp.CodeConflict || !strings.Contains(err.Error(), "KEY") {
		t.Errorf("a way of the configuration: %v", err)
	}
	if err := a.call(ahp.MethodLogin, ahp.LoginParams{Channel: ahp.RootURI, Provider: "other", Session: "ahp-session:/1"}, nil); ahp.CodeOf(err) != ahp.CodeInvalidParams {
		t.Errorf("another agent's session: %v", err)
	}
	phone := w.connectTCP("phone", w.token("terminal:read", "terminal:create").Token)
	phone.initialize()
	if err := phone.call(ahp.MethodLogin, ahp.LoginParams{Channel: ahp.RootURI, Provider: "scripted"}, nil); ahp.CodeOf(err) != ahp.CodePermissionDenied {
		t.Errorf("without the scope: %v", err)
	}
	for i, answer := range []string{"1\n", "0\n"} {
		uri := ahp.URI("ahp-terminal:/login" + answer[:1])
		in.Store(i == 1)
		r, err := ask("", uri)
		if err != nil || r.Terminal != uri || r.Method.ID != "pane" || len(r.Methods) != 3 {
			t.Fatalf("%+v, %v", r, err)
		}
		a.subscribe(uri)
		a.output(uri, "as me")
		a.dispatch(uri, int64(i+1), ahp.TerminalInput{Data: answer})
		a.envelope("the end of the login", func(e ahp.Envelope) bool {
			_, ok := e.Action.(ahp.TerminalExited)
			return ok && e.Channel == uri
		})
	}
	a.envelope("the session to begin", ready)
}
