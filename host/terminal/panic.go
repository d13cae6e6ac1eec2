package terminal

import (
	"fmt"
	"runtime/debug"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/native"
	"tandemux/host/terminal/filter"
)

// Panic is what Config.Failed is told of a panic.
type Panic struct {
	// Doing is what the terminal was about, such as "process output".
	Doing string
	// Value is what was panicked with, and Stack the goroutine's.
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("%s: panic: %v", p.Doing, p.Value) }

// maxPanics is how many panics a terminal renews its emulator after; one more
// and it shows nothing.
const maxPanics = 3

// apology is what the screen shows after a panic.
const apology = "[tandemux: showing this terminal has failed and its screen is cleared; what runs in it goes on. The host's log says more.]\r\n"

// guard contains a panic of a method that has the screen: deferred after the
// lock was taken. The method then returns what its results are by then.
func (t *Terminal) guard(doing string) { t.contain(doing, recover()) }

// contain deals with the value of a panic, if there was one: it is reported, and
// the terminal goes on with a fresh screen. What came and is not published
// stays, as viewers may have a part of it. The caller holds screen.
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

// renew replaces the emulator, and forgets what only the old one knew. The
// caller holds screen.
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

// report tells of an error, with no lock held.
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

// blank is the emulator of a terminal that can't show anything: it takes no output.
type blank struct{ emulator.Emulator }

func (blank) Write([]byte) {}
