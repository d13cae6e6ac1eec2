package terminals

import (
	"fmt"
	"path"
	"time"

	"tandemux/ahp"
	"tandemux/internal/fileuri"
	"tandemux/ui/command"
	"tandemux/ui/pane"
	"tandemux/ui/words"
)

// youth is how long a shell has to have lived for its pane to close by itself
// when it exits: one that dies at once has something to say.
const youth = 2 * time.Second

// Terminal is what this client knows of a terminal of the host.
type Terminal struct {
	URI  ahp.URI
	Info ahp.TerminalInfo // as in the root channel, kept fresher by the terminal's own
	Cwd  ahp.URI

	// Following it.
	Feed       *pane.Feed // nil when not subscribed
	Ready      bool       // its snapshot has come
	Cols, Rows int        // the host's size
	Want       Size       // what this client asked for last; zero asks anew
	Asked      int64      // dispatch of a claim that the host has not answered; 0 for none
	Shown      int        // when it was last on the screen, in rising order

	Born  time.Time // when it was first seen; zero if it was there before
	Typed bool      // a person has typed into it here
	// Passing says that its pane closes when the program has ended well.
	Passing bool
	// Stays says that the pane stays open although the program has ended.
	Stays bool
	// Theirs says that another client took it or gave it a size while this one was
	// there: that one decides until somebody types here.
	Theirs bool
	// Done says that it has been closed here; what still comes is ignored.
	Done bool
}

// Size is one in cells.
type Size struct{ Cols, Rows int }

// List has all terminals of the host, in the host's order.
type List struct {
	ByURI  map[ahp.URI]*Terminal
	Order  []ahp.URI
	Loaded bool   // the root snapshot has come
	Me     string // this client's id
	Person string // this client's principal, once known
}

// New makes an empty list for a client and the person behind it, as far as known.
func New(me, person string) *List {
	return &List{ByURI: map[ahp.URI]*Terminal{}, Me: me, Person: person}
}

// Get finds a terminal, nil for none.
func (ts *List) Get(uri ahp.URI) *Terminal { return ts.ByURI[uri] }

// Ensure gives the terminal's entry, a new one if there is none.
func (ts *List) Ensure(uri ahp.URI) *Terminal {
	t := ts.ByURI[uri]
	if t == nil {
		t = &Terminal{URI: uri, Info: ahp.TerminalInfo{Resource: uri}}
		ts.ByURI[uri] = t
	}
	return t
}

// Update takes the host's list. It gives the terminals that have ended and those
// that are gone.
func (ts *List) Update(list []ahp.TerminalInfo, now time.Time) (ended, lost []*Terminal) {
	listed := make(map[ahp.URI]bool, len(list))
	ts.Order = ts.Order[:0]
	for _, info := range list {
		listed[info.Resource] = true
		ts.Order = append(ts.Order, info.Resource)
		t := ts.ByURI[info.Resource]
		if t == nil {
			t = &Terminal{URI: info.Resource}
			if ts.Loaded {
				t.Born = now
			}
			ts.ByURI[info.Resource] = t
		}
		if info.Lifecycle.Exited() && !t.Info.Lifecycle.Exited() {
			ended = append(ended, t)
		}
		t.Info = info
		if info.Meta != nil && info.Meta.Cwd != "" {
			t.Cwd = info.Meta.Cwd
		}
		if ts.Mine(info.Claim) && info.Meta != nil && info.Meta.Principal != "" {
			ts.Person = info.Meta.Principal
		}
	}
	for uri, t := range ts.ByURI {
		if !listed[uri] {
			delete(ts.ByURI, uri)
			lost = append(lost, t)
		}
	}
	ts.Loaded = true
	return ended, lost
}

// Mine reports whether a claim is this client's.
func (ts *List) Mine(c ahp.Claim) bool {
	return c.Kind == ahp.ClaimClient && c.ClientID == ts.Me
}

// Holder says who holds a terminal, seen from this person.
func (ts *List) Holder(t *Terminal) command.Holder {
	if t == nil {
		return command.Nobody
	}
	c := t.Info.Claim
	switch {
	case t.Asked != 0:
		// What is typed now reaches the host behind the claim.
		return command.Me
	case c.Kind == ahp.ClaimSession && (c.ToolCallID != "" || c.TurnID != ""):
		return command.Agent
	case c.Kind == ahp.ClaimSession:
		return command.Background
	case ts.Mine(c):
		return command.Me
	}
	if t.Info.Meta == nil || ts.Person == "" || t.Info.Meta.Principal == "" || t.Info.Meta.Principal == ts.Person {
		return command.MyOther
	}
	return command.Other
}

// Left reports whether another client of this very person holds the terminal:
// the one that this person detached, most of the time.
func (ts *List) Left(t *Terminal) bool {
	return ts.Holder(t) == command.MyOther && !t.Exited() && ts.Person != "" && t.Info.Meta != nil && t.Info.Meta.Principal == ts.Person
}

// Typable reports whether this person may type into the terminal.
func (ts *List) Typable(t *Terminal) bool {
	h := ts.Holder(t)
	return t != nil && (h == command.Me || h == command.MyOther) && !t.Exited()
}

func (t *Terminal) Exited() bool { return t.Info.Lifecycle.Exited() }

// Command is the argv of what was started, nil for a shell.
func (t *Terminal) Command() []string {
	if m := t.Info.Meta; m != nil && !m.RunsShell() {
		return m.Command
	}
	return nil
}

// Layouts are those that show the terminal.
func (t *Terminal) Layouts() []ahp.URI {
	if t.Info.Meta == nil {
		return nil
	}
	return t.Info.Meta.Layouts
}

// ClosesItself reports whether the pane of a terminal that has ended closes: a
// shell's does, whatever its code, which is that of the last command in it. It
// stays when the shell died by a signal, or failed at once with nobody having used
// it.
func (t *Terminal) ClosesItself(now time.Time) bool {
	code := t.Info.Lifecycle.ExitCode
	if t.Passing && code != nil && *code == 0 {
		return true
	}
	if len(t.Command()) > 0 || code == nil {
		return false
	}
	young := !t.Born.IsZero() && now.Sub(t.Born) < youth
	return *code == 0 || !young || t.Typed || t.Info.Meta != nil && t.Info.Meta.LastCommand != nil
}

// FullTitle is the terminal's name and what runs in it, where it has a name.
func (t *Terminal) FullTitle() string {
	if meta := t.Info.Meta; meta != nil && meta.Name != "" && meta.Name == t.Info.Title && words.Clean(meta.Title) != "" {
		return t.Title() + ": " + words.Clean(meta.Title)
	}
	return t.Title()
}

// Title is what the terminal is called: its name, or what runs in it. The host's
// word is empty only if it knows neither program nor directory.
func (t *Terminal) Title() string {
	if s := words.Clean(t.Info.Title); s != "" {
		return s
	}
	if dir := fileuri.Path(t.Cwd); dir != "" {
		return words.Clean(path.Base(dir))
	}
	return "terminal"
}

// Quoted is the title as messages name the terminal.
func (t *Terminal) Quoted() string { return fmt.Sprintf("%q", t.Title()) }

// Ask is an agent's question for the terminal, nil for none; t may be nil.
func (t *Terminal) Ask() *ahp.Ask {
	if t == nil || t.Info.Meta == nil {
		return nil
	}
	return t.Info.Meta.Ask
}
