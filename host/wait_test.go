package host_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/internal/soak"
)

// await sends a wait and returns its id; the answer is taken by answer.
func (p *peer) await(w ahp.WaitParams) int {
	p.t.Helper()
	p.lastID++
	p.send(map[string]any{"jsonrpc": "2.0", "id": p.lastID, "method": ahp.MethodWait, "params": w})
	return p.lastID
}

func (p *peer) answer(id int) ahp.WaitResult { return answered[ahp.WaitResult](p, id) }

// answered skips to the answer of a request.
func answered[T any](p *peer, id int) (r T) {
	p.t.Helper()
	for {
		_, m, err := p.next()
		if err != nil {
			p.t.Fatalf("%s: waiting for the answer to %d: %v", p.name, id, err)
		}
		if string(m.ID) != fmt.Sprint(id) {
			continue
		}
		if m.Error != nil {
			p.t.Fatalf("%d: %v", id, m.Error)
		}
		if err := json.Unmarshal(m.Result, &r); err != nil {
			p.t.Fatal(err)
		}
		return r
	}
}

// Each condition is met by what it is about, and ends with what it is bound to.
func TestWait(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.connect("one")
	p.initialize()
	seq := int64(0)
	cat := func(uri ahp.URI) func(string) {
		p.create(uri, "sh", "-c", "stty -echo; echo ready; while read -r x; do eval \"$x\"; done; exit 9")
		p.output(uri, "ready")
		return func(line string) {
			seq++
			p.dispatch(uri, seq, ahp.TerminalInput{Data: line + "\n"})
		}
	}
	const uri = "ahp-terminal:/w"
	do := cat(uri)

	text := p.await(ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: `^port (\d+)$`})
	do(`printf 'port '; sleep 0.05; printf '80'; printf '81\r\n'`)
	if r := p.answer(text); r.Reason != ahp.WaitMet || !strings.HasPrefix(r.Line, "port 80") || !r.Running || r.CommandID != "c1" {
		t.Errorf("text: %+v", r)
	}
	do(`printf '\033[1mPass\033[mword: '`)
	p.output(uri, "word: ")
	if r := p.answer(p.await(ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: `^Password: $`})); r.Reason != ahp.WaitMet {
		t.Errorf("the present line: %+v", r)
	}
	if r := p.answer(p.await(ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: `^ready$`})); r.Reason != ahp.WaitMet || !r.Running {
		t.Errorf("the program's earlier output: %+v", r)
	}
	if r := p.answer(p.await(ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: `^ready$`, New: true, TimeoutMs: 50})); r.Reason != ahp.WaitTimeout || !r.Running {
		t.Errorf("earlier output, of which only new is asked for: %+v", r)
	}
	if r := p.answer(p.await(ahp.WaitParams{Channel: uri, Until: ahp.WaitIdle, IdleMs: 50})); r.Reason != ahp.WaitMet || !r.Running {
		t.Errorf("idle: %+v", r)
	}
	begin := time.Now()
	idle := p.await(ahp.WaitParams{Channel: uri, Until: ahp.WaitIdle, IdleMs: 3000})
	do(`for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done`)
	if r := p.answer(idle); r.Reason != ahp.WaitMet || time.Since(begin) < 3500*time.Millisecond {
		t.Errorf("idle while busy: %+v after %v", r, time.Since(begin))
	}
	if r := p.answer(p.await(ahp.WaitParams{Channel: uri, Until: ahp.WaitCommand, TimeoutMs: 50})); r.Reason != ahp.WaitTimeout || !r.Running || r.CommandID != "c1" {
		t.Errorf("command: %+v", r)
	}
	// The end of the program ends all of them.
	kinds := []ahp.WaitParams{
		{Channel: uri, Until: ahp.WaitExit},
		{Channel: uri, Until: ahp.WaitCommand},
		{Channel: uri, Until: ahp.WaitIdle, IdleMs: 1e6},
		{Channel: uri, Until: ahp.WaitText, Pattern: "never"},
		{Channel: uri, Until: ahp.WaitText, Pattern: "last words"},
	}
	want := []string{ahp.WaitMet, ahp.WaitMet, ahp.WaitMet, ahp.WaitFinished, ahp.WaitMet}
	var ids []int
	for _, k := range kinds {
		ids = append(ids, p.await(k))
	}
	do("echo last words; exit 9")
	got := map[int]ahp.WaitResult{}
	for len(got) < len(ids) {
		_, m, err := p.next()
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if string(m.ID) == fmt.Sprint(id) {
				var r ahp.WaitResult
				json.Unmarshal(m.Result, &r)
				got[id] = r
			}
		}
	}
	for i, id := range ids {
		r := got[id]
		if r.Reason != want[i] || r.Running && i < 4 || i < 2 && (r.ExitCode == nil || *r.ExitCode != 9) {
			t.Errorf("%+v: %+v; want %s", kinds[i], r, want[i])
		}
	}
	// After the fact they return at once.
	for i, k := range kinds {
		r := p.answer(p.await(k))
		if r.Running || i == 0 && *r.ExitCode != 9 || i == 3 && r.Reason != ahp.WaitExited {
			t.Errorf("after the end: %+v: %+v", k, r)
		}
	}
}

// Enter that begins no command does not hold a wait for one up: fish neither
// executes what it can't read, nor shows another prompt.
func TestWaitForNoCommand(t *testing.T) {
	t.Parallel()
	for name, path := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			p := w.connect("one")
			p.initialize()
			const uri = "ahp-terminal:/w"
			startShell(w, p, uri, path)
			p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Command: []string{"true"}}, nil)
			for i, line := range []string{"\r", "(exit )) 5)\r", "\x03"} {
				p.dispatch(uri, int64(i+1), ahp.TerminalInput{Data: line})
				if r := p.answer(p.await(ahp.WaitParams{Channel: uri, Until: ahp.WaitCommand})); r.Reason != ahp.WaitMet {
					t.Errorf("%q: %+v", line, r)
				}
			}
			// Until the shell has dealt with ctrl+c, it may drop what is typed; and fish, while it
			// is at the wrong line, the ctrl+c, so that this line stays before the next.
			for n := 1; ; n++ {
				sum := p.await(ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: fmt.Sprintf("^%d$", 70000+n), TimeoutMs: 2000})
				p.dispatch(uri, int64(2+2*n), ahp.TerminalInput{Data: fmt.Sprintf("expr 70000 + %d\r", n)})
				if r := p.answer(sum); r.Reason == ahp.WaitMet {
					break
				} else if r.Reason != ahp.WaitTimeout || n == 20 {
					t.Fatalf("after ctrl+c: %+v", r)
				}
				p.dispatch(uri, int64(3+2*n), ahp.TerminalInput{Data: "\x03"})
				p.answer(p.await(ahp.WaitParams{Channel: uri, Until: ahp.WaitIdle, IdleMs: 300}))
			}
			p.ended(uri)
			p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Command: []string{"true"}}, nil)
		})
	}
}

// Waits are bounded, checked, and end with the terminal or the connection.
func TestWaitBounds(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.connect("one")
	p.initialize()
	const uri = "ahp-terminal:/w"
	p.create(uri, "cat")
	for _, tt := range []struct {
		p    ahp.WaitParams
		want string
	}{
		{ahp.WaitParams{Channel: uri, Until: "never"}, "none of"},
		{ahp.WaitParams{Channel: "ahp-terminal:/x", Until: ahp.WaitExit}, "there is no terminal"},
		{ahp.WaitParams{Channel: uri, Until: ahp.WaitText}, "missing"},
		{ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: "("}, "RE2"},
		{ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: strings.Repeat("x", 1025)}, "longer than"},
		{ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: "((a{1000}){1000}){1000}"}, "RE2"},
		{ahp.WaitParams{Channel: uri, Until: ahp.WaitIdle}, "for how long"},
		{ahp.WaitParams{Channel: uri, Until: ahp.WaitIdle, IdleMs: -1}, "out of range"},
		{ahp.WaitParams{Channel: uri, Until: ahp.WaitExit, TimeoutMs: 1 << 62}, "out of range"},
	} {
		if err := p.call(ahp.MethodWait, tt.p, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v; want %q", tt.p, err, tt.want)
		}
	}
	reader := w.connectTCP("reader", w.token("terminal:create").Token)
	reader.initialize()
	if err := reader.call(ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitExit}, nil); ahp.CodeOf(err) != ahp.CodePermissionDenied {
		t.Errorf("without the scope: %v", err)
	}
	var ids []int
	for i := range 64 {
		ids = append(ids, p.await([]ahp.WaitParams{
			{Channel: uri, Until: ahp.WaitExit}, {Channel: uri, Until: ahp.WaitText, Pattern: "x"},
		}[i%2]))
	}
	if err := p.call(ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitExit}, nil); err == nil || !strings.Contains(err.Error(), "64 waits") {
		t.Errorf("one too many: %v", err)
	}
	// Somebody who leaves takes his waits along; the host's end is checked by
	// the leak detector.
	leaver := w.connect("leaver")
	leaver.initialize()
	leaver.await(ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: "x"})
	leaver.hangUp()
	p.lastID++
	p.send(map[string]any{"jsonrpc": "2.0", "id": p.lastID, "method": ahp.MethodDisposeTerminal, "params": ahp.DisposeTerminalParams{Channel: uri}})
	ended := 0
	for ended < len(ids) {
		_, m, err := p.next()
		if err != nil {
			t.Fatalf("%d of %d waits ended: %v", ended, len(ids), err)
		}
		var id int
		json.Unmarshal(m.ID, &id)
		if len(m.ID) > 0 && id >= ids[0] && id <= ids[len(ids)-1] {
			var r ahp.WaitResult
			json.Unmarshal(m.Result, &r)
			if r.Reason != ahp.WaitGone && r.Reason != ahp.WaitMet && r.Reason != ahp.WaitExited || r.Running {
				t.Errorf("%d: %+v", id, r)
			}
			ended++
		}
	}
}

// Output that comes faster than it can be searched ends the wait with these
// words; it is never held up, and a match is never missed in silence.
func TestWaitFlood(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.connect("one")
	p.initialize()
	const uri = "ahp-terminal:/flood"
	lines := soak.Size(t, 100_000, 1_700_000)
	p.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "one"}, Meta: &ahp.CreateMeta{Command: []string{
			"sh", "-c", fmt.Sprintf("read x; yes 0123456789abcdef | head -c %d; echo the needle; read x", 17*lines+15), // the last one up to e
		}},
	}, nil)
	hard := p.await(ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: `(a|aa|aaa)+b.*n[^x]+dle`})
	p.dispatch(uri, 1, ahp.TerminalInput{Data: "\n"})
	if r := p.answer(hard); r.Reason != ahp.WaitMet && r.Reason != ahp.WaitOverrun {
		t.Errorf("%+v", r)
	}
}
