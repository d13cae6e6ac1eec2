package pane

import "tandemux/ui/words"

// MaxLink bounds the address of a link that can be opened, in bytes.
const MaxLink = 4096

// link is what is pointed at.
type link struct {
	uri  string
	at   stretch
	span hit // of its cells
}

// on gives the columns of a line that the link takes.
func (l *link) on(line int) (from, to int, ok bool) {
	if l.uri == "" {
		return 0, 0, false
	}
	h, ok := l.at.on(line, l.span)
	return h.from, h.to, ok
}

// LinkAt gives the address of the link that is drawn at a cell of the canvas:
// one that the program made (OSC 8), or text that reads as an address.
func (v *View) LinkAt(x, y int) (uri string, ok bool) {
	v.with(func(*Feed) {
		if v.rect.Contains(x, y) {
			uri = v.linkAt(x-v.rect.X+v.ox, v.lineAt(y-v.rect.Y)).uri
		}
	})
	return uri, uri != ""
}

// LinkHere gives the address of the link at copy mode's cursor, or else the last
// one above the bottom of the view.
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

// linkBefore gives the last column before x of a line in which a link may be;
// -1 for none.
func (t *lines) linkBefore(x, line int) int {
	s := t.stretch(line)
	text, at := s.text(false)
	best := -1
	for _, m := range words.Addresses(text) {
		if h, ok := s.on(line, hit{at[m[0]], s.end(at[m[1]-1])}); ok && h.from < x {
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

// linkAt finds the link at a place. The lock must be held.
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
		return link{uri: bounded(c.Link), at: s, span: hit{from, to}}
	}
	text, at := s.text(false)
	for _, m := range words.Addresses(text) {
		h := hit{at[m[0]], s.end(at[m[1]-1])}
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

// Hover underlines the link drawn at a cell of the canvas, if links is set, and
// shows the scroll bar where the pointer is on its column. It gives the link's
// address and whether there is something to draw.
func (v *View) Hover(x, y int, links bool) (uri string, changed bool) {
	inside := v.rect.Contains(x, y)
	bar := inside && x == v.rect.X+v.rect.W-1
	if bar {
		v.entire()
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
