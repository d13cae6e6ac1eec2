package pane

import "tandemux/ui/words"

// MaxLink is the longest address of a link that can be opened, in bytes.
const MaxLink = 4096

// link is a link in the text; without an address it is none.
type link struct {
	uri  string
	at   stretch
	span span // its cells in at
}

// on returns the columns of a line that the link covers.
func (l *link) on(line int) (from, to int, ok bool) {
	if l.uri == "" {
		return 0, 0, false
	}
	h, ok := l.at.on(line, l.span)
	return h.from, h.to, ok
}

// LinkAt returns the address of the link at a cell of the canvas: of a hyperlink of the program
// (OSC 8), or an address in the text.
func (v *View) LinkAt(x, y int) (uri string, ok bool) {
	v.with(func(*Feed) {
		if v.rect.Contains(x, y) {
			uri = v.linkAt(x-v.rect.X+v.ox, v.lineAt(y-v.rect.Y)).uri
		}
	})
	return uri, uri != ""
}

// LinkHere returns the address of the link at copy mode's cursor, else of the last link in the
// view.
func (v *View) LinkHere() (uri string, ok bool) {
	v.with(func(f *Feed) {
		if v.copy != nil {
			uri = v.linkAt(v.copy.X, v.copy.Line).uri
		}
		_, newest := v.bounds()
		cols, _ := f.em.Size()
		line := min(v.lineAt(max(v.rect.H, 1)-1), newest)
		for ; uri == "" && line >= v.top; line = v.step(v.showing(line), -1) {
			for x := cols - 1; uri == "" && x >= 0; x = v.linkBefore(x, line) {
				uri = v.linkAt(x, line).uri
			}
		}
	})
	return uri, uri != ""
}

// linkBefore returns the last column of a line before x at which a link may begin or lie, or -1.
func (t *lines) linkBefore(x, line int) int {
	s := t.stretch(line)
	text, at := s.text(false)
	best := -1
	for _, m := range words.Addresses(text) {
		if h, ok := s.on(line, span{at[m[0]], s.end(at[m[1]-1])}); ok && h.from < x {
			best = max(best, h.from)
		}
	}
	for i, c := range t.at(line) {
		if c.Link != "" && i < x {
			best = max(best, i)
		}
	}
	return best
}

// linkAt returns the link at a place in the text. The lock must be held.
func (t *lines) linkAt(x, line int) link {
	oldest, newest := t.bounds()
	if line < oldest || line > newest {
		return link{}
	}
	if cells := t.at(line); x < 0 || x >= len(cells) {
		return link{}
	}
	s := t.stretch(line)
	i := s.index(x, line)
	if i >= len(s.cells) {
		return link{}
	}
	if c := &s.cells[i]; c.Link != "" {
		from, to := i, i+1
		for from > 0 && s.cells[from-1].Link == c.Link && s.cells[from-1].LinkID == c.LinkID {
			from--
		}
		for to < len(s.cells) && s.cells[to].Link == c.Link && s.cells[to].LinkID == c.LinkID {
			to++
		}
		return link{uri: bounded(c.Link), at: s, span: span{from, to}}
	}
	text, at := s.text(false)
	for _, m := range words.Addresses(text) {
		h := span{at[m[0]], s.end(at[m[1]-1])}
		if h.from <= i && i < h.to {
			return link{uri: bounded(string(text[m[0]:m[1]])), at: s, span: h}
		}
	}
	return link{}
}

func bounded(uri string) string {
	if len(uri) > MaxLink {
		return ""
	}
	return uri
}

// Hover takes the mouse pointer's cell of the canvas. It underlines the link there if links is
// set, and shows the scroll bar if the pointer is on the view's last column. It returns the
// link's address and whether the view must be drawn.
func (v *View) Hover(x, y int, links bool) (uri string, changed bool) {
	inside := v.rect.Contains(x, y)
	bar := inside && x == v.rect.X+v.rect.W-1
	if bar {
		v.needHistory()
	}
	f := lock(v)
	defer f.mu.Unlock()
	if f.em == nil {
		return "", false
	}
	bar = bar && f.em.HistoryLen() > 0 && !f.em.Modes().AltScreen
	var l link
	if inside && links {
		f.collect()
		v.renumber()
		l = v.linkAt(x-v.rect.X+v.ox, v.lineAt(y-v.rect.Y))
	}
	if l.uri == v.link.uri && l.span == v.link.span && l.at.first == v.link.at.first && bar == v.bar {
		return l.uri, false
	}
	v.link, v.bar, v.full = l, bar, true
	return l.uri, true
}
