package ui_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/ui"
	"tandemux/ui/layout"
	"tandemux/ui/link"
)

// elsewhere is another host, "build", with one shell. It is down at first.
type elsewhere struct {
	link.Nowhere
	u     *UI
	sink  *link.RemoteSink
	down  bool
	typed string
}

const elsewhereShell = "ahp-terminal://build/sh"

func (e *elsewhere) Subscribe(_ context.Context, uri ahp.URI) error {
	var state any = ahp.RootState{Terminals: []ahp.TerminalInfo{{Resource: elsewhereShell, Title: "sh", Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: ClientID}}}}
	switch uri {
	case "ahp-root://build/":
		return errors.New("no host calls its root so")
	case "x-tandemux-activity://build/":
		state = ahp.ActivityState{}
	case elsewhereShell:
		state = ahp.TerminalState{Title: "sh", Cols: 80, Rows: 22, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: ClientID}}
	}
	raw, err := json.Marshal(state)
	e.sink.Snapshot(ahp.Snapshot{Resource: uri, State: raw})
	return err
}

func (e *elsewhere) Dispatch(_ ahp.URI, a ahp.Action) (int64, error) {
	if e.down {
		return 0, link.ErrAway
	}
	if in, is := a.(ahp.TerminalInput); is {
		e.typed += in.Data
	}
	return 1, nil
}

// lose says that the connection is lost since now.
func (e *elsewhere) lose() {
	e.down = true
	e.sink.Retrying(link.Retry{Since: e.u.Time(), Next: e.u.Time(), Err: link.ErrAway})
	e.u.WaitIdle()
}

func (e *elsewhere) come() {
	e.down = false
	e.sink.Status(link.Connected, nil)
	e.Subscribe(e.u.t.Context(), ahp.RootURI) //nolint:errcheck // it can't fail
	e.u.WaitIdle()
}

func startElsewhere(t *testing.T) *elsewhere {
	t.Helper()
	e := &elsewhere{down: true}
	l, _, err := layout.New("main").NewTab(elsewhereShell)
	if err != nil {
		t.Fatal(err)
	}
	e.u = New(t, Options{
		W: 120, H: 24,
		Host: func(h *Host) {
			h.layouts[ahp.LayoutScheme+"/main"] = ahp.LayoutState{Rev: 1, Doc: l.Encode(), Terminals: l.Terminals()}
		},
		Config: func(c *ui.Config) {
			e.sink = c.Sink.Of("build")
			c.Far = func() []link.Far {
				return []link.Far{{Name: "build", Host: func() link.Host { return e }, Person: func() string { return Person }, Retry: func() {}}}
			}
		},
	})
	return e
}

// TestKeysBeforeAnotherHostIsThere: what is typed into a pane of another host before that is
// connected arrives in order, as it does after a loss; after ten seconds nothing is taken any
// more, and that is said.
func TestKeysBeforeAnotherHostIsThere(t *testing.T) {
	e := startElsewhere(t)
	e.u.Type("ab")
	e.u.Shows("no connection to build since 03:04, 2 keys wait")
	e.u.Press("left")
	e.come()
	e.u.Type("c")
	if e.typed != "ab\x1b[Dc" {
		t.Errorf("typed %q", e.typed)
	}
	e.u.Hides("wait", "not sent")

	e.lose()
	e.u.Type("de")
	e.u.Shows("2 keys wait")
	e.come()
	if e.typed != "ab\x1b[Dcde" {
		t.Errorf("after a loss typed %q", e.typed)
	}

	e.lose()
	e.u.Type("f")
	e.u.Advance(11 * time.Second)
	e.u.Type("gh")
	e.u.Shows("3 keys not sent")
	e.come()
	e.u.Shows("build: 3 keys typed meanwhile not sent")
	if e.u.Type("i"); e.typed != "ab\x1b[Dcdei" {
		t.Errorf("after a long loss typed %q", e.typed)
	}
}

// TestKeysBeforeTheLossOfAnotherHostIsKnown: a key that meets a connection that has just
// gone waits like those after it.
func TestKeysBeforeTheLossOfAnotherHostIsKnown(t *testing.T) {
	e := startElsewhere(t)
	e.come()
	e.down = true
	e.u.Type("ab")
	e.lose()
	e.u.Type("c")
	if e.come(); e.typed != "abc" {
		t.Errorf("typed %q", e.typed)
	}
}

// TestMouseOnAnotherHost: a program on another host gets the mouse while that host is connected,
// whatever this user's own is; reports are not kept for a connection that comes back.
func TestMouseOnAnotherHost(t *testing.T) {
	e := startElsewhere(t)
	e.come()
	e.sink.Feed(elsewhereShell).Write("\x1b[?1000h\x1b[?1006h")
	e.lose()
	e.u.Click(4, 2)
	e.u.Wheel(true, 4, 2)
	if e.come(); e.typed != "" {
		t.Errorf("typed %q after a loss", e.typed)
	}
	e.u.Host.Lose()
	if e.u.Click(4, 2); e.typed != "\x1b[<0;5;3M\x1b[<0;5;3m" {
		t.Errorf("typed %q while this user's own host is away", e.typed)
	}
}

// TestKeysBehindAClaim: what is typed behind a claim goes after it, though a state from before
// the claim comes in between; who never gets it is told after a while.
func TestKeysBehindAClaim(t *testing.T) {
	e := startElsewhere(t)
	e.come()
	theirs := func() {
		raw, err := json.Marshal(ahp.TerminalState{Title: "sh", Cols: 80, Rows: 22, Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/x"}})
		if err != nil {
			t.Fatal(err)
		}
		e.sink.Snapshot(ahp.Snapshot{Resource: elsewhereShell, State: raw})
		e.u.WaitIdle()
	}
	theirs()
	e.u.Type("no")
	e.u.Press("ctrl+space r")
	theirs()
	e.u.Type("yes")
	if e.typed != "yes" {
		t.Errorf("typed %q", e.typed)
	}
	e.u.Advance(6 * time.Second)
	e.u.Type("no")
	e.u.Shows("takes it")
	if e.typed != "yes" {
		t.Errorf("without the terminal typed %q", e.typed)
	}
}
