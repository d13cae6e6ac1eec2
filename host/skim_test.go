package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/emulator"
)

// TestSkim: a viewer that skims a flood gets screens in its place, the last of which is
// what the host has, and what no screen shows: bells and texts for the clipboard, each
// once, in order. Then output is told again, and subscribing anew gives all of it.
func TestSkim(t *testing.T) {
	t.Parallel()
	w := start(t)
	const uri = "ahp-terminal:/t"
	p, v := w.connect("p"), w.connect("v")
	p.initialize()
	p.create(uri, "sh", "-c", `stty -echo; echo ready; read x
		for i in 1 2 3; do seq -f 'flood %g' 10000; printf '\033]52;c;%s\a\a' $(printf text-$i | base64); done
		seq 10000; echo flooded; read x; echo more; read x`)
	p.output(uri, "ready")
	v.initialize()
	f := v.follow(uri)
	v.must(ahp.MethodSkim, map[string]any{"channel": uri, "_meta": map[string]any{"tandemux/calmMs": 60}}, nil)
	if err := v.call(ahp.MethodSkim, ahp.SubscribeParams{Channel: ahp.RootURI}, nil); err == nil {
		t.Error("the list of terminals can be skimmed")
	}
	p.dispatch(uri, 1, ahp.TerminalInput{Data: "\n"})
	var copied []string
	bells, told, screens, floods := 0, 0, 0, 0
	// On a machine that is slow enough the end isn't skimmed.
	for last := true; !last || !strings.Contains(emulator.ScreenText(f.screen), "flooded"); {
		_, m, err := v.next()
		if err != nil {
			t.Fatal(err)
		}
		switch m.Method {
		case ahp.NoteSkimmed:
			var s ahp.Skimmed
			if err := json.Unmarshal(m.Params, &s); err != nil || s.Resource != uri || s.FromSeq < v.seq {
				t.Fatalf("%v: %s after %d", err, short(string(m.Params)), v.seq)
			}
			v.from[uri] = s.FromSeq
			f = v.starting(s.Snapshot)
			if f.screen.HistoryLen() > 0 {
				t.Errorf("a screen came with %d lines of history", f.screen.HistoryLen())
			}
			screens++
			if last = s.Last; last && !strings.Contains(emulator.ScreenText(f.screen), "flooded") { // a pause
				floods++
				v.lastID++
				v.send(map[string]any{"jsonrpc": "2.0", "id": v.lastID, "method": ahp.MethodSkim, "params": ahp.SubscribeParams{Channel: uri}})
			}
		case ahp.MethodAction:
			f.take(m)
			var e ahp.Envelope
			json.Unmarshal(m.Params, &e) //nolint:errcheck // as next has done
			if d, ok := e.Action.(ahp.TerminalData); ok {
				told += len(d.Data)
			}
			for _, e := range f.screen.Events() {
				switch e.Kind {
				case emulator.EventBell:
					bells++
				case emulator.EventClipboard:
					copied = append(copied, e.Text)
				}
			}
		}
	}
	if got := strings.Join(copied, " "); got != "text-1 text-2 text-3" || bells != 3 {
		t.Errorf("copied %q, %d bells", got, bells)
	}
	if screens == 0 {
		t.Skipf("the terminal printed too slowly to be skimmed: %d bytes came as output", told)
	}
	if floods == 0 && told > 200<<10 {
		t.Errorf("%d screens, and %d bytes of output", screens, told)
	}
	same := func() {
		t.Helper()
		var r ahp.ReadResult
		p.must(ahp.MethodRead, ahp.ReadParams{Channel: uri, What: ahp.ReadScreen}, &r)
		if got := emulator.ScreenText(f.screen); trimmed(r.Text) != trimmed(got) {
			t.Errorf("the host has\n%s\nthe viewer sees\n%s", r.Text, got)
		}
	}
	same()
	p.dispatch(uri, 2, ahp.TerminalInput{Data: "\n"})
	v.envelope("more", func(e ahp.Envelope) bool {
		f.apply(e)
		return strings.Contains(emulator.ScreenText(f.screen), "more")
	})
	same()
	f = v.follow(uri)
	same()
	if n := f.screen.HistoryLen(); n < 9000 {
		t.Errorf("subscribing again gives %d lines of history", n)
	}
	var brief ahp.SubscribeResult
	v.must(ahp.MethodSubscribe, map[string]any{"channel": uri, "_meta": map[string]any{"tandemux/within": 0}}, &brief)
	f = v.starting(*brief.Snapshot)
	same()
	if n := f.screen.HistoryLen(); n > 0 {
		t.Errorf("subscribing to the screen alone gives %d lines of history", n)
	}
}

// TestSkimShowsTheEnd: what a flood ends with is shown when no more comes, long before the
// skimming ends, which a flood of turns below 16 KiB does not put off (2 s here).
func TestSkimShowsTheEnd(t *testing.T) {
	t.Parallel()
	w := start(t)
	const uri = "ahp-terminal:/t"
	p, v := w.connect("p"), w.connect("v")
	p.initialize()
	p.create(uri, "sh", "-c", `stty -echo; echo ready; read x; seq 30000; echo flooded; read x`)
	p.output(uri, "ready")
	v.initialize()
	v.follow(uri)
	v.must(ahp.MethodSkim, map[string]any{"channel": uri, "_meta": map[string]any{"tandemux/calmMs": 2000}}, nil)
	p.dispatch(uri, 1, ahp.TerminalInput{Data: "\n"})
	for {
		_, m, err := v.next()
		if err != nil {
			t.Fatal(err)
		}
		var s ahp.Skimmed
		if m.Method != ahp.NoteSkimmed {
			continue
		} else if err := json.Unmarshal(m.Params, &s); err != nil {
			t.Fatal(err)
		}
		v.from[uri] = s.FromSeq
		if strings.Contains(emulator.ScreenText(v.starting(s.Snapshot).screen), "flooded") {
			if s.Last {
				t.Error("only when the skimming ended")
			}
			return
		}
	}
}
