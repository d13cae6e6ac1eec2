package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"tandemux/internal/hosttest"
)

// TestCancelOverHTTP: what a client of the protocol 2025-11-25 cancels, by a notification or
// by hanging up, is interrupted, and leaves a record; others of the same token and the same
// id go on.
func TestCancelOverHTTP(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	addr := w.Listen()
	token := w.Token()
	post := func(ctx context.Context, session, body string) (string, http.Header) {
		r, err := http.NewRequestWithContext(ctx, "POST", "http://"+addr+"/mcp", strings.NewReader(body))
		w.Must(err)
		for k, v := range map[string]string{
			"Authorization": "Bearer " + token, "Content-Type": "application/json",
			"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": session,
		} {
			r.Header.Set(k, v)
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			return err.Error(), nil
		}
		defer got.Body.Close()
		text, err := io.ReadAll(got.Body)
		if err != nil {
			return err.Error(), nil
		}
		return string(text), got.Header
	}
	begin := func() string {
		_, h := post(context.Background(), "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"ts","version":"1"}}}`)
		if h.Get("Mcp-Session-Id") == "" {
			t.Fatal("clients of one token can't be told apart")
		}
		return h.Get("Mcp-Session-Id")
	}
	call := func(line string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"run_command","arguments":{"line":%q}}}`, line)
	}
	a := overHTTP(w, "watcher", addr, token)
	runs := func(line string) func() bool {
		return func() bool {
			for _, t := range a.running() {
				if strings.Contains(fmt.Sprint(t["command"]), line) {
					return true
				}
			}
			return false
		}
	}
	one, other := begin(), begin()
	const goes = "echo other; exec sleep 1111"
	go post(context.Background(), other, call(goes))
	w.Eventually("the other's runs", runs("sleep 1111"))
	for name, c := range map[string]struct {
		line string
		stop func(hangUp context.CancelFunc)
	}{
		"notification": {"echo a; exec sleep 2222", func(context.CancelFunc) {
			post(context.Background(), one, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"time-out"}}`)
		}},
		"aborted POST": {"echo b; exec sleep 3333", func(hangUp context.CancelFunc) { hangUp() }},
	} {
		ctx, hangUp := context.WithCancel(context.Background())
		defer hangUp()
		go post(ctx, one, call(c.line))
		w.Eventually(name+": it runs", runs(c.line[len("echo x; exec "):]))
		c.stop(hangUp)
		w.Eventually(name+": it is interrupted", func() bool { return !runs(c.line[len("echo x; exec "):])() })
	}
	// A socket that is closed without a word.
	c, err := net.Dial("tcp", addr)
	w.Must(err)
	body := call("echo c; exec sleep 4444")
	fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\nContent-Length: %d\r\n\r\n%s", addr, token, len(body), body)
	w.Eventually("the third runs", runs("sleep 4444"))
	c.Close()
	w.Eventually("the third is interrupted", func() bool { return !runs("sleep 4444")() })
	if !runs("sleep 1111")() {
		t.Error("the other's call was cancelled too")
	}
	ended := 0
	for _, l := range a.list() {
		if l["ended"] == "by SIGINT" {
			ended++
			if text := a.get("read_terminal", m{"terminalId": l["id"]})["history"]; !strings.Contains("a\n b\n c\n ^C", strings.TrimSuffix(text.(string), "^C")) || text == "" {
				t.Errorf("left of it: %q", text)
			}
		}
	}
	if ended != 3 {
		t.Errorf("%d records of three: %v", ended, a.list())
	}
}
