package terminal

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/emulator/native"
	"tandemux/host/journal"
	"tandemux/host/keeper"
	"tandemux/internal/soak"
)

// mortal is a terminal with the holder and the journal that it has in a host,
// step by step, so that it can die between any two of them.
type mortal struct {
	trial
	mem     []byte
	log     *journal.Log
	landing *journal.Landing
	t       *Terminal
	pty     keeper.Process
	slave   int

	stream  []byte // all that the child wrote
	read    []byte // read and not processed
	done    []operation
	logged  int // of done
	viewer  *viewer
	replies string // of earlier lives
	dropped bool   // an operation was lost with a life
	// loose: the same output need not have the same bytes, as what it was cleared
	// to has other marks in it, or as a lone ESC was flushed: which is one
	// depends on how reads were split.
	loose  bool
	deaths int
	steps  []string
}

// operation is what is done to a terminal at an offset of the stream.
type operation struct {
	at uint64
	do func(*Terminal)
}

const mortalArea = 48 << 10

func newMortal(tb testing.TB, tr trial, cols, rows int) *mortal {
	o := journal.Options{Area: mortalArea, Slots: 3}
	m := &mortal{trial: tr, mem: make([]byte, o.Size())}
	var err error
	if m.log, m.landing, err = journal.Create(m.mem, o); err != nil {
		tb.Fatal(err)
	}
	master, slave := openPair(tb)
	m.pty, m.slave = keeper.Process{ID: "mortal", Pty: master}, slave
	makeRaw(tb, slave)
	m.t = build(m.config(cols, rows, m.landing))
	m.viewer = &viewer{name: "of all lives", emu: tr.new(tr.options(cols, rows))}
	m.checkpoint(false)
	return m
}

func (m *mortal) config(cols, rows int, l *journal.Landing) Config {
	return Config{
		Process: m.pty, Cols: cols, Rows: rows, Emulator: m.new(m.options(cols, rows)), MaxContent: m.content,
		Renew: func(cols, rows int) emulator.Emulator { return m.new(m.options(cols, rows)) },
		Child: Child{Nonce: "n", Dir: "file:///start"}, Landing: l, delays: delays{time.Hour, time.Hour},
	}
}

// write has the child write, and reads it into the landing, where there is room.
func (m *mortal) write(p []byte) error {
	for len(p) > 0 {
		part := p[:min(len(p), 2000)]
		if n, err := unix.Write(m.slave, part); err != nil || n != len(part) {
			return fmt.Errorf("write to the pty: %d of %d, %w", n, len(part), err)
		}
		m.stream, p = append(m.stream, part...), p[len(part):]
		for {
			if err := m.collect(); err != nil {
				return err
			}
			if m.landing.Pos() == uint64(len(m.stream)) {
				break
			}
			m.process()
		}
	}
	return nil
}

func (m *mortal) collect() error {
	if !m.landing.Begin() {
		m.process()
		m.take()
		if !m.landing.Begin() {
			return fmt.Errorf("the landing has no room at %d, released %d", m.landing.Pos(), m.landing.Released())
		}
	}
	var err error
	raw, _ := m.pty.Pty.SyscallConn()
	raw.Control(func(fd uintptr) {
		for m.landing.Pos() < uint64(len(m.stream)) && !m.landing.Full() {
			if _, err = m.landing.Read(int(fd)); err == unix.EAGAIN {
				if n, perr := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 5000); n > 0 || perr == unix.EINTR {
					err = nil
				}
			}
			if err != nil {
				return
			}
		}
	})
	m.read = append(m.read, m.landing.Chunk()[headroom:]...)
	if err != nil {
		return fmt.Errorf("read at %d of %d: %w", m.landing.Pos(), len(m.stream), err)
	}
	return nil
}

// process processes what was read.
func (m *mortal) process() {
	m.t.process(append(make([]byte, headroom), m.read...))
	m.read = nil
}

// do does something to the terminal where it is in the stream.
func (m *mortal) do(do func(*Terminal)) {
	m.done = append(m.done, operation{m.t.offset, do})
	do(m.t)
}

// take takes, logs, releases and sends.
func (m *mortal) take() {
	actions, k := m.t.Take()
	m.sequence(actions, k)
	if m.log.Due() {
		m.checkpoint(false)
	}
}

func (m *mortal) sequence(actions []ahp.Action, k Taken) {
	m.append(actions, k)
	m.t.Released(k.Offset)
	m.viewer.apply(actions)
}

func (m *mortal) append(actions []ahp.Action, k Taken) {
	if err := m.log.Append(k.Records(encoded(actions))...); err != nil {
		panic(err)
	}
	m.logged = len(m.done)
}

func (m *mortal) checkpoint(bare bool) {
	actions, k, records := m.t.Checkpoint(bare, new([]byte))
	m.sequence(actions, k)
	c, err := m.log.Begin(!bare)
	for _, r := range records {
		if err == nil {
			err = c.Add(r)
		}
	}
	if err == nil {
		err = c.Commit()
	}
	if err != nil {
		panic(fmt.Errorf("checkpoint: %w", err))
	}
}

// die loses all but the journal and the pty, and restores.
func (m *mortal) die() error {
	m.deaths++
	m.replies += string(m.t.input.queue)
	m.dropped = m.dropped || m.logged < len(m.done)
	m.done, m.read = m.done[:m.logged], nil
	var r journal.Recovered
	var err error
	if m.log, m.landing, r, err = journal.Open(m.mem); err != nil || r.Damage != nil {
		return fmt.Errorf("open the journal: %w, %w", err, r.Damage)
	}
	actions, err := decoded(r.Records)
	if err != nil {
		return err
	}
	if m.t, err = Restore(m.config(7, 3, m.landing), Saved{State: r.State, After: r.Records, Actions: actions}); err != nil {
		return err
	}
	if m.t.offset != uint64(len(m.stream)) {
		return fmt.Errorf("the new life is at %d of %d", m.t.offset, len(m.stream))
	}
	return nil
}

// immortal is what the terminal would be without deaths.
func (m *mortal) immortal(cols, rows int) *Terminal {
	t := build(m.config(cols, rows, nil))
	for _, op := range m.done {
		feedTo(t, m.stream, op.at)
		op.do(t)
	}
	feedTo(t, m.stream, m.t.offset)
	return t
}

func feedTo(t *Terminal, stream []byte, to uint64) {
	t.process(append(make([]byte, headroom), stream[t.offset:to]...))
}

// encoded and decoded are a host's encoding of actions.
func encoded(actions []ahp.Action) (records []journal.Record) {
	for _, a := range actions {
		data, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		records = append(records, journal.Record{Type: "a/" + a.ActionType(), Data: data})
	}
	return records
}

var kinds = []ahp.Action{
	ahp.TerminalData{},
	ahp.TerminalResized{},
	ahp.TerminalCleared{},
	ahp.TerminalTitleChanged{},
	ahp.TerminalCwdChanged{},
	ahp.TerminalCommandDetectionAvailable{},
	ahp.TerminalCommandExecuted{},
	ahp.TerminalCommandFinished{},
	ahp.TerminalExited{},
}

func decoded(records []journal.Record) (actions []ahp.Action, err error) {
	for _, r := range records {
		for _, kind := range kinds {
			if r.Type == "a/"+kind.ActionType() {
				v := reflect.New(reflect.TypeOf(kind))
				if err := json.Unmarshal(r.Data, v.Interface()); err != nil {
					return nil, err
				}
				actions = append(actions, v.Elem().Interface().(ahp.Action))
			}
		}
	}
	return actions, nil
}

// live plays one life after the other and compares with one that never ended.
func (tr trial) live(tb testing.TB, seed uint64) (deaths int, err error) {
	r := rand.New(rand.NewPCG(seed, 7))
	cols, rows := 2+r.IntN(30), 1+r.IntN(10)
	m := newMortal(tb, tr, cols, rows)
	defer func() {
		m.pty.Pty.Close()
		unix.Close(m.slave)
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if err != nil {
			err = fmt.Errorf("seed %d, %d×%d: after %s: %w", seed, cols, rows, strings.Join(m.steps, ", "), err)
		}
	}()
	for range 5 + r.IntN(25) {
		if err := m.step(r, cols, rows); err != nil {
			return m.deaths, err
		}
	}
	m.process()
	m.take()
	return m.deaths, m.compare(cols, rows)
}

func (m *mortal) step(r *rand.Rand, cols, rows int) error {
	note := func(format string, args ...any) { m.steps = append(m.steps, fmt.Sprintf(format, args...)) }
	switch op := r.IntN(30); {
	case op < 10:
		p := emutest.Program(r, cols, rows, 1+r.IntN(20), m.features)
		if m.commands {
			p = shellLike(r, p)
		}
		p = p[:r.IntN(len(p)+1)]
		note("write %q", p)
		return m.write(p)
	case op < 15:
		note("process")
		m.process()
	case op < 19:
		note("take")
		m.take()
	case op < 20:
		note("take and not log")
		m.t.Take()
		return m.mustDie(note, cols, rows)
	case op < 21:
		note("log and not send")
		actions, k := m.t.Take()
		m.append(actions, k)
		m.viewer.apply(actions) // which a reconnecting client gets from the log
		return m.mustDie(note, cols, rows)
	case op < 23:
		c, l := 2+r.IntN(30), 1+r.IntN(10)
		note("resize %d×%d", c, l)
		m.do(func(t *Terminal) { t.Resize(c, l) })
	case op < 24 && m.clears:
		note("clear")
		m.loose = true
		m.do((*Terminal).Clear)
	case op < 25:
		note("flush")
		m.loose = true
		m.do((*Terminal).flushEscape)
	case op < 26:
		note("checkpoint")
		m.checkpoint(m.content > 0 && r.IntN(2) == 0)
	case op < 27:
		on := r.IntN(2) == 0
		note("typed %v", on)
		m.do(func(t *Terminal) { t.line.set(on); t.entered.set(on) })
	default:
		return m.mustDie(note, cols, rows)
	}
	return nil
}

func (m *mortal) mustDie(note func(string, ...any), cols, rows int) error {
	note("die")
	if err := m.die(); err != nil {
		return err
	}
	return m.compare(cols, rows)
}

// compare holds the terminal, and who has seen all its lives, against one that
// never died.
func (m *mortal) compare(cols, rows int) error {
	want := m.immortal(cols, rows)
	if m.content > 0 && m.viewer.resized {
		return nil // A resize brings back to the screen only what was kept.
	}
	if d := emutest.Diff(emutest.Dump(m.t.emu), emutest.Dump(want.emu)); d != "" && m.content == 0 {
		return fmt.Errorf("it shows something else:\n%s", d)
	}
	if a, b := visible(m.t.emu), visible(want.emu); a != b {
		return fmt.Errorf("its screen is\n%s\nnot\n%s", a, b)
	}
	if h, all := emutest.History(m.t.emu), emutest.History(want.emu); !m.viewer.resized && !strings.HasSuffix(all, h) {
		return fmt.Errorf("its history %q is no end of %q", h, all)
	}
	if a, b := known(m.t), known(want); a != b {
		return fmt.Errorf("it knows\n%s\nnot\n%s", a, b)
	}
	if m.content == 0 {
		if a, b := m.t.kept.whole, want.kept.whole; a != b {
			return fmt.Errorf("it has kept its output: %v, not %v", a, b)
		}
		if err := m.samePartsAs(want); err != nil {
			return err
		}
	}
	if a, b := m.replies+string(m.t.input.queue), string(want.input.queue); a != b && !m.dropped {
		return fmt.Errorf("it answered %q, not %q", a, b)
	}
	actions := m.t.pending
	if len(actions.actions)+len(actions.data) == 0 && actions.title == nil && m.content == 0 {
		if d := emutest.Diff(emutest.Dump(m.viewer.emu), emutest.Dump(want.emu)); d != "" {
			return fmt.Errorf("a viewer sees something else:\n%s", d)
		}
	}
	return nil
}

// samePartsAs compares the content: as it is while that is output; else, part by
// part, by what it makes, as other marks are left in it.
func (m *mortal) samePartsAs(want *Terminal) error {
	a, b := timeless(m.t.parts(MaxWire)), timeless(want.parts(MaxWire))
	if reflect.DeepEqual(a, b) {
		return nil
	}
	err := fmt.Errorf("its content is\n%+v\nnot\n%+v", a, b)
	if want.kept.whole && !m.loose || len(a) != len(b) {
		return err
	}
	o := m.options(want.cols, want.rows)
	one, two := m.new(o), m.new(o)
	for i := range a {
		one.Write([]byte(a[i].Text()))
		two.Write([]byte(b[i].Text()))
		if d := emutest.Diff(emutest.Dump(one), emutest.Dump(two)); d != "" {
			return fmt.Errorf("%w: after part %d:\n%s", err, i, d)
		}
		a[i].Value, a[i].Output, b[i].Value, b[i].Output = "", "", "", ""
	}
	if !reflect.DeepEqual(a, b) {
		return err
	}
	return nil
}

func timeless(parts []ahp.Part) []ahp.Part {
	for i := range parts {
		parts[i].Timestamp, parts[i].DurationMs = 0, nil
	}
	return parts
}

// known is what a terminal knows, but for times and marks' numbers.
func known(t *Terminal) string {
	f := t.facts()
	f.Passed = 0 // See samePartsAs.
	f.Mark, f.Clears, f.Base, f.Marks = 0, nil, 0, false
	f.Input = place{ID: min(f.Input.ID, 1)}
	clear(f.Skip)
	b := append(encode(f), fmt.Sprintf("\n%d×%d ready %v typed %q %v\n", t.cols, t.rows, t.cmds.ready(), t.typedText(), t.inputPresent())...)
	for _, cmd := range t.cmds.list {
		info := cmd.now()
		info.Timestamp, info.DurationMs = 0, nil
		text, _ := json.Marshal(info)
		head, tail, omitted := cmd.out.Parts()
		b = append(b, fmt.Sprintf("%s %q %q %d\n", text, head, tail, omitted)...)
	}
	return string(b)
}

// A terminal whose host died at any instant, and then went on, is one that never
// died (docs/contributing/decisions.md §38).
func TestRestore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		trial trial
		lives int
	}{
		{"native", trial{new: native.New, features: emutest.All, clears: true}, 30},
		{"native, commands", trial{new: native.New, features: emutest.All, clears: true, commands: true}, 60},
		{"native, commands, trimmed", trial{new: native.New, features: emutest.All, commands: true, content: 600}, 30},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			deaths := 0
			for seed := range uint64(soak.Size(t, tt.lives, 4000)) {
				n, err := tt.trial.live(t, seed)
				if deaths += n; err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%d deaths", deaths)
		})
	}
}
