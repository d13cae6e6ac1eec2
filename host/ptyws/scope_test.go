package ptyws_test

import (
	"slices"
	"strings"
	"testing"

	"tandemux/internal/hosttest"
)

// TestScopes: what each request and message may do for tokens of each set of
// scopes.
func TestScopes(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	addr := w.Listen()
	const (
		read, create, input, claim = "terminal:read", "terminal:create", "terminal:input", "terminal:claim"
	)
	requests := []struct {
		method, path, body string
		needs              []string
	}{
		{"GET", "/pty", "", []string{read}},
		{"POST", "/pty/spawn", `{"command":["cat"]}`, []string{read, create}},
	}
	messages := []struct {
		kind, answer string
		more         object
		needs        []string // besides create, for the terminal, and read, for the socket
	}{
		{"pty:attach", "pty:attached", nil, nil},
		{"pty:resize", "", object{"cols": 90, "rows": 20}, []string{input}},
		{"pty:input", "", object{"data": "hello\n"}, []string{input}},
		{"pty:detach", "", nil, nil},
	}
	for _, scopes := range [][]string{
		{read}, {create}, {input}, {claim}, {read, create}, {read, create, input}, {read, create, claim}, {read, create, input, claim},
	} {
		name := strings.ReplaceAll(strings.Join(scopes, "+"), "terminal:", "")
		t.Run(name, func(t *testing.T) {
			token := w.Token("--scope", strings.Join(scopes, ","))
			has := func(needs []string) bool {
				return !slices.ContainsFunc(needs, func(s string) bool { return !slices.Contains(scopes, s) })
			}
			for _, r := range requests {
				status, text := request(w, r.method, "http://"+addr+r.path, token, r.body)
				if (status == 200) != has(r.needs) || status != 200 && (status != 403 || !strings.Contains(text, "lacks the scope")) {
					t.Errorf("%s %s: %d %s", r.method, r.path, status, text)
				}
			}
			if !has([]string{read, create}) {
				return
			}
			s := dial(w, addr, token, "")
			id := spawn(w, addr, token, `{"command":["cat"]}`)
			for _, msg := range messages {
				o := object{"type": msg.kind, "id": id}
				for k, v := range msg.more {
					o[k] = v
				}
				s.send(o)
				switch {
				case !has(msg.needs):
					if e := s.expect(object{"type": "pty:error", "id": id}); !strings.Contains(e["error"].(string), "lacks the scope") {
						t.Errorf("%s: %v", msg.kind, e)
					}
				case msg.answer != "":
					s.expect(object{"type": msg.answer, "id": id})
				case msg.kind == "pty:input":
					s.output(id, "hello")
				}
			}
			s.send(object{"type": "pty:attach", "id": "pty-never"}) // All before was taken without another error.
			if e := s.expect(object{"type": "pty:error"}); e["id"] != "pty-never" {
				t.Errorf("%v", e)
			}
		})
	}
	w.Tandemux("new", "--name", "mine", "--", "sh", "-c", "exec cat # hunter2")
	if _, text := request(w, "GET", "http://"+addr+"/pty", w.Token("--scope", read), ""); !strings.Contains(text, "mine") || strings.Contains(text, "hunter2") {
		t.Errorf("listed for who holds nothing: %s", text)
	}
	// Without the right to look there is nothing that a socket could do.
	for _, scope := range []string{create, input, claim} {
		if status, _ := request(w, "GET", "http://"+addr+"/pty", w.Token("--scope", scope), ""); status != 403 {
			t.Errorf("a token with %s lists terminals: %d", scope, status)
		}
	}
}
