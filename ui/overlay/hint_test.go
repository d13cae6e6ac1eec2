package overlay

import "testing"

func TestWhatCanRunStaysInTheHint(t *testing.T) {
	rows := []HintRow{{Keys: "a"}, {Keys: "b", Off: true}, {Keys: "c"}, {Keys: "d", Off: true}, {Keys: "?", Keep: true}}
	for n, want := range map[int]string{5: "abcd?", 4: "abc?", 3: "ac?", 2: "a?", 1: "?", 0: "?"} {
		got := ""
		for _, r := range fitting(rows, n) {
			got += r.Keys
		}
		if got != want {
			t.Errorf("of %d rows %s, want %s", n, got, want)
		}
	}
}
