package host

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
)

// adopted is a terminal of an earlier host, before anybody knows it.
type adopted struct {
	t       *term
	m       *record.Contents // nil without a journal
	uri     ahp.URI
	journal *journal.Journal
	damage  error
	exit    *keeper.Exit
}

// adopt makes a terminal of a child that an earlier host left: of its journal,
// or without one of the keeper's note. The caller holds no lock.
func (h *Host) adopt(ctx context.Context, info keeper.Info, f *record.Found) (*adopted, error) {
	k := h.keeper()
	proc, err := k.Adopt(ctx, info.ID)
	if err != nil {
		return nil, err
	}
	n := h.noteOf(info)
	a := &adopted{uri: n.Channel, exit: info.Exit, t: &term{h: h, proc: info.ID, keeper: k}}
	t, yes := a.t, true
	t.value = ahp.TerminalState{
		Title: n.Title, Cwd: n.Cwd, Cols: n.Cols, Rows: n.Rows, Claim: n.Claim, IsPty: &yes,
		Lifecycle: ahp.Lifecycle{Status: ahp.StatusRunning},
	}
	t.take(n.Facts)
	saved := terminal.Saved{}
	if f != nil {
		a.journal, a.m, a.damage = f.Journal, f.Contents, f.Contents.Damage
		f.Journal.RetireLanding()
		if err := a.recall(&saved); err != nil {
			a.damage = errors.Join(a.damage, err)
		}
	} else {
		a.damage = errors.New("the host that was before left nothing of this terminal but its process")
		if a.journal, err = h.journals.Terminal(info.ID, a.uri); err != nil {
			h.log.Warn("journal a terminal", "err", err)
		}
	}
	t.meta.Pid = info.Pid
	if info.Exit != nil {
		t.meta.Signal = info.Exit.Signal
	}
	if a.damage != nil {
		h.log.Warn("a terminal came back damaged", "channel", a.uri, "err", a.damage)
		saved.Notice = "the host ended unexpectedly, and some of what was shown here is lost"
	}
	c, err := h.terminalConfig(t, proc, a.journal)
	if err != nil {
		proc.Pty.Close()
		return nil, err
	}
	c.Command, c.Nonce, c.PromptEnds, c.Dir, c.Title = n.Command, n.Nonce, n.PromptEnds, n.Cwd, n.Title
	var waiting []record.Input
	var doubtful []ahp.Origin
	if a.m != nil {
		c.Before = a.m.Before
		waiting, doubtful = a.m.Typed(h.takeTyped(info.ID, a.journal.Landing()))
	}
	if t.t, err = terminal.Restore(c, saved); err != nil {
		return nil, err
	}
	t.auto = t.t.Title()
	if err := t.retype(waiting, doubtful); err != nil {
		h.log.Warn("type again what waited", "channel", a.uri, "err", err)
	}
	return a, nil
}

// take is know for facts that were read already.
func (t *term) take(f facts) {
	raw, err := json.Marshal(f)
	if err == nil {
		t.Know(raw) //nolint:errcheck // it has just been written
	}
}

// recall brings the terminal to where its journal ends.
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
	t.value = value
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

// newEmulator makes an engine's emulator, of the default engine if there is none
// of that name.
func (h *Host) newEmulator(name string, cols, rows int, own *int) (emulator.Emulator, error) {
	o := emulator.Options{Cols: cols, Rows: rows, History: h.scrollbackOf(own), Version: "tandemux " + h.cfg.Version}
	em, err := engine.New(name, o)
	if err != nil {
		em, err = engine.New(engine.Default, o)
	}
	return em, err
}

// terminalConfig is that of a terminal that is new or adopted; j may be nil.
func (h *Host) terminalConfig(t *term, proc keeper.Process, j *journal.Journal) (terminal.Config, error) {
	em, err := h.newEmulator(t.engine, t.value.Cols, t.value.Rows, t.meta.Scrollback)
	if err != nil {
		return terminal.Config{}, err
	}
	em.SetColors(t.colors) // the child may ask at once
	scrollback := t.meta.Scrollback
	t.identity = proc.Identity
	c := terminal.Config{
		Process: proc, Cols: t.value.Cols, Rows: t.value.Rows, Emulator: em, Hostname: h.hostname, Home: os.Getenv("HOME"), Log: h.log,
		Wake:     func() { t.wake() },
		Throttle: func(ctx context.Context) { t.throttle(ctx) },
		Signal:   func(ctx context.Context, sig syscall.Signal) error { return t.signal(ctx, sig) },
		Renew: func(cols, rows int) emulator.Emulator {
			em, err := h.newEmulator(t.engine, cols, rows, scrollback)
			if err != nil {
				return nil
			}
			return em
		},
		Failed: func(err error) { h.terminalFailed(t, err) },
		Spool:  h.spool,
	}
	if j.Open() {
		c.Landing = j.Landing()
	}
	return c, nil
}

// terminalFailed is told what went wrong in one terminal alone.
func (h *Host) terminalFailed(t *term, err error) {
	if errors.Is(err, journal.ErrFenced) {
		h.core.Do(func(tx core.Tx) { tx.Supersede(err) })
		return
	}
	args := []any{"process", t.proc, "err", err}
	var p *terminal.Panic
	if errors.As(err, &p) {
		args = append(args, "stack", string(p.Stack))
	}
	h.log.Error("a terminal failed and goes on with an empty screen", args...)
}
