package host_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/internal/soak"
)

// colouredLines fills lines of 200 columns, with ten colours in each.
func colouredLines(n int) string {
	return fmt.Sprintf(`awk 'BEGIN { for (i = 0; i < %d; i++) { for (k = 0; k < 10; k++)
	printf "\033[38;5;%%d;4%%dm%%07d:%%d words and w\033[m", 16 + (i*7+k*13) %% 240, k %% 8, i, k; print "" } }'`, n)
}

// filled is a terminal of 200 × 50 that has run a script.
func filled(t testing.TB, w *fixture, script string) (*peer, ahp.URI) {
	t.Helper()
	const uri = "ahp-terminal:/t"
	p := w.connect("p")
	p.initialize()
	p.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "p"}, Cols: 200, Rows: 50,
		Meta: &ahp.CreateMeta{Command: []string{"sh", "-c", "stty -echo; read x; " + script + "; printf 'E''ND'; read x"}},
	}, nil)
	return p, uri
}

// TestSnapshotBounds: whatever fills a terminal, a snapshot stays under 4 MiB on
// the wire, and shows what the early viewer sees (docs/contributing/decisions.md §32).
func TestSnapshotBounds(t *testing.T) {
	soak.Long(t, "snapshots of megabytes")
	t.Parallel()
	lines := soak.Size(t, 800, 4000)
	for name, script := range map[string]string{
		"colours":  colouredLines(lines),
		"controls": fmt.Sprintf(`head -c %d /dev/zero | tr '\0' '\001'`, 150*lines),
		"escapes":  fmt.Sprintf(`head -c %d /dev/zero | tr '\0' '\033'`, 150*lines),
		"wide":     fmt.Sprintf(`yes '漢字 ' | head -c %d`, 125*lines),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, func(c *host.Config) { c.Limits.StallTime = patience })
			p, uri := filled(t, w, script)
			early := p.follow(uri)
			p.dispatch(uri, 1, ahp.TerminalInput{Data: "\n"})
			seen := ""
			p.envelope("the end", func(e ahp.Envelope) bool {
				early.apply(e)
				if d, ok := e.Action.(ahp.TerminalData); ok {
					seen = (seen + d.Data)[max(0, len(seen)+len(d.Data)-10):]
				}
				return strings.HasSuffix(seen, "END")
			})
			late := w.connect("late")
			late.initialize()
			s := late.subscribe(uri)
			if len(s.State) > 4<<20 {
				t.Errorf("the snapshot has %d bytes", len(s.State))
			}
			t.Logf("snapshot of %d bytes", len(s.State))
			// What is on its way to the early one yet, such as that the echo's mode has changed.
			p.request(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil, func(e ahp.Envelope) {
				if e.Channel == uri && e.ServerSeq <= s.FromSeq {
					early.apply(e)
				}
			})
			if got, want := late.starting(s).look(), early.look(); got != want {
				t.Errorf("late\n%s\nearly\n%s", got, want)
			}
		})
	}
}

// BenchmarkAttach measures attaching to a terminal with 10,000 coloured lines of
// 200 columns: a new connection, its handshake with the terminal among the
// initial subscriptions, and an emulator that shows the first full screen.
func BenchmarkAttach(b *testing.B) {
	w := start(b, func(c *host.Config) { c.Limits.StallTime = patience })
	p, uri := filled(b, w, colouredLines(10000))
	p.subscribe(uri)
	p.dispatch(uri, 1, ahp.TerminalInput{Data: "\n"})
	p.output(uri, "END")
	b.ResetTimer()
	size := 0
	var took []time.Duration
	for n := range b.N {
		began := time.Now()
		v := &tap{t: b, w: w, name: fmt.Sprint("v", n), streams: map[ahp.URI]*stream{}}
		v.dial()
		var r ahp.InitializeResult
		v.call(ahp.MethodInitialize, ahp.InitializeParams{
			Channel: ahp.RootURI, ProtocolVersions: []string{"1.0.0"}, ClientID: v.name, InitialSubscriptions: []ahp.URI{uri},
		}, &r)
		if f := p.starting(r.Snapshots[0]); f.screen.Cursor().Y == 0 {
			b.Fatal("nothing is shown")
		}
		took = append(took, time.Since(began))
		size = len(r.Snapshots[0].State)
		b.StopTimer()
		v.tr.Close(1000, "")
		b.StartTimer()
	}
	slices.Sort(took)
	b.ReportMetric(float64(size), "snapshot-bytes")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
	b.ReportMetric(float64(took[0].Microseconds())/1000, "least-ms")
}

// TestBusyEvictsNobody: what one terminal writes does not push what another one
// did out of the replay log; a client of both has to take snapshots (AHP,
// Lifecycle).
func TestBusyEvictsNobody(t *testing.T) {
	soak.Long(t, "what one terminal prints fills the replay log")
	t.Parallel()
	w := start(t, func(c *host.Config) { c.Limits.ReplayBytes = 64 << 10 })
	const busy, quiet = "ahp-terminal:/busy", "ahp-terminal:/quiet"
	p := w.connect("p")
	p.initialize()
	p.create(busy, "sh", "-c", `read x; seq 1 200000; echo END; read x`)
	p.create(quiet, "cat")
	away := w.connect("away")
	away.initialize()
	seen := away.subscribe(quiet).FromSeq
	away.hangUp()
	p.dispatch(quiet, 1, ahp.TerminalTitleChanged{Title: "missed"})
	p.dispatch(busy, 2, ahp.TerminalInput{Data: "\n"})
	p.output(busy, "END")
	for _, c := range []struct {
		subscriptions []ahp.URI
		kind          string
	}{
		{[]ahp.URI{quiet}, ahp.ReconnectReplay},
		{[]ahp.URI{quiet, busy}, ahp.ReconnectSnapshot},
		{[]ahp.URI{quiet, "ahp-terminal:/gone"}, ahp.ReconnectReplay},
	} {
		back := w.connect("away")
		var raw json.RawMessage
		back.must(ahp.MethodReconnect, ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: "away", LastSeenServerSeq: seen, Subscriptions: c.subscriptions}, &raw)
		if want := fmt.Sprintf(`"type":%q`, c.kind); !strings.Contains(string(raw), want) || !strings.Contains(string(raw), `"title":"missed"`) {
			t.Errorf("reconnect to %v gives %.300s", c.subscriptions, raw)
		}
		back.hangUp()
	}
}

// TestManySnapshots: a client that comes back to more than fits into one reply
// gets all of it, with less history, and sees what the others see
// (docs/contributing/decisions.md §32).
func TestManySnapshots(t *testing.T) {
	t.Parallel()
	soak.Long(t, "many of them")
	const terminals = 8
	w := start(t, func(c *host.Config) { c.Limits.ReplyBytes = 256 << 10 })
	p := w.connect("p")
	p.initialize()
	uris := []ahp.URI{ahp.RootURI}
	early := map[ahp.URI]*fold{}
	for i := range terminals {
		uri := fmt.Sprint("ahp-terminal:/", i)
		p.create(uri, "sh", "-c", fmt.Sprintf(`read x; seq -f '%%06.0f of terminal %d, and more' 1 %d; printf 'E''ND'; read x`, i, 100+2000*(i%4)))
		early[uri] = p.follow(uri)
		uris = append(uris, uri)
		p.dispatch(uri, int64(i+1), ahp.TerminalInput{Data: "\n"})
		seen := ""
		p.envelope("the end", func(e ahp.Envelope) bool {
			if f := early[e.Channel]; f != nil {
				f.apply(e)
			}
			if d, ok := e.Action.(ahp.TerminalData); ok && e.Channel == uri {
				seen = (seen + d.Data)[max(0, len(seen)+len(d.Data)-10):]
			}
			return strings.HasSuffix(seen, "END")
		})
		if i%2 == 1 { // From here on its state is served, not its output.
			p.dispatch(uri, int64(i+101), ahp.TerminalResized{Cols: 60 + i, Rows: 20})
			early[uri].apply(p.echo(int64(i + 101)))
		}
	}
	check := func(how string, v *peer, list []ahp.Snapshot) {
		t.Helper()
		if len(list) != len(uris) {
			t.Fatalf("%s gives %d snapshots of %d", how, len(list), len(uris))
		}
		size := 0
		for _, s := range list {
			size += len(s.State)
			if f := early[s.Resource]; f != nil {
				if got, want := v.starting(s).look(), f.look(); got != want {
					t.Errorf("%s: %s is\n%s\nnot\n%s", how, s.Resource, got, want)
				}
			}
		}
		if size > 256<<10 {
			t.Errorf("%s gives %d bytes", how, size)
		}
		v.must(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
	}
	v := w.connect("v")
	check("initialize", v, v.initialize(uris...).Snapshots)
	v.hangUp()
	back := w.connect("v")
	var r ahp.ReconnectResult
	back.must(ahp.MethodReconnect, ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: "v", LastSeenServerSeq: 1, Subscriptions: uris}, &r)
	check("reconnect", back, r.Snapshots)
}
