package ahp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"tandemux/internal/soak"
)

// randomAction draws from everything a channel may carry, foreign actions
// included.
func randomAction(r *rand.Rand, i int) Action {
	id := fmt.Sprint("cmd-", r.IntN(4))
	switch r.IntN(16) {
	case 0:
		return TerminalResized{Cols: 1 + r.IntN(200), Rows: 1 + r.IntN(60)}
	case 1:
		return TerminalClaimed{Claim: Claim{Kind: ClaimClient, ClientID: id}}
	case 2:
		return TerminalTitleChanged{Title: id}
	case 3:
		return TerminalCwdChanged{Cwd: "file:///" + id}
	case 4:
		return TerminalExited{ExitCode: ptr(r.IntN(3))}
	case 5:
		return TerminalCommandExecuted{CommandID: id, CommandLine: "make " + id, Timestamp: int64(i)}
	case 6:
		return TerminalCommandFinished{CommandID: id, ExitCode: ptr(r.IntN(2)), DurationMs: ptr(int64(i))}
	case 7:
		return TerminalCommandDetectionAvailable{}
	case 8:
		if r.IntN(6) == 0 {
			return TerminalCleared{}
		}
		return TerminalInput{Data: id}
	case 9:
		return RootTerminalsChanged{Terminals: []TerminalInfo{{Resource: id, Title: fmt.Sprint(i)}}}
	case 10:
		return RootConfigChanged{Config: map[string]any{id: float64(i)}, Replace: r.IntN(5) == 0}
	case 11:
		return RootAgentsChanged{Agents: []AgentInfo{{Provider: id}}}
	case 12:
		return LayoutChanged{Rev: int64(r.IntN(3) + 1), Doc: json.RawMessage(`{"i":` + fmt.Sprint(i) + `}`), Terminals: []URI{id}}
	case 13:
		return Unknown{Type: "canvas/opened", Raw: json.RawMessage(`{"type":"canvas/opened"}`)}
	}
	return TerminalData{Data: strings.Repeat("é"+id+"\r\n", r.IntN(4))}
}

func seeds(t *testing.T, f func(t *testing.T, r *rand.Rand)) {
	for seed := range uint64(soak.Short(5, 15)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { f(t, rand.New(rand.NewPCG(seed, 7))) })
	}
}

// TestSnapshotPlusTailIsTheWhole folds a log in one go and, through the wire,
// from a snapshot at every place in between.
func TestSnapshotPlusTailIsTheWhole(t *testing.T) {
	seeds(t, func(t *testing.T, r *rand.Rand) {
		var log []Action
		for i := range 40 {
			log = append(log, randomAction(r, i))
		}
		from(t, TerminalState{Title: "t"}, log, ReduceTerminal)
		from(t, RootState{Config: &RootConfig{}}, log, ReduceRoot)
		from(t, LayoutState{}, log, ReduceLayout)
	})
}

func from[S any](t *testing.T, start S, log []Action, reduce func(S, Action) S) {
	t.Helper()
	states := []S{start}
	for _, a := range log {
		states = append(states, reduce(states[len(states)-1], a))
	}
	want := encode(t, V1, states[len(log)])
	for i := range states {
		var s S
		if err := json.Unmarshal(encode(t, V1, states[i]), &s); err != nil {
			t.Fatal(err)
		}
		for _, a := range log[i:] {
			wire := encode(t, V1, Envelope{Channel: "c", Action: a})
			var e Envelope
			if err := json.Unmarshal(wire, &e); err != nil {
				t.Fatal(err)
			}
			s = reduce(s, e.Action)
		}
		if got := encode(t, V1, s); string(got) != string(want) {
			t.Fatalf("from the snapshot before action %d\n got %s\nwant %s", i, got, want)
		}
	}
}

// TestReducersNeverChangeTheirInput keeps deep copies of all states and
// actions and compares them at the end.
func TestReducersNeverChangeTheirInput(t *testing.T) {
	seeds(t, func(t *testing.T, r *rand.Rand) {
		code, dur := 1, int64(2)
		terminal := TerminalState{Content: make([]Part, 0, 64)} // Spare room must not be written to.
		root := RootState{Terminals: make([]TerminalInfo, 0, 8), Config: &RootConfig{Values: map[string]any{"a": 1.0}}}
		layout := LayoutState{}
		type moment struct {
			v    any
			copy string
		}
		var seen []moment
		keep := func(v any) { seen = append(seen, moment{v, fmt.Sprintf("%#v", deepCopy(reflect.ValueOf(v)))}) }
		for i := range 60 {
			a := randomAction(r, i)
			if i%7 == 0 {
				a = TerminalCommandFinished{CommandID: "cmd-1", ExitCode: &code, DurationMs: &dur}
			}
			keep(a)
			keep(terminal)
			keep(root)
			keep(layout)
			// Two futures of one past must not see each other.
			ReduceTerminal(terminal, TerminalData{Data: "other"})
			ReduceTerminal(terminal, TerminalCommandExecuted{CommandID: "other"})
			terminal, root, layout = ReduceTerminal(terminal, a), ReduceRoot(root, a), ReduceLayout(layout, a)
		}
		for i, m := range seen {
			if now := fmt.Sprintf("%#v", deepCopy(reflect.ValueOf(m.v))); now != m.copy {
				t.Fatalf("value %d changed\n was %s\n now %s", i, m.copy, now)
			}
		}
	})
}

// deepCopy gives pointers' targets as values, so that %#v shows them.
func deepCopy(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return []any{deepCopy(v.Elem())}
	case reflect.Struct:
		var all []any
		for i := range v.NumField() {
			all = append(all, deepCopy(v.Field(i)))
		}
		return all
	case reflect.Slice:
		var all []any
		for i := range v.Len() {
			all = append(all, deepCopy(v.Index(i)))
		}
		return all
	case reflect.Map:
		all := map[string]any{}
		for _, k := range v.MapKeys() {
			all[k.String()] = deepCopy(v.MapIndex(k))
		}
		return all
	}
	return v.Interface()
}

// TestFoldIsTheReducer compares TerminalFold with ReduceTerminal after every
// action, and sees that states taken out do not change later.
func TestFoldIsTheReducer(t *testing.T) {
	seeds(t, func(t *testing.T, r *rand.Rand) {
		pure := TerminalState{Title: "t", Content: []Part{{Type: PartUnclassified, Value: "$ "}}}
		lazy := NewTerminalFold(pure, 0)
		var taken []TerminalState
		var want []string
		for i := range 80 {
			a := randomAction(r, i)
			pure = ReduceTerminal(pure, a)
			lazy.Apply(a)
			taken = append(taken, lazy.State())
			want = append(want, string(encode(t, V1, pure)))
		}
		for i := range taken {
			if got := string(encode(t, V1, taken[i])); got != want[i] {
				t.Fatalf("after action %d\n got %s\nwant %s", i, got, want[i])
			}
		}
	})
}

// TestFoldKeepsTheNewestText bounds the text and cuts at lines.
func TestFoldKeepsTheNewestText(t *testing.T) {
	seeds(t, func(t *testing.T, r *rand.Rand) {
		const limit = 1000
		var whole strings.Builder
		f := NewTerminalFold(TerminalState{}, limit)
		for i := range 400 {
			switch r.IntN(8) {
			case 0:
				f.Apply(TerminalCommandExecuted{CommandID: fmt.Sprint(i)})
			case 1:
				f.Apply(TerminalCommandFinished{CommandID: fmt.Sprint(i - 1)})
			default:
				line := strings.Repeat("日", r.IntN(30)) + fmt.Sprint(i) + "\r\n"
				whole.WriteString(line)
				f.Apply(TerminalData{Data: line})
			}
			var kept strings.Builder
			for _, p := range f.State().Content {
				kept.WriteString(p.Text())
			}
			got := kept.String()
			if len(got) > limit+limit/4 {
				t.Fatalf("step %d keeps %d bytes", i, len(got))
			}
			if !strings.HasSuffix(whole.String(), got) {
				t.Fatalf("step %d: %q is not the newest text", i, got)
			}
			if cut := whole.Len() - len(got); cut > 0 {
				if len(got) < limit/2 {
					t.Fatalf("step %d keeps only %d bytes", i, len(got))
				}
				if whole.String()[cut-1] != '\n' {
					t.Fatalf("step %d cuts inside a line: %q", i, got[:20])
				}
			}
		}
	})
	f := NewTerminalFold(TerminalState{Content: []Part{{Type: PartUnclassified, Value: strings.Repeat("é", 5000)}}}, 99)
	if got := f.State().Content[0].Value; got != strings.Repeat("é", 49) {
		t.Errorf("a long line without an end was cut to %d bytes: %.20q", len(got), got)
	}
}

// TestFoldIsLinear folds 16 MiB in small pieces; the pure reducer would copy
// some 32 GiB for that.
func TestFoldIsLinear(t *testing.T) {
	start := time.Now()
	piece := strings.Repeat("0123456789abcde\n", 256)
	f := NewTerminalFold(TerminalState{}, 0)
	for range 4 << 10 {
		f.Apply(TerminalData{Data: piece})
	}
	if n := len(f.State().Content[0].Value); n != 16<<20 {
		t.Errorf("folded %d bytes, want 16 MiB", n)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
}

// FuzzReduceTerminal feeds a log of actions, one JSON object a line.
func FuzzReduceTerminal(f *testing.F) {
	f.Add([]byte(`{"title":"t","content":[{"type":"command","commandId":"a","output":"x"}]}`),
		[]byte("{\"type\":\"terminal/data\",\"data\":\"y\"}\n{\"type\":\"terminal/commandFinished\",\"commandId\":\"a\"}\n{\"type\":\"terminal/data\",\"data\":\"z\"}"), 3)
	f.Add([]byte(`{}`), []byte("{\"type\":\"terminal/cleared\"}\n{\"type\":\"terminal/exited\",\"exitCode\":1}"), 0)
	f.Fuzz(func(t *testing.T, initial, log []byte, limit int) {
		var s TerminalState
		if json.Unmarshal(initial, &s) != nil {
			return
		}
		lazy, bounded := NewTerminalFold(s, 0), NewTerminalFold(s, limit)
		for _, line := range strings.Split(string(log), "\n") {
			a, err := DecodeAction(json.RawMessage(line))
			if err != nil {
				continue
			}
			before := encode(t, V1, s)
			next := ReduceTerminal(s, a)
			if string(encode(t, V1, s)) != string(before) {
				t.Fatalf("%s changed its input", line)
			}
			s = next
			lazy.Apply(a)
			bounded.Apply(a)
		}
		if got, want := encode(t, V1, lazy.State()), encode(t, V1, s); string(got) != string(want) {
			t.Fatalf("TerminalFold\n got %s\nwant %s", got, want)
		}
		var all, kept string
		for _, p := range s.Content {
			all += p.Text()
		}
		for _, p := range bounded.State().Content {
			kept += p.Text()
		}
		if !strings.HasSuffix(all, kept) || limit > 0 && len(kept) > limit+limit/4 && len(kept) > limit {
			t.Fatalf("limit %d kept %q of %q", limit, kept, all)
		}
	})
}
