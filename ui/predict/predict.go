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
	// unsure is how long a prediction stands before it is underlined.
	unsure = 250 * time.Millisecond
	// maxCells bounds what is predicted at once.
	maxCells = 4096
	// picture is the first of the characters that are left to the program: how wide
	// they are is decided by what follows them.
	picture = 0x1F000
)

// Screen is what a Predictor looks at of a terminal; emulator.Emulator has it. Lines are
// named as there, plus an offset by which they keep their names while the screen scrolls.
type Screen interface {
	Size() (cols, rows int)
	Line(y int, buf []emulator.Cell) []emulator.Cell
	Cursor() emulator.Cursor
	Modes() emulator.Modes
}

type place struct{ line, x int }

// cell is one that is expected to change.
type cell struct {
	place
	is    emulator.Cell
	was   rune // what the screen had there
	typed bool // else it is moved along by what was typed before it in the line
	back  bool // typed backwards
	then  int  // where the cursor is behind it
	epoch int
	seq   int64     // of the input
	at    time.Time // when it was typed
	took  time.Time // when its input was first seen to be taken
}

// Predictor predicts one terminal's echo. The zero value predicts nothing.
type Predictor struct {
	Mark bool // what is predicted is underlined

	echo  ahp.Echo
	cells []cell
	start place // nothing is taken back left of it
	begun bool  // start is known

	seq, took int64 // the last input, and the last that the host has taken
	doubt     int64 // input that can't be predicted; what follows it can't until it is taken
	epoch     int   // counts doubts
	sure      int   // the last epoch of which something was confirmed
	stale     bool  // something has stood for long
	line      []emulator.Cell
}

// Allow takes the host's word on the echo.
func (p *Predictor) Allow(e ahp.Echo) {
	if p.echo == e {
		return
	}
	p.echo = e
	p.Reset()
}

// distrust begins a doubt: what is typed from here on is hidden until some of it is
// confirmed. Behind input of a number nothing is predicted until that is taken.
func (p *Predictor) distrust(seq int64) {
	p.epoch++
	p.begun = p.begun && p.echo == ahp.EchoPrompt
	p.doubt = max(p.doubt, seq)
}

// Type predicts input that was sent with a number; nil is input that can't be, or is not
// to be.
func (p *Predictor) Type(data []byte, seq int64, now time.Time, s Screen, off int) {
	p.seq = max(p.seq, seq)
	if data == nil {
		p.Drop()
		return
	}
	if seq <= p.took { // its echo may be there
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

// key predicts one character; false where it can't.
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
	// What is drawn in another way is a suggestion: it gives way.
	if len(rest) > 0 && rest[0].Rune != r && rest[0].Style == style {
		is = append(is, rest[:min(len(rest), cols-at.x-w)]...)
	}
	p.put(c, at, is, shows)
	return true
}

func blank(c emulator.Cell) bool { return c.Width == 1 && (c.Rune == 0 || c.Rune == ' ') }

// put has cells from a place on be others than the screen shows; the first is judged.
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

// cursor is where the next key shows: behind all that is predicted, or what of it shows.
func (p *Predictor) cursor(s Screen, off int, hidden bool) place {
	cur := s.Cursor()
	at := place{cur.Y + off, cur.X}
	for _, c := range p.cells { // the last that was typed is the last of them
		if c.typed && (hidden || c.epoch <= p.sure) {
			at = place{c.line, c.then}
		}
	}
	return at
}

// Took says that the host has given input of that number, and all before, to the program, or
// has refused it.
func (p *Predictor) Took(seq int64, refused bool) {
	if p.took = max(p.took, seq); refused {
		p.Drop()
	}
}

// Drop forgets all predictions. What has been typed is in doubt.
func (p *Predictor) Drop() {
	p.cells = p.cells[:0]
	p.distrust(p.seq)
}

// Reset is Drop where lines have other names now.
func (p *Predictor) Reset() {
	p.Drop()
	p.begun = false
}

// Any reports whether anything is predicted.
func (p *Predictor) Any() bool { return len(p.cells) > 0 }

// Settle compares what is predicted with the screen. again is when it is to be called
// again though nothing comes; 0 is never.
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
	for _, c := range p.cells { // what a confirmed key has moved along is there, too
		if c.typed || c.seq > confirmed {
			kept = append(kept, c)
		}
	}
	p.cells = kept
	return again
}

// char is what shows of a cell.
func char(r rune) rune {
	if r == 0 {
		return ' '
	}
	return r
}

// Overlay puts what is predicted on a line over its cells.
func (p *Predictor) Overlay(line int, cells []emulator.Cell) []emulator.Cell {
	return p.apply(line, cells, false, true)
}

func (p *Predictor) apply(line int, cells []emulator.Cell, hidden, mark bool) []emulator.Cell {
	for _, c := range p.cells {
		if c.line != line || c.x >= len(cells) || !hidden && c.epoch > p.sure {
			continue
		}
		if c.x > 0 && cells[c.x].Width == 0 && c.is.Width != 0 && cells[c.x-1].Width == 2 {
			cells[c.x-1] = emulator.Cell{Width: 1, Style: cells[c.x-1].Style} // half of it is gone
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

// Cursor is where the cursor shows.
func (p *Predictor) Cursor(s Screen, off int) (x, line int) {
	at := p.cursor(s, off, false)
	return at.x, at.line
}
