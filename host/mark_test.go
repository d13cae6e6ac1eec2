package host_test

import (
	"os/exec"
	"testing"

	"tandemux/ahp"
)

// A wait from a mark is decided by what happened since, however long ago, and not
// by what was before.
func TestWaitFromMark(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	w := start(t)
	p := w.connect("one")
	p.initialize()
	const uri = "ahp-terminal:/marked"
	startShell(w, p, uri, bash)
	run := func(line string) (r ahp.RunResult) {
		t.Helper()
		p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Line: line}, &r)
		p.ended(uri)
		return r
	}
	run("echo long-before")
	var m ahp.Mark
	p.must(ahp.MethodMark, ahp.MarkParams{Channel: uri}, &m)
	if m.CommandID != "" || m.Last != "c1" || m.Seq == 0 {
		t.Fatalf("%+v", m)
	}
	run("echo between; exit() { :; }; false")
	from := func(w ahp.WaitParams) ahp.WaitResult {
		t.Helper()
		w.Channel, w.From = uri, &m
		if w.TimeoutMs == 0 {
			w.TimeoutMs = patience.Milliseconds()
		}
		return p.answer(p.await(w))
	}
	if r := from(ahp.WaitParams{Until: ahp.WaitText, Pattern: "^between$"}); r.Reason != ahp.WaitMet || r.Line != "between" {
		t.Errorf("text since: %+v", r)
	}
	if r := from(ahp.WaitParams{Until: ahp.WaitText, Pattern: "^long-before$", TimeoutMs: 50}); r.Reason != ahp.WaitTimeout {
		t.Errorf("text before: %+v", r)
	}
	if r := from(ahp.WaitParams{Until: ahp.WaitOutput}); r.Reason != ahp.WaitMet {
		t.Errorf("output since: %+v", r)
	}
	// None ran at the mark, so that the newest of then is what has finished.
	if r := from(ahp.WaitParams{Until: ahp.WaitCommand}); r.Reason != ahp.WaitMet || r.CommandID != "c1" || r.ExitCode == nil || *r.ExitCode != 0 {
		t.Errorf("no command: %+v", r)
	}
	// One that Enter had begun there is the one that came next.
	m.Next = true
	if r := from(ahp.WaitParams{Until: ahp.WaitCommand}); r.Reason != ahp.WaitMet || r.CommandID != "c2" || r.ExitCode == nil || *r.ExitCode != 1 {
		t.Errorf("the next command: %+v", r)
	}
	m.Next, m.CommandID = false, "c2"
	if r := from(ahp.WaitParams{Until: ahp.WaitText, Pattern: "never"}); r.Reason != ahp.WaitFinished {
		t.Errorf("text of a command that has finished: %+v", r)
	}
	// What the command that ran there had printed counts.
	if r := from(ahp.WaitParams{Until: ahp.WaitText, Pattern: "^between$"}); r.Reason != ahp.WaitMet {
		t.Errorf("text of that command: %+v", r)
	}
	// Quiet for as long as nothing came; what came at an unknown time does not count.
	p.must(ahp.MethodMark, ahp.MarkParams{Channel: uri}, &m)
	if r := from(ahp.WaitParams{Until: ahp.WaitIdle, IdleMs: 3600_000, AgoMs: 3600_001}); r.Reason != ahp.WaitMet {
		t.Errorf("idle since: %+v", r)
	}
	run("echo more")
	if r := from(ahp.WaitParams{Until: ahp.WaitIdle, IdleMs: 3600_000, AgoMs: 3600_001, TimeoutMs: 50}); r.Reason != ahp.WaitTimeout {
		t.Errorf("not idle since: %+v", r)
	}
}

// A run that is asked for again with its key is the same, typed once; without one
// it is another. What follows of its output can be asked for to the byte.
func TestRunAgain(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	w := start(t)
	p := w.connect("one")
	p.initialize()
	const uri = "ahp-terminal:/again"
	startShell(w, p, uri, bash)
	var first, again, other ahp.RunResult
	p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Line: "printf 0123456789; cat", Key: "k"}, &first)
	for range 2 {
		if p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Line: "printf 0123456789; cat", Key: "k"}, &again); again != first {
			t.Errorf("%+v, then %+v", first, again)
		}
	}
	if err := p.call(ahp.MethodRun, ahp.RunParams{Channel: uri, Line: "echo other"}, &other); err == nil {
		t.Errorf("another one ran beside it: %+v", other)
	}
	q := w.connect("two")
	q.initialize()
	if err := q.call(ahp.MethodRun, ahp.RunParams{Channel: uri, Line: "echo other", Key: "k"}, &other); err == nil {
		t.Errorf("another client's key was taken for it: %+v", other)
	}
	shown := ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: "^0123456789$", TimeoutMs: patience.Milliseconds()}
	if r := p.answer(p.await(shown)); r.Reason != ahp.WaitMet {
		t.Fatalf("%+v", r)
	}
	for from, want := range []string{"0123456789", "123456789"} {
		n := int64(from)
		var r ahp.CommandResult
		p.must(ahp.MethodCommand, ahp.CommandParams{Channel: uri, ID: first.CommandID, Format: ahp.FormatRaw, From: &n}, &r)
		if r.Output+r.Tail != want || r.Omitted != 0 || r.Seq == 0 || !r.Running {
			t.Errorf("from %d: %+v", n, r)
		}
	}
	p.dispatch(uri, 1, ahp.TerminalInput{Data: "\x04"})
	p.envelope("its end", func(e ahp.Envelope) bool {
		_, ok := e.Action.(ahp.TerminalCommandFinished)
		return ok
	})
	if p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Line: "printf 0123456789; cat", Key: "k"}, &again); again.CommandID != first.CommandID {
		t.Errorf("after its end: %+v", again)
	}
}
