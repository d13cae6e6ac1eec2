package terminal

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host/journal"
	"tandemux/host/terminal/filter"
	"tandemux/host/terminal/output"
)

// Saved is what a journal has of a terminal.
type Saved struct {
	// State is the records of the checkpoint, After those that follow it. Restore
	// skips records of other packages, and keeps no reference to any.
	State, After []journal.Record
	// Actions is the actions of the terminal's channel after the checkpoint, in order.
	// Actions that the terminal did not make may be among them.
	Actions []ahp.Action
	// Fresh says that the earlier host had made no checkpoint, so that Landing has all
	// output: the terminal begins like New's, with Before.
	Fresh bool
	// Notice, if not empty, is shown on a line of its own before new output, for
	// instance what is wrong with the journal.
	Notice string
}

// Restore makes a terminal of what an earlier host left. c is as for New, with a fresh
// emulator of c.Cols by c.Rows. The saved size replaces that size, and saved Command, Nonce,
// PromptEnds and Dir replace c's. Restore processes what the earlier host had read into
// Landing and not taken as if it had just been read, but does not answer queries again. The
// result is pending. No goroutine runs, and Wake is not called, before Start.
//
// Restore leaves out what it can't read of s or what makes the emulator panic; a line on the
// screen says so. With an empty s all earlier output is lost. If the pty can't be used,
// Restore closes it and returns an error.
func Restore(c Config, s Saved) (*Terminal, error) {
	cp, err := readCheckpoint(s)
	if err != nil {
		s.Notice = join(s.Notice, fmt.Sprintf("what was shown here is lost: %v", err))
	}
	if cp.has {
		c = cp.configure(c)
	}
	t := empty(c)
	if t.closed.Load() {
		return nil, errors.New("restore a terminal: its pty can't be used")
	}
	if s.Fresh {
		t.precede(c.Before)
	}
	t.screen.Lock()
	if cp.has {
		s.Notice = join(s.Notice, t.rebuild(cp, s.Actions))
	} else {
		t.cwd, t.cmds.tellsInput = c.Dir, c.PromptEnds
		if c.Command != "" {
			t.executed(c.Command)
		}
	}
	t.settleTitle()
	t.titles.shown = t.titles.title(&t.cfg, &t.cmds, t.cwd)
	t.offset, t.quiet = cp.taken.Offset, t.source.Landing.Answered()
	t.learnt.Store(true)
	t.echo.told = "unknown"
	t.publish(false)
	t.screen.Unlock()
	t.resume(s.Notice)
	if err := t.setWinsize(t.cols, t.rows); err != nil {
		t.log.Warn("restore a terminal's size", "process", c.Process.ID, "err", err)
	}
	return t, nil
}

func join(a, b string) string { return strings.TrimSuffix(strings.TrimPrefix(a+"; "+b, "; "), "; ") }

// resume processes what the earlier host had read and not taken.
func (t *Terminal) resume(notice string) {
	pieces := t.source.Landing.Resume(t.offset)
	if len(pieces) == 0 {
		pieces = make([]journal.Piece, 1)
	}
	for _, p := range pieces {
		if p.Missing > 0 { // say so where it is missing
			notice = join(notice, fmt.Sprintf("%d bytes of output are missing here", p.Missing))
		}
		t.screen.Lock()
		t.offset += p.Missing
		if notice != "" {
			t.say(notice)
		}
		t.publish(false)
		t.screen.Unlock()
		t.process(append(make([]byte, headroom, headroom+len(p.Data)), p.Data...))
		notice = ""
	}
}

// cancel (CAN) aborts a control sequence.
const cancel = 0x18

// say puts a line on the screen that the child did not write. It aborts a control sequence
// that the child has not completed. The caller holds screen, and publishes.
func (t *Terminal) say(text string) {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	line := []byte("\r\n[tandemux: " + text + "]\r\n")
	if t.filter.Open() || t.decoder.Open() {
		t.filter, t.decoder = filter.Filter{}, filter.Decoder{}
		line = append([]byte{cancel}, line...)
	}
	t.pass(t.store.Add(line), line)
}

// precede adds text, lines that end with \n, as output before any other. No other goroutine
// knows the terminal yet; the caller publishes.
func (t *Terminal) precede(text string) {
	if text == "" || t.closed.Load() {
		return
	}
	t.screen.Lock()
	defer t.screen.Unlock()
	defer t.guard("show what was before")
	b := []byte(strings.ReplaceAll(text, "\n", "\r\n"))
	t.pass(t.store.Add(b), b)
}

// checkpoint is what Restore reads.
type checkpoint struct {
	has     bool
	saved   saved
	content []byte
	history []byte         // nil when the content includes it
	outputs map[int][]byte // by the command's number; see recordOutput
	taken   Taken          // the last mark, with the facts that belong to it
	last    facts
}

// readCheckpoint reads the records. On an error it returns an empty checkpoint, with the
// offset if it could read that.
func readCheckpoint(s Saved) (cp checkpoint, err error) {
	cp.outputs = map[int][]byte{}
	read := map[string]func(data []byte) error{
		recordState: func(data []byte) error {
			cp.has = true
			return json.Unmarshal(data, &cp.saved)
		},
		recordContent: func(data []byte) error {
			cp.content = data
			return nil
		},
		recordHistory: func(data []byte) error {
			cp.history = data
			return nil
		},
		recordOutput: func(data []byte) error {
			n, size := binary.Uvarint(data)
			if size <= 0 {
				return errors.New("a command's output is damaged")
			}
			cp.outputs[int(n)] = data[size:]
			return nil
		},
		recordPacked: func(data []byte) error {
			n, b, err := unpacked(data)
			if err != nil {
				return fmt.Errorf("a command's output is damaged: %w", err)
			}
			cp.outputs[n] = b
			return nil
		},
		recordTaken: func(data []byte) error {
			if len(data) < 8 {
				return errors.New("a mark is damaged")
			}
			cp.taken.Offset, cp.taken.Stream = binary.LittleEndian.Uint64(data), slices.Clone(data[8:])
			return nil
		},
		recordFacts: func(data []byte) error {
			cp.taken.Facts = data
			return nil
		},
	}
	for _, r := range slices.Concat(s.State, s.After) {
		if f := read[r.Type]; f != nil {
			if r.Version != 1 {
				return checkpoint{taken: cp.taken}, fmt.Errorf("its record %s has the version %d, of a newer program", r.Type, r.Version)
			}
			if err := f(r.Data); err != nil {
				return checkpoint{taken: cp.taken}, err
			}
		}
	}
	switch {
	case s.Fresh && !cp.has:
		return cp, nil
	case !cp.has:
		return checkpoint{taken: cp.taken}, errors.New("its journal has no checkpoint")
	case cp.taken.Facts == nil:
		cp.last = cp.saved.Facts
	default:
		if err := json.Unmarshal(cp.taken.Facts, &cp.last); err != nil {
			return checkpoint{taken: cp.taken}, err
		}
	}
	if err := cp.check(); err != nil {
		return checkpoint{taken: cp.taken}, err
	}
	return cp, nil
}

// check refuses values that would index out of bounds.
func (cp *checkpoint) check() error {
	s := &cp.saved
	if s.Cols < 1 || s.Cols > emulator.MaxCols || s.Rows < 1 || s.Rows > emulator.MaxRows {
		return fmt.Errorf("its size of %d×%d is out of range", s.Cols, s.Rows)
	}
	for _, c := range s.Commands {
		if !strings.HasPrefix(c.ID, "c") {
			return fmt.Errorf("a command has the id %q", clip(c.ID))
		}
	}
	at := 0
	for _, m := range cp.saved.Marks {
		if m.At < at || m.At > len(cp.content) {
			return errors.New("its marks are out of range")
		}
		at = m.At
	}
	at = 0
	for _, c := range cp.saved.Cuts {
		if c.At < at || c.At > len(cp.content) {
			return errors.New("its parts are out of range")
		}
		at = c.At
	}
	return nil
}

// configure is c with the saved values.
func (cp *checkpoint) configure(c Config) Config {
	s := &cp.saved
	if s.Cols != c.Cols || s.Rows != c.Rows {
		c.Cols, c.Rows = s.Cols, s.Rows
		c.Emulator.Resize(c.Cols, c.Rows)
	}
	c.Nonce, c.Command, c.PromptEnds, c.Dir = s.Nonce, s.Command, s.Facts.TellsInput, s.Facts.Cwd
	return c
}

// rebuild makes the state at the last mark (Taken), and says what is missing of it. The
// caller holds screen.
func (t *Terminal) rebuild(cp checkpoint, actions []ahp.Action) (missing string) {
	t.replaying = true
	defer func() {
		t.replaying = false
		if p := recover(); p != nil {
			t.know(cp.last)
			// Drop a command that no longer runs and whose end is not known.
			if cmd := t.cmds.running; cmd != nil && number(cmd.info.ID) != t.cmds.count {
				cmd.info.Running = false
				t.cmds.running = nil
			}
			t.contain("restore a terminal", p)
		}
	}()
	t.cmds.restore(&cp)
	t.know(cp.saved.Facts)
	t.cmds.mark = max(t.cmds.mark, cp.last.Mark)
	missing = t.recall(&cp)
	r := replay{t: t, places: cp.places(), clears: cp.last.Clears}
	r.mark()
	for _, a := range actions {
		r.action(a)
	}
	t.know(cp.last)
	if err := filter.SetState(cp.taken.Stream, &t.decoder, &t.filter); err != nil {
		t.log.Warn("restore a terminal", "process", t.cfg.Process.ID, "err", err)
	}
	// The emulator had seen what the filter holds back or has removed; viewers had not.
	t.emu.Write(t.filter.AppendUnseen(nil))
	t.emu.Events()
	return missing
}

// places are the prompt's places after the checkpoint's content, in stream order.
func (cp *checkpoint) places() []place {
	has := map[uint64]bool{}
	for _, m := range cp.saved.Marks {
		has[m.ID] = true
	}
	from := cp.saved.Facts.Passed
	places := slices.DeleteFunc(cp.last.places(), func(p place) bool {
		return p.At == gone || p.At < from || p.At == from && has[p.ID]
	})
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.At, b.At) })
	return places
}

// unpacked decompresses a recordPacked: plain is the data of the recordOutput without the
// command's number.
func unpacked(data []byte) (command int, plain []byte, err error) {
	var v [4]int // command number; sizes of head and tail; size of the compressed head
	for i := range v {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > math.MaxInt32 {
			return 0, nil, errors.New("its header is cut")
		}
		v[i], data = int(n), data[size:]
	}
	if v[3] > len(data) {
		return 0, nil, errors.New("it is cut")
	}
	head, err := output.Unpack(data[:v[3]], v[1])
	if err != nil {
		return 0, nil, err
	}
	tail, err := output.Unpack(data[v[3]:], v[2])
	return v[0], slices.Concat(binary.AppendUvarint(nil, uint64(v[1])), head, tail), err
}

// restore makes the checkpoint's commands.
func (c *commands) restore(cp *checkpoint) {
	for _, s := range cp.saved.Commands {
		cmd := &command{info: s.CommandInfo, start: time.UnixMilli(s.Timestamp), begin: s.Begin, end: s.End}
		cmd.out.Total = s.Bytes
		n := number(cmd.info.ID)
		if b, ok := cp.outputs[n]; ok {
			if head, size := binary.Uvarint(b); size > 0 && head <= uint64(len(b)-size) && head <= output.HeadBytes && len(b)-size-int(head) <= output.TailBytes {
				b = slices.Clone(b[size:])
				cmd.out.Head.Add(b[:head:head])
				cmd.out.Tail.Add(b[head:])
			}
		}
		c.list = append(c.list, cmd)
		if cmd.info.Running {
			c.running = cmd
		}
	}
	c.marks = cp.last.Marks
}

// recall restores the emulator's state and kept from the checkpoint's content, and says what
// is missing of it.
func (t *Terminal) recall(cp *checkpoint) (missing string) {
	t.passed = cp.saved.Facts.Passed
	at := 0
	for _, m := range cp.saved.Marks {
		t.emu.Write(cp.content[at:m.At])
		t.emu.Mark(m.ID)
		at = m.At
	}
	t.emu.Write(cp.content[at:])
	t.emu.Events()
	if !cp.saved.Raw {
		t.kept.lose()
		return t.recallHistory(cp)
	}
	t.kept.base = cp.saved.Facts.Base
	content := t.store.Add(cp.content)
	t.kept.raw.Add(content)
	for i, c := range cp.saved.Cuts {
		cmd := t.cmds.find("c"+fmt.Sprint(c.Command), 1, false)
		t.kept.cuts = append(t.kept.cuts, cut{c.At, cmd})
		if cmd == nil {
			continue
		}
		end := len(cp.content)
		if i+1 < len(cp.saved.Cuts) {
			end = cp.saved.Cuts[i+1].At
		}
		total := cmd.out.Total
		cmd.out = output.Command{}
		cmd.out.Add(content[c.At:end])
		cmd.out.Total = total
	}
	return ""
}

// recallHistory restores history that the content does not include, and says what is missing
// of it.
func (d *display) recallHistory(cp *checkpoint) (missing string) {
	if n := cp.saved.Missing; n > 0 {
		missing = fmt.Sprintf("%d lines of history are missing: the host's journal had no room for them", n)
	}
	if cp.history == nil {
		return missing
	}
	err := errors.New("this emulator can't take it")
	if e, ok := d.emu.(emulator.Historian); ok {
		err = e.SetHistory(cp.history)
	}
	if err != nil {
		return fmt.Sprintf("the history is lost: %v", err)
	}
	return missing
}
