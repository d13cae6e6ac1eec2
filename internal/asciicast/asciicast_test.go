package asciicast

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// all reads a recording whole.
func all(r io.Reader) (Header, []Event, error) {
	rd, err := NewReader(r)
	if err != nil {
		return Header{}, nil, err
	}
	var events []Event
	for {
		e, err := rd.Next()
		if err == io.EOF {
			return rd.Header(), events, nil
		}
		if err != nil {
			return rd.Header(), events, err
		}
		events = append(events, e)
	}
}

// The formats' documentation has these as examples
// (docs.asciinema.org/manual/asciicast/v2 and /v3).
const (
	exampleV2 = `{"version": 2, "width": 80, "height": 24, "timestamp": 1504467315, "title": "Demo", "env": {"TERM": "xterm-256color", "SHELL": "/bin/zsh"}}
[0.248848, "o", "\u001b[1;31mHello \u001b[32mWorld!\u001b[0m\n"]
[1.001376, "o", "That was ok\rThis is better."]
[1.500000, "m", ""]
[2.143733, "o", "Now... "]
[4.050000, "r", "80x24"]
[6.541828, "o", "Bye!"]
`
	exampleV3 = `{"version": 3, "term": {"cols": 80, "rows": 24, "type": "xterm-256color"}, "timestamp": 1504467315, "title": "Demo", "env": {"SHELL": "/bin/zsh"}}
# event stream follows the header
[0.248, "o", "\u001b[1;31mHello \u001b[32mWorld!\u001b[0m\n"]
[1.001, "o", "That was ok\rThis is better."]
[3.500, "m", ""]
[0.143, "o", "Now... "]
# terminal window resized to 90 cols and 30 rows
[2.050, "r", "90x30"]
[1.541, "o", "Bye!"]
[0.887, "x", "0"]
`
)

func TestExamples(t *testing.T) {
	h, events, err := all(strings.NewReader(exampleV2))
	want := Header{
		Version: V2, Cols: 80, Rows: 24, Term: "xterm-256color", Time: time.Unix(1504467315, 0), Title: "Demo",
	}
	if err != nil || !reflect.DeepEqual(h, want) || len(events) != 6 {
		t.Fatalf("v2: %+v, %d events, %v", h, len(events), err)
	}
	if e := events[5]; e != (Event{At: 6541828 * time.Microsecond, Kind: Output, Data: "Bye!"}) {
		t.Errorf("the last event is %+v", e)
	}
	if e := events[4]; e.Kind != Resize || e.Cols != 80 || e.Rows != 24 {
		t.Errorf("the resize is %+v", e)
	}

	h, events, err = all(strings.NewReader(exampleV3))
	if err != nil || h.Version != V3 || h.Cols != 80 || h.Term != "xterm-256color" || len(events) != 7 {
		t.Fatalf("v3: %+v, %d events, %v", h, len(events), err)
	}
	if e := events[5]; e != (Event{At: 8483 * time.Millisecond, Kind: Output, Data: "Bye!"}) {
		t.Errorf("the last output is %+v", e)
	}
	if e := events[6]; e != (Event{At: 9370 * time.Millisecond, Kind: Exit}) {
		t.Errorf("the end is %+v", e)
	}
}

// TestThemes: the palette is one text in the file.
func TestThemes(t *testing.T) {
	for _, line := range []string{
		`{"version": 2, "width": 3, "height": 2, "idle_time_limit": 1.5, "theme": {"fg": "#d0d0d0", "bg": "#212121", "palette": "#151515:#ac4142"}}`,
		`{"version": 3, "idle_time_limit": 1.5, "term": {"cols": 3, "rows": 2, "theme": {"fg": "#d0d0d0", "bg": "#212121", "palette": "#151515:#ac4142"}}}`,
	} {
		h, _, err := all(strings.NewReader(line))
		if want := (&Theme{"#d0d0d0", "#212121", []string{"#151515", "#ac4142"}}); err != nil || !reflect.DeepEqual(h.Theme, want) || h.IdleLimit != 1500*time.Millisecond {
			t.Errorf("%s: %+v %+v, %v", line, h, h.Theme, err)
		}
		var b bytes.Buffer
		if _, err := NewWriter(&b, h); err != nil {
			t.Fatal(err)
		}
		if again, _, err := all(&b); err != nil || !reflect.DeepEqual(again, h) {
			t.Errorf("written again: %+v, %v", again, err)
		}
	}
}

// TestRoundTrip: what is written is read the same, each line is JSON, and times
// in v3 don't drift by rounding.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	texts := []string{"a", "\x1b[1mé漢👍\x1b[m", "\"\\\r\n\t\x00\x7f\u2028", strings.Repeat("x", 1000), "\ufffd"}
	for _, v := range []Version{V2, V3} {
		var b bytes.Buffer
		h := Header{Version: v, Cols: 80, Rows: 24, Time: time.Unix(1, 0), Title: "<&>"}
		w, err := NewWriter(&b, h)
		if err != nil {
			t.Fatal(err)
		}
		var want []Event
		at := time.Duration(0)
		for range 2000 {
			at += time.Duration(rng.IntN(3000)) * time.Microsecond
			e := Event{At: at}
			switch rng.IntN(6) {
			case 0:
				e.Kind, e.Cols, e.Rows = Resize, 1+rng.IntN(300), 1+rng.IntN(100)
			case 1:
				e.Kind, e.Data = Marker, texts[rng.IntN(len(texts))]
			case 2:
				e.Kind, e.Data = Input, texts[rng.IntN(len(texts))]
			default:
				e.Kind, e.Data = Output, texts[rng.IntN(len(texts))]
			}
			want = append(want, e)
			if err := w.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		if v == V3 {
			want = append(want, Event{At: at, Kind: Exit, Code: 3})
		}
		if err := w.Write(Event{At: at, Kind: Exit, Code: 3}); err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
			if !json.Valid([]byte(line)) {
				t.Fatalf("line %d is no JSON: %s", i+1, line)
			}
		}
		got, events, err := all(&b)
		if err != nil || got.Title != "<&>" || len(events) != len(want) {
			t.Fatalf("v%d: %+v, %d of %d events, %v", v, got, len(events), len(want), err)
		}
		for i, e := range events {
			if off := (e.At - want[i].At).Abs(); off > time.Millisecond {
				t.Fatalf("v%d: event %d is off by %v", v, i, off)
			}
			if e.At = want[i].At; e != want[i] {
				t.Fatalf("v%d: event %d is %+v, want %+v", v, i, e, want[i])
			}
		}
	}
}

// TestLongOutput: more than a line may have is several events.
func TestLongOutput(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b, Header{Version: V3, Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("é\x01", 800<<10)
	if err := w.Write(Event{At: time.Second, Kind: Output, Data: text}); err != nil {
		t.Fatal(err)
	}
	_, events, err := all(&b)
	got := ""
	for _, e := range events {
		if e.At != time.Second {
			t.Errorf("a piece is at %v", e.At)
		}
		got += e.Data
	}
	if err != nil || got != text || len(events) < 2 {
		t.Errorf("%d events of %d bytes, %v", len(events), len(got), err)
	}
}

func TestRefused(t *testing.T) {
	head := `{"version": 2, "width": 80, "height": 24}` + "\n"
	for name, c := range map[string]struct{ file, why string }{
		"empty":      {"", "it is empty"},
		"no json":    {"hello", "line 1 is no header"},
		"v1":         {`{"version": 1, "width": 80, "height": 24, "stdout": []}`, "asciicast v1"},
		"v9":         {`{"version": 9}`, "version is 9"},
		"no size":    {`{"version": 3}`, "0x0"},
		"big size":   {`{"version": 2, "width": 80, "height": 100000}`, "at most 2000"},
		"event":      {head + `{"a": 1}`, "line 2: it is no event"},
		"two parts":  {head + `[1, "o"]`, "line 2: an event has three parts"},
		"bad time":   {head + `["1", "o", "x"]`, "line 2"},
		"bad data":   {head + "# comment\n\n" + `[1, "o", 5]`, "line 4: its data"},
		"bad resize": {head + `[1, "r", "big"]`, `"big" is no size`},
		"bad exit":   {head + `[1, "x", "killed"]`, "no exit status"},
		"cut":        {head + `[1, "o", "hel`, "line 2"},
	} {
		if _, _, err := all(strings.NewReader(c.file)); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", name, err, c.why)
		}
	}
	if _, _, err := all(strings.NewReader(head + `[1, "o", "` + strings.Repeat("x", MaxLine))); err == nil || !strings.Contains(err.Error(), "longer than 16 MiB") {
		t.Errorf("a long line: %v", err)
	}
	for _, h := range []Header{{Version: 1, Cols: 1, Rows: 1}, {Version: V3}, {Version: V2, Cols: 9999, Rows: 1}} {
		if _, err := NewWriter(io.Discard, h); err == nil {
			t.Errorf("%+v is written", h)
		}
	}
}

// TestOddTimes: times that fall, are negative or huge don't break what follows.
func TestOddTimes(t *testing.T) {
	_, events, err := all(strings.NewReader(`{"version": 2, "width": 80, "height": 24}
[5, "o", "a"]
[3, "o", "b"]
[-1, "o", "c"]
[1e300, "o", "d"]
[6, "z", {"unknown": "kind"}]
[7, "o", "e"]
`))
	if err != nil || len(events) != 5 {
		t.Fatalf("%v, %v", events, err)
	}
	for i, want := range []time.Duration{5 * time.Second, 5 * time.Second, 5 * time.Second, MaxTime, MaxTime} {
		if events[i].At != want {
			t.Errorf("event %d is at %v, want %v", i, events[i].At, want)
		}
	}
}

// FuzzRead: whatever a file holds, reading ends, times don't fall, and what was
// read is written and read the same again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(exampleV2))
	f.Add([]byte(exampleV3))
	f.Add([]byte(`{"version":3,"term":{"cols":1,"rows":1}}` + "\n[1e9,\"x\",\"-1\"]\n[0,\"r\",\"1x1\"]"))
	f.Fuzz(func(t *testing.T, p []byte) {
		h, events, err := all(bytes.NewReader(p))
		if h.Version == 0 {
			if err == nil {
				t.Fatal("no header and no error")
			}
			return
		}
		var b bytes.Buffer
		w, err := NewWriter(&b, h)
		if err != nil {
			t.Fatalf("a header that was read can't be written: %v", err)
		}
		last, n := time.Duration(0), 0
		var want []Event
		for _, e := range events {
			if e.At < last || e.At > MaxTime {
				t.Fatalf("time goes from %v to %v", last, e.At)
			}
			last = e.At
			if err := w.Write(e); err != nil {
				t.Fatalf("an event that was read can't be written: %v", err)
			}
			if (e.Kind == Output || e.Kind == Input) && e.Data == "" || e.Kind == Exit && h.Version == V2 {
				continue
			}
			want = append(want, e)
			n += len(e.Data)
		}
		if n > MaxLine/8 {
			return
		}
		_, again, err := all(&b)
		if err != nil || len(again) != len(want) {
			t.Fatalf("written again: %d of %d events, %v", len(again), len(want), err)
		}
		for i, e := range again {
			if off := (e.At - want[i].At).Abs(); off > time.Millisecond {
				t.Fatalf("event %d is off by %v", i, off)
			}
			if e.At = want[i].At; e != want[i] {
				t.Fatalf("event %d is %+v, want %+v", i, e, want[i])
			}
		}
	})
}
