package host

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

// noticing is a host with one terminal and a clock of its own.
func noticing(tb testing.TB) (h *Host, t *term, now *time.Time) {
	clock := time.UnixMilli(1_000_000)
	h = &Host{
		limits: DefaultLimits, log: slog.New(slog.DiscardHandler), now: func() time.Time { return clock },
	}
	h.core = newCore(tb, h.now)
	tx := h.core.Lock()
	defer tx.Unlock()
	tx.Supersede(nil) // nothing is journalled or told
	h.activity = newActivity(tx, h)
	t = &term{h: h}
	t.ch = tx.NewChannel("ahp-terminal:/a", t)
	return h, t, &clock
}

func TestOutputAfterSilence(t *testing.T) {
	h, term, now := noticing(t)
	tx := h.core.Lock()
	defer tx.Unlock()
	data := ahp.TerminalData{Data: "x"}
	at := func() int64 { return term.attention.row.Output }
	term.noteAttention(tx, data)
	if at() != 0 {
		t.Error("the first output calls")
	}
	*now = now.Add(silence - time.Millisecond)
	term.noteAttention(tx, data)
	if at() != 0 {
		t.Error("output calls before the silence was long enough")
	}
	*now = now.Add(silence)
	term.noteAttention(tx, data)
	if at() != now.UnixMilli() {
		t.Errorf("output after a silence is at %d", at())
	}
	first := at()
	*now = now.Add(silence)
	h.typist = typist{"operator", term, *now}
	term.noteAttention(tx, data)
	if at() != first {
		t.Error("the answer to what was typed calls")
	}
	*now = now.Add(2 * silence)
	term.noteAttention(tx, data)
	if at() == first {
		t.Error("output long after typing does not call")
	}
	// What a new size has a program draw is no output; what comes later is.
	first = at()
	*now = now.Add(2 * silence)
	term.noteAttention(tx, ahp.TerminalResized{Cols: 90, Rows: 20})
	term.noteAttention(tx, data)
	*now = now.Add(answerTime / 2)
	term.noteAttention(tx, data)
	if at() != first {
		t.Error("what a program draws for its new size calls")
	}
	*now = now.Add(answerTime)
	term.noteAttention(tx, data)
	if at() == first {
		t.Error("output after a new size does not call")
	}
}

// A prompt, or the end, takes away what no program does any more; what it came to
// stays.
func TestStatusEndsWithTheCommand(t *testing.T) {
	h, term, now := noticing(t)
	tx := h.core.Lock()
	defer tx.Unlock()
	say := func(body string) {
		term.noticed(tx, terminal.Noticed{Reports: []terminal.Report{{Body: body}}})
	}
	say("state=blocked:kind=permission:app=claude")
	if s := term.attention.row.Status; s == nil || s.State != ahp.StatusBlocked || s.At != now.UnixMilli() {
		t.Fatalf("status %+v", s)
	}
	term.noteAttention(tx, ahp.TerminalCommandFinished{CommandID: "1"})
	if s := term.attention.row.Status; s != nil {
		t.Errorf("after the prompt %+v", s)
	}
	say("state=done:app=claude")
	term.noteAttention(tx, ahp.TerminalExited{})
	if s := term.attention.row.Status; s == nil || s.State != ahp.StatusDone {
		t.Errorf("after the end %+v", s)
	}
}
