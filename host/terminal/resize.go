package terminal

import (
	"bytes"
	"fmt"

	"golang.org/x/sys/unix"

	"tandemux/ahp"
	"tandemux/emulator"
)

// Resize sets the size of pty and emulator, within 1..emulator.MaxCols by
// 1..emulator.MaxRows, and queues TerminalResized with the size that was set. The holder
// calls Take after it; Resize does not call Wake before it returns.
func (t *Terminal) Resize(cols, rows int) error {
	cols = min(max(cols, 1), emulator.MaxCols)
	rows = min(max(rows, 1), emulator.MaxRows)
	t.screen.Lock()
	defer t.screen.Unlock()
	defer t.guard("resize the screen")
	if t.closed.Load() {
		return ErrClosed
	}
	if err := t.resize(cols, rows, false); err != nil {
		return err
	}
	t.publish(true)
	return nil
}

// resize sets the size and queues TerminalResized; own says that the program has asked for
// the size. The caller holds screen, and publishes.
func (t *Terminal) resize(cols, rows int, own bool) error {
	if cols != t.cols || rows != t.rows {
		if err := t.setWinsize(cols, rows); err != nil && !t.exit.known() {
			return fmt.Errorf("resize the pty to %d×%d: %w", cols, rows, err)
		}
		t.cols, t.rows = cols, rows
		t.emu.Resize(cols, rows)
		t.handle(t.emu.Events())
		if t.kept.raw.Size() > 0 {
			t.kept.lose()
		}
	}
	t.push(ahp.TerminalResized{Cols: cols, Rows: rows, Own: own})
	return nil
}

func (t *Terminal) setWinsize(cols, rows int) error {
	var err error
	size := unix.Winsize{
		Col: uint16(cols), Row: uint16(rows),
		Xpixel: uint16(cols * emulator.CellWidth), Ypixel: uint16(rows * emulator.CellHeight),
	}
	if cerr := t.exit.raw.Control(func(fd uintptr) {
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &size)
	}); cerr != nil {
		return cerr
	}
	return err
}

// reset brings any emulator to its initial state, also one whose RIS does not erase text.
const reset = "\x1bc\x1b[H\x1b[2J\x1b[3J"

// Clear erases content and history, and the main screen except the cursor's line (the
// prompt), which moves to the top. It leaves the alternate screen to its program. It queues
// TerminalCleared and then TerminalData that rebuilds what is left, modes included, so that
// all viewers show the same, however they handle TerminalCleared. Content then begins with
// that data, and is empty when nothing is left. The holder calls Take after it; Clear does
// not call Wake before it returns.
func (t *Terminal) Clear() {
	t.screen.Lock()
	defer t.screen.Unlock()
	defer t.guard("clear the screen")
	t.emu.Write([]byte(t.clearing()))
	t.handle(t.emu.Events())
	state, marks := t.emu.SnapshotMarks(nil, -1)
	// Give the emulator the incomplete sequence again, which the clearing cut off.
	t.emu.Write(append(t.filter.Resume(nil), t.filter.Held()...))
	t.cmds.hidden = t.cmds.count
	t.push(ahp.TerminalCleared{})
	at := t.passed
	t.tell([]byte(reset))
	t.cmds.prompt.moveTo(t.passed, marks)
	t.kept.restart(t.tell(state))
	rest, _ := t.tell(t.filter.Resume(nil))
	t.kept.add(rest)
	t.cleared(clearing{at, t.kept.base, t.passed})
	t.publish(true)
}

// clearing is the output for the emulator that scrolls the cursor's line to the top and
// erases the history.
func (d *display) clearing() string {
	var b bytes.Buffer
	if c := d.emu.Cursor(); !d.emu.Modes().AltScreen && c.Y > 0 {
		top := c.Y
		for top > 0 && d.emu.Wrapped(top-1) {
			top--
		}
		if top > 0 {
			fmt.Fprintf(&b, "\x1b[%dS\x1b[%dA", top, top)
		}
	}
	b.WriteString("\x1b[3J")
	return b.String()
}

// LimitHistory changes how many lines of history are kept; lines is as
// emulator.Options.History.
func (t *Terminal) LimitHistory(lines int) {
	t.screen.Lock()
	defer t.screen.Unlock()
	defer t.guard("limit the history")
	t.emu.LimitHistory(lines)
}
