package terminals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/host/core"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
	"tandemux/host/keeper"
	"tandemux/host/terminal"
	"tandemux/host/terminal/medium"
)

// adopted is a terminal of an earlier host that has no channel yet.
type adopted struct {
	t       *Terminal
	m       *record.Contents // nil without a journal
	uri     ahp.URI
	journal *journal.Journal
	damage  error
	exit    *keeper.Exit
}

// adopt makes a terminal of a child that an earlier host left, from its journal or, without
// one, from the keeper's note. The caller holds no lock.
func (ts *Terminals) adopt(ctx context.Context, info keeper.Info, f *record.Found) (*adopted, error) {
	k := ts.Keeper()
	proc, err := k.Adopt(ctx, info.ID)
	if err != nil {
		return nil, err
	}
	n := ts.noteOf(info)
	a := &adopted{uri: n.Channel, exit: info.Exit, t: &Terminal{ts: ts, process: process{proc: info.ID, keeper: k}}}
	t := a.t
	t.Value = ahp.TerminalState{
		Title: n.Title, Cwd: n.Cwd, Cols: n.Cols, Rows: n.Rows, Claim: n.Claim, IsPty: new(true),
		Lifecycle: ahp.Lifecycle{Status: ahp.StatusRunning},
	}
	t.know(n.Facts)
	saved := terminal.Saved{}
	if f != nil {
		a.journal, a.m, a.damage = f.Journal, f.Contents, f.Contents.Damage
		f.Journal.RetireLanding()
		if err := a.recall(&saved); err != nil {
			a.damage = errors.Join(a.damage, err)
		}
	} else {
		a.damage = errors.New("the host that was before left nothing of this terminal but its process")
		if a.journal, err = ts.Journals.Terminal(info.ID, a.uri); err != nil {
			ts.Log.Warn("journal a terminal", "err", err)
		}
	}
	t.Meta.Pid = info.Pid
	if info.Exit != nil {
		t.Meta.Signal = info.Exit.Signal
	}
	if a.damage != nil {
		ts.Log.Warn("a terminal came back damaged", "channel", a.uri, "err", a.damage)
		saved.Notice = "the host ended unexpectedly, and some of what was shown here is lost"
	}
	c, err := ts.terminalConfig(t, proc, a.journal)
	if err != nil {
		proc.Pty.Close()
		return nil, err
	}
	c.Command, c.Nonce, c.PromptEnds, c.Dir, c.Title = n.Command, n.Nonce, n.PromptEnds, n.Cwd, n.Title
	var waiting []record.Input
	var doubtful []ahp.Origin
	if a.m != nil {
		c.Before = a.m.Before
		waiting, doubtful = a.m.Typed(ts.takeTyped(info.ID, a.journal.Landing()))
	}
	if t.Term, err = terminal.Restore(c, saved); err != nil {
		return nil, err
	}
	t.auto = t.Term.Title()
	if err := t.retype(waiting, doubtful); err != nil {
		ts.Log.Warn("type again what waited", "channel", a.uri, "err", err)
	}
	return a, nil
}

// recall applies the actions of the journal after its checkpoint.
func (a *adopted) recall(saved *terminal.Saved) error {
	m, t := a.m, a.t
	if m.State == nil {
		if saved.Fresh = m.Fresh(); saved.Fresh {
			return nil
		}
		saved.After = m.After
		return errors.New("its journal has no checkpoint")
	}
	a.uri = m.Channel
	var value ahp.TerminalState
	if err := json.Unmarshal(m.State, &value); err != nil {
		return fmt.Errorf("its state: %w", err)
	}
	value.Content = nil
	t.Value = value
	if err := t.Know(m.Private); err != nil {
		return fmt.Errorf("its facts: %w", err)
	}
	saved.State, saved.After = m.Special, m.After
	for _, e := range m.Log {
		switch {
		case e.Env.Action != nil:
			t.Reduce(e.Env.Action)
			saved.Actions = append(saved.Actions, e.Env.Action)
		case e.Type == record.TypePrivate:
			if err := t.Know(e.Data); err != nil {
				return fmt.Errorf("its facts: %w", err)
			}
		}
	}
	return nil
}

// newEmulator makes an emulator of the named engine, or of the default one if there is no
// engine of that name.
func (ts *Terminals) newEmulator(name string, cols, rows int, own *int, allow emulator.Allowed, media *medium.Reader) (emulator.Emulator, error) {
	o := emulator.Options{Cols: cols, Rows: rows, History: ts.scrollbackOf(own), Version: "tandemux " + ts.Version, Allow: allow}
	if media != nil {
		o.Read = media.Take
	}
	em, err := engine.New(name, o)
	if err != nil {
		em, err = engine.New(engine.Default, o)
	}
	return em, err
}

// terminalConfig is the config of a new or adopted terminal; j may be nil.
func (ts *Terminals) terminalConfig(t *Terminal, proc keeper.Process, j *journal.Journal) (terminal.Config, error) {
	var media *medium.Reader // nil for a sandbox: its programs see other files
	if t.sandbox == "" {
		media = &medium.Reader{}
	}
	allow := ts.Start().Allow
	em, err := ts.newEmulator(t.engine, t.Value.Cols, t.Value.Rows, t.Meta.Scrollback, allow, media)
	if err != nil {
		return terminal.Config{}, err
	}
	em.SetColors(t.colors) // the child may ask at once
	scrollback := t.Meta.Scrollback
	t.identity = proc.Identity
	c := terminal.Config{
		Media:   media,
		Process: proc, Cols: t.Value.Cols, Rows: t.Value.Rows, Emulator: em, Hostname: ts.Hostname, Home: os.Getenv("HOME"), Log: ts.Log,
		Wake:     func() { t.wake() },
		Throttle: func(ctx context.Context) { t.throttle(ctx) },
		Signal:   func(ctx context.Context, sig syscall.Signal) error { return t.signal(ctx, sig) },
		Renew: func(cols, rows int) emulator.Emulator {
			em, err := ts.newEmulator(t.engine, cols, rows, scrollback, ts.Start().Allow, media)
			if err != nil {
				return nil
			}
			return em
		},
		Failed:  func(err error) { ts.terminalFailed(t, err) },
		Resizes: allow&emulator.Resizes != 0,
		Spool:   ts.spool,
	}
	if j.Open() {
		c.Landing = j.Landing()
	}
	return c, nil
}

// terminalFailed handles an error of one terminal alone (terminal.Config.Failed).
func (ts *Terminals) terminalFailed(t *Terminal, err error) {
	if errors.Is(err, journal.ErrFenced) {
		ts.Core.Do(func(tx core.Tx) { tx.Supersede(err) })
		return
	}
	args := []any{"process", t.proc, "err", err}
	if p, is := errors.AsType[*terminal.Panic](err); is {
		args = append(args, "stack", string(p.Stack))
	}
	ts.Log.Error("a terminal failed and goes on with an empty screen", args...)
}
