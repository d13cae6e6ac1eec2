package host_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/agent"
	"tandemux/host/agent/acp"
)

const (
	forge  = "https://forge.example"
	secret = "gho_0123456789secret"
)

// forgeAgent is an agent that needs a token for forge, and writes what it is started with
// into a file.
func forgeAgent(t *testing.T, file string, base ...string) *acp.Provider {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := acp.New(acp.Config{
		ID: "forge", Version: "test",
		Command: []string{"/bin/sh", "-c", `echo "token=$FORGE_TOKEN" >> "$1"; exec "$0"`, self, file},
		Environ: func() []string { return append(os.Environ(), base...) },
		Env:     []agent.Var{{Name: roleEnv, Value: "agent"}, {Name: "ACPTEST_SCRIPT", Value: "prompt\nsay done"}, {Name: "GORACE", Value: "atexit_sleep_ms=0"}},
		Resource: &agent.Resource{
			URI: forge, Name: "Forge", Servers: []string{"https://login.example"}, Scopes: []string{"read"}, Variable: "FORGE_TOKEN", Required: true,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type give struct {
	Channel   ahp.URI `json:"channel"`
	Resource  string  `json:"resource"`
	Token     string  `json:"token"`
	ExpiresIn float64 `json:"expiresIn,omitempty"`
}

// wants checks that an error asks for a token for forge, as AHP has it.
func wants(t *testing.T, what string, err error) {
	t.Helper()
	if ahp.CodeOf(err) != ahp.CodeAuthRequired {
		t.Fatalf("%s: %v; want AuthRequired", what, err)
	}
	text, err := json.Marshal(ahp.FromRPC(err).Data)
	want := `{"resources":[{"resource":"https://forge.example","resource_name":"Forge","authorization_servers":["https://login.example"],"scopes_supported":["read"],"required":true}]}`
	if err != nil || !sameValue(string(text), want) {
		t.Errorf("%s: the data are %s, want %s", what, text, want)
	}
}

func sameValue(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	one, err := json.Marshal(x)
	two, err2 := json.Marshal(y)
	return err == nil && err2 == nil && string(one) == string(two)
}

// TestAuthenticate: an agent's protected resource is advertised, its sessions want a token,
// which reaches that agent alone, for who gave it alone, and is nowhere else.
func TestAuthenticate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "started")
	other := newScripted("other")
	w := start(t, withAgents(other), func(c *host.Config) { c.Agents = append(c.Agents, forgeAgent(t, file)) })
	a := w.connect("a")
	a.initialize()
	var root ahp.RootState
	decodeState(t, a.subscribe(ahp.RootURI), &root)
	text, err := json.Marshal(root.Agents[1].ProtectedResources)
	if err != nil || !strings.Contains(string(text), `"resource":"https://forge.example"`) || strings.Contains(string(text), "FORGE_TOKEN") || root.Agents[0].ProtectedResources != nil {
		t.Errorf("the root says %s, and of the other %s", text, root.Agents[0].ProtectedResources)
	}
	phone := w.connectTCP("phone", w.token("session", "terminal:read").Token)
	phone.initialize()
	reader := w.connectTCP("reader", w.token("terminal:read").Token)
	reader.initialize()

	session := func(p *peer, uri ahp.URI) error {
		return p.call(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: uri, Provider: "forge", Meta: &ahp.SessionMeta{Chat: "ahp-chat:" + strings.TrimPrefix(uri, "ahp-session:")}}, nil)
	}
	authenticate := func(p *peer, g give) error {
		g.Channel = ahp.RootURI
		var r map[string]any
		err := p.call("authenticate", g, &r)
		if err == nil && (r == nil || len(r) != 0) {
			t.Errorf("authenticate answers %v, want {}", r)
		}
		return err
	}
	wants(t, "a session without a token", session(a, "ahp-session:/none"))
	if err := authenticate(a, give{Resource: forge + "/", Token: secret}); ahp.CodeOf(err) != ahp.CodeInvalidParams {
		t.Errorf("an unknown resource: %v", err)
	}
	wants(t, "a token with a newline", authenticate(a, give{Resource: forge, Token: secret + "\n"}))
	wants(t, "a token that has expired", authenticate(a, give{Resource: forge, Token: secret, ExpiresIn: -1}))
	wants(t, "a session after bad tokens", session(a, "ahp-session:/none"))
	if err := authenticate(reader, give{Resource: forge, Token: secret}); ahp.CodeOf(err) != ahp.CodePermissionDenied {
		t.Errorf("by one that may only read: %v", err)
	}

	if err := authenticate(a, give{Resource: forge, Token: secret}); err != nil {
		t.Fatal(err)
	}
	wants(t, "another principal's session", session(phone, "ahp-session:/phone"))
	if err := session(a, "ahp-session:/1"); err != nil {
		t.Fatal(err)
	}
	started := func() string {
		b, err := os.ReadFile(file)
		if err != nil {
			return ""
		}
		return string(b)
	}
	until(t, "the agent has the token", func() bool { return started() == "token="+secret+"\n" })
	b := w.connect("b")
	b.initialize()
	var state ahp.SessionState
	until(t, "the session is ready", func() bool {
		decodeState(t, b.subscribe("ahp-session:/1"), &state)
		return state.Lifecycle == ahp.LifecycleReady
	})
	b.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: theSession, Provider: "other"}, nil)
	until(t, "the other agent is open", func() bool { return other.opens.Load() == 1 })
	other.mu.Lock()
	if len(other.env) != 0 {
		t.Errorf("the other agent has %v", other.env)
	}
	other.mu.Unlock()

	for name, text := range map[string]string{"log": w.log.String(), "audit log": readAll(t, filepath.Join(w.dir, "state")), "runtime directory": readAll(t, filepath.Join(w.dir, "run"))} {
		if strings.Contains(text, secret) {
			t.Errorf("the %s has the token", name)
		}
	}
	if !strings.Contains(readAll(t, filepath.Join(w.dir, "state")), `authenticate`) {
		t.Error("the audit log does not say that there was one")
	}

	// Revoked: the agent ends, and its next start wants another.
	if err := authenticate(a, give{Resource: forge}); err != nil {
		t.Fatal(err)
	}
	wants(t, "a session after the token was revoked", session(a, "ahp-session:/2"))
	var chat ahp.ChatState
	a.dispatch("ahp-chat:/1", 1, ahp.ChatTurnStarted{TurnID: "t", Message: msg("hi")})
	until(t, "the turn fails", func() bool {
		decodeState(t, b.subscribe("ahp-chat:/1"), &chat)
		return len(chat.Turns) == 1
	})
	if e := chat.Turns[0].ResponseParts[len(chat.Turns[0].ResponseParts)-1].Error; e == nil || e.ErrorType != agent.KindAuthRequired {
		t.Errorf("the turn without a token: %s", asJSON(t, chat.Turns[0]))
	}
	if n := strings.Count(started(), "\n"); n != 1 {
		t.Errorf("the agent was started %d times", n)
	}
}

// TestTokenExpires: who gave a token is told when it ends, in the form of its version, and
// nobody else.
func TestTokenExpires(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) {
		c.Agents = []agent.Provider{forgeAgent(t, filepath.Join(t.TempDir(), "started"))}
	})
	a, old := w.connect("a"), w.connect("old")
	a.initialize(ahp.RootURI)
	old.must(ahp.MethodInitialize, ahp.InitializeParams{
		Channel: ahp.RootURI, ProtocolVersions: []string{"0.5.0"}, ClientID: "old", InitialSubscriptions: []ahp.URI{ahp.RootURI},
	}, nil)
	phone := w.connectTCP("phone", w.token("session", "terminal:read").Token)
	phone.initialize(ahp.RootURI)
	a.must("authenticate", give{Channel: ahp.RootURI, Resource: forge, Token: secret, ExpiresIn: 0.01}, nil)
	for p, want := range map[*peer]string{
		a:   `{"channel":"ahp-root://","reason":"expired","resource":{"resource":"https://forge.example","resource_name":"Forge","authorization_servers":["https://login.example"],"scopes_supported":["read"],"required":true}}`,
		old: `{"channel":"ahp-root://","reason":"expired","resource":"https://forge.example"}`,
	} {
		for {
			_, m, err := p.next()
			if err != nil {
				t.Fatal(err)
			}
			if m.Method == ahp.NoteAuthRequired {
				if !sameValue(string(m.Params), want) {
					t.Errorf("%s is told %s, want %s", p.name, m.Params, want)
				}
				break
			}
		}
	}
	phone.send(map[string]any{"jsonrpc": "2.0", "id": 77, "method": ahp.MethodPing, "params": map[string]any{"channel": ahp.RootURI}})
	for {
		_, m, err := phone.next()
		if err != nil {
			t.Fatal(err)
		}
		if m.Method == ahp.NoteAuthRequired {
			t.Errorf("another principal is told %s", m.Params)
		}
		if string(m.ID) == "77" {
			break
		}
	}
}

// TestTokenThatIsSet: an agent whose environment has the token wants none.
func TestTokenThatIsSet(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "started")
	w := start(t, func(c *host.Config) { c.Agents = []agent.Provider{forgeAgent(t, file, "FORGE_TOKEN=own")} })
	a := w.connect("a")
	a.initialize()
	var root ahp.RootState
	decodeState(t, a.subscribe(ahp.RootURI), &root)
	if text := string(root.Agents[0].ProtectedResources[0]); !strings.Contains(text, `"required":false`) {
		t.Errorf("the root says %s", text)
	}
	a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: theSession}, nil)
	until(t, "the agent is started with its own", func() bool {
		b, err := os.ReadFile(file)
		return err == nil && string(b) == "token=own\n"
	})
}

// readAll is the text of all files of a directory.
func readAll(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			all.Write(b)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
