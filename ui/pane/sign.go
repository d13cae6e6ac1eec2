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

// SignLook is how commands are marked. The arrays are by State.
type SignLook struct {
	Glyphs [states]rune
	Fold   rune // in place of the glyph where output is left out
	// Frame is the glyph's style in the frame, Cell that of the text which stands
	// for it where a pane has no frame on its left (only the foreground and the
	// attributes), Note that of what is said behind the line.
	Frame, Cell, Note [states]emulator.Style
	Sticky            emulator.Style
	Ellipsis          string
}

// noteTime is how long a command has to have run for its duration to be shown.
const noteTime = time.Second

// Sign marks the row of a view on which a command begins.
type Sign struct {
	Row    int
	State  State
	Folded bool
	id     string
	note   int // row on which something is said about it, negative for none
	text   string
	short  string
	fold   string // that something is folded, and no more
}

// signs are the marks of the commands that show.
type signs struct {
	// Framed says that the cell on the left of the view is a frame's, in which
	// whoever draws that marks commands (Signs).
	Framed bool

	now, before []Sign // as of the last drawing, and of the one before that
	rows        []int  // scratch
	key         signKey
	stuck       string // the command whose line stays on top
}

// Signs gives the marks as of the last drawing, from the top; the slice is valid
// until the next one. Whoever draws a pane's frame draws them there.
func (s *signs) Signs() []Sign { return s.now }

// find finds the commands that begin in the rows of the view. Marks of a
// terminal are in the order of its text, so only those that show are looked at.
// The lock must be held, as for all below.
func (s *signs) find(v *window, look *SignLook) {
	f := v.seen
	key := signKey{look, v.rect, v.top, f.lineOff, f.em.HistoryLen(), f.epoch, f.commands.changes, v.folds.ver, f.em.Modes().AltScreen, s.Framed}
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

// signKey is what the marks depend on besides the lines that they stand on.
type signKey struct {
	look                               *SignLook
	rect                               paint.Rect
	top, off, kept, era, commands, was int // kept is of the history: what was typed may be cleared
	alt, framed                        bool
}

// touched reports whether a line that a mark stands on has changed: what
// takes marks away, such as a clear, changes their lines.
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

// of makes the mark of a command whose line begins at a row.
func (s *signs) of(v *window, c *command, start *emulator.Mark, row int, look *SignLook) Sign {
	f := v.seen
	n := Sign{Row: row, State: c.State(), id: c.ID, note: -1}
	said := start.Line
	if !f.beside(c, start) {
		said-- // the last row of what was typed has the most room
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

// resigned reports whether a row has other marks than as it was drawn last.
func (s *signs) resigned(row int) bool {
	return signOn(s.now, row) != signOn(s.before, row) || noteOn(s.now, row) != noteOn(s.before, row)
}

// signOn and noteOn are asked for each row of each frame: without a function for what is looked
// for, they take half as long. The newest counts, as the line may have been typed over.
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

// drawSign colours the text of a row's first cell, where the pane has no frame on
// its left, and writes what is said of the command behind the row's text, or before
// a prompt at its right edge. The cell's background stays: a block of another
// colour looks like a cursor.
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
		row.W -= paint.Width(v.position(v.rect)) // which is drawn over it
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

// promptGap is the number of blanks that part what was typed from a prompt at the
// right edge; fewer are part of a text.
const promptGap = 5

// rightPrompt gives where the text before a prompt at the right edge ends, and where
// the prompt begins. Both are the end of the row where there is none.
func rightPrompt(cells []emulator.Cell) (used, from int) {
	for i, blanks := len(cells)-1, 0; ; i-- {
		switch {
		case i >= 0 && motion.Length(cells[i:i+1]) == 0:
			blanks++
		case blanks >= promptGap: // also before a prompt that is alone on a wrapped row
			return i + 1, i + 1 + blanks
		case i < 0:
			return len(cells), len(cells)
		default:
			blanks = 0
		}
	}
}

// plain reports whether the cells of a range look like nothing at all.
func plain(cells []emulator.Cell, from, to int) bool {
	for i := from; i < min(to, len(cells)); i++ {
		s := &cells[i].Style
		if !s.BG.IsDefault() || s.Underline != emulator.NoUnderline || s.Attrs&(emulator.Reverse|emulator.Strike|emulator.Overline) != 0 {
			return false
		}
	}
	return true
}

// Sticky is when the line of the command whose output fills a view stays on top.
type Sticky uint8

// The values of Sticky.
const (
	StickyNever Sticky = iota
	StickyBack         // in a view that is scrolled back
	StickyAlways
)

// Stuck gives the command whose line a row of the canvas shows above its output.
func (v *View) Stuck(x, y int) (id string, ok bool) {
	return v.stuck, v.stuck != "" && v.rect.Contains(x, y) && y == v.rect.Y
}

// drawStuck draws the line of the command that the top row belongs to, if its
// own line has scrolled off.
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

// sticking gives the command whose output the top row is, if its line does not
// show. Copy mode's cursor, what is selected and what Hold holds are never covered.
func (v *View) sticking(how Sticky) (p place, ok bool) {
	f := v.seen
	if how == StickyNever || how == StickyBack && !v.back || len(f.commands.list) == 0 || v.selection != nil ||
		f.em.Modes().AltScreen || v.copy != nil && (v.copy.held || v.copy.Line == v.top) {
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
				return p, false // between commands
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

// Unsigned gives the rows of the view that had a mark as of the drawing before
// the last one; the slice is valid until the next drawing.
func (s *signs) Unsigned() []int {
	s.rows = s.rows[:0]
	for i := range s.before {
		s.rows = append(s.rows, s.before[i].Row)
	}
	return s.rows
}
