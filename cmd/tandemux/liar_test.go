package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tandemux/ahp"
	"tandemux/ahp/schema"
	"tandemux/host/task/api"
	"tandemux/internal/cli"
	"tandemux/internal/soak"
	"tandemux/internal/wsrpc"
)

// forbidden reports whether a character may not reach a person's terminal from a host.
func forbidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// hostile are texts that do something to a terminal which prints them: each character
// that is forbidden, and sequences that set the title and the clipboard and ask questions.
// They are made when they are asked for: this binary is also each tandemux of a script.
var hostile = sync.OnceValue(func() (all []string) {
	for r := range rune(0x10000) {
		if forbidden(r) {
			all = append(all, string(r))
		}
	}
	for _, intro := range []string{"\x1b]", "\u009d"} {
		all = append(all, intro+"0;title\x07", intro+"52;c;aGk=\x1b\\", intro+"8;;http://x\u009c")
	}
	return append(all, "\x1b[6n", "\u009b6n", "\x1b[c", "\x1bP$qm\x1b\\", "a\u202egnp.exe", "\u2066x\u2069\u2028y")
})

// liar is a host that answers every request as its schema allows, with hostile texts in
// all strings, or refuses it with one.
type liar struct {
	doc      *jsonschema.Schema
	asked    atomic.Int64
	idle     atomic.Pointer[time.Timer] // ends a command that asks nothing more
	refuses  atomic.Bool
	mu       sync.Mutex // guards the following
	random   *rand.Rand
	sequence int64
}

// idleTime is how long a command that has asked may ask nothing.
const idleTime = 200 * time.Millisecond

// valid are the strings without which a client asks nothing further.
var valid = map[string]string{
	"protocolVersion": ahp.V1.String(), "jsonrpc": "2.0",
	"session": "ahp-session:/s1", "chat": "ahp-chat:/c1", "defaultChat": "ahp-chat:/c1", "provider": "agent1",
}

func (l *liar) text(name, like string) string {
	if s := valid[name]; s != "" {
		return s
	}
	if name == "resource" && l.random.IntN(4) > 0 {
		return cmp.Or(like, "ahp-terminal:/t1")
	}
	var b strings.Builder
	for range 1 + l.random.IntN(8) {
		b.WriteString(hostile()[l.random.IntN(len(hostile()))])
		b.WriteString("é word ")
	}
	return b.String()
}

// resolved follows references.
func (l *liar) resolved(s *jsonschema.Schema) *jsonschema.Schema {
	for s != nil && s.Ref != "" {
		s = l.doc.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")]
	}
	return s
}

// value is one that a schema allows, the member called name of something about like.
func (l *liar) value(s *jsonschema.Schema, name, like string, deep int) any {
	s = l.resolved(s)
	kind := ""
	if s != nil {
		kind = s.Type
		for _, k := range s.Types {
			if k != "null" {
				kind = k
			}
		}
	}
	switch {
	case s == nil || deep > 9:
		return nil
	case s.Const != nil:
		return *s.Const
	case len(s.Enum) > 0 && l.random.IntN(5) > 0:
		return s.Enum[l.random.IntN(len(s.Enum))]
	case len(s.AnyOf) > 0:
		return l.value(s.AnyOf[l.random.IntN(len(s.AnyOf))], name, like, deep)
	case s.Format == "date-time" && l.random.IntN(3) > 0:
		return "2026-11-23T03:16:00.000Z"
	case s.ContentEncoding == "base64":
		return []byte(l.text(name, like))
	}
	switch kind {
	case "string":
		return l.text(name, like)
	case "integer", "number":
		return l.random.IntN(3)
	case "boolean":
		return l.random.IntN(2) == 0
	case "array":
		list := []any{}
		for range 1 + l.random.IntN(2) {
			list = append(list, l.value(s.Items, name, like, deep+1))
		}
		return list
	case "null":
		return nil
	}
	members := map[string]any{}
	if s.AdditionalProperties != nil {
		members[l.text("", "")] = l.value(s.AdditionalProperties, "", like, deep+1)
	}
	fill := func(s *jsonschema.Schema) {
		for member, as := range s.Properties {
			if slices.Contains(s.Required, member) || deep < 6 {
				members[member] = l.value(as, member, like, deep+1)
			}
		}
	}
	fill(s)
	var kinds []*jsonschema.Schema
	for _, part := range s.AllOf {
		if part.If != nil {
			kinds = append(kinds, l.resolved(part.Then))
		} else {
			fill(l.resolved(part))
		}
	}
	if len(kinds) > 0 {
		fill(kinds[l.random.IntN(len(kinds))])
	}
	return members
}

// state is that of a channel.
func (l *liar) state(channel string) any {
	kind, _, _ := strings.Cut(strings.TrimPrefix(channel, "ahp-"), ":")
	s := l.doc.Defs[schema.States].Properties[kind]
	if s == nil {
		s = l.doc.Defs[schema.States].Properties["root"]
	}
	return map[string]any{"resource": channel, "state": l.value(s, "", "", 0), "fromSeq": l.sequence}
}

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// answers are the messages that follow a request.
func (l *liar) answers(r request) (all []any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var p struct {
		Channel   string          `json:"channel"`
		ClientSeq int64           `json:"clientSeq"`
		Action    json.RawMessage `json:"action"`
		Initial   []string        `json:"initialSubscriptions"`
	}
	json.Unmarshal(r.Params, &p) //nolint:errcheck // what it has
	if r.ID == nil {
		if r.Method == ahp.MethodDispatchAction {
			l.sequence++
			echo := map[string]any{"channel": p.Channel, "action": p.Action, "serverSeq": l.sequence, "origin": map[string]any{"clientId": l.text("", ""), "clientSeq": p.ClientSeq}}
			if l.refuses.Load() {
				echo["rejectionReason"] = l.text("", "")
			}
			all = append(all, map[string]any{"jsonrpc": "2.0", "method": ahp.MethodAction, "params": echo})
		}
		return all
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": r.ID}
	switch {
	case l.refuses.Load() && r.Method != ahp.MethodInitialize && r.Method != ahp.MethodSubscribe:
		answer["error"] = map[string]any{"code": []int{ahp.CodeConflict, ahp.CodeInternal, -1}[l.random.IntN(3)], "message": l.text("", ""), "data": l.text("", "")}
	case r.Method == ahp.MethodInitialize:
		got := l.value(l.doc.Defs[schema.Results].Properties[r.Method], "", "", 0).(map[string]any)
		snapshots := []any{}
		for _, channel := range p.Initial {
			snapshots = append(snapshots, l.state(channel))
		}
		got["snapshots"], got["serverSeq"] = snapshots, l.sequence
		answer["result"] = got
	case r.Method == ahp.MethodSubscribe:
		answer["result"] = map[string]any{"snapshot": l.state(p.Channel)}
	default:
		answer["result"] = l.value(l.doc.Defs[schema.Results].Properties[r.Method], "", "", 0)
	}
	all = append(all, answer)
	for range 5 {
		names := ahp.ActionTypes()
		name := names[l.random.IntN(len(names))]
		l.sequence++
		all = append(all, map[string]any{"jsonrpc": "2.0", "method": ahp.MethodAction, "params": map[string]any{
			"channel": cmp.Or(p.Channel, ahp.RootURI), "serverSeq": l.sequence,
			"action": l.value(l.doc.Defs[schema.Actions].Properties[name], "", "", 0),
		}})
	}
	return all
}

// ServeHTTP implements http.Handler.
func (l *liar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.asked.Add(1)
	l.idle.Load().Reset(idleTime)
	if strings.HasPrefix(r.URL.Path, api.Prefix) {
		l.serveAPI(w, r)
		return
	}
	t, err := wsrpc.Accept(w, r, wsrpc.Options{})
	if err != nil {
		return
	}
	defer t.Close(1000, "") //nolint:errcheck // it is over
	for {
		msg, err := t.Read(r.Context())
		if err != nil {
			return
		}
		l.idle.Load().Reset(idleTime)
		var asked request
		if json.Unmarshal(msg, &asked) != nil {
			return
		}
		for _, a := range l.answers(asked) {
			text, err := json.Marshal(a)
			if err != nil {
				panic(err)
			}
			if t.Write(r.Context(), text) != nil {
				return
			}
		}
	}
}

// serveAPI answers for the interface of tasks.
func (l *liar) serveAPI(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var route *api.Route
	for i := range api.Table {
		m := http.NewServeMux()
		m.Handle(api.Table[i].Method+" "+api.Prefix+api.Table[i].Path, http.NotFoundHandler())
		if _, pattern := m.Handler(r); pattern != "" {
			route = &api.Table[i]
		}
	}
	if route == nil || l.refuses.Load() {
		w.WriteHeader([]int{404, 409, 500}[l.random.IntN(3)])
		json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": l.text("", ""), "message": l.text("", "")}}) //nolint:errcheck // it goes on
		return
	}
	if route.Name == "streamTask" {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, kind := range []string{"start", "text-start", "text-delta", "tool-call", "tool-result", "text-delta", "error", "finish"} {
			part, err := json.Marshal(map[string]any{
				"type": kind, "text": l.text("", ""), "error": l.text("", ""), "toolName": l.text("", ""), "toolCallId": l.text("", ""),
				"metadata": map[string]any{"title": l.text("", "")}, "output": map[string]any{"error": l.text("", "")}, "finishReason": l.text("", ""),
			})
			if err != nil {
				panic(err)
			}
			fmt.Fprintf(w, "id: 1\ndata: %s\n\n", part)
		}
		return
	}
	s, err := jsonschema.ForType(route.Out, &jsonschema.ForOptions{IgnoreInvalidTypes: true})
	if err != nil {
		panic(err)
	}
	v := l.value(s, "", "", 0)
	if members, is := v.(map[string]any); is && members["next"] != nil {
		members["next"] = "" // one page
	}
	json.NewEncoder(w).Encode(v) //nolint:errcheck // it goes on
}

// unasked are the commands that ask a host elsewhere nothing, or only show its screen.
var unasked = []string{
	"attach", "help", "man", "schema", "init", "play", "forget", "doctor", "stop", "upgrade", "host", "mcp",
	"config", "completion", "bridge", "agent login", "hosts", "hub", "join",
}

// needed are options without which commands ask nothing.
var needed = map[string][]string{
	"env": {"-e", "production", "-a", "x"}, "project set": {"--name", "x"}, "task say": {"--task", "x"}, "task progress": {"--task", "x"}, "wait": {"--exit"},
	"task migrate": {"--latest"}, "do": {"split-right"}, "ws resolve": {"--keep", "task"},
}

// TestLiar: whatever a host says, no command writes a character to standard output or
// standard error that does something to a terminal. All commands are run, with each of
// their flags that takes no value.
func TestLiar(t *testing.T) {
	soak.Long(t, "every command with each of its flags")
	if beside(t) {
		return
	}
	dir := t.TempDir()
	for name, value := range map[string]string{"HOME": dir, "XDG_RUNTIME_DIR": dir, "XDG_STATE_HOME": dir, "XDG_CONFIG_HOME": dir, "TANDEMUX_TOKEN": "token", "TANDEMUX_TERMINAL": ""} {
		t.Setenv(name, value)
	}
	t.Chdir(dir)
	if code := cli.Run(context.Background(), newRoot(), []string{"init", "--template", "hooks", "."}, ""); code != 0 {
		t.Fatalf("init ends with %d", code)
	}
	for name, text := range map[string]string{"dir/file.txt": "text\n", "variables.env": "A=b\n", "layout.toml": "[[tab]]\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	seed := soak.Seed(t)
	l := &liar{doc: schema.Document(ahp.V1), random: rand.New(rand.NewPCG(seed, 1)), sequence: 1}
	srv := httptest.NewServer(l)
	defer srv.Close()
	t.Setenv("TANDEMUX_HOST", "ws"+strings.TrimPrefix(srv.URL, "http"))
	root, reached := newRoot(), map[string]int{}
	for _, words := range liarLines(root, nil) {
		c, _, err := root.Find(words)
		if err != nil {
			t.Fatal(err)
		}
		reached[c.CommandPath()] += l.run(t, words)
	}
	for name, n := range reached {
		if n == 0 {
			t.Errorf("%s asks the host nothing: say in needed or unasked what it needs", name)
		}
	}
	t.Logf("%d commands asked the host", len(reached))
}

// liarLines are the command lines of all commands below c.
func liarLines(c *cobra.Command, path []string) (lines [][]string) {
	for _, below := range c.Commands() {
		if at := append(slices.Clone(path), below.Name()); !slices.Contains(unasked, strings.Join(at, " ")) {
			lines = append(lines, liarLines(below, at)...)
		}
	}
	if cli.IsGroup(c) || len(path) == 0 {
		return lines
	}
	words := slices.Clone(path)
	for _, word := range strings.Fields(c.Use)[1:] {
		if word == "[flags]" {
			continue
		}
		word = strings.Trim(word, "[].")
		if strings.HasPrefix(word, "(") || word == "" || word == "|" || word == "--from" || word == "--to" || word == "--latest)" || word == "VERSION" {
			continue // one of several ways
		}
		if word == "BRANCH" && path[len(path)-1] == "push" {
			continue // of a task's, which can't be pushed from elsewhere
		}
		value, known := map[string]string{
			"--": "--", "COLSxROWS": "80x24", "FILE": "variables.env", "DIR": "dir", "ID": "t1", "TERMINAL": "t1", "SESSION": "s1", "COMMAND": "true", "PERCENT": "5", "KIND:ID:ROLE": "agent:*:viewer",
		}[word]
		if !known {
			value, _, _ = strings.Cut(word, "|")
		}
		if word == "FILE" && path[0] == "layout" {
			value = "layout.toml"
		}
		words = append(words, value)
	}
	for i := range path {
		words = slices.Insert(words, len(path), needed[strings.Join(path[:i+1], " ")]...)
	}
	lines = append(lines, words)
	at := slices.Index(words, "--")
	if at < 0 {
		at = len(words)
	}
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.NoOptDefVal != "" && !slices.Contains(words, "--"+f.Name) && f.Name != "raw" && f.Name != "help" {
			lines = append(lines, slices.Concat(words[:at], []string{"--" + f.Name}, words[at:]))
		}
	})
	return lines
}

// run runs a command line some times, and gives how often it asked the host.
func (l *liar) run(t *testing.T, words []string) (reached int) {
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer nothing.Close()
	for i := range soak.Size(t, soak.Short(1, 2), 100) {
		l.refuses.Store(i%4 == 1)
		before := l.asked.Load()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		l.idle.Store(time.AfterFunc(time.Second, cancel))
		in, stdout, stderr := os.Stdin, os.Stdout, os.Stderr
		os.Stdin, os.Stdout, os.Stderr = nothing, out, out
		cli.Run(ctx, newRoot(), words, "")
		os.Stdin, os.Stdout, os.Stderr = in, stdout, stderr
		l.idle.Load().Stop()
		cancel()
		if l.asked.Load() > before {
			reached++
		}
	}
	said, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	if bytes := strings.Join(words, " "); strings.HasPrefix(bytes, "ws show FILESYSTEM PATH") || strings.HasPrefix(bytes, "ws diff TASK PATH") {
		said = nil // a file's bytes, which are as they are where no terminal is
	}
	for at, r := range string(said) {
		if forbidden(r) || r == utf8.RuneError && !utf8.FullRune(said[at:]) {
			t.Errorf("tandemux %s writes %U: %q", strings.Join(words, " "), r, said[max(0, at-60):min(len(said), at+20)])
			break
		}
	}
	return reached
}
