package pane

import (
	"tandemux/emulator"
	"tandemux/ui/paint"
)

// Look is the styles of what a view draws besides the program's cells.
type Look struct {
	Letterbox emulator.Style // the area around a terminal that is smaller than the pane
	Selection emulator.Style // selected text; only FG, BG and Attrs
	Match     emulator.Style // matches of the search
	Scroll    emulator.Style // the scroll position
	Bar       emulator.Style // the scroll bar's thumb
	Fill      rune           // the character of the area around the terminal; 0 is a blank
	Signs     *SignLook      // the marks of commands; nil for none
	Sticky    Sticky
	Pictures  *paint.Gallery // nil draws pictures as boxes
}

// lines is the text of a feed's terminal, with the folds that hide some of its lines.
type lines struct {
	Feed *Feed
	seen *Feed // the feed that is read: Feed or its frozen copy (reader.frozen)
	// Separators is the characters that separate words besides blanks, for motions by word and
	// double clicks; if it is empty they use their default rules.
	Separators string

	folds folds
	cells []emulator.Cell // scratch: the line that was read last
}

// window says which line shows at which row, as of the last drawing.
type window struct {
	lines
	rect paint.Rect
	gen  uint64 // the feed's
	off  int    // the feed's lineOff
	ox   int    // first column that shows; above 0 only if the terminal is wider than the pane
	top  int    // first line that shows
	back bool   // the view is scrolled back: output doesn't move top
	Held bool   // text is being dragged: output doesn't move top
}

// View is a pane's window on a feed. Only the event loop may use it.
type View struct {
	window
	signs
	epoch int  // the epoch that the view's line numbers belong to
	full  bool // the next drawing draws everything

	copy      *copyMode // nil outside copy mode
	marks     map[rune]spot
	find      Find // the last FindChar
	selection *Selection
	drag      drag
	pick      pick
	search    search
	sought    *Sought // the line that GoText went to; nil once the cursor has moved
	index     index
	link      link // under the mouse pointer
	bar       bool // the mouse pointer is on the scroll bar's column
	thumb     span // rows of the scroll bar's thumb as last drawn; empty without a scroll bar

	shown  bool
	reader reader
	last   paint.Cursor // as of the last drawing
}

// NewView makes a view that follows the feed's output.
func NewView(f *Feed) *View { return &View{window: window{lines: lines{Feed: f, seen: f}}, full: true} }

// Cursor returns where the outer terminal's cursor belongs, as of the last drawing.
func (v *View) Cursor() paint.Cursor { return v.last }

// Redraw makes the next Draw draw everything.
func (v *View) Redraw() { v.full = true }

// geometry computes which lines and columns show in r. It returns the terminal's size. The feed's
// lock must be held.
func (v *View) geometry(r paint.Rect) (cols, rows int) {
	f := v.seen
	cols, rows = f.em.Size()
	v.ox = 0
	cur := f.em.Cursor()
	v.rect = r
	if v.refold() {
		v.full = true
	}
	live := v.live()
	if cols > r.W && cur.X >= r.W {
		v.ox = min(cur.X-r.W+1, cols-r.W)
	}
	if !v.back && !v.Held {
		v.top = live
		return cols, rows
	}
	oldest := f.lineOff - f.em.HistoryLen()
	if c := v.copy; c != nil {
		// The history may have dropped its line, or a resize its column.
		c.Line = v.showing(min(max(c.Line, oldest), f.lineOff+rows-1))
		c.X = min(c.X, cols-1)
	}
	v.top = v.showing(max(v.top, oldest))
	if v.top >= live {
		v.top = live
		if v.copy == nil {
			v.back = false
		}
	}
	return cols, rows
}

// Draw draws the view into a rectangle of the canvas, at least the lines that changed since the
// last drawing. It returns where the outer terminal's cursor belongs.
func (v *View) Draw(c *paint.Canvas, r paint.Rect, look Look) paint.Cursor {
	if r.Empty() {
		return paint.Cursor{}
	}
	f := lock(v)
	defer f.mu.Unlock()
	f.told = false
	f.setReader(v, v.back || v.bar || v.copy != nil || v.selection != nil || v.pick.id != "" || len(v.marks) > 0 || len(v.folds.ids) > 0)
	if f.em == nil {
		c.Fill(r, ' ', emulator.Style{})
		v.full = true
		return paint.Cursor{}
	}
	f.collect()
	v.renumber()
	oldTop, oldOx, oldRect := v.top, v.ox, v.rect
	cols, rows := v.geometry(r)
	if oldRect != r || oldOx != v.ox || v.top-oldTop != f.lineOff-v.off && !v.back || v.back && v.top != oldTop {
		v.full = true
	}
	if t := v.thumbNow(); t != v.thumb || (v.search.re != nil || t != span{} || len(v.folds.out) > 0) && f.gen != v.gen {
		// A match may begin on a line that did not change, and the scroll bar is drawn over lines
		// that did not change.
		v.thumb, v.full = t, true
	}
	full := v.full || f.all > v.gen || !v.shown
	pal := f.em.Palette()
	recolour := pal.Indexed != nil || !pal.FG.IsDefault() || !pal.BG.IsDefault()
	reverse := f.em.Modes().ReverseScreen
	width := min(cols, r.W)
	v.signs.find(&v.window, look.Signs)
	v.locatePick()
	line, top := v.top-1, false // top: the first row was drawn
	for i := range r.H {
		if line++; len(v.folds.out) > 0 {
			line = v.lineAt(i)
		}
		y := line - f.lineOff
		if y >= rows {
			if full {
				v.below(c, r, i, rows, look)
			}
			break
		}
		if !full && !(i == 0 && (v.back || look.Sticky == StickyAlways)) && v.unchanged(line, y) && !v.signChanged(i) {
			continue
		}
		top = top || i == 0
		v.line(c, r, i, y, width, look)
		row := paint.Rect{X: r.X, Y: r.Y + i, W: width, H: 1}
		if reverse { // it swaps only the default colours
			c.Restyle(row, func(s emulator.Style) emulator.Style {
				s.FG, s.BG, s.Attrs = s.BG, s.FG, s.Attrs^emulator.Reverse
				return s
			})
		}
		if recolour {
			c.Restyle(row, func(s emulator.Style) emulator.Style { return repaint(s, &pal) })
		}
		if v.pick.id != "" && line >= v.pick.first && line <= v.pick.last {
			v.restyle(c, row, v.ox, v.ox+row.W, look.Selection)
		}
		v.highlight(c, row, line, look)
		if look.Signs != nil && len(v.now) > 0 {
			v.drawSign(c, row, i, look.Signs)
		}
		if cols < r.W && full {
			c.Fill(paint.Rect{X: r.X + cols, Y: r.Y + i, W: r.W - cols, H: 1}, look.Fill, look.Letterbox)
		}
	}
	v.gen, v.off, v.full, v.shown = f.gen, f.lineOff, false, true
	v.drawStuck(c, r, look)
	if full {
		drawBar(c, r, look, v.thumb)
	} else if top {
		drawBar(c, r, look, span{v.thumb.from, min(v.thumb.to, 1)})
	}
	if v.back {
		text := v.position(r)
		if w := paint.Width(text); w < r.W {
			c.Text(r.X+r.W-w, r.Y, w, text, look.Scroll)
		}
	}
	v.last = v.cursor(r)
	noteReader(v)
	return v.last
}

// below fills the rows from i on, which are below the terminal's last line: as blank rows of the
// terminal where folds have made room, else as the area around the terminal. The lock must be
// held.
func (w *window) below(c *paint.Canvas, r paint.Rect, i, rows int, look Look) {
	if own := min(rows, r.H); len(w.folds.out) > 0 && i < own {
		c.Fill(paint.Rect{X: r.X, Y: r.Y + i, W: r.W, H: own - i}, 0, emulator.Style{})
		i = own
	}
	c.Fill(paint.Rect{X: r.X, Y: r.Y + i, W: r.W, H: r.H - i}, look.Fill, look.Letterbox)
}

// unchanged reports whether a line is as it was last drawn. The lock must be held.
func (w *window) unchanged(line, y int) bool {
	f := w.seen
	if y < 0 {
		// A line that has scrolled off the screen since it was drawn may have changed before.
		return line < w.off
	}
	return f.lineOff == w.off && (y >= len(f.lines) || f.lines[y] <= w.gen)
}

// renumber updates the view after the feed's lines were renumbered: it drops the selection, marks
// and link, whose lines are unknown, and restores the view's place. The lock must be held.
func (v *View) renumber() {
	if v.epoch == v.seen.epoch {
		return
	}
	v.epoch, v.selection, v.full = v.seen.epoch, nil, true
	v.marks, v.link = nil, link{}
	for _, at := range [...]*spot{&v.drag.from, &v.drag.to} {
		at.line += v.seen.lineOff - v.off // the drag's beginning stays where it was on the screen
	}
	restorePlace(v)
	if v.copy != nil {
		oldest, newest := v.bounds()
		v.copy.Line = min(max(v.copy.Line, oldest), newest)
		if v.sought != nil {
			v.sought.goTo(v)
		}
	}
}

// line draws screen line y at row i of the rectangle. The lock must be held.
func (v *View) line(c *paint.Canvas, r paint.Rect, i, y, width int, look Look) {
	v.cells = v.seen.em.Line(y, v.cells[:0])
	cells := v.cells
	if !v.back {
		v.seen.predict.Overlay(y+v.seen.lineOff, cells)
	}
	emulator.Placeholders(cells, func(x int, p emulator.Placeholder) {
		pic, ok := emulator.PictureOf(v.seen.em, p)
		cells[x] = look.Pictures.Cell(v.Feed, &cells[x], p, pic, ok)
	})
	cells = cells[min(v.ox, len(cells)):]
	cells = cells[:min(len(cells), width)]
	c.Line(r.X, r.Y+i, cells)
	if n := len(cells); n < width {
		c.Fill(paint.Rect{X: r.X + n, Y: r.Y + i, W: width - n, H: 1}, 0, emulator.Style{})
	}
}

// repaint applies the colours that the program has redefined.
func repaint(s emulator.Style, p *emulator.Palette) emulator.Style {
	if s.FG.IsDefault() {
		s.FG = p.FG
	}
	if s.BG.IsDefault() {
		s.BG = p.BG
	}
	for _, c := range [...]*emulator.Color{&s.FG, &s.BG, &s.UnderlineColor} {
		if i, ok := c.Index(); ok {
			if to, ok := p.Indexed[i]; ok && !to.IsDefault() {
				*c = to
			}
		}
	}
	return s
}

// cursor returns where the outer terminal's cursor belongs. The lock must be held.
func (v *View) cursor(r paint.Rect) paint.Cursor {
	if v.copy != nil {
		x, y := v.copy.X-v.ox, v.row(v.copy.Line)
		return paint.Cursor{X: r.X + x, Y: r.Y + y, Visible: x >= 0 && x < r.W && y >= 0 && y < r.H, Default: true}
	}
	cur := v.seen.em.Cursor()
	x, line := cur.X, cur.Y+v.seen.lineOff
	if !v.back {
		x, line = v.seen.predict.Cursor(v.seen.em, v.seen.lineOff)
	}
	x, y := x-v.ox, v.row(line)
	cur.X, cur.Y = r.X+x, r.Y+y
	cur.Visible = cur.Visible && x >= 0 && x < r.W && y >= 0 && y < r.H
	return cur
}

// Cell returns the column and row of the terminal's screen at a cell of the canvas, clamped to
// the screen. ok reports whether they were on the screen.
func (w *window) Cell(x, y int) (cx, cy int, ok bool) {
	f := w.seen
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.em == nil {
		return 0, 0, false
	}
	cols, rows := f.em.Size()
	cx = x - w.rect.X + w.ox
	cy = w.lineAt(y-w.rect.Y) - f.lineOff
	ok = w.rect.Contains(x, y) && cx < cols && cy >= 0 && cy < rows
	return min(max(cx, 0), cols-1), min(max(cy, 0), rows-1), ok
}
