package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/host"
	"tandemux/internal/soak"
)

// fold follows a channel as a naive client does: whatever comes is applied.
type fold struct {
	*peer
	term   *ahp.TerminalFold
	screen emulator.Emulator
}

func (p *peer) follow(uri ahp.URI) *fold {
	p.t.Helper()
	return p.starting(p.subscribe(uri))
}

// starting starts from one channel's snapshot.
func (p *peer) starting(s ahp.Snapshot) *fold {
	p.t.Helper()
	var state ahp.TerminalState
	if err := json.Unmarshal(s.State, &state); err != nil {
		p.t.Fatal(err)
	}
	e, err := engine.New("", emulator.Options{Cols: state.Cols, Rows: state.Rows})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, part := range state.Content {
		e.Write([]byte(part.Text()))
	}
	return &fold{peer: p, term: ahp.NewTerminalFold(state, 0), screen: e}
}

// until applies what comes until the action with the given number.
func (f *fold) until(seq int64) {
	f.t.Helper()
	f.envelope(fmt.Sprintf("action %d", seq), func(e ahp.Envelope) bool {
		f.apply(e)
		return e.ServerSeq >= seq
	})
}

// take applies a message, if it is an action.
func (f *fold) take(m message) {
	f.t.Helper()
	var e ahp.Envelope
	if m.Method != ahp.MethodAction {
		return
	}
	if err := json.Unmarshal(m.Params, &e); err != nil {
		f.t.Fatal(err)
	}
	f.apply(e)
}

func (f *fold) apply(e ahp.Envelope) {
	f.term.Apply(e.Action)
	switch a := e.Action.(type) {
	case ahp.TerminalData:
		f.screen.Write([]byte(a.Data))
	case ahp.TerminalResized:
		f.screen.Resize(a.Cols, a.Rows)
	}
}

// look is what a person sees, and the state around it.
func (f *fold) look() string {
	s := f.term.State()
	s.Content = nil
	meta, err := json.Marshal(s)
	if err != nil {
		f.t.Fatal(err)
	}
	c := f.screen.Cursor()
	return fmt.Sprintf("%s\ncursor %d,%d\n%s", meta, c.X, c.Y, emulator.ScreenText(f.screen))
}

// TestViewersAgree: viewers that came early and late, and the host, see the
// same after random actions of a program and two people (docs/contributing/decisions.md §32).
func TestViewersAgree(t *testing.T) {
	t.Parallel()
	w := start(t)
	const uri = "ahp-terminal:/t"
	p := w.connect("p")
	p.initialize()
	p.create(uri, "sh", "-c", `stty -echo; echo ready; while read -r l; do eval "$l"; done`)
	p.output(uri, "ready")
	rnd := rand.New(rand.NewPCG(7, 7))
	var viewers []*fold
	seq := int64(0)
	for round := range 12 {
		v := w.connect(fmt.Sprintf("viewer-%d", round))
		v.initialize()
		viewers = append(viewers, v.follow(uri))
		for range 8 {
			seq++
			p.dispatch(uri, seq, randomAction(rnd))
		}
		// A mark that everything before it has gone through the shell.
		mark := fmt.Sprintf("mark-%d.", round)
		seq++
		p.dispatch(uri, seq, ahp.TerminalInput{Data: "printf 'mark''-" + fmt.Sprint(round) + ".'\n"})
		p.output(uri, mark)
		seq++
		p.dispatch(uri, seq, ahp.TerminalTitleChanged{Title: mark})
		end := p.echo(seq).ServerSeq
		want := ""
		for i, v := range viewers {
			v.until(end)
			if got := v.look(); want == "" {
				want = got
			} else if got != want {
				t.Fatalf("round %d: viewer %d sees\n%s\nviewer 0 sees\n%s", round, i, got, want)
			}
		}
		var r ahp.ReadResult
		p.must(ahp.MethodRead, ahp.ReadParams{Channel: uri, What: ahp.ReadScreen}, &r)
		seen := emulator.ScreenText(viewers[0].screen)
		if trimmed(r.Text) != trimmed(seen) {
			t.Fatalf("round %d: the host has\n%s\nviewers see\n%s", round, r.Text, seen)
		}
	}
}

func trimmed(s string) string { return strings.TrimRight(s, "\n") }

func randomAction(rnd *rand.Rand) ahp.Action {
	switch rnd.IntN(8) {
	case 0:
		return ahp.TerminalResized{Cols: 20 + rnd.IntN(100), Rows: 5 + rnd.IntN(40)}
	case 1:
		return ahp.TerminalTitleChanged{Title: fmt.Sprint("title ", rnd.IntN(100))}
	case 2:
		return ahp.TerminalInput{Data: fmt.Sprintf("printf '\\033[%d;%dH\\033[1;3%dmxé漢\\033[m'\n", 1+rnd.IntN(20), 1+rnd.IntN(60), rnd.IntN(8))}
	case 3:
		return ahp.TerminalInput{Data: "printf '\\033]2;from inside\\007'\n"}
	case 4:
		return ahp.TerminalInput{Data: "i=0; while [ $i -lt 30 ]; do echo line $i; i=$((i+1)); done\n"}
	case 5:
		return ahp.TerminalInput{Data: "printf '\\033[?1049h\\033[2Jalt\\033[?1049l'; printf '\\033[3;10r'\n"}
	case 6:
		return ahp.TerminalInput{Data: "printf '\\033[r\\033[2J\\033[H'\n"}
	}
	return ahp.TerminalInput{Data: "echo some words that are long enough to be wrapped at the right edge of a narrow terminal\n"}
}

// TestStalledViewer: one who reads nothing is closed with a reason; the others
// get every byte in the meantime, and after a reconnect it is where they are
// (docs/contributing/decisions.md §33).
func TestStalledViewer(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) { c.Limits.QueueBytes, c.Limits.HoldBytes, c.Engine = 1<<20, 64<<10, "native" })
	// In pieces that are less than the queue holds, each for all but the stalled one
	// before the next, so that none of these can be too slow on a busy machine.
	const uri, pieces, lines = "ahp-terminal:/t", 4, 7_500
	p := w.connect("p")
	p.initialize()
	p.create(uri, "sh", "-c", fmt.Sprintf(`stty -echo; for i in 1 2 3 %d; do read x; seq -f %%070.0f 1 %d; echo END$i; done; read x`, pieces, lines))

	stalled := w.connect("stalled")
	stalled.initialize()
	stalled.subscribe(uri)
	stalled.stall()
	watcher := w.connect("watcher")
	watcher.initialize()
	watcher.subscribe(uri)

	var want strings.Builder
	for piece := 1; piece <= pieces; piece++ {
		p.dispatch(uri, int64(piece), ahp.TerminalInput{Data: "\n"})
		for i := 1; i <= lines; i++ {
			fmt.Fprintf(&want, "%070d\n", i)
		}
		end := fmt.Sprintf("END%d\n", piece)
		want.WriteString(end)
		for _, v := range []*peer{p, watcher} {
			v.output(uri, strings.TrimSpace(end))
			if got := strings.ReplaceAll(v.out[uri].String(), "\r", ""); !strings.HasSuffix(strings.TrimSpace(got), strings.TrimSpace(want.String())) {
				t.Fatalf("%s has %d bytes of output, want %d, or other ones", v.name, len(got), want.Len())
			}
		}
	}
	stalled.resume()
	for {
		_, _, err := stalled.next()
		if errors.Is(err, errEnded) {
			break // without the reason: it could not be delivered
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	// Where the others take 30 s for it, it is the connection that has waited too long.
	if log := w.log.String(); !strings.Contains(log, "viewer too slow") && !strings.Contains(log, "has taken nothing for 30s") {
		t.Errorf("the log does not say why:\n%s", log)
	}
	back := w.connect("stalled")
	var r ahp.ReconnectResult
	back.must(ahp.MethodReconnect, ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: "stalled", LastSeenServerSeq: stalled.seq, Subscriptions: []ahp.URI{uri}}, &r)
	if r.Type != ahp.ReconnectSnapshot || len(r.Snapshots) != 1 || !strings.Contains(string(r.Snapshots[0].State), "END4") {
		t.Errorf("after the reconnect: %s with %d snapshots", r.Type, len(r.Snapshots))
	}
}

// TestStalledHolder: the claim's own connection slows the pty, but one that
// takes nothing any more is closed, and the terminal goes on (docs/contributing/decisions.md
// §33).
func TestStalledHolder(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) {
		c.Limits.HoldBytes = 64 << 10
		c.Limits.StallTime = time.Second
		c.Limits.QueueBytes = 64 << 20
		c.Engine = "native"
	})
	const uri = "ahp-terminal:/t"
	p := w.connect("p")
	p.initialize()
	p.create(uri, "sh", "-c", `read x; yes "$(printf %070d 7)" | head -c 2000000; echo; echo END; read x`)
	watcher := w.connect("watcher")
	watcher.initialize()
	watcher.subscribe(uri)
	p.stall() // before there is anything that it could have read by then
	p.dispatch(uri, 1, ahp.TerminalInput{Data: "\n"})
	watcher.output(uri, "END")
	p.resume()
	for {
		_, _, err := p.next()
		if errors.Is(err, errEnded) {
			break // without the reason: it could not be delivered
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if log := w.log.String(); !strings.Contains(log, "viewer stalled") {
		t.Errorf("the log does not say why:\n%s", log)
	}
}

// TestFlood: a program that never stops, watched by its holder, costs bounded
// memory, and Ctrl-C ends it at once.
func TestFlood(t *testing.T) { // alone: it looks at the heap
	w := start(t, func(c *host.Config) { c.Engine, c.Limits.StallTime = "native", patience })
	w.buffer = 4
	const uri = "ahp-terminal:/t"
	p := w.connect("p")
	p.initialize()
	p.create(uri, "sh", "-c", `trap 'echo; echo INTERRUPTED; exit 3' INT; yes "$(seq 1 30 | tr '\n' ' ')"; echo; echo INTERRUPTED; read x`)
	read := func(n int) {
		for total := 0; total < n; {
			raw, _, err := p.next()
			if err != nil {
				t.Fatal(err)
			}
			total += len(raw)
			p.out[uri] = nil
		}
	}
	read(2 << 20)
	before := heap()
	read(soak.Size(t, 4, 8) << 20)
	after := heap()
	if after > before+24<<20 {
		t.Errorf("the heap grew from %d to %d MiB", before>>20, after>>20)
	}
	sent := time.Now()
	p.dispatch(uri, 1, ahp.TerminalInput{Data: "\x03"})
	p.envelope("the interruption", func(e ahp.Envelope) bool {
		d, ok := e.Action.(ahp.TerminalData)
		return ok && strings.Contains(d.Data, "INTERRUPTED")
	})
	t.Logf("Ctrl-C took %v; heap %d MiB, then %d MiB", time.Since(sent), before>>20, after>>20)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestListIsPaced: a title that changes very often does not flood the root
// channel, and the last one is in the last list.
func TestListIsPaced(t *testing.T) {
	t.Parallel()
	w := start(t)
	const uri, n = "ahp-terminal:/t", 2000
	p := w.connect("p")
	p.initialize(ahp.RootURI)
	p.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "p"}, Meta: &ahp.CreateMeta{Command: []string{"cat"}},
	}, nil)
	began := time.Now()
	for i := range n {
		p.dispatch(uri, int64(i+1), ahp.TerminalTitleChanged{Title: fmt.Sprint("title ", i)})
	}
	lists := 0
	last := fmt.Sprint("title ", n-1)
	p.envelope("the last list", func(e ahp.Envelope) bool {
		a, ok := e.Action.(ahp.RootTerminalsChanged)
		if !ok {
			return false
		}
		lists++
		return a.Terminals[0].Title == last
	})
	// One at once, and one for each 50 ms that it took.
	if most := int(time.Since(began)/(50*time.Millisecond)) + 3; lists > most {
		t.Errorf("%d lists came in %v", lists, time.Since(began))
	}
	// And then silence.
	var s ahp.SubscribeResult
	p.must(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: ahp.RootURI}, &s)
	var root ahp.RootState
	if err := json.Unmarshal(s.Snapshot.State, &root); err != nil || root.Terminals[0].Title != last {
		t.Errorf("root %s, %v", s.Snapshot.State, err)
	}
}

// TestSubscribeAgain: what is pending when a channel is subscribed to again
// comes before the reply, or not at all, never after a snapshot that has it.
func TestSubscribeAgain(t *testing.T) {
	t.Parallel()
	w := start(t)
	const uri = "ahp-terminal:/t"
	p := w.connect("p")
	p.initialize(ahp.RootURI)
	p.create(uri, "sh", "-c", "stty -echo; echo ready; while read l; do echo $l; done")
	p.output(uri, "ready")
	for i := range int64(50) {
		// The list is due, but too early to be sent; so is the echo.
		p.dispatch(uri, 2*i+1, ahp.TerminalTitleChanged{Title: fmt.Sprint("title ", i)})
		p.dispatch(uri, 2*i+2, ahp.TerminalInput{Data: fmt.Sprintf("line-%d.\n", i)})
		p.subscribe(uri)
		s := p.subscribe(ahp.RootURI)
		if want := fmt.Sprintf(`"title":"title %d"`, i); !strings.Contains(string(s.State), want) {
			t.Fatalf("no %s in %s", want, s.State)
		}
	}
	p.output(uri, "line-49.")
	for i := range 50 {
		if n := strings.Count(p.out[uri].String(), fmt.Sprintf("line-%d.", i)); n != 1 {
			t.Errorf("line %d is there %d times", i, n)
		}
	}
}

// TestReplayEqualsLive: a client that lost its connection ends up, by replay or
// snapshot, exactly where one that did not is.
func TestReplayEqualsLive(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) { c.Limits.ReplayCount = 40 })
	const uri = "ahp-terminal:/t"
	p := w.connect("p")
	p.initialize()
	p.create(uri, "sh", "-c", `stty -echo; echo ready; while read -r l; do eval "$l"; done`)
	p.output(uri, "ready")
	live := w.connect("live")
	live.initialize()
	liveFold := live.follow(uri)
	lossy := w.connect("lossy")
	lossy.initialize()
	lossyFold := lossy.follow(uri)
	rnd := rand.New(rand.NewPCG(3, 5))
	seq, kinds := int64(0), map[string]int{}
	for round := range 20 {
		lossyFold.hangUp()
		for range rnd.IntN(30) {
			seq++
			p.dispatch(uri, seq, ahp.TerminalTitleChanged{Title: fmt.Sprint("t", seq)})
			if rnd.IntN(3) == 0 {
				seq++
				p.dispatch(uri, seq, randomAction(rnd))
			}
		}
		seq++
		p.dispatch(uri, seq, ahp.TerminalInput{Data: fmt.Sprintf("printf 'mark''-%d.'\n", round)})
		p.output(uri, fmt.Sprintf("mark-%d.", round))

		back := w.connect("lossy")
		var r ahp.ReconnectResult
		back.must(ahp.MethodReconnect, ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: "lossy", LastSeenServerSeq: lossyFold.seq, Subscriptions: []ahp.URI{uri}}, &r)
		kinds[r.Type]++
		back.seq = lossyFold.seq
		if r.Type == ahp.ReconnectReplay {
			lossyFold.peer = back
			for _, e := range r.Actions {
				if e.ServerSeq <= back.seq {
					t.Fatalf("%d replayed after %d", e.ServerSeq, back.seq)
				}
				back.seq = e.ServerSeq
				lossyFold.apply(e)
			}
		} else {
			lossyFold = back.follow(uri)
		}
		seq++
		p.dispatch(uri, seq, ahp.TerminalTitleChanged{Title: fmt.Sprint("round ", round)})
		end := p.echo(seq).ServerSeq
		liveFold.until(end)
		lossyFold.until(end)
		if got, want := lossyFold.look(), liveFold.look(); got != want {
			t.Fatalf("round %d (%s): the returned one sees\n%s\nthe other\n%s", round, r.Type, got, want)
		}
		if got, want := lossyFold.term.State().Title, fmt.Sprint("round ", round); got != want {
			t.Fatalf("title %q, want %q", got, want)
		}
	}
	if kinds[ahp.ReconnectReplay] == 0 || kinds[ahp.ReconnectSnapshot] == 0 {
		t.Errorf("the test saw %v, not both kinds", kinds)
	}
}
