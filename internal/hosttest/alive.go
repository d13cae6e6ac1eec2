package hosttest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Alive is a line of the shell that runs for a while and writes into a file, many times a
// second, that it does; its last word is that it came to its end. What reads it is Spans.
func Alive(file, name string, long time.Duration) string {
	return fmt.Sprintf(`i=0; while [ $i -lt %d ]; do i=$((i+1)); echo %s $HOME:$$ $(date +%%s%%N) >>%s; sleep 0.1; done; echo %[2]s $HOME:$$ ended >>%[3]s`,
		int(long/(100*time.Millisecond)), name, file)
}

// Span is from when until when such a line ran.
type Span struct {
	Who      string // the machine and the process
	From, To time.Time
	Ended    bool
}

// Spans are by name the lines that ran, in the order in which they began. What a kill cut
// short counts as not written.
func Spans(t testing.TB, file string) map[string][]Span {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	by := map[string][]Span{}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 3 {
			continue
		}
		name, who := words[0], words[1]
		nano, err := strconv.ParseInt(words[2], 10, 64)
		at := time.Unix(0, nano)
		i := slices.IndexFunc(by[name], func(s Span) bool { return s.Who == who })
		switch {
		case err != nil && i >= 0:
			by[name][i].Ended = words[2] == "ended"
		case err != nil:
		case i < 0:
			by[name] = append(by[name], Span{Who: who, From: at, To: at})
		default:
			by[name][i].To = at
		}
	}
	for _, all := range by {
		slices.SortFunc(all, func(a, b Span) int { return a.From.Compare(b.From) })
	}
	return by
}

// Once wants a line to have come to its end once at least, and never to have run twice at
// the same time. It gives how often it was begun.
func Once(t testing.TB, name string, all []Span) int {
	t.Helper()
	ended := false
	for i, s := range all {
		if ended = ended || s.Ended; i > 0 && s.From.Before(all[i-1].To) {
			t.Errorf("%s ran twice at once: %+v and %+v", name, all[i-1], s)
		}
	}
	if !ended {
		t.Errorf("%s has not come to its end: %+v", name, all)
	}
	return len(all)
}
