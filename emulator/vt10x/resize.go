package vt10x

// Resize changes the grid. There is no reflow: lines are cut or extended at the
// right, and where the cursor would fall off the bottom, the lines above move
// up into history.
func (e *engine) Resize(cols, rows int) {
	cols, rows = clampSize(cols, rows)
	if cols == e.cols && rows == e.rows {
		return
	}
	_, y, _ := e.at()
	slide := max(0, y-rows+1)
	if slide > 0 && e.history.limit > 0 {
		for i := range slide {
			if e.altMode != 0 {
				e.saveLine(e.hidden.lines[i])
			} else {
				e.saveLine(e.copyLine(i, nil))
			}
		}
	}
	e.sendID(0) // New cells are in the default style.
	e.resizeInner(cols, rows)
	wider := cols > e.cols
	if e.altMode != 0 {
		e.hidden.resize(cols, rows, slide)
	}
	old := len(e.tabs)
	e.tabs = append(e.tabs[:min(old, cols)], make([]bool, max(0, cols-old))...)
	setDefaultTabs(e.tabs, old)
	e.cols, e.rows = cols, rows
	e.top, e.bottom = 0, rows-1
	e.last = 0 // The cursor may no longer be behind it.
	if wider {
		e.sendTabs()
	}
	for i := range e.saved {
		s := &e.saved[i]
		s.x, s.y = min(s.x, cols-1), min(max(0, s.y-slide), rows-1)
	}
	e.unmarkInside()
	e.endBottom()
	e.damage.all = true
}

// resizeInner resizes vt10x under the fence.
func (e *engine) resizeInner(cols, rows int) {
	defer func() {
		if recover() != nil {
			e.cols, e.rows = cols, rows
			e.renew()
		}
	}()
	e.vt.Resize(cols, rows)
}

// resize does to the copy of the main screen what vt10x does to the screen
// itself.
func (g *grid) resize(cols, rows, slide int) {
	lines := make([]line, rows)
	for y := range lines {
		var old []glyph
		if y+slide < len(g.lines) {
			old = g.lines[y+slide].glyphs
			lines[y].wrapped = g.lines[y+slide].wrapped && cols == len(old)
		}
		row := make([]glyph, cols)
		for x := range row {
			row[x] = blankGlyph
		}
		copy(row, old)
		lines[y].glyphs = row
	}
	lines[rows-1].wrapped = false
	g.lines = lines
}
