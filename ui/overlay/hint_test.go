package overlay

import "testing"

// What can't run comes last; nothing is left out but on another page.
func TestHintPages(t *testing.T) {
	rows := []HintRow{{Keys: "a"}, {Keys: "b", Off: true}, {Keys: "c"}, {Keys: "d", Off: true}, {Keys: "?", Keep: true}, {Keys: "e"}}
	for _, c := range []struct {
		n, page int
		want    string
		more    string
	}{
		{6, 0, "ac?ebd", ""},
		{5, 0, "?ace+", "2 more"},
		{5, 1, "bd+", "back to the first"},
		{5, 2, "?ace+", "2 more"},
		{3, 0, "?a+", "4 more"},
		{3, 1, "ce+", "2 more"},
		{3, 2, "bd+", "back to the first"},
		{1, 0, "?", ""},
		{0, 0, "", ""},
	} {
		got, more := "", ""
		for _, r := range hintPage(rows, c.n, c.page) {
			if r.Keys == "pgdn" {
				r.Keys, more = "+", r.Text
			}
			got += r.Keys
		}
		if got != c.want || more != c.more {
			t.Errorf("page %d of %d rows: %s %q, want %s %q", c.page, c.n, got, more, c.want, c.more)
		}
	}
}
