package pane

import (
	"tandemux/emulator"
	"tandemux/ui/paint"
)

// Look is how a view draws what is not the program's.
type Look struct {
	Letterbox emulator.Style // around a terminal smaller than the pane
	Selection emulator.Style // FG and BG of selected text
	Match     emulator.Style // of search matches
	Scroll    emulator.Style // of the scroll position
	Bar       emulator.Style // of the scroll bar's thumb
	Fill      rune           // drawn around the terminal; 0 is a blank
	Signs     *SignLook      // of commands; nil for none
	Sticky    Sticky
	Pictures  *paint.Gallery // nil draws boxes
}

// lines is the text of a feed's terminal, by lines, some of which may be folded.
type lines struct {
	Feed *Feed
	seen *Feed // whose text is read: Feed, or a copy of it (reader.still)
	// Separators, if not empty, are the characters that part words besides
	// blanks, for the motions by words and double clicks.
	Separators string

	folds folds
	cells []emulator.Cell // of the line that was read last
}

// window is what of the lines shows where, as of the last drawing.
type window struct {
	lines
	rect paint.Rect
	gen  uint64 // of the feed
	off  int    // its lineOff
	ox   int    // first column shown, where the terminal is wider than the pane
	top  int    // line at the top
	back bool   // scrolled back: top stays
	Held bool   // text is dragged: top stays, too
}

// View is a pane's window on a feed. It belongs to the event loop.
type View struct {
	window
	signs
	era  int  // the feed's epoch, of which the numbers of lines are
	full bool // draw everything

	copy      *copyMode // nil outside copy mode
	marks     map[rune]spot
	find      Find // what FindAgain repeats
	selection *Selection
	grip      grip
	pick      pick
	search    search
	sought    *Sought // where the cursor was put by its text; nil once it has moved
	index     index
	link      link // pointed at
	bar       bool // the scroll bar is pointed at
	thumb     hit  // rows of the scroll bar's thumb, as last drawn

	shown  bool
	reader reader
	last   paint.Cursor // as of the last drawing
}

// NewView gives a view that follows the feed's output.
func NewView(f *Feed) *View { return &View{window: window{lines: lines{Feed: f, seen: f}}, full: true} }

// Cursor is the program's cursor as of the last drawing.
func (v *View) Cursor() paint.Cursor { return v.last }

// Redraw makes the next Draw draw everything.
func (v *View) Redraw() { v.full = true }

// geometry computes what shows. The feed's lock must be held.
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
		// Its line may have been thrown away, or its column cut off.
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

// Draw draws the view into a rectangle of the canvas: everything when the
// place, the scroll position or the look of the selection changed, else the
// lines that changed. It gives the place of the program's cursor.
func (v *View) Draw(c *paint.Canvas, r paint.Rect, look Look) paint.Cursor {
	if r.Empty() {
		return paint.Cursor{}
	}
	f := lock(v)
	defer f.mu.Unlock()
	f.told = false
	f.reads(v, v.back || v.bar || v.copy != nil || v.selection != nil || v.pick.id != "" || len(v.marks) > 0 || len(v.folds.ids) > 0)
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
	if t := v.thumbNow(); t != v.thumb || (v.search.re != nil || t != hit{} || len(v.folds.out) > 0) && f.gen != v.gen {
		// A match may begin on a line that did not change; the bar is drawn over
		// lines as they are.
		v.thumb, v.full = t, true
	}
	full := v.full || f.all > v.gen || !v.shown
	pal := f.em.Palette()
	recolour := pal.Indexed != nil || !pal.FG.IsDefault() || !pal.BG.IsDefault()
	reverse := f.em.Modes().ReverseScreen
	width := min(cols, r.W)
	v.signs.find(&v.window, look.Signs)
	v.locatePick()
	line, top := v.top-1, false // whether the top row is drawn
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
		if !full && !(i == 0 && (v.back || look.Sticky == StickyAlways)) && v.unchanged(line, y) && !v.resigned(i) {
			continue
		}
		top = top || i == 0
		v.line(c, r, i, y, width, look)
		row := paint.Rect{X: r.X, Y: r.Y + i, W: width, H: 1}
		if reverse { // Of the default colours alone.
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
		drawBar(c, r, look, hit{v.thumb.from, min(v.thumb.to, 1)})
	}
	if v.back {
		text := v.position(r)
		if w := paint.Width(text); w < r.W {
			c.Text(r.X+r.W-w, r.Y, w, text, look.Scroll)
		}
	}
	v.last = v.cursor(r)
	stand(v)
	return v.last
}

// below fills what lies below the terminal's last line, from row i on: where
// lines are folded that is room of its own, else it is smaller than the pane. The
// lock must be held.
func (w *window) below(c *paint.Canvas, r paint.Rect, i, rows int, look Look) {
	if own := min(rows, r.H); len(w.folds.out) > 0 && i < own {
		c.Fill(paint.Rect{X: r.X, Y: r.Y + i, W: r.W, H: own - i}, 0, emulator.Style{})
		i = own
	}
	c.Fill(paint.Rect{X: r.X, Y: r.Y + i, W: r.W, H: r.H - i}, look.Fill, look.Letterbox)
}

// unchanged reports whether a line is as it was drawn last. The lock must be
// held.
func (w *window) unchanged(line, y int) bool {
	f := w.seen
	if y < 0 {
		// A line that was on the screen when it was last drawn may have changed
		// before it scrolled off.
		return line < w.off
	}
	return f.lineOff == w.off && (y >= len(f.lines) || f.lines[y] <= w.gen)
}

// renumber gives up what named lines that have other numbers now. The lock must
// be held.
func (v *View) renumber() {
	if v.era == v.seen.epoch {
		return
	}
	v.era, v.selection, v.full = v.seen.epoch, nil, true
	v.marks, v.link = nil, link{}
	for _, at := range [...]*spot{&v.grip.from, &v.grip.to} {
		at.line += v.seen.lineOff - v.off // what was taken hold of stays where it was on the screen
	}
	restand(v)
	if v.copy != nil {
		oldest, newest := v.bounds()
		v.copy.Line = min(max(v.copy.Line, oldest), newest)
		if v.sought != nil {
			v.sought.goTo(v)
		}
	}
}

// line draws screen line y at row i of the rectangle.
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

// repaint applies the colours that the program changed.
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

// cursor is where the outer terminal's cursor belongs. The lock must be held.
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

// Cell gives the cell of the terminal that is drawn at a cell of the canvas,
// clamped to the screen; ok is false outside of it.
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
