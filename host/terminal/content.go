package terminal

import (
	"bytes"
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/wire"
	"tandemux/emulator"
	"tandemux/host/terminal/output"
)

// kept is the raw output that viewers were given since the emulator was fresh. It is kept
// as long as it reproduces the present state: until it exceeds its bound or the size
// changes. screen guards it.
type kept struct {
	raw   output.Range
	whole bool
	max   int
	// base is where raw begins in what viewers were given (Terminal.passed).
	base uint64
	// cuts are where commands begin and end in raw.
	cuts []cut
	// blank is a fresh emulator's snapshot. A state that serialises to it needs no content.
	blank []byte
}

// cut is where a part begins: a command's, or with nil one of no command.
type cut struct {
	at  int
	cmd *command
}

// maxCuts bounds the parts of raw.
const maxCuts = 2 * maxCommands

// begin keeps output from now on.
func (k *kept) begin(at uint64) { k.raw, k.cuts, k.whole, k.base = output.Range{}, nil, true, at }

// add keeps output, which lies in the store, or gives up if it is too much.
func (k *kept) add(b []byte) {
	switch {
	case !k.whole:
	case k.raw.Size()+len(b) > k.max:
		k.lose()
	default:
		k.raw.Add(b)
	}
}

// lose gives up keeping: from now on content is the emulator's serialised state.
func (k *kept) lose() { k.raw, k.cuts, k.whole = output.Range{}, nil, false }

// of is where a command's output lies in raw, if all of it does.
func (k *kept) of(cmd *command) (from, to int, whole bool) {
	for i, c := range k.cuts {
		if c.cmd != cmd {
			continue
		}
		from, to = c.at, k.raw.Size()
		if i+1 < len(k.cuts) {
			to = k.cuts[i+1].at
		}
	}
	return from, to, k.whole && int64(to-from) == cmd.out.Total
}

// cut begins a part: a command's, or with nil the part after a command.
func (k *kept) cut(cmd *command) {
	switch n := len(k.cuts); {
	case !k.whole || cmd == nil && (n == 0 || k.cuts[n-1].cmd == nil):
	case n == maxCuts:
		k.lose()
	default:
		k.cuts = append(k.cuts, cut{k.raw.Size(), cmd})
	}
}

// restart keeps output from now on. It begins with state, the output that brings a fresh
// emulator to the present state, which viewers were given at offset at.
func (k *kept) restart(state []byte, at uint64) {
	k.begin(at)
	if bytes.Equal(state, k.blank) {
		k.base += uint64(len(state))
	} else {
		k.add(state)
	}
}

// Content returns the actions still pending, as Take does, and the parts that reproduce
// the state right after them in a fresh emulator of the present size
// (docs/contributing/decisions.md §32; G15). The parts are the output itself while none of
// it was trimmed and the size has not changed. Otherwise they are the emulator's
// serialised state, with as much history as fits into about limit bytes of JSON, in parts
// by command. The screen is always complete. The caller sequences the pending actions
// before it serves the parts. The parts are never nil.
func (t *Terminal) Content(limit int) (actions []ahp.Action, k Taken, content []ahp.Part) {
	t.screen.Lock()
	defer t.screen.Unlock()
	defer t.guard("serve the content")
	content = []ahp.Part{}
	if actions, k = t.Take(); !k.Full {
		content = t.parts(limit)
	}
	return actions, k, content
}

// MaxWire bounds content in bytes of JSON, in which a control character takes six. With
// pictures, which add at most 1 MiB, and all the rest, a snapshot is below 6.5 MiB.
const MaxWire = 5 << 20

// wireSize is the length of text, in pieces, as a JSON string.
func wireSize(pieces ...[]byte) (n int) {
	for _, b := range pieces {
		n += wire.Size(output.Text(b))
	}
	return n
}

// rawText is a VT stream that makes the present state. The caller holds screen.
func (t *Terminal) rawText() string {
	if t.kept.whole {
		return output.Text(t.kept.raw.Bytes())
	}
	state, _ := t.snapshot(MaxWire)
	return string(t.filter.Resume(state))
}

// snapshot serialises the emulator's state with the history that fits into limit
// bytes of JSON, and a line that says how much more there is, unless limit is 0. The
// screen itself is never cut. The caller holds screen.
func (d *display) snapshot(limit int) ([]byte, []emulator.Cut) {
	have := d.emu.HistoryLen()
	lines := have
	if limit == 0 { // the screen alone is wanted, often
		lines = 0
	}
	all, cuts := d.emu.SnapshotMarks(nil, lines)
	pictures := 0 // which have a bound of their own
	if e, ok := d.emu.(emulator.Illustrator); ok {
		pictures = e.SnapshotPictures()
	}
	size := wireSize(all) - pictures
	if size <= limit || lines == 0 {
		return all, cuts
	}
	least := wireSize(d.emu.Snapshot(nil, 0)) - pictures
	var note []byte
	for size > limit && lines > 0 {
		// Guess from the average line, and always make progress.
		history := size - least
		fits := max(0, limit-least)
		lines = min(lines-1, int(int64(lines)*int64(fits)/int64(max(history, 1))))
		// A wrapped line is taken whole or not, or it would reflow differently.
		for lines > 0 && d.emu.Wrapped(-lines-1) {
			lines--
		}
		note = d.cutNote(have - lines)
		all, cuts = d.emu.SnapshotMarks(append(all[:0], note...), lines)
		size = wireSize(all) - pictures
	}
	return all, cuts
}

// cutNote is output that makes, on a blank screen, a line of history that says how many
// lines before it were left out.
func (d *display) cutNote(lines int) []byte {
	note := fmt.Appendf(nil, "[tandemux: %d older lines: `tandemux read --history` prints their text]", lines)
	rows := min(d.rows, (len(note)+d.cols-1)/d.cols)
	note = fmt.Appendf(note, "\x1b[%d;1H", d.rows)
	note = append(note, bytes.Repeat([]byte("\n"), rows)...)
	return append(note, "\x1b[H"...)
}

// Read returns the text of ahp.ReadScreen, ahp.ReadHistory or ahp.ReadRaw. The error names
// these.
func (t *Terminal) Read(what string) (ahp.ReadResult, error) {
	read, ok := reads[what]
	if !ok {
		return ahp.ReadResult{}, fmt.Errorf("read a terminal's %q: only %q, %q and %q can be read",
			what, ahp.ReadScreen, ahp.ReadHistory, ahp.ReadRaw)
	}
	t.screen.Lock()
	defer t.screen.Unlock()
	defer t.guard("read the screen")
	c := t.emu.Cursor()
	return ahp.ReadResult{Text: read(t), Cols: t.cols, Rows: t.rows, CursorX: c.X, CursorY: c.Y, End: int64(t.passed), Colors: seenIn(&t.colors)}, nil
}

// reads is what Read can return. The functions are called with screen held.
var reads = map[string]func(*Terminal) string{
	ahp.ReadScreen:  func(t *Terminal) string { return emulator.ScreenText(t.emu) + "\n" },
	ahp.ReadHistory: func(t *Terminal) string { return lines(emulator.HistoryText(t.emu, -1)) },
	ahp.ReadRaw:     (*Terminal).rawText,
}

// lines returns text with one newline at its end, unless it is empty.
func lines(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
