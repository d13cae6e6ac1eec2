package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tandemux/ahp"
)

// rows asks the host for its list of terminals.
func (p *peer) rows() map[ahp.URI]ahp.TerminalInfo {
	p.t.Helper()
	var root ahp.RootState
	if err := json.Unmarshal(p.subscribe(ahp.RootURI).State, &root); err != nil {
		p.t.Fatal(err)
	}
	rows := map[ahp.URI]ahp.TerminalInfo{}
	for _, t := range root.Terminals {
		rows[t.Resource] = t
	}
	return rows
}

// make creates a terminal whose program sets its title to every line that it reads.
func (p *peer) make(uri ahp.URI, named ahp.CreateTerminalParams) error {
	p.t.Helper()
	named.Channel, named.Claim = uri, ahp.Claim{Kind: ahp.ClaimClient, ClientID: p.name}
	if named.Meta == nil {
		named.Meta = &ahp.CreateMeta{}
	}
	named.Meta.Command = []string{"sh", "-c", `while read x; do printf '\033]2;%s\007set\n' "$x"; done`}
	return p.call(ahp.MethodCreateTerminal, named, nil)
}

func strictly(name string) ahp.CreateTerminalParams {
	return ahp.CreateTerminalParams{Meta: &ahp.CreateMeta{Name: name}}
}

// TestNames: a name is set by clients alone, is one terminal's, and goes before the
// title that the program sets, which is told beside it (D5).
func TestNames(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.connect("p")
	p.initialize(ahp.RootURI)
	const a, b = "ahp-terminal:/abcd", "ahp-terminal:/efgh"
	if err := p.make(a, strictly("build")); err != nil {
		t.Fatal(err)
	}
	seq := int64(0)
	act := func(uri ahp.URI, a ahp.Action) (refusal string) {
		t.Helper()
		seq++
		p.dispatch(uri, seq, a)
		return p.echo(seq).RejectionReason
	}
	says := func(doing, got, want string) {
		t.Helper()
		if got == "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", doing, got, want)
		}
	}
	row := func(uri ahp.URI, title, name, beside string) {
		t.Helper()
		r := p.rows()[uri]
		if r.Title != title || r.Meta.Name != name || r.Meta.Title != beside {
			t.Errorf("%s: title %q, name %q, beside it %q; want %q, %q, %q", uri, r.Title, r.Meta.Name, r.Meta.Title, title, name, beside)
		}
	}
	row(a, "build", "build", "sh")
	p.subscribe(a)
	act(a, ahp.TerminalInput{Data: "prod\n"})
	p.output(a, "set")
	p.envelope("the list with the program's title", func(e ahp.Envelope) bool {
		l, ok := e.Action.(ahp.RootTerminalsChanged)
		return ok && l.Terminals[0].Meta.Title == "prod"
	})
	row(a, "build", "build", "prod")

	says("a second of the name", p.make(b, strictly("build")).Error(), `terminal abcd has the name "build"`)
	if err := p.make(b, ahp.CreateTerminalParams{Name: "build"}); err != nil {
		t.Fatal(err) // AHP's name need not be unique
	}
	row(b, "build-2", "build-2", "sh")
	says("renamed like another", act(b, ahp.TerminalTitleChanged{Title: "build"}), `terminal abcd has the name "build"`)
	says("renamed like another's id", act(b, ahp.TerminalTitleChanged{Title: "abcd"}), "is the id of another terminal")
	for name, why := range map[string]string{"a\x1b[2J": "don't show", "pay\u202eroll": "don't show", "a\u200db": "don't show", " x": "blank", strings.Repeat("x", 200): "longer than"} {
		says("a name like "+name, act(b, ahp.TerminalTitleChanged{Title: name}), why)
	}
	row(b, "build-2", "build-2", "sh")
	if s := act(a, ahp.TerminalTitleChanged{Title: "👩🏽\u200d💻 👩\u200d❤️\u200d👩"}); s != "" {
		t.Errorf("a name with joined emoji: %s", s)
	}
	if s := act(a, ahp.TerminalTitleChanged{Title: "ab"}); s != "" { // the owner may call it what they like
		t.Errorf("renamed: %s", s)
	}
	row(a, "ab", "ab", "prod")
	if s := act(b, ahp.TerminalTitleChanged{Title: "build"}); s != "" {
		t.Errorf("a name that is free again: %s", s)
	}
	if s := act(a, ahp.TerminalTitleChanged{}); s != "" {
		t.Errorf("a name is removed: %s", s)
	}
	row(a, "prod", "", "")

	// What others call their terminals catches no beginning of an id.
	q := w.connectTCP("q", w.token().Token)
	q.initialize()
	if err := q.make("ahp-terminal:/other", strictly("abc")); err == nil || !strings.Contains(err.Error(), "begins the id of terminal abcd") {
		t.Errorf("a token's name that begins an id: %v", err)
	}
}

// TestNameSurvives: a name and a program's title outlive the host, and the name is
// still nobody else's.
func TestNameSurvives(t *testing.T) {
	t.Parallel()
	m := startMortal(t)
	c, mirror := m.client("owner")
	const uri, other = "ahp-terminal:/abcd", "ahp-terminal:/efgh"
	m.shellAt(c, mirror, uri)
	m.shellAt(c, mirror, other)
	rename := func(uri ahp.URI, name string) {
		t.Helper()
		m.until("it is called "+name, func() bool {
			_, err := c.Dispatch(uri, ahp.TerminalTitleChanged{Title: name})
			return err == nil
		})
	}
	rename(uri, "build")
	rename(other, "")
	m.until("the other is called by its program", func() bool {
		s, _ := mirror.Terminal(other)
		return s.Title == "sh"
	})
	title := func(want string) {
		t.Helper()
		m.until("it is called "+want, func() bool {
			root, _ := mirror.Root()
			for _, r := range root.Terminals {
				if r.Resource == uri {
					return r.Title == want && r.Meta.Name == want
				}
			}
			return false
		})
	}
	title("build")
	m.kill()
	m.revive()
	c.Retry()
	m.types(c, uri, "x\n")
	m.shows(mirror, uri, "got x")
	title("build")
	if s, _ := mirror.Terminal(other); s.Title != "sh" {
		t.Errorf("the one whose name was removed is called %q", s.Title)
	}
	if _, err := c.DispatchWait(t.Context(), other, ahp.TerminalTitleChanged{Title: "build"}); err == nil || !strings.Contains(err.Error(), "terminal abcd has the name") {
		t.Errorf("the name was given twice: %v", err)
	}
	m.leaveNothing(c)
}

// TestDetachedIsTold: the list says whose client is gone, and when it is back.
func TestDetachedIsTold(t *testing.T) {
	t.Parallel()
	w := start(t)
	viewer := w.connect("viewer")
	viewer.initialize(ahp.RootURI)
	const uri = "ahp-terminal:/t"
	told := func(want bool) {
		t.Helper()
		viewer.envelope("the list", func(e ahp.Envelope) bool {
			l, ok := e.Action.(ahp.RootTerminalsChanged)
			return ok && len(l.Terminals) == 1 && l.Terminals[0].Meta.Detached == want
		})
	}
	p := w.connect("p")
	p.initialize()
	if err := p.make(uri, strictly("")); err != nil {
		t.Fatal(err)
	}
	told(false)
	p.hangUp()
	told(true)
	again := w.connect("p")
	again.initialize()
	told(false)
}
