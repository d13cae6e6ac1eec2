package terminal

import (
	"fmt"
	"runtime/debug"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/native"
	"tandemux/host/terminal/filter"
)

// Panic is Config.Failed's error for a panic.
type Panic struct {
	// Doing is what the terminal was doing, such as "process output".
	Doing string
	// Value is the panic's value, and Stack the goroutine's stack.
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("%s: panic: %v", p.Doing, p.Value) }

// maxPanics is how many panics a terminal replaces its emulator after. After one more it
// shows nothing.
const maxPanics = 3

// apology is what the screen shows after a panic.
const apology = "[tandemux: showing this terminal has failed and its screen is cleared; what runs in it goes on. The host's log says more.]\r\n"

// guard contains a panic of a method that holds screen. The method defers it after it took
// the lock, and returns what its named results are at the panic.
func (t *Terminal) guard(doing string) { t.contain(doing, recover()) }

// contain handles the value of a panic, if there was one: it reports it, and the terminal
// continues with a fresh screen. What is fresh and not published stays, as viewers may
// have a part of it. The caller holds screen.
func (t *Terminal) contain(doing string, value any) {
	if value == nil {
		return
	}
	t.panics++
	t.report(&Panic{Doing: doing, Value: value, Stack: debug.Stack()})
	t.renew()
	t.push(ahp.TerminalCleared{})
	at := t.passed
	t.tell([]byte(reset))
	t.kept.restart(t.tell([]byte(apology)))
	t.cleared(clearing{at, t.kept.base, t.passed})
	t.publish(true)
}

// renew replaces the emulator, and forgets what only the old one knew. The caller holds
// screen.
func (t *Terminal) renew() {
	t.decoder, t.filter = filter.Decoder{}, filter.Filter{Settings: t.filter.Settings}
	t.cmds.hidden = t.cmds.count
	t.cmds.prompt = prompt{shows: t.cmds.prompt.shows}
	if t.cfg.Renew != nil && t.panics <= maxPanics && t.tryNew() {
		return
	}
	e := native.New(emulator.Options{Cols: t.cols, Rows: t.rows, History: -1})
	e.Write([]byte(apology))
	t.emu, t.cmds.marks = blank{e}, false
}

func (t *Terminal) tryNew() (ok bool) {
	defer func() { ok = ok && recover() == nil }()
	e := t.cfg.Renew(t.cols, t.rows)
	if e == nil {
		return false
	}
	e.SetColors(t.colors)
	e.Write([]byte(apology))
	t.emu = e
	return true
}

// report logs an error and calls Config.Failed, with no lock held.
func (t *Terminal) report(err error) {
	if t.cfg.Failed != nil {
		go t.cfg.Failed(err)
		return
	}
	args := []any{"process", t.cfg.Process.ID, "err", err}
	if p, ok := err.(*Panic); ok {
		args = append(args, "stack", string(p.Stack))
	}
	t.log.Error("a terminal has failed", args...)
}

// blank is the emulator of a terminal that can't show anything. It ignores output.
type blank struct{ emulator.Emulator }

func (blank) Write([]byte) {}
