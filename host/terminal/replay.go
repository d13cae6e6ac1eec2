package terminal

import (
	"time"

	"tandemux/ahp"
	"tandemux/host/journal"
)

// replay brings a restored terminal from its checkpoint to the last mark (Taken), by the
// actions that viewers were given.
type replay struct {
	t      *Terminal
	places []place    // the prompt's places that are still to be marked
	clears []clearing // the clearings to come
	clear  clearing   // the last clearing
}

// action repeats the change that an action tells of, except what only facts tell.
func (r *replay) action(a ahp.Action) {
	t := r.t
	switch a := a.(type) {
	case ahp.TerminalData:
		r.data(journal.Text(a.Data)) // nothing changes these bytes
	case ahp.TerminalResized:
		if a.Cols == t.cols && a.Rows == t.rows {
			return
		}
		t.cols, t.rows = a.Cols, a.Rows
		t.emu.Resize(a.Cols, a.Rows)
		t.emu.Events()
		if t.kept.raw.Size() > 0 {
			t.kept.lose()
		}
	case ahp.TerminalCleared:
		r.cleared()
	case ahp.TerminalCwdChanged:
		t.cwd = a.Cwd
	case ahp.TerminalCommandExecuted:
		r.executed(a)
	case ahp.TerminalCommandFinished:
		r.finished(a)
	case ahp.TerminalExited:
		t.told = true
		t.exit.queued.Store(true)
	}
}

// data passes output on like the terminal that printed it.
func (r *replay) data(b []byte) {
	t := r.t
	for len(b) > 0 {
		r.mark()
		p := t.store.Add(b[:r.next(len(b))])
		b = b[len(p):]
		t.emu.Write(p)
		t.emu.Events()
		switch {
		case t.passed < r.clear.Base:
			t.passed += uint64(len(p))
		case t.passed < r.clear.To:
			t.passed += uint64(len(p))
			t.kept.add(p)
		default:
			t.retain(p)
		}
	}
	r.mark()
}

// mark sets the marks whose places are at the present offset.
func (r *replay) mark() {
	for len(r.places) > 0 && r.places[0].At == r.t.passed {
		r.t.emu.Mark(r.places[0].ID)
		r.places = r.places[1:]
	}
}

// next is how many of the next n bytes come before the next place to mark or clearing.
func (r *replay) next(n int) int {
	at := []uint64{r.clear.Base, r.clear.To}
	if len(r.places) > 0 {
		at = append(at, r.places[0].At)
	}
	for _, at := range at {
		if at > r.t.passed && at-r.t.passed < uint64(n) {
			n = int(at - r.t.passed)
		}
	}
	return n
}

func (r *replay) cleared() {
	t := r.t
	t.cmds.hidden = t.cmds.count
	for len(r.clears) > 0 && r.clears[0].At < t.passed {
		r.clears = r.clears[1:]
	}
	r.clear = clearing{At: t.passed, Base: t.passed, To: t.passed}
	if len(r.clears) > 0 && r.clears[0].At == t.passed {
		r.clear, r.clears = r.clears[0], r.clears[1:]
	}
	t.kept.begin(r.clear.Base)
}

func (r *replay) executed(a ahp.TerminalCommandExecuted) {
	t := r.t
	t.cmds.count = number(a.CommandID)
	t.cmds.begin(a, time.UnixMilli(a.Timestamp), t.cwd, t.emu, &t.kept)
}

func (r *replay) finished(a ahp.TerminalCommandFinished) {
	t := r.t
	if cmd := t.cmds.running; cmd != nil && cmd.info.ID == a.CommandID {
		t.cmds.end(a, t.emu, &t.kept)
	}
}
