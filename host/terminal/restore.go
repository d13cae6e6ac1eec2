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
	// State are the records of the checkpoint and After those that follow it.
	// Records that are not this package's are skipped. They are not needed any
	// more when Restore has returned.
	State, After []journal.Record
	// Actions are those of the terminal's channel that follow the checkpoint,
	// in order; actions that others made may be among them.
	Actions []ahp.Action
	// Fresh says that the earlier host had not made a checkpoint yet, so that Landing
	// has all output from its beginning: the terminal begins as New's, with Before.
	Fresh bool
	// Notice, when not empty, is put on the screen as a line of its own before
	// anything new, as what is wrong with the journal.
	Notice string
}

// Restore makes a terminal of what an earlier host left: Config as for New, with
// a fresh emulator of the size c.Cols by c.Rows, which is overridden by the size
// that was saved, as are Command, Nonce, PromptEnds and Dir. What the earlier
// host had read into Landing and not taken is processed as if it were just read,
// except that questions that were answered stay unanswered; it is pending then.
// Nothing runs yet, and Wake is not called, before Start.
//
// What can't be read of s, or makes the emulator panic, is left out, with a line
// on the screen that says so; with an empty s the terminal is one whose output
// so far is lost. The error is that of a pty that can't be used, which is closed
// then.
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

// resume processes what the earlier host had read.
func (t *Terminal) resume(notice string) {
	pieces := t.source.Landing.Resume(t.offset)
	if len(pieces) == 0 {
		pieces = make([]journal.Piece, 1)
	}
	for _, p := range pieces {
		if p.Missing > 0 { // Where it is missing.
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

// cancel (CAN) ends a sequence without effect.
const cancel = 0x18

// say puts a line on the screen that the child did not write. What the child is
// in the middle of ends with it. The caller holds screen, and publishes.
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

// precede puts text, lines that end with \n, where output goes, before there is
// any. Nobody else knows the terminal yet; the caller publishes.
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
	history []byte         // nil when the content has it
	outputs map[int][]byte // by the command's number; see recordOutput
	taken   Taken          // the last mark, with the facts that belong to it
	last    facts
}

// readCheckpoint reads the records. On an error it has none, but the offset if
// there is one.
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

// check reports what would lead out of bounds.
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

// configure is c for what was saved.
func (cp *checkpoint) configure(c Config) Config {
	s := &cp.saved
	if s.Cols != c.Cols || s.Rows != c.Rows {
		c.Cols, c.Rows = s.Cols, s.Rows
		c.Emulator.Resize(c.Cols, c.Rows)
	}
	c.Nonce, c.Command, c.PromptEnds, c.Dir = s.Nonce, s.Command, s.Facts.TellsInput, s.Facts.Cwd
	return c
}

// rebuild makes the state as of the last mark, and says what is missing of it. The
// caller holds screen.
func (t *Terminal) rebuild(cp checkpoint, actions []ahp.Action) (missing string) {
	t.replaying = true
	defer func() {
		t.replaying = false
		if p := recover(); p != nil {
			t.know(cp.last)
			// A command that runs no more, of whose end nothing is known, is given up.
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
	// What the filter holds and has taken out the emulator has seen, and nobody
	// else.
	t.emu.Write(t.filter.AppendUnseen(nil))
	t.emu.Events()
	return missing
}

// places are those of the prompt that the checkpoint's content does not have,
// in the order of the stream.
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

// unpacked is what a recordOutput would say that a recordPacked says, without the number of
// the command.
func unpacked(data []byte) (command int, plain []byte, err error) {
	var v [4]int // the number; the sizes of head and tail, and of the head that is packed
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

// restore makes the commands.
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

// recall makes the checkpoint's content: the emulator's state, and what is kept. It
// says what is missing of it.
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

// recallHistory puts the history back that is not in the content, and says what is
// missing of it.
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
