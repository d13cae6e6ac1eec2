package pane

import "tandemux/emulator"

// Version returns a number that changes with every change of the feed's screen. The feed counts
// as drawn.
func (f *Feed) Version() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told = false
	if f.em == nil {
		return 0
	}
	f.collect()
	return f.gen
}

// Tail returns the last n lines up to the last one with text, the oldest first, without blank
// ones at the beginning. They may come from the history.
func (f *Feed) Tail(n int) [][]emulator.Cell {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.em == nil || n <= 0 {
		return nil
	}
	_, rows := f.em.Size()
	oldest := -f.em.HistoryLen()
	var cells []emulator.Cell
	y := rows - 1
	for ; y >= oldest; y-- {
		if cells = f.em.Line(y, cells[:0]); len(trimmed(cells)) > 0 {
			break
		}
	}
	var lines [][]emulator.Cell
	for from := max(y-n+1, oldest); from <= y; from++ {
		cells = f.em.Line(from, nil)
		lines = append(lines, trimmed(cells))
	}
	for len(lines) > 0 && len(lines[0]) == 0 {
		lines = lines[1:]
	}
	return lines
}

// trimmed cuts the blank cells at the end of a line.
func trimmed(cells []emulator.Cell) []emulator.Cell {
	n := len(cells)
	for n > 0 {
		c := &cells[n-1]
		if c.Rune != 0 && c.Rune != ' ' || !c.Style.BG.IsDefault() || c.Style.Attrs&emulator.Reverse != 0 {
			break
		}
		n--
	}
	return cells[:n]
}
