package pane

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestSearch(t *testing.T) {
	text := "Alpha beta\r\nalpha BETA 世界\r\nfoo(bar)\r\nx alpha a.c abc\r\nlong words that wrap around the edge\r\n"
	for _, c := range []struct {
		pattern string
		back    bool
		want    string // the cursor's column,line after the search
		found   string
	}{
		{"alpha", false, "0,0", "1/3"},
		{"alpha", true, "2,3", "3/3, wrapped"},
		{"Alpha", false, "0,0", "1/1"},
		{"BETA", false, "6,1", "1/1"},
		{"foo(", false, "0,2", "1/1, not a regexp, taken as text"},
		{`a\.c`, false, "8,3", "1/1"},
		{`a.c`, false, "8,3", "1/2"},
		{`^alpha`, false, "0,0", "1/2"},
		{`\Sbc$`, false, "12,3", "1/1"},
		{"世", false, "11,1", "1/1"},
		{`\w+ wrap`, false, "11,4", "1/1"},
		{"around the", false, "1,5", "1/1"},
		{"wrap around", false, "16,4", "1/1"},
		{"z*", false, "0,6", "no match"},
		{"nowhere", false, "0,6", "no match"},
		{"[", false, "0,6", "no match, not a regexp, taken as text"},
	} {
		v := view(t, 20, 12, text)
		v.EnterCopy()
		v.GoLine(10)
		ok := v.Search(c.pattern, c.back)
		p := placeOf(v)
		got, found := fmt.Sprintf("%d,%d", p[0], p[1]), v.Found()
		if !c.back { // from the last line on, the search wraps to every match
			found = strings.ReplaceAll(found, ", wrapped", "")
		}
		want := strings.TrimSuffix(c.found, ", wrapped")
		if got != c.want || strings.TrimSuffix(found, ", wrapped") != want || ok == strings.Contains(c.found, "no match") {
			t.Errorf("%q: at %s, %q; want %s, %q", c.pattern, got, v.Found(), c.want, c.found)
		}
	}
}

func TestSearchGoesAround(t *testing.T) {
	v := view(t, 20, 6, "hit\r\nmiss\r\nhit\r\nhit")
	v.EnterCopy()
	v.GoLine(1)
	v.Search("hit", false)
	for i, want := range []string{"3/3", "1/3, wrapped", "2/3"} {
		v.SearchNext(false, 1)
		if got := v.Found(); got != want {
			t.Errorf("step %d: %q, want %q", i, got, want)
		}
	}
	v.SearchNext(true, 2)
	if got := v.Found(); got != "3/3, wrapped" {
		t.Errorf("two back: %q", got)
	}
}

// TestSearchSeesNewOutput: the index of the history stays right while lines are added, scroll off
// and are dropped.
func TestSearchSeesNewOutput(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	v := view(t, 30, 5, "")
	v.EnterCopy()
	v.Search("needle", false)
	for i := range 400 {
		switch r.IntN(8) {
		case 0:
			v.Feed.Write("\x1b[2J\x1b[H")
		case 1:
			v.Feed.Write("\x1b[H\x1b[3J")
		case 2:
			v.Feed.Resize(20+r.IntN(20), 3+r.IntN(6))
		default:
			v.Feed.Write(strings.Repeat("x", r.IntN(50)) + "needle\r\n")
		}
		if r.IntN(3) > 0 {
			continue
		}
		v.SearchNext(false, 1)
		text, _, _ := v.Text(1 << 30)
		if got, want := v.Matches(), strings.Count(text, "needle"); got != want {
			t.Fatalf("step %d: %d matches, the text has %d:\n%s", i, got, want, text)
		}
		if v.Matches() > 0 {
			here := ""
			for _, c := range v.at(v.copy.Line)[v.copy.X:] {
				here += string(max(c.Rune, ' '))
			}
			if !strings.HasPrefix("needle", strings.TrimSpace(here[:min(len(here), 6)])) {
				t.Fatalf("step %d: the cursor is on %q", i, here)
			}
		}
	}
}

func TestSearchIsTakenBack(t *testing.T) {
	v := view(t, 20, 6, "one\r\ntwo\r\nthree")
	p := v.Position()
	v.Search("one", false)
	v.Restore(p)
	if v.Copying() || v.Searching() != "" || v.Back() != 0 {
		t.Error("a search that was given up leaves something")
	}
	v.EnterCopy()
	v.GoLine(2)
	p = v.Position()
	v.Search("one", false)
	v.Restore(p)
	if got := placeOf(v); got[1] != 1 {
		t.Errorf("the cursor is at %v", got)
	}
}

// history makes a view of 10,000 lines of 200 columns.
func history(tb testing.TB) *View {
	words := strings.Fields("the quick brown fox jumps over a lazy dog while 127.0.0.1 answers GET /index.html with 200 OK in 12ms")
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for i := range 10050 {
		n := 0
		for n < 180 {
			w := words[r.IntN(len(words))]
			b.WriteString(w + " ")
			n += len(w) + 1
		}
		fmt.Fprintf(&b, "%d\r\n", i)
	}
	v := view(tb, 200, 50, b.String())
	v.EnterCopy()
	return v
}

// BenchmarkSearch searches a full history, each time without an index.
func BenchmarkSearch(b *testing.B) {
	for _, pattern := range []string{"needle", "fox", "FOX|Needle", `\d+ms \w+ 9`, "[a-z]+ing$", "(a|b)*c+x?y"} {
		b.Run(pattern, func(b *testing.B) {
			v := history(b)
			for b.Loop() {
				v.index = index{}
				v.Search(pattern, true)
			}
			b.ReportMetric(float64(v.Matches()), "matches")
		})
	}
}

// BenchmarkSearchTyped adds a letter to an incremental search.
func BenchmarkSearchTyped(b *testing.B) {
	v := history(b)
	p := v.Position()
	v.Search("l", true)
	i := 0
	for b.Loop() {
		v.search = p.search
		v.Search([]string{"la", "laz", "lazy"}[i%3], true)
		i++
	}
}

// TestSearchFullHistory: a search reaches the end of a full history.
func TestSearchFullHistory(t *testing.T) {
	v := history(t)
	if v.Search("fox", true); v.Matches() == 0 {
		t.Error("nothing is found")
	}
}
