package web_test

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandemux/internal/hosttest"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/wsrpc"
)

// line opens a WebSocket as a page does.
func (p paired) line(t *testing.T, addr, path string) jsonrpc.Transport {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := wsrpc.Dial(ctx, wsrpc.Target{URL: "ws://" + addr + path + "?page=" + p.key, Header: http.Header{"Origin": {"http://" + addr}, "Cookie": {p.cookie}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(jsonrpc.CloseDone, "") })
	return c
}

// says waits for a message.
func says(t *testing.T, c jsonrpc.Transport) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	msg, err := c.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return string(msg)
}

// ends waits for the end of a connection.
func ends(t *testing.T, c jsonrpc.Transport) *jsonrpc.CloseError {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		_, err := c.Read(ctx)
		if err == nil {
			continue
		}
		closed, is := errors.AsType[*jsonrpc.CloseError](err)
		if !is {
			t.Fatalf("the connection ended with %v", err)
		}
		return closed
	}
}

// TestOtherHosts: the owner's page, with all rights, is told the names of other hosts and
// carried to them; nobody else is, and each is told how that ends.
func TestOtherHosts(t *testing.T) {
	t.Parallel()
	m := hosttest.New(t, "")
	far := hosttest.New(t, "")
	far.Tandemux("new", "--background")
	m.Tandemux("hosts", "add", "nowhere", "unix://"+filepath.Join(t.TempDir(), "none.sock"))
	addr, secret := offer(m, "--name", "desk")
	p := pair(t, addr, secret)
	_, secret = offer(m, "--name", "look", "--read-only")
	look := pair(t, addr, secret)
	_, secret = offer(m, "--name", "less", "--scope", "terminal:read,terminal:create,approve")
	less := pair(t, addr, secret)
	admin := map[string]string{"Authorization": "Bearer " + m.Token("script"), "Cookie": "", "Origin": ""}
	for _, c := range []struct {
		name string
		who  paired
		with map[string]string
		want int
	}{
		{"the owner's page", p, nil, 101},
		{"another origin", p, map[string]string{"Origin": "http://evil.example"}, 403},
		{"no origin", p, map[string]string{"Origin": ""}, 401},
		{"no key", p, map[string]string{"path": "/hosts/nowhere/ahp"}, 401},
		{"no cookie", p, map[string]string{"Cookie": ""}, 401},
		{"one that may look", look, nil, 403},
		{"a limited one", less, nil, 403},
		{"a token of no page, with all rights", p, admin, 403},
		{"no WebSocket", p, map[string]string{"Upgrade": ""}, 426},
	} {
		for _, path := range []string{"/hosts/nowhere/ahp", "/hosts/"} {
			with := map[string]string{"path": path + "?page=" + c.who.key}
			for k, v := range c.with {
				with[k] = v
			}
			if with["path"] == "/hosts/nowhere/ahp" {
				with["path"] = path
			}
			if a, _ := ask(t, addr, c.who.upgrade(addr, with)); a.status != c.want {
				t.Errorf("%s: %s: %d %s, want %d", c.name, path, a.status, a.body, c.want)
			}
		}
	}
	if a, _ := ask(t, addr, asked{"GET", "/hosts/nowhere/api/v1/tasks", "", map[string]string{"Cookie": look.cookie, "X-Tandemux-Page": look.key}}); a.status != 403 {
		t.Errorf("who may look asks for another host's tasks: %d", a.status)
	}
	for path, want := range map[string]int{
		"/hosts/nowhere/api/v1/tasks": 502, "/hosts/none/api/v1/tasks": 404, "/hosts/nowhere/api/v1/api_keys": 404,
		"/hosts/nowhere/api/v1/tasks/../api_keys": 404, "/hosts/nowhere/api/v1/tasks/%2e%2e": 502, "/hosts/nowhere/else": 404,
	} {
		if a, _ := ask(t, addr, asked{"GET", path, "", map[string]string{"Cookie": p.cookie, "X-Tandemux-Page": p.key}}); a.status != want {
			t.Errorf("%s: %d %s, want %d", path, a.status, a.body, want)
		}
	}

	names := p.line(t, addr, "/hosts/")
	if got := says(t, names); got != `["nowhere"]` {
		t.Errorf("the names are %s", got)
	}
	if got := ends(t, p.line(t, addr, "/hosts/nowhere/ahp")); got.Code != 4502 || !strings.Contains(got.Reason, "none.sock: connect: no such file") {
		t.Errorf("a host that is not there: %v", got)
	}
	if got := ends(t, p.line(t, addr, "/hosts/none/ahp")); got.Code != 4404 {
		t.Errorf("a name that there is not: %v", got)
	}

	// A name that is given while the page shows, and one that comes to mean another host.
	m.Tandemux("hosts", "add", "build", "unix://"+filepath.Join(far.Dir, "r", "tandemux", "host.sock"))
	if got := says(t, names); got != `["nowhere","build"]` {
		t.Errorf("the names are %s", got)
	}
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":"page","clientInfo":{"name":"test"}}}`
	greet := func() jsonrpc.Transport {
		t.Helper()
		c := p.line(t, addr, "/hosts/build/ahp")
		if err := c.Write(t.Context(), []byte(hello)); err != nil {
			t.Fatal(err)
		}
		if got := says(t, c); !strings.Contains(got, `"id":1`) || !strings.Contains(got, `"protocolVersion"`) {
			t.Fatalf("the other host says %s", got)
		}
		return c
	}
	c := greet()
	m.Tandemux("hosts", "rm", "build")
	if got := ends(t, c); got.Code != 4404 {
		t.Errorf("after its name is gone: %v", got)
	}
	m.Tandemux("hosts", "add", "build", "unix://"+filepath.Join(far.Dir, "r", "tandemux", "host.sock"))

	// What ends with the token.
	c = greet()
	m.Tandemux("token", "rm", p.id)
	if got := ends(t, c); got.Code != jsonrpc.CloseAway {
		t.Errorf("after the token is gone: %v", got)
	}
	for ctx := t.Context(); ; {
		if _, err := names.Read(ctx); err != nil {
			break
		}
	}
}
