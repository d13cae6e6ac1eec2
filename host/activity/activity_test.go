package activity

import (
	"log/slog"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/terminal"
)

// newCore is a core that journals nothing.
func newCore(tb testing.TB, now func() time.Time) *core.Core {
	tb.Helper()
	c, _, err := core.New(core.Options{
		State: tb.TempDir(), Now: now, Log: slog.New(slog.DiscardHandler), Clients: 10,
		Superseded: func(core.Tx, error) {},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

const uri ahp.URI = "ahp-terminal:/a"

// noticing is an activity with one terminal and a clock of its own.
func noticing(tb testing.TB) (v *Activity, t *Terminal, tx core.Tx, now *time.Time) {
	clock := time.UnixMilli(1_000_000)
	v = New(Options{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return clock }})
	c := newCore(tb, v.Now)
	tx = c.Lock()
	tb.Cleanup(tx.Unlock)
	v.Open(tx, c)
	tx.NewChannel(uri, nil)
	tb.Cleanup(func() { v.Stop(tx) })
	return v, &Terminal{}, tx, &clock
}

func TestOutputAfterSilence(t *testing.T) {
	v, term, tx, now := noticing(t)
	var typed time.Time
	follow := func(a ahp.Action) { v.Follow(tx, uri, term, a, typed) }
	data := ahp.TerminalData{Data: "x"}
	at := func() int64 { return v.row(uri).Output }
	follow(data)
	if at() != 0 {
		t.Error("the first output calls")
	}
	*now = now.Add(silence - time.Millisecond)
	follow(data)
	if at() != 0 {
		t.Error("output calls before the silence was long enough")
	}
	*now = now.Add(silence)
	follow(data)
	if at() != now.UnixMilli() {
		t.Errorf("output after a silence is at %d", at())
	}
	first := at()
	*now = now.Add(silence)
	typed = *now
	follow(data)
	if at() != first {
		t.Error("the answer to what was typed calls")
	}
	*now = now.Add(2 * silence)
	follow(data)
	if at() == first {
		t.Error("output long after typing does not call")
	}
	// What a new size has a program draw is no output; what comes later is.
	first = at()
	*now = now.Add(2 * silence)
	follow(ahp.TerminalResized{Cols: 90, Rows: 20})
	follow(data)
	*now = now.Add(answerTime / 2)
	follow(data)
	if at() != first {
		t.Error("what a program draws for its new size calls")
	}
	*now = now.Add(answerTime)
	follow(data)
	if at() == first {
		t.Error("output after a new size does not call")
	}
}

// A prompt, or the end, takes away what no program does any more; what it came to
// stays.
func TestStatusEndsWithTheCommand(t *testing.T) {
	v, term, tx, now := noticing(t)
	follow := func(a ahp.Action) { v.Follow(tx, uri, term, a, time.Time{}) }
	say := func(body string) {
		follow(terminal.Noticed{Reports: []terminal.Report{{Body: body}}})
	}
	say("state=blocked:kind=permission:app=claude")
	if s := v.row(uri).Status; s == nil || s.State != ahp.StatusBlocked || s.At != now.UnixMilli() {
		t.Fatalf("status %+v", s)
	}
	follow(ahp.TerminalCommandFinished{CommandID: "1"})
	if s := v.row(uri).Status; s != nil {
		t.Errorf("after the prompt %+v", s)
	}
	say("state=done:app=claude")
	follow(ahp.TerminalExited{})
	if s := v.row(uri).Status; s == nil || s.State != ahp.StatusDone {
		t.Errorf("after the end %+v", s)
	}
}
