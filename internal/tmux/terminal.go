package tmux

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/internal/capture"
	"tandemux/internal/termcmd"
	"tandemux/keymap"
)

const (
	// maxRepeat and maxTyped bound what one send-keys types, in times and bytes.
	maxRepeat = 1000
	maxTyped  = 1 << 20
)

// sendKeys types in one piece, so that nothing comes between.
func (a *answerer) sendKeys(c call, at spot) error {
	times := 1
	if n := c.value('N'); n != "" {
		var err error
		if times, err = cells(n, 0); err != nil || times < 1 || times > maxRepeat {
			return fmt.Errorf("repeat count %q: want 1 to %d", n, maxRepeat)
		}
	}
	text, err := a.typed(c, at)
	if err != nil || text == "" {
		return err
	}
	if len(text)*times > maxTyped {
		return fmt.Errorf("send-keys: more than %d bytes", maxTyped)
	}
	by := a.op
	if at.pane.id != a.own {
		by = a.leader
	}
	return by.Act(a.ctx, at.pane.terminal.Resource, ahp.TerminalInput{Data: strings.Repeat(text, times)})
}

// typed is what words type: keys by their names, and text as it is.
func (a *answerer) typed(c call, at spot) (string, error) {
	var b strings.Builder
	for _, word := range c.args {
		if c.has('H') {
			code, err := strconv.ParseUint(word, 16, 8)
			if err != nil {
				return "", fmt.Errorf("send-keys -H %q: want a byte as hex digits", word)
			}
			b.WriteByte(byte(code))
			continue
		}
		key, err := keymap.Parse(word)
		if c.has('l') || err != nil || len([]rune(word)) == 1 {
			b.WriteString(word)
			continue
		}
		pressed, err := termcmd.Encode(a.op, a.ctx, at.pane.terminal.Resource, []keymap.Key{key})
		if err != nil {
			return "", err
		}
		b.Write(pressed)
	}
	return b.String(), nil
}

// capturePane prints what a pane shows, and of its history what -S says.
func (a *answerer) capturePane(c call, at spot) error {
	if !c.has('p') {
		return errors.New("capture-pane without -p: " + unknown)
	}
	em, err := capture.Screen(a.ctx, a.op, at.pane.terminal.Resource, 0)
	if err != nil {
		return err
	}
	_, rows := em.Size()
	first, err := bound(c.value('S'), -em.HistoryLen(), 0)
	if err != nil {
		return err
	}
	last, err := bound(c.value('E'), rows-1, rows-1)
	if err != nil {
		return err
	}
	first, last = max(first, -em.HistoryLen()), min(last, rows-1)
	return a.lines(em, first, last, c)
}

// bound is a line that capture-pane begins or ends with: 0 is the screen's first one,
// before that is history. "-" is all there is.
func bound(text string, all, none int) (int, error) {
	switch text {
	case "":
		return none, nil
	case "-":
		return all, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("line %q: want a number or -", text)
	}
	return n, nil
}

// lines prints lines without the blanks at their ends; -J joins wrapped ones and keeps
// blanks, as -N does, and -e has the styles.
func (a *answerer) lines(em emulator.Emulator, first, last int, c call) error {
	var cells []emulator.Cell
	var text []byte
	for y := first; y <= last; y++ {
		cells = em.Line(y, cells[:0])
		if !c.has('N') && !(c.has('J') && em.Wrapped(y)) {
			for len(cells) > 0 && (cells[len(cells)-1].Rune == 0 || cells[len(cells)-1].Rune == ' ') && cells[len(cells)-1].Width == 1 {
				cells = cells[:len(cells)-1]
			}
		}
		style := emulator.Style{}
		for _, cell := range cells {
			if cell.Width == 0 {
				continue
			}
			if c.has('e') {
				text = emulator.AppendStyle(text, style, cell.Style)
				style = cell.Style
			}
			cell.Rune = cmp.Or(cell.Rune, ' ')
			text = append(append(text, string(cell.Rune)...), cell.Combining...)
		}
		text = emulator.AppendStyle(text, style, emulator.Style{})
		if !c.has('J') || !em.Wrapped(y) {
			text = append(text, '\n')
		}
	}
	_, err := a.out.Write(text)
	return err
}
