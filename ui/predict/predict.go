package predict

import (
	"slices"
	"time"
	"unicode/utf8"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/native/grapheme"
)

const (
	// grace is how long after the host has taken a key its echo may take to show.
	grace = 100 * time.Millisecond
	// unsure is the age at which a prediction is underlined.
	unsure = 250 * time.Millisecond
	// maxCells is the largest number of predicted cells.
	maxCells = 4096
	// picture is the first of the characters that are not predicted, because their width depends
	// on what follows them.
	picture = 0x1F000
)

// Screen is what a Predictor reads of a terminal. emulator.Emulator implements it. A line of a
// Predictor is a screen line plus an offset, so that its number stays when the screen scrolls.
type Screen interface {
	Size() (cols, rows int)
	Line(y int, buf []emulator.Cell) []emulator.Cell
	Cursor() emulator.Cursor
	Modes() emulator.Modes
}

type place struct{ line, x int }

// cell is a cell that is expected to change.
type cell struct {
	place
	is    emulator.Cell
	was   rune // what the screen had there
	typed bool // it was typed; else it was moved by a key before it on the line
	back  bool // typed by backspace
	then  int  // the cursor's column after the key
	epoch int
	seq   int64     // the number of the input
	at    time.Time // when it was typed
	took  time.Time // when its input was first seen as taken
}

// Predictor predicts one terminal's echo. The zero value predicts nothing.
type Predictor struct {
	Mark bool // underline all predictions

	echo  ahp.Echo
	cells []cell
	start place // backspace is not predicted left of it
	begun bool  // start is known

	seq, took int64 // the last input, and the last that the host has taken
	doubt     int64 // the number of input that can't be predicted; nothing is predicted until it is taken
	epoch     int   // counts doubts
	sure      int   // the last epoch with a confirmed cell
	stale     bool  // a prediction is older than unsure
	line      []emulator.Cell
}

// Allow sets what the host says about the echo.
func (p *Predictor) Allow(e ahp.Echo) {
	if p.echo == e {
		return
	}
	p.echo = e
	p.Reset()
}

// distrust begins a doubt: later predictions are hidden until one is confirmed, and there are
// none until input seq is taken.
func (p *Predictor) distrust(seq int64) {
	p.epoch++
	p.begun = p.begun && p.echo == ahp.EchoPrompt
	p.doubt = max(p.doubt, seq)
}

// Type predicts the echo of input with number seq; nil stands for input that must not be
// predicted. off turns a screen line into a line.
func (p *Predictor) Type(data []byte, seq int64, now time.Time, s Screen, off int) {
	p.seq = max(p.seq, seq)
	if data == nil {
		p.Drop()
		return
	}
	if seq <= p.took { // its echo may be on the screen already
		p.distrust(seq)
		return
	}
	known := p.echo != ahp.NoEcho && p.doubt <= p.took && !s.Modes().AltScreen && s.Cursor().Visible
	for known && len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if known = p.key(r, cell{seq: seq, at: now, epoch: p.epoch}, s, off); known {
			data = data[n:]
		}
	}
	if len(data) > 0 {
		p.distrust(seq)
		p.begun = p.begun && data[0] != '\r'
	}
}

// key predicts the echo of one character. It returns false if it can't.
func (p *Predictor) key(r rune, c cell, s Screen, off int) bool {
	cols, rows := s.Size()
	at := p.cursor(s, off, true)
	y := at.line - off
	if y < 0 || y >= rows || len(p.cells)+cols > maxCells {
		return false
	}
	if !p.begun {
		p.start, p.begun = at, true
	}
	shows := s.Line(y, p.line[:0])
	if p.line = shows; at.x >= len(shows) {
		return false
	}
	row := p.apply(at.line, slices.Clone(shows), true, false)
	end := len(row)
	for end > at.x && blank(row[end-1]) {
		end--
	}
	rest := row[at.x:end]
	if r == 0x7f {
		w := 1
		if at.x > 1 && row[at.x-1].Width == 0 {
			w = 2
		}
		if at.x < w || at.line < p.start.line || at.line == p.start.line && at.x-w < p.start.x {
			return false
		}
		c.back, c.then = true, at.x-w
		moved := slices.Clone(rest)
		for range w {
			moved = append(moved, emulator.Cell{Width: 1, Style: row[at.x-w].Style})
		}
		p.put(c, place{at.line, at.x - w}, moved, shows)
		return true
	}
	w := 0
	if utf8.ValidRune(r) && r != utf8.RuneError && r < picture && r >= ' ' {
		w = grapheme.Of(r).Width()
	}
	if w == 0 || at.x+w >= cols {
		return false
	}
	style := row[at.x].Style
	if at.x > 0 {
		style = row[at.x-1].Style
	}
	c.then = at.x + w
	is := []emulator.Cell{{Rune: r, Width: uint8(w), Style: style}}
	if w == 2 {
		is = append(is, emulator.Cell{Style: style})
	}
	// Text in another style is a suggestion, which typing replaces.
	if len(rest) > 0 && rest[0].Rune != r && rest[0].Style == style {
		is = append(is, rest[:min(len(rest), cols-at.x-w)]...)
	}
	p.put(c, at, is, shows)
	return true
}

func blank(c emulator.Cell) bool { return c.Width == 1 && (c.Rune == 0 || c.Rune == ' ') }

// put replaces predictions from a place on. The first of the cells is the typed one.
func (p *Predictor) put(c cell, at place, is, shows []emulator.Cell) {
	p.cells = slices.DeleteFunc(p.cells, func(old cell) bool {
		return old.line == at.line && old.x >= at.x && old.x < at.x+len(is)
	})
	for i, to := range is {
		c.place, c.is, c.typed = place{at.line, at.x + i}, to, i == 0
		c.was = shows[c.x].Rune
		p.cells = append(p.cells, c)
	}
}

// cursor returns where the next key will show: after all predictions, or if hidden is false after
// the visible ones.
func (p *Predictor) cursor(s Screen, off int, hidden bool) place {
	cur := s.Cursor()
	at := place{cur.Y + off, cur.X}
	for _, c := range p.cells { // the cell that was typed last is the last one
		if c.typed && (hidden || c.epoch <= p.sure) {
			at = place{c.line, c.then}
		}
	}
	return at
}

// Took says that the host has passed input up to number seq to the program, or has refused it.
func (p *Predictor) Took(seq int64, refused bool) {
	if p.took = max(p.took, seq); refused {
		p.Drop()
	}
}

// Drop removes all predictions and begins a doubt.
func (p *Predictor) Drop() {
	p.cells = p.cells[:0]
	p.distrust(p.seq)
}

// Reset is Drop after lines were renumbered.
func (p *Predictor) Reset() {
	p.Drop()
	p.begun = false
}

// Any reports whether anything is predicted.
func (p *Predictor) Any() bool { return len(p.cells) > 0 }

// Settle compares the predictions with the screen. again is when it must be called again even if
// nothing arrives; 0 means never.
func (p *Predictor) Settle(now time.Time, s Screen, off int) (again time.Duration) {
	p.stale = false
	if len(p.cells) == 0 {
		return 0
	}
	if s.Modes().AltScreen {
		p.Drop()
		return 0
	}
	soon := func(d time.Duration) {
		if d > 0 && (again == 0 || d < again) {
			again = d
		}
	}
	_, rows := s.Size()
	cur := s.Cursor()
	confirmed := int64(-1)
	kept := p.cells[:0]
	for _, c := range p.cells {
		if c.seq > p.took {
			kept = append(kept, c)
			p.stale = p.stale || now.Sub(c.at) >= unsure
			soon(unsure - now.Sub(c.at))
			continue
		}
		if c.took.IsZero() {
			c.took = now
		}
		has := rune(-1)
		if y := c.line - off; y < rows {
			p.line = s.Line(y, p.line[:0])
			if c.x < len(p.line) {
				has = p.line[c.x].Rune
			}
		}
		same, changed := char(has) == char(c.is.Rune), char(c.was) != char(c.is.Rune)
		past := cur.Y+off > c.line || cur.Y+off == c.line && (c.back && cur.X <= c.then || !c.back && cur.X >= c.then)
		late := now.Sub(c.took) >= grace
		switch {
		case same && (changed || past || late):
			if c.typed {
				confirmed = max(confirmed, c.seq)
			}
			if c.typed && changed {
				p.sure = max(p.sure, c.epoch)
			}
		case late && c.typed:
			p.Drop()
			return 0
		case !late:
			kept = append(kept, c)
			soon(grace - now.Sub(c.took))
		}
	}
	p.cells = kept
	kept = kept[:0]
	for _, c := range p.cells { // cells that a confirmed key has moved are confirmed too
		if c.typed || c.seq > confirmed {
			kept = append(kept, c)
		}
	}
	p.cells = kept
	return again
}

// char is the visible character of a cell.
func char(r rune) rune {
	if r == 0 {
		return ' '
	}
	return r
}

// Overlay replaces cells of a line by its predictions.
func (p *Predictor) Overlay(line int, cells []emulator.Cell) []emulator.Cell {
	return p.apply(line, cells, false, true)
}

func (p *Predictor) apply(line int, cells []emulator.Cell, hidden, mark bool) []emulator.Cell {
	for _, c := range p.cells {
		if c.line != line || c.x >= len(cells) || !hidden && c.epoch > p.sure {
			continue
		}
		if c.x > 0 && cells[c.x].Width == 0 && c.is.Width != 0 && cells[c.x-1].Width == 2 {
			cells[c.x-1] = emulator.Cell{Width: 1, Style: cells[c.x-1].Style} // its other half is overwritten
		}
		if n := c.x + 1; cells[c.x].Width == 2 && c.is.Width < 2 && n < len(cells) {
			cells[n] = emulator.Cell{Width: 1, Style: cells[n].Style}
		}
		cells[c.x] = c.is
		if mark && (p.Mark || p.stale) {
			cells[c.x].Style.Underline = emulator.Single
		}
	}
	return cells
}

// Cursor returns where the cursor shows.
func (p *Predictor) Cursor(s Screen, off int) (x, line int) {
	at := p.cursor(s, off, false)
	return at.x, at.line
}
