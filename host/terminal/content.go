package terminal

import (
	"bytes"
	"fmt"
	"strings"

	"cotty/ahp"
	"cotty/emulator"
)

// kept is the output that viewers were given since a state that a fresh
// emulator has, as long as it reproduces the present one: until it exceeds its
// bound or the size changes. Guarded by screen.
type kept struct {
	raw   []byte
	whole bool
	max   int
	// blank is a fresh emulator's snapshot: a state with the same one needs no
	// content.
	blank []byte
}

func (k *kept) begin(limit int, fresh emulator.Emulator) {
	k.max, k.whole = limit, true
	k.blank = fresh.Snapshot(nil, -1)
}

// add keeps output, or gives up.
func (k *kept) add(b []byte) {
	switch {
	case !k.whole:
	case len(k.raw)+len(b) > k.max:
		k.lose()
	default:
		k.raw = append(k.raw, b...)
	}
}

// lose gives up: from here on the emulator's state is served.
func (k *kept) lose() { k.raw, k.whole = nil, false }

// restart keeps output from here on, beginning with what makes the present
// state of a fresh emulator.
func (k *kept) restart(state []byte) {
	k.raw, k.whole = nil, true
	if !bytes.Equal(state, k.blank) {
		k.add(state)
	}
}

// Content returns the actions still pending, as Take does, and the parts that
// reproduce the state after them in a fresh emulator of the present size
// (design.md, rule 2): the output itself while nothing of it was trimmed and
// the size has not changed, else the emulator's serialised state with as much
// history as fits into MaxContent. Both results are of one instant, so the
// holder sequences the pending actions before it serves the parts. The parts
// are never nil.
func (t *Terminal) Content() (actions []ahp.Action, content []ahp.Part) {
	t.screen.Lock()
	defer t.screen.Unlock()
	t.mu.Lock()
	actions = t.takeLocked()
	t.mu.Unlock()
	content = []ahp.Part{}
	if text := t.stream(); text != "" {
		content = append(content, ahp.Part{Type: ahp.PartUnclassified, Value: text})
	}
	return actions, content
}

// stream is a VT stream that makes the present state. The caller holds screen.
func (t *Terminal) stream() string {
	if t.kept.whole {
		return string(t.kept.raw)
	}
	return string(t.filter.resume(t.snapshot()))
}

// snapshot serialises the emulator's state with the history that fits. The
// screen itself is never cut. The caller holds screen.
func (t *Terminal) snapshot() []byte {
	all := t.emu.Snapshot(nil, -1)
	lines := t.emu.HistoryLen()
	if len(all) <= t.kept.max || lines == 0 {
		return all
	}
	least := t.emu.Snapshot(nil, 0)
	for len(all) > t.kept.max && lines > 0 {
		// Guess from the average line, and always make progress.
		history := len(all) - len(least)
		fits := max(0, t.kept.max-len(least))
		lines = min(lines-1, int(int64(lines)*int64(fits)/int64(max(history, 1))))
		// A wrapped line is taken whole or not, or it would reflow differently.
		for lines > 0 && t.emu.Wrapped(-lines-1) {
			lines--
		}
		all = t.emu.Snapshot(all[:0], lines)
	}
	return all
}

// Read gives the text of ahp.ReadScreen, ahp.ReadHistory or ahp.ReadRaw. The
// error names what can be read.
func (t *Terminal) Read(what string) (ahp.ReadResult, error) {
	read, ok := reads[what]
	if !ok {
		return ahp.ReadResult{}, fmt.Errorf("read a terminal's %q: only %q, %q and %q can be read",
			what, ahp.ReadScreen, ahp.ReadHistory, ahp.ReadRaw)
	}
	t.screen.Lock()
	defer t.screen.Unlock()
	c := t.emu.Cursor()
	return ahp.ReadResult{Text: read(t), Cols: t.cols, Rows: t.rows, CursorX: c.X, CursorY: c.Y}, nil
}

// reads is what Read can give; all are called with screen held.
var reads = map[string]func(*Terminal) string{
	ahp.ReadScreen:  func(t *Terminal) string { return emulator.ScreenText(t.emu) + "\n" },
	ahp.ReadHistory: func(t *Terminal) string { return lines(emulator.HistoryText(t.emu, -1)) },
	ahp.ReadRaw:     (*Terminal).stream,
}

// lines ends text with one newline, unless it is empty.
func lines(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
