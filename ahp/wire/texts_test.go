package wire

import (
	"encoding/json"
	"reflect"
	"testing"

	"tandemux/ahp"
)

// FuzzTexts: a state that was taken apart is put together again. Lengths that do not fit what
// came give an error, and nothing panics.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b[31mé世🙂\r\n\x00", "cut\xe4\xb8"} {
		f.Add(s, s+s, 3, 2)
		f.Add(s, "", -1, 1<<62)
	}
	f.Fuzz(func(t *testing.T, a, b string, x, y int) {
		state := ahp.TerminalState{Title: "t", Content: ahp.List[ahp.Part]{{Type: ahp.PartUnclassified, Value: a}, {Type: ahp.PartCommand, CommandID: "c", Output: b}}, Lifecycle: ahp.Lifecycle{Status: ahp.StatusRunning}}
		bare, texts := Apart(state)
		if state.Content[0].Value != a || len(texts) != 2 {
			t.Fatalf("%d texts of %v", len(texts), state.Content)
		}
		raw, err := json.Marshal(bare)
		if err != nil {
			t.Fatal(err)
		}
		s := snapshot(raw, len(a), len(b))
		if rest, err := TakeTexts(&s, []byte(a+b+"more")); err != nil || string(rest) != "more" {
			t.Fatalf("%q is left, %v", rest, err)
		}
		if got, err := Terminal(s); err != nil || !reflect.DeepEqual(got, state) {
			t.Fatalf("%v became %v, %v", state, got, err)
		}
		for _, lens := range [][]int{{x, y}, {len(a)}, {len(a), len(b), 0}, {len(a), len(b), x}} {
			s := snapshot(raw, lens...)
			if _, err := TakeTexts(&s, []byte(a+b)); err == nil {
				if _, err := Terminal(s); err == nil && (len(lens) != 2 || x < 0 || y < 0 || x > len(a+b) || y > len(a+b)-x) {
					t.Fatalf("%q and %q have texts of %v", a, b, lens)
				}
			}
		}
		if s := snapshot(raw, x, y); x > len(a) || x < 0 {
			s.Text = []byte(a)
			if _, err := Terminal(s); err == nil {
				t.Fatalf("%d bytes have a text of %d", len(a), x)
			}
		}
	})
}

func snapshot(state json.RawMessage, texts ...int) (s ahp.Snapshot) {
	s.State, s.Meta.Texts = state, texts
	return s
}
