package pane

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"tandemux/emulator"
	"tandemux/ui/motion"
	"tandemux/ui/paint"
	"tandemux/ui/words"
)

// SignLook is the look of commands' marks. The indexes of the arrays are States.
type SignLook struct {
	Glyphs [states]rune
	Fold   rune // replaces the glyph if the output is folded
	// Frame is the style of the glyph in the pane's frame. Cell is the style of the first cell of
	// the command's line, which is the mark if the pane has no frame on its left; only its FG and
	// Attrs apply. Note is the style of the note at the right of the line.
	Frame, Cell, Note [states]emulator.Style
	Sticky            emulator.Style
	Ellipsis          string
}

// noteTime is the shortest duration of a command that its note shows.
const noteTime = time.Second

// Sign is the mark of a command, on the row of the view on which it begins.
type Sign struct {
	Row    int
	State  State
	Folded bool
	id     string
	note   int // row of the note; negative if it doesn't show
	text   string
	short  string
	fold   string // the note if there is room only for the sign of the fold
}

// signs is the marks of the visible commands.
type signs struct {
	// Framed says that the view has a frame on its left. Whoever draws the frame draws the marks
	// (Signs) there.
	Framed bool

	now, before []Sign // as of the last drawing, and of the one before it
	rows        []int  // scratch
	key         signKey
	stuck       string // id of the command whose line is drawn over the top row
}

// Signs returns the marks as of the last drawing, from the top. The slice is valid until the next
// drawing.
func (s *signs) Signs() []Sign { return s.now }

// find updates the marks of the commands that begin in the view. An emulator's marks are in the
// order of its text, so find looks only at those in the view. The lock must be held, as for all
// below.
func (s *signs) find(v *window, look *SignLook) {
	f := v.seen
	key := signKey{look, v.rect, v.top, f.lineOff, f.em.HistoryLen(), f.epoch, f.commands.changes, v.folds.version, f.em.Modes().AltScreen, s.Framed}
	if key == s.key && !s.touched(v) {
		s.before = append(s.before[:0], s.now...)
		return
	}
	s.key = key
	s.before, s.now = s.now, s.before[:0]
	if look == nil || len(f.commands.list) == 0 || f.em.Modes().AltScreen {
		return
	}
	f.marks = f.em.Marks(f.marks[:0])
	last := v.lineAt(v.rect.H-1) - f.lineOff
	from := sort.Search(len(f.marks), func(i int) bool { return f.marks[i].Line >= v.top-f.lineOff })
	for i := from; i < len(f.marks); i++ {
		m := &f.marks[i]
		c := f.commands.known(m.ID)
		if m.ID%2 == 1 || c == nil {
			continue
		}
		var before *emulator.Mark
		if i > 0 && f.marks[i-1].ID == m.ID-1 {
			before = &f.marks[i-1]
		}
		first := f.typed(c, m, before)
		if first > last {
			break
		}
		if row := v.row(first + f.lineOff); row >= 0 && row < v.rect.H {
			s.now = append(s.now, s.of(v, c, m, row, look))
		}
	}
}

// signKey is what the marks depend on besides the contents of their lines.
type signKey struct {
	look                                      *SignLook
	rect                                      paint.Rect
	top, off, history, epoch, commands, folds int // history: lines of a command may be cleared
	alt, framed                               bool
}

// touched reports whether a line with a mark has changed. What removes marks, such as a clear,
// changes their lines.
func (s *signs) touched(v *window) bool {
	f := v.seen
	if f.all > v.gen || len(v.folds.out) > 0 {
		return true
	}
	for i := range s.now {
		for _, row := range [...]int{s.now[i].Row, s.now[i].note} {
			if y := v.top + row - f.lineOff; row >= 0 && y >= 0 && y < len(f.lines) && f.lines[y] > v.gen {
				return true
			}
		}
	}
	return false
}

// of returns the mark of a command that begins at a row.
func (s *signs) of(v *window, c *command, start *emulator.Mark, row int, look *SignLook) Sign {
	f := v.seen
	n := Sign{Row: row, State: c.State(), id: c.ID, note: -1}
	said := start.Line
	if !f.beside(c, start) {
		said-- // the command line's last row has the most room
	}
	if r := v.row(said + f.lineOff); r >= row && r < v.rect.H {
		n.note = r
	}
	var notes []string
	if _, n.Folded = v.folds.ids[c.ID]; n.Folded {
		p := place{command: *c, start: start}
		if i := slices.IndexFunc(f.marks, func(m emulator.Mark) bool { return m.ID == 2*c.n+1 }); i >= 0 {
			p.end = &f.marks[i]
		}
		if h, ok := f.outputLines(&p); ok {
			n.fold = string(look.Fold)
			notes = append(notes, string(look.Fold)+" "+words.Plural(h.to-h.from, "line"))
		} else {
			n.Folded = false
		}
	}
	if n.State == Failed {
		notes = append(notes, fmt.Sprintf("exit %d", *c.ExitCode))
	} else if !s.Framed && n.State == Passed {
		notes = append(notes, string(look.Glyphs[Passed]))
	}
	n.short = strings.Join(notes, "  ")
	if c.Duration >= noteTime {
		notes = append(notes, words.Lasted(c.Duration))
	}
	n.text = strings.Join(notes, "  ")
	return n
}

// signChanged reports whether a row's marks differ from those that were last drawn.
func (s *signs) signChanged(row int) bool {
	return signOn(s.now, row) != signOn(s.before, row) || noteOn(s.now, row) != noteOn(s.before, row)
}

// signOn and noteOn run for each row of each frame, so they don't share a loop that takes a
// function: that takes twice as long. They return the newest, as lines may be overwritten.
func signOn(list []Sign, row int) (s Sign) {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Row == row {
			return list[i]
		}
	}
	return s
}

func noteOn(list []Sign, row int) (s Sign) {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].note == row {
			return list[i]
		}
	}
	return s
}

// drawSign draws a row's mark, if the pane has no frame on its left, by restyling the row's first
// cell, and the note at the right end of the row or before a right prompt. The cell's background
// stays: a block of another colour looks like a cursor.
func (v *View) drawSign(c *paint.Canvas, row paint.Rect, i int, look *SignLook) {
	if s := signOn(v.now, i); s.State != None && !v.Framed && v.ox == 0 {
		to := look.Cell[s.State]
		c.Restyle(paint.Rect{X: row.X, Y: row.Y, W: 1, H: 1}, func(old emulator.Style) emulator.Style {
			if !to.FG.IsDefault() {
				old.FG = to.FG
			}
			old.Attrs |= to.Attrs
			return old
		})
	}
	s := noteOn(v.now, i)
	if s.State == None {
		return
	}
	used := motion.Length(v.cells)
	if i == 0 && v.back {
		row.W -= paint.Width(v.position(v.rect)) // the position is drawn over it
	}
	end := row.W // the note ends one cell before
	if v.ox == 0 && used >= row.W-1 && used <= row.W {
		used, end = rightPrompt(v.cells[:used])
	}
	for _, text := range [...]string{s.text, s.short, s.fold} {
		w := paint.Width(text)
		if text == "" || used-v.ox+w+2 > end || !plain(v.cells, v.ox+end-w-1, v.ox+end) {
			continue
		}
		c.Text(row.X+end-w-1, row.Y, w, text, look.Note[s.State])
		return
	}
}

// promptGap is the number of blanks that separate a command line from a prompt at the right edge.
// Fewer are part of the text.
const promptGap = 5

// rightPrompt returns where the text before a right prompt ends and where the prompt begins.
// Without a right prompt both are the end of the row.
func rightPrompt(cells []emulator.Cell) (used, from int) {
	for i, blanks := len(cells)-1, 0; ; i-- {
		switch {
		case i >= 0 && motion.Length(cells[i:i+1]) == 0:
			blanks++
		case blanks >= promptGap: // also if only the prompt is on a wrapped row
			return i + 1, i + 1 + blanks
		case i < 0:
			return len(cells), len(cells)
		default:
			blanks = 0
		}
	}
}

// plain reports whether cells of a range have no background, underline or other visible style.
func plain(cells []emulator.Cell, from, to int) bool {
	for i := from; i < min(to, len(cells)); i++ {
		s := &cells[i].Style
		if !s.BG.IsDefault() || s.Underline != emulator.NoUnderline || s.Attrs&(emulator.Reverse|emulator.Strike|emulator.Overline) != 0 {
			return false
		}
	}
	return true
}

// Sticky says when the line of the command whose output fills the view stays at the top.
type Sticky uint8

// The values of Sticky.
const (
	StickyNever Sticky = iota
	StickyBack         // in a view that is scrolled back
	StickyAlways
)

// Stuck returns the command whose line is drawn over the view's top row, if the cell of the
// canvas is on that row.
func (v *View) Stuck(x, y int) (id string, ok bool) {
	return v.stuck, v.stuck != "" && v.rect.Contains(x, y) && y == v.rect.Y
}

// drawStuck draws the line of the command whose output the top row is in, if its own line has
// scrolled off.
func (v *View) drawStuck(c *paint.Canvas, r paint.Rect, look Look) {
	v.stuck = ""
	p, ok := v.sticking(look.Sticky)
	if !ok || look.Signs == nil || r.H < 3 {
		return
	}
	v.stuck = p.ID
	s := look.Signs
	line, _, more := strings.Cut(p.Line, "\n")
	line = words.Lines(line)
	if more {
		line += s.Ellipsis
	}
	state := p.State()
	c.Fill(paint.Rect{X: r.X, Y: r.Y, W: r.W, H: 1}, ' ', s.Sticky)
	note := s.Note[state]
	note.BG = s.Sticky.BG
	note.Attrs |= s.Sticky.Attrs & emulator.Reverse
	c.Text(r.X+1, r.Y, r.W-2, string(s.Glyphs[state]), note)
	c.Text(r.X+3, r.Y, r.W-4, paint.Cut(line, r.W-4, s.Ellipsis), s.Sticky)
}

// sticking returns the command whose output the top row is in, if its line has scrolled off. It
// returns none where that would cover copy mode's cursor, a selection or a view that Hold holds.
func (v *View) sticking(how Sticky) (p place, ok bool) {
	f := v.seen
	if how == StickyNever || how == StickyBack && !v.back || len(f.commands.list) == 0 || v.selection != nil ||
		f.em.Modes().AltScreen || v.copy != nil && (v.copy.hidden || v.copy.Line == v.top) {
		return p, false
	}
	f.marks = f.em.Marks(f.marks[:0])
	top := v.top - f.lineOff
	i := sort.Search(len(f.marks), func(i int) bool { return f.marks[i].Line > top }) - 1
	for ; i >= 0; i-- {
		m := &f.marks[i]
		c := f.commands.known(m.ID)
		switch {
		case c == nil:
			return p, false
		case m.ID%2 == 1:
			if m.Line < top || m.Col == 0 || !f.filled(m) {
				return p, false // the top row is between commands
			}
			continue
		case c.Line == "" || c.Running && top >= f.em.Cursor().Y:
			return p, false
		}
		var before *emulator.Mark
		if i > 0 && f.marks[i-1].ID == m.ID-1 {
			before = &f.marks[i-1]
		}
		return place{command: *c, start: m}, f.typed(c, m, before) < top
	}
	return p, false
}

// PreviousRows returns the rows of the marks that the last drawing replaced. The slice is valid
// until the next drawing.
func (s *signs) PreviousRows() []int {
	s.rows = s.rows[:0]
	for i := range s.before {
		s.rows = append(s.rows, s.before[i].Row)
	}
	return s.rows
}
