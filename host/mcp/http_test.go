package mcp_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandemux/internal/hosttest"
)

// bearer adds a token to every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func overHTTP(w *hosttest.Machine, name, addr, token string) *agent {
	return connect(w, name, &mcp.StreamableClientTransport{
		Endpoint: "http://" + addr + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, DisableStandaloneSSE: true,
	})
}

// TestHTTP: the same tools at /mcp, for whoever has a token; requests of one
// token are one agent.
func TestHTTP(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	addr := w.Listen()
	token := w.Token()
	a := overHTTP(w, "cursor", addr, token)
	if r := a.get("run_command", m{"line": "echo over http"}); r["output"] != "over http\n" || r["exitCode"] != 0.0 {
		t.Errorf("%v", r)
	}
	id := a.get("spawn_background_terminal", m{"command": []string{"cat"}})["id"]
	if rows := w.Tandemux("ls"); !strings.Contains(rows, "cursor") {
		t.Errorf("the person is not told whose it is:\n%s", rows)
	}
	again := overHTTP(w, "cursor", addr, token)
	again.get("send_input", m{"terminalId": id, "text": "hello", "keys": []string{"enter"}})
	if r := again.get("wait_for", m{"terminalId": id, "until": "text", "pattern": "^hello"}); r["met"] != true {
		t.Errorf("%v", r)
	}
	other := overHTTP(w, "else", addr, w.Token())
	other.refused("Cannot kill visible or user-owned terminals", "kill_terminal", m{"terminalId": id})
	again.get("kill_terminal", m{"terminalId": id})

	// A token that may only read.
	reader := overHTTP(w, "reader", addr, w.Token("--scope", "terminal:read"))
	if n := len(reader.list()); n != 0 {
		t.Errorf("%d terminals", n)
	}
	if text, failed := reader.call("run_command", m{"line": "id"}); !failed || !strings.Contains(text, "terminal:create") {
		t.Errorf("without the scope: %s", text)
	}
	// What somebody else's runs is not told.
	w.Tandemux("new", "--name", "mine", "--", "sh", "-c", "exec cat # hunter2")
	if text, _ := reader.call("list_terminals", nil); !strings.Contains(text, "mine") || strings.Contains(text, "hunter2") {
		t.Errorf("listed: %s", text)
	}
}

// TestHTTPFront: no token, a wrong one, foreign origins and hosts, large bodies.
func TestHTTPFront(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	addr := w.Listen()
	token := w.Token()
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, c := range []struct {
		name, method, body string
		header             []string
		want               int
	}{
		{"right", "POST", list, []string{"Authorization", "Bearer " + token}, 200},
		{"no token", "POST", list, nil, 401},
		{"wrong token", "POST", list, []string{"Authorization", "Bearer " + token + "x"}, 401},
		{"foreign origin", "POST", list, []string{"Authorization", "Bearer " + token, "Origin", "https://evil.example"}, 403},
		{"null origin", "POST", list, []string{"Authorization", "Bearer " + token, "Origin", "null"}, 403},
		{"own origin", "POST", list, []string{"Authorization", "Bearer " + token, "Origin", "http://" + addr}, 200},
		{"own origin, foreign host", "POST", list, []string{"Authorization", "Bearer " + token, "Origin", "http://evil.example", "Host", "evil.example"}, 403},
		{"foreign host", "POST", list, []string{"Authorization", "Bearer " + token, "Host", "evil.example"}, 403},
		{"method", "PUT", list, []string{"Authorization", "Bearer " + token}, 405},
		{"not JSON", "POST", "{", []string{"Authorization", "Bearer " + token}, 400},
		{"large", "POST", `{"x":"` + strings.Repeat("x", 2<<20) + `"}`, []string{"Authorization", "Bearer " + token}, 413},
	} {
		r, err := http.NewRequest(c.method, "http://"+addr+"/mcp", bytes.NewReader([]byte(c.body)))
		w.Must(err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i < len(c.header); i += 2 {
			if c.header[i] == "Host" {
				r.Host = c.header[i+1]
			}
			r.Header.Set(c.header[i], c.header[i+1])
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		body, _ := io.ReadAll(got.Body)
		got.Body.Close()
		if got.StatusCode != c.want {
			t.Errorf("%s: status %d, want %d: %.200s", c.name, got.StatusCode, c.want, body)
		}
	}
}

// TestRevoke: a token that is revoked ends its agent's calls at once.
func TestRevoke(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	addr := w.Listen()
	token := w.Token()
	a := overHTTP(w, "gone", addr, token)
	done := make(chan bool)
	go func() {
		defer close(done)
		text, failed := a.try("run_command", m{"command": []string{"sleep", "1000"}})
		done <- failed || text == ""
	}()
	w.Eventually("it runs", func() bool { return strings.Contains(w.Tandemux("ls"), "sleep") })
	for _, line := range strings.Split(w.Tandemux("token", "ls"), "\n")[1:] {
		if f := strings.Fields(line); len(f) > 0 {
			w.Tandemux("token", "rm", f[0])
			break
		}
	}
	if !<-done {
		t.Error("a call of a revoked token succeeded")
	}
}
