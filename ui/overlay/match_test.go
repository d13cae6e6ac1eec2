package overlay

import (
	"slices"
	"testing"
)

func TestMatching(t *testing.T) {
	rows := []string{"Close pane", "Split right", "Rename pane", "Send to the background", "Detach"}
	for query, want := range map[string][]int{
		"":      {0, 1, 2, 3, 4},
		"pane":  {0, 2},
		"PANE":  {0, 2},
		"ren":   {2},
		"back":  {3},
		"spr":   {1},
		"p c":   {0},
		"zzz":   nil,
		"de":    {4, 3},
		"right": {1},
	} {
		got := matching(len(rows), query, func(i int) string { return rows[i] })
		if query == "de" {
			if len(got) == 0 || got[0] != 4 {
				t.Errorf("%q finds %v, want Detach first", query, got)
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", query, got, want)
		}
	}
}
