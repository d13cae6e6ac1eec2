package mcp_test

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"tandemux/internal/hosttest"
	"tandemux/internal/soak"
)

// TestJunkOnStdin: lines that are no messages are answered, and end nothing.
func TestJunkOnStdin(t *testing.T) {
	soak.Long(t, "each kind of junk")
	t.Parallel()
	w := hosttest.New(t, "")
	cmd := w.Command("mcp")
	in, err := cmd.StdinPipe()
	w.Must(err)
	out, err := cmd.StdoutPipe()
	w.Must(err)
	w.Must(cmd.Start())
	go io.WriteString(in, strings.Join([]string{
		"npm warn: something", "", `{"jsonrpc":"2.0","id":1,`, "[]", `{"id":1}`, `"x"`, strings.Repeat("x", 17<<20),
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "more\x00junk",
		`{"jsonrpc":"2.0","id":2,"method":"ping"}`, "",
	}, "\n")) //nolint:errcheck // the answers tell
	answers := map[string]int{}
	for lines := bufio.NewScanner(out); answers["answer"] < 2 && lines.Scan(); {
		var a struct {
			ID    *int
			Error *struct{ Code int }
		}
		w.Must(json.Unmarshal(lines.Bytes(), &a))
		switch {
		case a.ID == nil && a.Error != nil && a.Error.Code == -32700:
			answers["not JSON"]++
		case a.ID == nil && a.Error != nil && a.Error.Code == -32600:
			answers["no message"]++
		case a.ID != nil && a.Error == nil:
			answers["answer"]++
		}
	}
	w.Must(in.Close())
	w.Must(cmd.Wait())
	if answers["not JSON"] != 4 || answers["no message"] != 3 || answers["answer"] != 2 {
		t.Errorf("%v", answers)
	}
}
