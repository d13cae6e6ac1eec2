package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"tandemux/ahp"
	"tandemux/host"
)

// TestConformance runs testdata/conformance/*.txtar against a real host, keeper
// and shells. A file's comment says what it shows, with the requirements'
// numbers. Its sections run in order, each for the connection it names, which
// is made on first use (unix socket):
//
//	-- connect NAME tcp SCOPE… --   make the connection over TCP, with a token
//	                                of these scopes (none: all)
//	-- client NAME --               send these lines, one message each; a long
//	                                message continues on lines that begin with
//	                                a tab; "! " is before one that does not fit
//	                                the schemas
//	-- host NAME --                 expect these messages, exactly in order
//	-- hang-up NAME --              close the connection
//	-- file PATH --                 make this file below $PATH, which is all that
//	                                the host serves files of
//	-- link PATH TARGET --          make a symbolic link there
//	-- expect WORD --               the value of $WORD is this text, but for
//	                                newlines at the end
//
// In an expected message, and in what is sent, $WORD stands for a value: set
// when first expected, the same ever after. $HOME and $DIR (file URIs), $PATH ($DIR as a
// path) and $_ (anything, each time) are known. An object has exactly the expected members
// unless it has "...": true; an array ending in "..." may go on. Instead of a
// message there may be:
//
//	... TYPE…               skip what comes, up to the next expected message; if
//	                        types are named, only actions of these
//	output URI "TEXT"       read on until the output of the terminal has TEXT
//	none                    the host has nothing more to say, by now
//	closed "TEXT"           the host closes with a reason that contains TEXT
//
// Output of terminals (terminal/data) may be skipped everywhere but under none:
// how it is cut is not the test's to say.
func TestConformance(t *testing.T) {
	files, err := filepath.Glob("testdata/conformance/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no conformance files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := start(t, func(c *host.Config) { c.Roots = []string{filepath.Join(filepath.Dir(c.Runtime), "home")} })
			s := &script{t: t, w: w, peers: map[string]*peer{}, vars: map[string]any{}}
			s.vars["HOME"] = "file://" + mustHome(t)
			s.vars["DIR"] = "file://" + filepath.Join(s.w.dir, "home")
			s.vars["PATH"] = filepath.Join(s.w.dir, "home")
			for _, section := range a.Files {
				s.run(section)
			}
		})
	}
}

func mustHome(t *testing.T) string {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	return home
}

type script struct {
	t     *testing.T
	w     *fixture
	peers map[string]*peer
	vars  map[string]any
	pings int
}

func (s *script) run(section txtar.File) {
	s.t.Helper()
	words := strings.Fields(section.Name)
	if len(words) < 2 {
		s.t.Fatalf("section %q: want a verb and a name", section.Name)
	}
	verb, name := words[0], words[1]
	lines := joined(string(section.Data))
	switch verb {
	case "connect":
		if len(words) < 3 || words[2] != "tcp" {
			s.t.Fatalf("section %q: connect over what?", section.Name)
		}
		s.peers[name] = s.w.connectTCP(name, s.w.token(words[3:]...).Token)
	case "expect":
		want := strings.TrimRight(s.fill(string(section.Data)), "\n")
		if got := strings.TrimRight(fmt.Sprint(s.vars[name]), "\n"); got != want {
			s.t.Fatalf("-- %s --\nwant:\n%s\ngot:\n%s", section.Name, want, got)
		}
	case "file", "link":
		if err := s.plant(words[1:], section.Data); err != nil {
			s.t.Fatalf("section %q: %v", section.Name, err)
		}
	case "hang-up":
		const ended = `msg="connection ended"`
		before := s.w.log.count(ended)
		s.peer(name).hangUp()
		until(s.t, "the host knows that "+name+" has gone", func() bool { return s.w.log.count(ended) > before })
		delete(s.peers, name)
	case "client":
		for _, line := range lines {
			message, bad := strings.CutPrefix(line, "! ")
			p, message := s.peer(name), s.fill(message)
			p.sendRaw(message)
			if wrong := p.speech.fits([]byte(message)); bad != (wrong != nil) {
				s.t.Errorf("-- %s --\n%s\nby the schemas: %v", section.Name, line, wrong)
			}
		}
	case "host":
		for i, line := range lines {
			skip := []string{"terminal/data"}
			if i > 0 && strings.HasPrefix(lines[i-1], "...") {
				skip = append(skip, strings.Fields(lines[i-1])...)
			}
			if err := s.expect(s.peer(name), line, skip); err != nil {
				s.t.Fatalf("-- %s --\n%s\n%v", section.Name, line, err)
			}
		}
	default:
		s.t.Fatalf("section %q: unknown verb", section.Name)
	}
}

// plant makes a file, or with two words a symbolic link.
func (s *script) plant(words []string, data []byte) error {
	path := filepath.Join(s.w.dir, "home", words[0])
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if len(words) == 2 {
		return os.Symlink(s.fill(words[1]), path)
	}
	return os.WriteFile(path, data, 0o600)
}

// joined gives the lines without comments, blank ones and continuations.
func joined(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "\t") && len(lines) > 0:
			lines[len(lines)-1] += strings.TrimSpace(line)
		case line == "" || strings.HasPrefix(line, "#"):
		default:
			lines = append(lines, line)
		}
	}
	return lines
}

func (s *script) peer(name string) *peer {
	s.t.Helper()
	if s.peers[name] == nil {
		s.peers[name] = s.w.connect(name)
	}
	return s.peers[name]
}

// fill puts values in the place of "$WORD" and, within strings, ${WORD}.
func (s *script) fill(line string) string {
	for name, value := range s.vars {
		text, err := json.Marshal(value)
		if err != nil {
			s.t.Fatal(err)
		}
		line = strings.ReplaceAll(line, `"$`+name+`"`, string(text))
		line = strings.ReplaceAll(line, "${"+name+"}", fmt.Sprint(value))
	}
	return line
}

// expect takes an expected message, and skips actions of the types in skip, all
// messages if it has "..." and nothing after that.
func (s *script) expect(p *peer, line string, skip []string) error {
	s.t.Helper()
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "...":
		return nil
	case "output":
		uri, quoted, _ := strings.Cut(rest, " ")
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return err
		}
		p.output(uri, text)
		return nil
	case "none":
		return s.none(p)
	case "closed":
		return s.closed(p, rest)
	}
	var want any
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&want); err != nil {
		return fmt.Errorf("the expected message is not JSON: %w", err)
	}
	var seen []string
	for {
		raw, _, err := nextButEcho(p)
		if err != nil {
			return fmt.Errorf("%w; skipped:\n%s", err, strings.Join(seen, "\n"))
		}
		var got any
		d := json.NewDecoder(strings.NewReader(string(raw)))
		d.UseNumber()
		if err := d.Decode(&got); err != nil {
			return err
		}
		got = withoutEcho(got)
		vars := map[string]any{}
		err = s.match("", want, got, vars)
		if err == nil {
			for k, v := range vars {
				s.vars[k] = v
			}
			return nil
		}
		if skip[len(skip)-1] != "..." && !slices.Contains(skip, actionType(got)) {
			return fmt.Errorf("got\n%s\n%w", raw, err)
		}
		seen = append(seen, string(raw))
	}
}

// echoChanged is told when the host happens to look at a pty's modes: no transcript can say
// where that is.
var echoChanged = ahp.TerminalEchoChanged{}.ActionType()

// nextButEcho gives the next message that tells something else.
func nextButEcho(p *peer) (json.RawMessage, message, error) {
	for {
		raw, m, err := p.next()
		if err != nil || !strings.Contains(string(raw), `"type":"`+echoChanged+`"`) || m.Method != ahp.MethodAction {
			return raw, m, err
		}
	}
}

// withoutEcho leaves it out of states, and of what a reconnect replays.
func withoutEcho(got any) any {
	switch got := got.(type) {
	case []any:
		got = slices.DeleteFunc(got, func(e any) bool { return actionType(map[string]any{"params": e}) == echoChanged })
		for i := range got {
			got[i] = withoutEcho(got[i])
		}
		return got
	case map[string]any:
		if meta, is := got["_meta"].(map[string]any); is && meta["tandemux/echo"] != nil {
			if delete(meta, "tandemux/echo"); len(meta) == 0 {
				delete(got, "_meta")
			}
		}
		for k, v := range got {
			got[k] = withoutEcho(v)
		}
	}
	return got
}

func actionType(got any) string {
	m, _ := got.(map[string]any)
	params, _ := m["params"].(map[string]any)
	action, _ := params["action"].(map[string]any)
	name, _ := action["type"].(string)
	return name
}

// none makes sure that nothing is on its way: what the host sent before it
// answers is there when the answer is.
func (s *script) none(p *peer) error {
	s.pings++
	id := fmt.Sprintf("%d", 1_000_000+s.pings)
	p.sendRaw(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping","params":{"channel":"ahp-root://"}}`)
	raw, m, err := nextButEcho(p)
	if err == nil && string(m.ID) != id {
		return fmt.Errorf("got\n%s", raw)
	}
	return err
}

func (s *script) closed(p *peer, quoted string) error {
	text, err := strconv.Unquote(quoted)
	if err != nil {
		return err
	}
	raw, _, err := nextButEcho(p)
	if err == nil {
		return fmt.Errorf("got\n%s", raw)
	}
	if !errors.Is(err, errEnded) || !strings.Contains(err.Error(), text) {
		return err
	}
	return nil
}

// match compares, and collects the values of words seen for the first time.
func (s *script) match(at string, want, got any, vars map[string]any) error {
	switch want := want.(type) {
	case string:
		if name, ok := strings.CutPrefix(want, "$"); ok {
			return s.bind(at, name, got, vars)
		}
		if filled := s.fill(want); got != filled {
			return fmt.Errorf("%s: want %q", at, filled)
		}
		return nil
	case map[string]any:
		m, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: want an object", at)
		}
		for _, k := range sortedKeys(want) {
			if k == "..." {
				continue
			}
			v, ok := m[k]
			if !ok {
				return fmt.Errorf("%s.%s: missing", at, k)
			}
			if err := s.match(at+"."+k, want[k], v, vars); err != nil {
				return err
			}
		}
		if _, open := want["..."]; open {
			return nil
		}
		for _, k := range sortedKeys(m) {
			if _, ok := want[k]; !ok {
				return fmt.Errorf("%s.%s: not expected", at, k)
			}
		}
		return nil
	case []any:
		list, ok := got.([]any)
		if !ok {
			return fmt.Errorf("%s: want an array", at)
		}
		open := len(want) > 0 && want[len(want)-1] == "..."
		if open {
			want = want[:len(want)-1]
		}
		if len(list) < len(want) || !open && len(list) != len(want) {
			return fmt.Errorf("%s: want %d elements", at, len(want))
		}
		for i := range want {
			if err := s.match(fmt.Sprintf("%s[%d]", at, i), want[i], list[i], vars); err != nil {
				return err
			}
		}
		return nil
	}
	if want != got {
		return fmt.Errorf("%s: want %v", at, want)
	}
	return nil
}

func (s *script) bind(at, name string, got any, vars map[string]any) error {
	if name == "_" {
		return nil
	}
	have, ok := s.vars[name]
	if !ok {
		have, ok = vars[name]
	}
	if !ok {
		vars[name] = got
		return nil
	}
	if fmt.Sprint(have) != fmt.Sprint(got) {
		return fmt.Errorf("%s: want $%s, which is %v", at, name, have)
	}
	return nil
}

func sortedKeys(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
