package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tandemux/host/agent"
)

// FuzzUpdate: no update breaks a session, and what is told of tool calls stays
// within bounds. The seeds are the scripts' updates.
func FuzzUpdate(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, section := range ar.Files {
			for line := range strings.Lines(string(section.Data)) {
				if body, ok := strings.CutPrefix(strings.TrimSpace(line), "update "); ok {
					f.Add([]byte(body))
				}
			}
		}
	}
	f.Add([]byte(`{"sessionUpdate":"tool_call","toolCallId":"c","content":[{"type":"terminal"},null,3],"rawInput":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) {
			return
		}
		b := &bench{t: t, log: &record{work: "\x00"}}
		s := &session{
			p: &Provider{log: slog.New(slog.DiscardHandler)}, terms: map[string]agent.Terminal{}, displays: map[string]*agent.TerminalContent{},
			spec: agent.Spec{Events: b.log}, id: "s1",
		}
		tn := newTurn(context.Background(), "t1", &sink{b.log, b})
		defer tn.end()
		s.turn = tn
		params := append(append([]byte(`{"sessionId":"s1","update":`), body...), '}')
		for range 2 {
			s.update(params)
		}
		for id, c := range tn.calls {
			size := 0
			for _, k := range c.Content {
				size += len(k.Text)
			}
			if id == "" || size > maxContent+maxItems*100 || len(c.Input) > maxRaw || len(c.Locations) > maxItems {
				t.Errorf("the call is %+v", c.ToolCall)
			}
		}
	})
}

// FuzzLines: whatever an agent writes, reading it ends, and what comes out of it
// looks like messages and is no longer than they may be.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n\n  {\"b\":2}  \nnoise\n[1]\n{"), uint8(20))
	f.Add([]byte(strings.Repeat("{", 300)+"\n{}\n"), uint8(100))
	f.Add([]byte(strings.Repeat("x", 70000)+"\n{}\n"), uint8(3))
	f.Fuzz(func(t *testing.T, text []byte, most uint8) {
		l := newLines(nil, agent.NewOutput(os.Stdin), int(most)+1, func([]byte) {})
		l.r = bufio.NewReaderSize(bytes.NewReader(text), 16)
		for n := 0; ; n++ {
			msg, err := l.Read(context.Background())
			if err != nil {
				return
			}
			if len(msg) == 0 || msg[0] != '{' && msg[0] != '[' || len(msg) > int(most)+1 || bytes.IndexByte(msg, '\n') >= 0 {
				t.Fatalf("message %q of %q", msg, text)
			}
			if n > len(text) {
				t.Fatal("it does not end")
			}
		}
	})
}
