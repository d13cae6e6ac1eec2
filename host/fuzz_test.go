package host_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"tandemux/ahp"
)

// FuzzConversation sends lines as messages. Whatever they are, each request is
// answered at most once, nobody else is harmed, and what an observer folds from
// the actions is the host's own state.
func FuzzConversation(f *testing.F) {
	files, err := filepath.Glob("testdata/conformance/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for i, file := range files {
		if i%4 > 0 && testing.Short() {
			continue
		}
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var b strings.Builder
		for _, s := range a.Files {
			if strings.HasPrefix(s.Name, "client ") {
				b.WriteString(strings.Join(joined(string(s.Data)), "\n") + "\n")
			}
		}
		f.Add(b.String())
	}
	w := start(f)
	n := 0
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 64<<10 {
			return
		}
		w.t = t
		n++
		o := w.connect(fmt.Sprintf("observer-%d", n))
		init := o.initialize(ahp.RootURI)
		var root ahp.RootState
		if err := json.Unmarshal(init.Snapshots[0].State, &root); err != nil {
			t.Fatal(err)
		}
		p := w.connect(fmt.Sprintf("p-%d", n))
		converse(t, p, strings.Split(text, "\n"))
		p.hangUp()
		// Everything that p did has been done: o's answer comes after it.
		o.disposeAll(&root)
		o.hangUp()
	})
}

// converse sends lines and checks the answers.
func converse(t *testing.T, p *peer, lines []string) {
	asked := map[string]int{}
	sent := 0
	for _, line := range lines {
		line, id, ok := harmless(line)
		if !ok || sent == 60 {
			continue
		}
		sent++
		asked[id]++
		if p.tr.Write(t.Context(), []byte(line)) != nil {
			return // closed, as after an unacceptable version
		}
	}
	const last = "123456789"
	asked[last]++
	if p.tr.Write(t.Context(), []byte(`{"jsonrpc":"2.0","id":`+last+`,"method":"ping","params":{"channel":"ahp-root://"}}`)) != nil {
		return
	}
	for {
		raw, m, err := p.next()
		if errors.Is(err, errEnded) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if m.Method != "" {
			continue
		}
		id := string(m.ID)
		if id != "null" {
			if asked[id]--; asked[id] < 0 {
				t.Fatalf("an answer that was not asked for: %s", raw)
			}
		}
		if id == last {
			return
		}
	}
}

// harmless makes sure that a fuzzed line starts nothing but cat and stops
// nothing.
func harmless(line string) (safe, id string, ok bool) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(line), &m); err != nil || m == nil {
		return line, "", line != "" && !strings.Contains(line, "ermina") && !strings.Contains(line, `\u`)
	}
	var method string
	for k, v := range m {
		switch {
		case strings.EqualFold(k, "method"):
			if json.Unmarshal(v, &method) == nil && strings.Contains(method, "stop") {
				return "", "", false
			}
		case strings.EqualFold(k, "id"):
			id = string(v)
		}
	}
	for k, v := range m {
		var params map[string]any
		if !strings.EqualFold(k, "params") || json.Unmarshal(v, &params) != nil {
			continue
		}
		for name := range params {
			if strings.EqualFold(name, "_meta") {
				delete(params, name)
			}
		}
		if params != nil {
			params["_meta"] = map[string]any{"tandemux/command": []string{"cat"}}
		}
		m[k], _ = json.Marshal(params)
	}
	b, err := json.Marshal(m)
	return string(b), id, err == nil
}

// disposeAll disposes of all terminals and folds the root along.
func (p *peer) disposeAll(root *ahp.RootState) {
	p.t.Helper()
	fold := func(e ahp.Envelope) {
		if e.Channel == ahp.RootURI {
			*root = ahp.ReduceRoot(*root, e.Action)
		}
	}
	s := p.resubscribe(fold)
	for _, info := range s.Terminals {
		p.request(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: info.Resource}, nil, fold)
	}
	s = p.resubscribe(fold)
	if len(s.Terminals) != 0 {
		p.t.Fatalf("terminals left: %+v", s.Terminals)
	}
	s.Terminals, root.Terminals = append([]ahp.TerminalInfo{}, s.Terminals...), append([]ahp.TerminalInfo{}, root.Terminals...)
	if !reflect.DeepEqual(s, *root) {
		p.t.Fatalf("the observer has %+v, the host %+v", *root, s)
	}
}

// resubscribe gives the root's state as of now, after what came before it.
func (p *peer) resubscribe(seen func(ahp.Envelope)) ahp.RootState {
	p.t.Helper()
	var r ahp.SubscribeResult
	p.request(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: ahp.RootURI}, &r, seen)
	var s ahp.RootState
	if err := json.Unmarshal(r.Snapshot.State, &s); err != nil {
		p.t.Fatal(err)
	}
	return s
}

// request is must with an eye on the actions that come in between.
func (p *peer) request(method string, params, result any, seen func(ahp.Envelope)) {
	p.t.Helper()
	p.lastID++
	p.send(map[string]any{"jsonrpc": "2.0", "id": p.lastID, "method": method, "params": params})
	for {
		_, m, err := p.next()
		if err != nil {
			p.t.Fatal(err)
		}
		switch {
		case m.Method == ahp.MethodAction:
			var e ahp.Envelope
			if err := json.Unmarshal(m.Params, &e); err != nil {
				p.t.Fatal(err)
			}
			seen(e)
		case string(m.ID) == fmt.Sprint(p.lastID) && m.Error != nil:
			p.t.Fatalf("%s: %v", method, m.Error)
		case string(m.ID) == fmt.Sprint(p.lastID):
			if result != nil {
				if err := json.Unmarshal(m.Result, result); err != nil {
					p.t.Fatal(err)
				}
			}
			return
		}
	}
}

// FuzzUpgrade sends bytes to the TCP front. Without a token no connection comes
// of it, and the front still serves.
func FuzzUpgrade(f *testing.F) {
	const handshake = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
	f.Add("GET / HTTP/1.1\r\nHost: localhost\r\n" + handshake + "\r\n")
	f.Add("GET /ahp?tkn=tandemux_x HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer x\r\nOrigin: https://a\r\n" + handshake + "\r\n")
	f.Add("POST http://localhost/ HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello")
	f.Add("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	f.Add("\x16\x03\x01\x00\xa5\x01")
	w := start(f)
	token := w.token().Token
	addr := w.tcp.Addr().String()
	f.Fuzz(func(t *testing.T, request string) {
		if strings.Contains(request, token) {
			return
		}
		w.t = t
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(patience))
		c.Write([]byte(request))
		c.(*net.TCPConn).CloseWrite()
		if r, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusSwitchingProtocols || r.StatusCode/100 == 2 {
				t.Fatalf("status %d", r.StatusCode)
			}
		}
		if got := upgrade(t, "tcp", addr, "/", addr, "Authorization: Bearer "+token); got != 101 {
			t.Fatalf("with a token: status %d", got)
		}
	})
}
