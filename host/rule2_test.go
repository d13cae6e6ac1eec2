package host_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/host"
	"tandemux/internal/soak"
)

// life is a random life of one terminal, watched by clients that come, lose
// their connection and come back.
type life struct {
	w       *fixture
	rnd     *rand.Rand
	uri     ahp.URI
	holder  *peer
	seq     int64
	cols    int
	rows    int
	viewers []*fold
	marks   int
	kinds   map[string]int // of reconnects
	log     []string
}

// TestRule2: whatever a program writes, however its terminal is resized and
// cleared, a client that comes late, or back after a lost connection by replay or
// by snapshot, holds the same screen, history, cursor and modes as one that was
// there from the start, and what the host itself shows (G15;
// docs/contributing/decisions.md §32).
func TestRule2(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) { c.Limits.ReplayCount = 12 })
	kinds := map[string]int{}
	for seed := range uint64(soak.Size(t, soak.Short(1, 2), 40)) {
		l := &life{w: w, rnd: rand.New(rand.NewPCG(seed, 5)), uri: fmt.Sprint("ahp-terminal:/life-", seed), cols: 80, rows: 24, kinds: kinds}
		if !l.live() {
			t.Fatalf("seed %d: %s", seed, strings.Join(l.log, "\n"))
		}
	}
	if kinds[ahp.ReconnectReplay] == 0 || kinds[ahp.ReconnectSnapshot] == 0 {
		t.Errorf("reconnects were %v, not of both kinds", kinds)
	}
}

func (l *life) live() bool {
	l.holder = l.w.connect("holder-" + l.uri[len(ahp.TerminalScheme)+1:])
	l.holder.initialize()
	l.holder.create(l.uri, "sh", "-c", "stty raw -echo; printf ready; exec cat")
	l.holder.output(l.uri, "ready")
	l.join()
	for range 12 {
		for range 1 + l.rnd.IntN(5) {
			l.act()
		}
		if l.rnd.IntN(3) == 0 {
			l.join()
		}
		if l.rnd.IntN(2) == 0 {
			l.lose(l.rnd.IntN(len(l.viewers)))
		}
		if !l.agree() {
			return false
		}
	}
	for _, v := range l.viewers {
		v.hangUp()
	}
	l.holder.hangUp()
	return true
}

// act is something that the program or its holder does.
func (l *life) act() {
	l.seq++
	switch op := l.rnd.IntN(12); {
	case op < 8:
		p := strings.ToValidUTF8(string(emutest.Program(l.rnd, l.cols, l.rows, 1+l.rnd.IntN(40), emutest.All)), "\uFFFD")
		if len(p) > 4000 { // a pty takes no more at once when nobody reads
			p = strings.ToValidUTF8(p[:4000], "")
		}
		l.log = append(l.log, fmt.Sprintf("write %q", p))
		l.holder.dispatch(l.uri, l.seq, ahp.TerminalInput{Data: p})
	case op < 10:
		l.cols, l.rows = 2+l.rnd.IntN(100), 1+l.rnd.IntN(40)
		l.log = append(l.log, fmt.Sprintf("resize %d×%d", l.cols, l.rows))
		l.holder.dispatch(l.uri, l.seq, ahp.TerminalResized{Cols: l.cols, Rows: l.rows})
	case op < 11:
		l.log = append(l.log, "clear")
		l.holder.dispatch(l.uri, l.seq, ahp.TerminalCleared{})
	default:
		l.holder.dispatch(l.uri, l.seq, ahp.TerminalTitleChanged{Title: fmt.Sprint("title ", l.seq)})
	}
}

func (l *life) join() {
	v := l.w.connect(fmt.Sprintf("viewer-%s-%d", l.uri[len(ahp.TerminalScheme)+1:], len(l.viewers)))
	v.initialize()
	l.viewers = append(l.viewers, v.follow(l.uri))
	l.log = append(l.log, "join")
}

// lose cuts a viewer's connection, lets things happen, and brings it back.
func (l *life) lose(i int) {
	v := l.viewers[i]
	for len(v.in) > 0 { // What had come before the cut counts.
		_, m, err := v.next()
		if err != nil {
			break
		}
		v.take(m)
	}
	seen := v.seq
	v.hangUp()
	for range l.rnd.IntN(8) {
		l.act()
	}
	back := l.w.connect(v.name)
	var r ahp.ReconnectResult
	back.must(ahp.MethodReconnect, ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: v.name, LastSeenServerSeq: seen, Subscriptions: []ahp.URI{l.uri}}, &r)
	l.kinds[r.Type]++
	l.log = append(l.log, "reconnect by "+r.Type)
	if r.Type == ahp.ReconnectSnapshot {
		l.viewers[i] = back.starting(r.Snapshots[0])
		return
	}
	v.peer = back
	for _, e := range r.Actions {
		v.apply(e)
		back.seq = e.ServerSeq
	}
}

// agree waits until all that was done has come through, and compares.
func (l *life) agree() bool {
	l.marks++
	l.seq += 3
	l.holder.dispatch(l.uri, l.seq-2, ahp.TerminalTitleChanged{}) // a name would go before the program's title
	mark := fmt.Sprintf("mark-%d", l.marks)
	// CAN and ST end whatever sequence the program has left open.
	l.holder.dispatch(l.uri, l.seq-1, ahp.TerminalInput{Data: "\x18\x1b\\\x1b]2;" + mark + "\x1b\\"})
	end := l.holder.envelope(mark, func(e ahp.Envelope) bool {
		a, ok := e.Action.(ahp.TerminalTitleChanged)
		return ok && a.Title == mark
	}).ServerSeq
	// The holder's resize is in the stream before it, and a no-op after it.
	for _, v := range l.viewers {
		v.until(end)
	}
	want := emutest.Dump(l.viewers[0].screen)
	for i, v := range l.viewers[1:] {
		if d := emutest.Diff(emutest.Dump(v.screen), want); d != "" {
			l.log = append(l.log, fmt.Sprintf("viewer %d sees something else than the first:\n%s", i+1, d))
			return false
		}
	}
	var r ahp.ReadResult
	l.holder.must(ahp.MethodRead, ahp.ReadParams{Channel: l.uri, What: ahp.ReadScreen}, &r)
	if seen := emulator.ScreenText(l.viewers[0].screen); trimmed(r.Text) != trimmed(seen) {
		l.log = append(l.log, fmt.Sprintf("the host has\n%s\nviewers see\n%s", r.Text, seen))
		return false
	}
	return true
}
