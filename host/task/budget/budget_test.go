package budget

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// book is one with a clock of its own, and what it keeps as a file would have it.
type book struct {
	*Book
	at   time.Time
	kept map[string][]byte
	full bool
}

func newBook(t *testing.T, kept map[string][]byte) *book {
	t.Helper()
	b := &book{at: time.Unix(1, 0), kept: kept}
	all := map[string]Record{}
	for task, text := range kept {
		var r Record
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		all[task] = r
	}
	b.Book = NewBook(all, func(task string, r Record) error {
		if b.full {
			return errors.New("full")
		}
		text, err := json.Marshal(r)
		b.kept[task] = text
		return err
	}, func() time.Time { return b.at })
	return b
}

// TestCountedOnce: whatever was kept when a host died, and however often the next ones are
// told of a turn, its tokens and its cost count once.
func TestCountedOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		b := newBook(t, map[string][]byte{})
		tokens, cost, meter, most := int64(0), 0.0, 0.0, 1.0
		for turn := range 1 + rnd.IntN(6) {
			s := Seen{Turn: string(rune('a' + turn)), Session: "s", Began: true, Currency: "USD"}
			told := func() {
				for range 1 + rnd.IntN(3) {
					b.at = b.at.Add(time.Duration(rnd.IntN(4000)) * time.Millisecond)
					b.Count("t", s, false) //nolint:errcheck // it keeps
					if rnd.IntN(3) == 0 {
						b = newBook(t, b.kept) // the host has died
					}
				}
			}
			told()
			if rnd.IntN(8) == 0 && meter > 0 {
				meter, most = 0, meter // the agent's process is another, and counts anew
			}
			for range rnd.IntN(4) {
				more := rnd.Float64() * most
				most = 1
				meter, cost = meter+more, cost+more
				s.Cost = new(meter)
				told()
			}
			s.Ended, s.Tokens = true, new(rnd.Int64N(1000))
			tokens += *s.Tokens
			told()
			// What ends a turn is noted after this: until then it is told again.
			b.Count("t", s, false) //nolint:errcheck // it keeps
			b = newBook(t, b.kept)
		}
		u := b.View("t").Used
		if u.Tokens == nil || *u.Tokens != tokens {
			t.Fatalf("seed %d: %v tokens, want %d", seed, u.Tokens, tokens)
		}
		if cost > 0 && (u.Cost == nil || math.Abs(*u.Cost-cost) > 1e-9) {
			t.Fatalf("seed %d: it used %+v, and cost %v", seed, u, cost)
		}
	}
}

// TestTime: time counts while a turn runs and asks nothing; a host that dies loses less than
// it keeps in.
func TestTime(t *testing.T) {
	t.Parallel()
	b := newBook(t, map[string][]byte{})
	if _, err := b.Limit("t", Limits{Seconds: new(int64(10))}); err != nil {
		t.Fatal(err)
	}
	step := func(d time.Duration, s Seen, asks bool) (View, time.Duration) {
		t.Helper()
		b.at = b.at.Add(d)
		v, again, err := b.Count("t", s, asks)
		if err != nil {
			t.Fatal(err)
		}
		return v, again
	}
	run := Seen{Turn: "a", Began: true}
	if _, again := step(0, run, false); again != keepTime {
		t.Errorf("it is looked at again after %v", again)
	}
	step(3*time.Second, run, true)             // it asks
	step(time.Hour, run, false)                // and is answered
	v, again := step(4*time.Second, run, true) // and asks again
	if v.Used.Seconds != 7 || v.Over != "" || again != 0 {
		t.Errorf("%+v, again after %v", v, again)
	}
	_, again = step(time.Hour, run, false)
	if again != 3*time.Second {
		t.Errorf("with 3 s left it is looked at again after %v", again)
	}
	if b.at = b.at.Add(time.Second); b.View("t").Used.Seconds != 8 {
		t.Errorf("meanwhile it is %v", b.View("t").Used.Seconds)
	}
	v, _ = step(2*time.Second, run, false)
	if v.Over != Time || v.Reason != "the budget is used up: 10s of 10s" {
		t.Errorf("%+v", v)
	}
	run.Ended = true
	step(time.Second, run, false)
	b.at = b.at.Add(time.Hour)
	if v = b.View("t"); v.Used.Seconds != 11 {
		t.Errorf("between turns it is %v", v.Used.Seconds)
	}
	// A turn that was over before it was seen took what its session says.
	if v, _ = step(0, Seen{Turn: "b", Began: true, Ended: true, Took: 2 * time.Second}, false); v.Used.Seconds != 13 {
		t.Errorf("%+v", v)
	}
	// One that never began counts for nothing.
	if v, _ = step(0, Seen{Turn: "c", Ended: true}, false); v.Used.Turns != 2 {
		t.Errorf("%+v", v)
	}
}

// TestUnknown: what an agent doesn't report is not known, and a limit of it says so.
func TestUnknown(t *testing.T) {
	t.Parallel()
	b := newBook(t, map[string][]byte{})
	l := Limits{Tokens: new(int64(100)), Cost: new(2.5)}
	if _, err := b.Limit("t", l); err != nil {
		t.Fatal(err)
	}
	count := func(s Seen) View {
		t.Helper()
		s.Began = true
		v, _, err := b.Count("t", s, false)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := count(Seen{Turn: "a"})
	if v.Used.Tokens != nil || v.Used.Cost != nil || len(v.Unknown) != 0 || !strings.Contains(strings.Join(v.Words(), "\n"), "tokens not reported yet of 100") {
		t.Errorf("while it runs: %+v %q", v, v.Words())
	}
	v = count(Seen{Turn: "a", Ended: true})
	if v.Used.NoTokens != 1 || v.Used.NoCost != 1 || !slices.Equal(v.Unknown, []Kind{Tokens, Cost}) {
		t.Errorf("%+v", v)
	}
	if got := v.Words()[1]; got != "cost   not reported by the agent of 2.50: the limit may be passed unseen" {
		t.Errorf("%q", got)
	}
	v = count(Seen{Turn: "b", Tokens: new(int64(120)), Cost: new(1.0), Currency: "EUR", Ended: true})
	if v.Over != Tokens || v.Reason != "the budget is used up: 120 of 100 tokens" || v.Words()[0] != "tokens at least 120 of 100: the limit may be passed unseen" {
		t.Errorf("%+v %q", v, v.Words())
	}
	// Amounts of another currency are none of this.
	v = count(Seen{Turn: "c", Tokens: new(int64(1)), Cost: new(9.0), Currency: "USD", Ended: true})
	if *v.Used.Cost != 1 || v.Used.NoCost != 2 {
		t.Errorf("%+v", v.Used)
	}
	// A limit that is raised, or none.
	if v, err := b.Limit("t", Limits{Tokens: new(int64(0))}); err != nil || v.Over != "" || *v.Limits.Cost != 2.5 || !slices.Equal(v.Unknown, []Kind{Cost}) {
		t.Errorf("%v %+v", err, v)
	}
	b.full = true
	if _, err := b.Limit("t", Limits{Tokens: new(int64(1))}); err == nil || b.View("t").Over != "" {
		t.Errorf("a limit that could not be kept is set: %v", err)
	}
	if err := b.Stop("t", "c"); err == nil {
		t.Error("what could not be kept is no error")
	}
}

// TestDefaults: what the configuration may have, and who goes beyond it.
func TestDefaults(t *testing.T) {
	t.Parallel()
	read := map[string]Limits{
		"[budgets.a]\nmax-tokens = 5\nmax-cost = 2.5\nmax-time = 60\n": {Tokens: new(int64(5)), Cost: new(2.5), Seconds: new(int64(60))},
		"[budgets.a]\nmax-disk = \"2G\"\n":                             {Bytes: new(int64(2 << 30))},
		"[budgets.a]\nmax-disk = \"1536M\"\n":                          {Bytes: new(int64(1536 << 20))},
	}
	for text, want := range map[string]string{
		"[budgets.a]\nmax-tokens = 5\nmax-cost = 2.5\nmax-time = 60\n": "",
		"[budgets.a]\nmax-disk = \"2G\"\n":                             "",
		"[budgets.a]\nmax-disk = \"1536M\"\n":                          "",
		"[budgets.a]\nmax-disk = \"2T\"\n":                             `such as "512M"`,
		"[budgets.a]\nmax-disk = 2\n":                                  `such as "512M"`,
		"[budgets.a]\nmax-tokens = 5.5\n":                              "a number of tokens",
		"[budgets.a]\nmax-cost = -1\n":                                 "an amount such as 2.5",
		"[budgets.a]\nmax-cost = nan\n":                                "an amount such as 2.5",
		"[budgets.a]\nmax-cost = \"5\"\n":                              "an amount such as 2.5",
		"[budgets.a]\nmax-time = -1\n":                                 "a whole number of seconds",
		"[budgets.a]\nmax-token = 1\n":                                 `did you mean "max-tokens"?`,
		"budgets = 1\n":                                                "must be tables",
	} {
		var m map[string]any
		if err := toml.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		var d Defaults
		_, err := d.Set(m["budgets"])
		if want == "" && (err != nil || !reflect.DeepEqual(d["a"], read[text])) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %+v", text, err, d)
		}
	}
	d := Defaults{AllAgents: {Tokens: new(int64(10)), Seconds: new(int64(60))}, "a": {Tokens: new(int64(20)), Cost: new(1.0)}}
	if l := d.Of("a"); *l.Tokens != 20 || *l.Cost != 1 || *l.Seconds != 60 {
		t.Errorf("%+v", l)
	}
	for _, c := range []struct {
		l    Limits
		want bool
	}{
		{Limits{}, false},
		{d.Of("a"), true},
		{Limits{Tokens: new(int64(20)), Cost: new(0.5), Seconds: new(int64(60))}, true},
		{Limits{Tokens: new(int64(21))}.Or(d.Of("a")), false},
		{Limits{Cost: new(0.0)}.Or(d.Of("a")), false},
	} {
		if got := c.l.Within(d.Of("a")); got != c.want {
			t.Errorf("%+v: %v", c.l, got)
		}
	}
}
