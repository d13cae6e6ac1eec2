package host_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"tandemux/ahp"
)

// FuzzSessions sends lines as messages to a host with a scripted agent. Whatever
// they are, each request is answered at most once, and the sessions that are there
// afterwards can be read, folded further and disposed of.
func FuzzSessions(f *testing.F) {
	files, err := filepath.Glob("testdata/sessions/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	p := newScripted("scripted")
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		lines := []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["1.0.0"],"clientId":"a"}}`}
		for _, s := range a.Files {
			verb, rest, _ := strings.Cut(s.Name, " ")
			switch verb {
			case "client":
				for _, line := range joined(string(s.Data)) {
					if !strings.Contains(line, `"initialize"`) {
						lines = append(lines, strings.ReplaceAll(strings.ReplaceAll(line, `"$DIR"`, `"file:///tmp"`), "$", ""))
					}
				}
			case "agent":
				p.script(rest, string(s.Data))
			}
		}
		f.Add(strings.Join(lines, "\n"))
	}
	w := startWith(f, p)
	n := 0
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 64<<10 {
			return
		}
		w.t = t
		n++
		q := w.connect(fmt.Sprintf("q-%d", n))
		converse(t, q, strings.Split(text, "\n"))
		q.hangUp()
		o := folder(t, w.connect(fmt.Sprintf("o-%d", n)))
		o.initialize()
		var list ahp.ListSessionsResult
		o.must(ahp.MethodListSessions, ahp.ListSessionsParams{Channel: ahp.RootURI}, &list)
		for _, row := range list.Items {
			s := o.subscribe(row.Resource)
			var state ahp.SessionState
			if err := json.Unmarshal(s.State, &state); err != nil {
				t.Fatalf("%v in %s", err, s.State)
			}
			if state.Summary().Title != row.Title || len(state.Chats) == 0 {
				t.Errorf("the row %+v is of %s", row, s.State)
			}
			for _, c := range state.Chats {
				s := o.subscribe(c.Resource)
				var chat ahp.ChatState
				if err := json.Unmarshal(s.State, &chat); err != nil || chat.Resource != c.Resource {
					t.Fatalf("%v in %s", err, s.State)
				}
			}
			o.must(ahp.MethodDisposeSession, ahp.SubscribeParams{Channel: row.Resource}, nil)
		}
		o.hangUp()
		if strings.Contains(w.log.String(), "panic") {
			t.Fatalf("the host's log:\n%s", w.log)
		}
	})
}
