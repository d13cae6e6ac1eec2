package ui

import (
	"path"
	"time"

	"tandemux/ahp"
	"tandemux/ui/command"
	"tandemux/ui/pane"
	"tandemux/ui/words"
)

// youth is how long a shell has to have lived for its pane to close by itself
// when it exits: one that dies at once has something to say.
const youth = 2 * time.Second

// keepHidden is how many terminals that are not shown stay subscribed, so that
// going back to their tab shows them at once.
const keepHidden = 8

// terminal is what this client knows of a terminal of the host.
type terminal struct {
	uri  ahp.URI
	info ahp.TerminalInfo // as in the root channel, kept fresher by the terminal's own
	cwd  ahp.URI

	// Following it.
	feed       *pane.Feed // nil when not subscribed
	ready      bool       // its snapshot has come
	cols, rows int        // the host's size
	want       size       // what this client asked for last; zero asks anew
	asked      int64      // dispatch of a claim that the host has not answered; 0 for none
	shown      int        // when it was last on the screen, in rising order

	born  time.Time // when it was first seen; zero if it was there before
	typed bool      // a person has typed into it here
	// passing says that its pane closes when the program has ended well.
	passing bool
	// stays says that the pane stays open although the program has ended.
	stays bool
	// theirs says that another client took it or gave it a size while this one was
	// there: that one decides until somebody types here.
	theirs bool
	// done says that it has been closed here; what still comes is ignored.
	done bool
}

type size struct{ cols, rows int }

// terminals are all terminals of the host, in the host's order.
type terminals struct {
	byURI  map[ahp.URI]*terminal
	order  []ahp.URI
	loaded bool   // the root snapshot has come
	me     string // this client's id
	person string // this client's principal, once known
}

func (ts *terminals) get(uri ahp.URI) *terminal { return ts.byURI[uri] }

// update takes the host's list. It gives the terminals that have ended and those
// that are gone.
func (ts *terminals) update(list []ahp.TerminalInfo, now time.Time) (ended, lost []*terminal) {
	if ts.byURI == nil {
		ts.byURI = map[ahp.URI]*terminal{}
	}
	listed := make(map[ahp.URI]bool, len(list))
	ts.order = ts.order[:0]
	for _, info := range list {
		listed[info.Resource] = true
		ts.order = append(ts.order, info.Resource)
		t := ts.byURI[info.Resource]
		if t == nil {
			t = &terminal{uri: info.Resource}
			if ts.loaded {
				t.born = now
			}
			ts.byURI[info.Resource] = t
		}
		if info.Lifecycle.Exited() && !t.info.Lifecycle.Exited() {
			ended = append(ended, t)
		}
		t.info = info
		if info.Meta != nil && info.Meta.Cwd != "" {
			t.cwd = info.Meta.Cwd
		}
		if ts.mine(info.Claim) && info.Meta != nil && info.Meta.Principal != "" {
			ts.person = info.Meta.Principal
		}
	}
	for uri, t := range ts.byURI {
		if !listed[uri] {
			delete(ts.byURI, uri)
			lost = append(lost, t)
		}
	}
	ts.loaded = true
	return ended, lost
}

// mine reports whether a claim is this client's.
func (ts *terminals) mine(c ahp.Claim) bool {
	return c.Kind == ahp.ClaimClient && c.ClientID == ts.me
}

// holder says who holds a terminal, seen from this person.
func (ts *terminals) holder(t *terminal) command.Holder {
	if t == nil {
		return command.Nobody
	}
	c := t.info.Claim
	switch {
	case t.asked != 0:
		// What is typed now reaches the host behind the claim.
		return command.Me
	case c.Kind == ahp.ClaimSession && (c.ToolCallID != "" || c.TurnID != ""):
		return command.Agent
	case c.Kind == ahp.ClaimSession:
		return command.Background
	case ts.mine(c):
		return command.Me
	}
	if t.info.Meta == nil || ts.person == "" || t.info.Meta.Principal == "" || t.info.Meta.Principal == ts.person {
		return command.MyOther
	}
	return command.Other
}

// left reports whether another client of this very person holds the terminal:
// the one that this person detached, most of the time.
func (ts *terminals) left(t *terminal) bool {
	return ts.holder(t) == command.MyOther && !t.exited() && ts.person != "" && t.info.Meta != nil && t.info.Meta.Principal == ts.person
}

// typable reports whether this person may type into the terminal.
func (ts *terminals) typable(t *terminal) bool {
	h := ts.holder(t)
	return t != nil && (h == command.Me || h == command.MyOther) && !t.exited()
}

func (t *terminal) exited() bool { return t.info.Lifecycle.Exited() }

// command is the argv of what was started, nil for a shell.
func (t *terminal) command() []string {
	if m := t.info.Meta; m != nil && !m.RunsShell() {
		return m.Command
	}
	return nil
}

// layouts are those that show the terminal.
func (t *terminal) layouts() []ahp.URI {
	if t.info.Meta == nil {
		return nil
	}
	return t.info.Meta.Layouts
}

// closesItself reports whether the pane of a terminal that has ended closes: a
// shell's does, whatever its code, which is that of the last command in it. It
// stays when the shell died by a signal, or failed at once with nobody having used
// it.
func (t *terminal) closesItself(now time.Time) bool {
	code := t.info.Lifecycle.ExitCode
	if t.passing && code != nil && *code == 0 {
		return true
	}
	if len(t.command()) > 0 || code == nil {
		return false
	}
	young := !t.born.IsZero() && now.Sub(t.born) < youth
	return *code == 0 || !young || t.typed || t.info.Meta != nil && t.info.Meta.LastCommand != nil
}

// fullTitle is the terminal's name and what runs in it, where it has a name.
func (t *terminal) fullTitle() string {
	if meta := t.info.Meta; meta != nil && meta.Name != "" && meta.Name == t.info.Title && words.Clean(meta.Title) != "" {
		return t.title() + ": " + words.Clean(meta.Title)
	}
	return t.title()
}

// title is what the terminal is called: its name, or what runs in it. The host's
// word is empty only if it knows neither program nor directory.
func (t *terminal) title() string {
	if s := words.Clean(t.info.Title); s != "" {
		return s
	}
	if dir := filePath(t.cwd); dir != "" {
		return words.Clean(path.Base(dir))
	}
	return "terminal"
}
