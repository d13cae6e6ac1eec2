package ptyws_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/internal/hosttest"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/soak"
	"tandemux/internal/wsrpc"
)

func TestMain(m *testing.M) { os.Exit(hosttest.Main(m)) }

type object = map[string]any

// socket is a client of /pty.
type socket struct {
	*hosttest.Machine
	ws jsonrpc.Transport

	mu   sync.Mutex
	got  []object
	text map[string][]byte // output by terminal
	err  error
}

func dial(w *hosttest.Machine, addr, token, query string) *socket {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ws, err := wsrpc.Dial(ctx, wsrpc.Target{URL: "ws://" + addr + "/pty" + query, Token: token})
	w.Must(err)
	s := &socket{Machine: w, ws: ws, text: map[string][]byte{}}
	w.Cleanup(func() { ws.Close(1000, "") })
	go func() {
		for {
			msg, err := ws.Read(context.Background())
			s.mu.Lock()
			if err != nil {
				s.err = err
				s.mu.Unlock()
				return
			}
			var o object
			json.Unmarshal(msg, &o) //nolint:errcheck // the assertions find it
			if o["type"] == "pty:output" {
				id := o["id"].(string)
				s.text[id] = append(s.text[id], o["data"].(string)...)
			} else {
				s.got = append(s.got, o)
			}
			s.mu.Unlock()
		}
	}()
	return s
}

func (s *socket) send(o object) {
	s.Helper()
	b, err := json.Marshal(o)
	s.Must(err)
	s.raw(string(b))
}

func (s *socket) raw(msg string) {
	s.Helper()
	s.Must(s.ws.Write(context.Background(), []byte(msg)))
}

// expect waits for a message with these members, and gives it.
func (s *socket) expect(want object) (found object) {
	s.Helper()
	b, _ := json.Marshal(want)
	s.Eventually(string(b), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, o := range s.got {
			if covers(o, want) {
				found = o
				s.got = append(s.got[:i:i], s.got[i+1:]...)
				return true
			}
		}
		return false
	})
	return found
}

func covers(o, want object) bool {
	for k, v := range want {
		if inner, ok := v.(object); ok {
			if got, ok := o[k].(object); !ok || !covers(got, inner) {
				return false
			}
			continue
		}
		if o[k] != v {
			return false
		}
	}
	return true
}

// output waits for want, for as long as there is more to look through.
func (s *socket) output(id, want string) {
	s.Helper()
	for seen, found := 0, false; !found; {
		s.Eventually(want, func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			text := s.text[id]
			found = bytes.Contains(text[max(0, seen-len(want)):], []byte(want))
			more := len(text) > seen
			seen = len(text)
			return found || more
		})
	}
}

// request sends an HTTP request with the token.
func request(w *hosttest.Machine, method, url, token, body string) (int, string) {
	w.Helper()
	r, err := http.NewRequest(method, url, bytes.NewReader([]byte(body)))
	w.Must(err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	got, err := http.DefaultClient.Do(r)
	w.Must(err)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	w.Must(err)
	return got.StatusCode, string(text)
}

func spawn(w *hosttest.Machine, addr, token, body string) string {
	w.Helper()
	status, text := request(w, "POST", "http://"+addr+"/pty/spawn", token, body)
	var got object
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != 200 {
		w.Fatalf("spawn: status %d, %s", status, text)
	}
	if got["owner"] != "user" || got["visible"] != true { // T35
		w.Errorf("spawned: %v", got)
	}
	return got["id"].(string)
}

// TestUserTerminal walks a user's terminal through its life (T25–T32, T35, T36).
func TestUserTerminal(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	addr, token := w.Listen(), w.Token()
	early := dial(w, addr, token, "")
	early.send(object{"type": "pty:attach", "id": "pty-never"})
	early.expect(object{"type": "pty:error", "id": "pty-never", "error": "Session not found"})
	id := spawn(w, addr, token, `{"cwd":"/","command":["sh","-c","echo first; while read x; do echo got $x; stty size; done; exit 7"]}`)
	early.expect(object{"type": "terminal", "event": "created", "terminal": object{"id": id, "owner": "user", "cwd": "/"}})
	w.Eventually("it has printed", func() bool { return strings.Contains(w.Tandemux("read", strings.TrimPrefix(id, "pty-")), "first") })

	s := dial(w, addr, token, "")
	s.send(object{"type": "pty:attach", "id": id})
	if o := s.expect(object{"type": "pty:attached", "id": id}); o["history"] != "first\r\n" {
		t.Errorf("attached: %v", o)
	}
	s.send(object{"type": "pty:input", "id": id, "data": "hello\n"})
	s.output(id, "got hello")
	s.send(object{"type": "pty:resize", "id": id, "cols": 101, "rows": 33})
	s.send(object{"type": "pty:input", "id": id, "data": "size\n"})
	s.output(id, "33 101")

	s.send(object{"type": "pty:detach", "id": id})
	s.send(object{"type": "pty:attach", "id": "pty-never"}) // answered behind the detach
	s.expect(object{"type": "pty:error", "id": "pty-never"})
	early.send(object{"type": "pty:attach", "id": id})
	early.expect(object{"type": "pty:attached", "id": id})
	early.send(object{"type": "pty:input", "id": id, "data": "late\n"})
	early.output(id, "got late")
	s.mu.Lock()
	if bytes.Contains(s.text[id], []byte("late")) {
		t.Error("output after pty:detach")
	}
	s.mu.Unlock()

	if _, text := request(w, "GET", "http://"+addr+"/pty", token, ""); !strings.Contains(text, `"id":"`+id+`"`) {
		t.Errorf("list: %s", text)
	}
	early.send(object{"type": "pty:input", "id": id, "data": "\x04"})
	early.expect(object{"type": "pty:exit", "id": id, "exitCode": 7.0})
	early.expect(object{"type": "terminal", "event": "closed", "terminal": object{"id": id}})
	if _, text := request(w, "GET", "http://"+addr+"/pty", token, ""); strings.TrimSpace(text) != "[]" {
		t.Errorf("list after the exit: %s", text)
	}
	// It has ended by a signal (docs/contributing/decisions.md §5).
	id = spawn(w, addr, token, `{"command":["sleep","1000"]}`)
	early.send(object{"type": "pty:attach", "id": id})
	early.expect(object{"type": "pty:attached", "id": id})
	early.send(object{"type": "pty:input", "id": id, "data": "\x03"})
	early.expect(object{"type": "pty:exit", "id": id, "exitCode": 130.0})
}

// TestAgentTerminal: events of an agent's terminal; no typing into it (T27, T33,
// T34, T37).
func TestAgentTerminal(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	addr, token := w.Listen(), w.Token()
	s := dial(w, addr, token, "?output=1")
	s.send(object{"type": "pty:attach", "id": "pty-never"})
	s.expect(object{"type": "pty:error"})
	call := func(tool, args string) string {
		r, err := http.NewRequest("POST", "http://"+addr+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+args+`}}`))
		w.Must(err)
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		got, err := http.DefaultClient.Do(r)
		w.Must(err)
		defer got.Body.Close()
		b, err := io.ReadAll(got.Body)
		w.Must(err)
		return string(b)
	}
	call("spawn_background_terminal", `{"command":["sh","-c","while read x; do echo got $x; done"]}`)
	created := s.expect(object{"type": "terminal", "event": "created", "terminal": object{"owner": "agent", "visible": false}})
	id := created["terminal"].(object)["id"].(string)
	s.send(object{"type": "pty:input", "id": id, "data": "x\n"})
	s.expect(object{"type": "pty:error", "id": id, "error": "Input is for user terminals only"})
	s.send(object{"type": "pty:resize", "id": id, "cols": 50, "rows": 10})
	s.expect(object{"type": "pty:error", "id": id, "error": "Input is for user terminals only"})
	call("send_input", `{"terminalId":"`+id+`","text":"hello","keys":["enter"]}`)
	if o := s.expect(object{"type": "terminal", "event": "output", "terminal": object{"id": id}}); !strings.Contains(o["output"].(string), "hello") {
		t.Errorf("output: %v", o)
	}
	call("promote_terminal", `{"terminalId":"`+id+`"}`)
	s.expect(object{"type": "terminal", "event": "promoted", "terminal": object{"id": id, "owner": "user", "visible": true}})
	if text := call("send_input", `{"terminalId":"`+id+`","text":"x"}`); !strings.Contains(text, "you do not hold") {
		t.Errorf("the agent types after promotion: %s", text)
	}
	call("spawn_background_terminal", `{"command":["sleep","1000"]}`)
	created = s.expect(object{"type": "terminal", "event": "created", "terminal": object{"owner": "agent"}})
	id = created["terminal"].(object)["id"].(string)
	call("kill_terminal", `{"terminalId":"`+id+`"}`)
	s.expect(object{"type": "terminal", "event": "closed", "terminal": object{"id": id}}) // T23
}

// TestPromotedWhileAttached: who is attached when an agent's terminal is promoted may type
// from then on (T27, T37; docs/contributing/decisions.md §2), and is told of its end before
// the list is, also where a signal was it (T36).
func TestPromotedWhileAttached(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	addr, token := w.Listen(), w.Token()
	s := dial(w, addr, w.Token(), "")
	call := func(tool, args string) {
		status, text := request(w, "POST", "http://"+addr+"/mcp", token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+args+`}}`)
		if status != 200 || strings.Contains(text, `"isError":true`) {
			t.Fatalf("%s: %d %s", tool, status, text)
		}
	}
	call("spawn_background_terminal", `{"command":["sh","-c","while read x; do echo got $x; done"]}`)
	created := s.expect(object{"type": "terminal", "event": "created"})
	id := created["terminal"].(object)["id"].(string)
	s.send(object{"type": "pty:attach", "id": id})
	s.expect(object{"type": "pty:attached", "id": id})
	call("promote_terminal", `{"terminalId":"`+id+`"}`)
	s.expect(object{"type": "terminal", "event": "promoted"})
	s.send(object{"type": "pty:input", "id": id, "data": "mine\n"})
	s.Eventually("what was typed is answered", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return bytes.Contains(s.text[id], []byte("got mine"))
	})
	s.send(object{"type": "pty:input", "id": id, "data": "\x03"})
	s.Eventually("both ends are told", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		exited := -1
		for i, o := range s.got {
			switch {
			case o["type"] == "pty:exit":
				exited = i
			case o["event"] == "closed":
				if exited < 0 {
					t.Errorf("closed was told before pty:exit: %v", s.got)
				}
				return true
			}
		}
		return false
	})
}

// TestRefused: what is no message, and who may not.
func TestRefused(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	addr, token := w.Listen(), w.Token()
	s := dial(w, addr, token, "")
	for msg, want := range map[string]string{
		`nonsense`:                        "the message is not JSON of the expected form",
		`{"type":"pty:attach","id":7}`:    "the message is not JSON of the expected form",
		`{"type":"pty:explode","id":"a"}`: "unknown message type",

		`{"type":"pty:resize","id":"pty-x","cols":1,"rows":1}`: "Session not found",
	} {
		s.raw(msg)
		s.expect(object{"type": "pty:error", "error": want})
	}
	mine := strings.TrimSpace(w.Tandemux("new", "--background", "--", "cat"))
	reader := dial(w, addr, w.Token("--scope", "terminal:read"), "")
	reader.send(object{"type": "pty:attach", "id": "pty-" + mine})
	reader.expect(object{"type": "pty:attached"})
	reader.send(object{"type": "pty:input", "id": "pty-" + mine, "data": "x"})
	if o := reader.expect(object{"type": "pty:error"}); !strings.Contains(o["error"].(string), "terminal:input") {
		t.Errorf("%v", o)
	}
	s.send(object{"type": "pty:input", "id": "pty-" + mine, "data": "x"})
	if o := s.expect(object{"type": "pty:error"}); !strings.Contains(o["error"].(string), "held by") {
		t.Errorf("typing into what another holds: %v", o)
	}
	for _, c := range []struct {
		method, path, token, body string
		want                      int
	}{
		{"GET", "/pty", "", "", 401},
		{"GET", "/pty", token + "x", "", 401},
		{"POST", "/pty", token, "", 405},
		{"GET", "/pty/spawn", token, "", 405},
		{"POST", "/pty/spawn", token, "{", 400},
		{"POST", "/pty/spawn", token, `{"cwd":"relative"}`, 400},
		{"POST", "/pty/spawn", token, `{"cwd":"/no/such"}`, 404},
		{"POST", "/pty/spawn", token, `{"cols":100000}`, 400},
		{"POST", "/pty/spawn", token, `{"title":"` + strings.Repeat("x", 2<<20) + `"}`, 413},
	} {
		if got, text := request(w, c.method, "http://"+addr+c.path, c.token, c.body); got != c.want {
			t.Errorf("%s %s %.40s: status %d, want %d: %.200s", c.method, c.path, c.body, got, c.want, text)
		}
	}
}

// TestSlowReader: a client that never reads costs nobody anything.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	addr, token := w.Listen(), w.Token()
	id := spawn(w, addr, token, `{"command":["sh","-c","read x; seq 1 `+fmt.Sprint(soak.Short(600_000, 1_500_000))+`; echo the end; read x"]}`)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	stuck, err := wsrpc.Dial(ctx, wsrpc.Target{URL: "ws://" + addr + "/pty", Token: token})
	w.Must(err)
	defer stuck.Close(1000, "")
	w.Must(stuck.Write(ctx, []byte(`{"type":"pty:attach","id":"`+id+`"}`)))
	s := dial(w, addr, token, "")
	s.send(object{"type": "pty:attach", "id": id})
	s.expect(object{"type": "pty:attached", "id": id})
	s.send(object{"type": "pty:input", "id": id, "data": "go\n"})
	s.output(id, "the end")
}
