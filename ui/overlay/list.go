package overlay

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// item is what a list can have for a row.
type item interface {
	// key tells a row from the others, as long as the list is open.
	key() string
	// filter is the text that the filter looks into, what names the row first.
	filter() string
}

// action is something that a list does besides what Enter does: with Alt and its
// letter, or with Tab and then the letter. A letter alone always goes to the
// filter.
type action[T item] struct {
	letter, label string
	// do does it with the chosen row, and reports whether the list is done.
	do func(T) bool
	// rowless actions need no row; they get the zero T when there is none.
	rowless bool
}

// stays makes an action that leaves the list open of do.
func stays[T item](letter, label string, do func(T)) action[T] {
	return action[T]{letter: letter, label: label, do: func(row T) bool { do(row); return false }}
}

// closes makes an action that ends the list of do.
func closes[T item](letter, label string, do func(T)) action[T] {
	return action[T]{letter: letter, label: label, do: func(row T) bool { do(row); return true }}
}

// list is the part that all overlays with rows share: rows with a filter, one of
// which is chosen. It implements Key, Paste, Click and Wheel of an overlay.
type list[T item] struct {
	rows func() []T
	// find gives the indices of the rows that a query matches, the best first; nil
	// is matching.
	find func(rows []T, query string) []int
	// enter is what Enter does with the chosen row, nil for nothing; it reports
	// whether the list is done. enterKeys says so in the footer.
	enter     func(T) bool
	enterKeys string
	// actions are the others, of the rows as they are now; nil for none.
	actions func() []action[T]
	// moved, if not nil, is called with each row that the choice comes to.
	moved func(T)
	// clickEnters says that the first click on a row enters it, not the second.
	clickEnters bool

	current string // the key of the row to begin with; "" for the first one

	query  editor.Text
	at     string // the key of the chosen row; "" for none
	chosen int    // its index in shown
	top    int    // index in shown of the first row on the screen
	shown  []T
	inside paint.Rect // of the rows, as last drawn
	menu   bool       // the actions are shown, and letters act
}

// listMoves are the keys that move the choice, and by how many rows.
var listMoves = map[string]int{
	"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1, "pgup": -10, "pgdown": 10, "home": -1 << 20, "end": 1 << 20,
}

// match brings the rows up to date; the choice stays on its row, or in its place
// when that has gone.
func (o *list[T]) match() {
	if o.shown == nil {
		o.at = o.current
	}
	all := o.rows()
	var at []int
	if o.find != nil {
		at = o.find(all, o.typed())
	} else {
		at = matching(len(all), o.typed(), func(i int) string { return all[i].filter() })
	}
	o.shown = make([]T, len(at))
	for i, n := range at {
		if o.shown[i] = all[n]; all[n].key() == o.at {
			o.chosen = i
		}
	}
	o.move(0)
}

// move moves the choice by n rows.
func (o *list[T]) move(n int) {
	o.chosen = min(max(o.chosen+n, 0), max(len(o.shown)-1, 0))
	row, ok := o.row()
	if !ok {
		return
	}
	before := o.at
	if o.at = row.key(); o.at != before && o.moved != nil {
		o.moved(row)
	}
}

// row is the chosen row; ok is false when there is none.
func (o *list[T]) row() (row T, ok bool) {
	if o.chosen >= len(o.shown) {
		return row, false
	}
	return o.shown[o.chosen], true
}

// edited follows a change of the query: the best match is chosen. Without a query
// the choice stays, or goes back to the current row when there was none.
func (o *list[T]) edited() {
	switch {
	case o.typed() != "":
		o.at, o.chosen = "", 0
	case o.at == "":
		o.at = o.current
	}
	o.match()
}

// Key implements Overlay.
func (o *list[T]) Key(k tea.Key) bool {
	o.match()
	s := editor.Stroke(k)
	if n, ok := listMoves[s]; ok {
		o.move(n)
		return false
	}
	switch s {
	case "enter":
		return o.choose()
	case "esc", "ctrl+c", "ctrl+g":
		was := o.menu
		o.menu = false
		return !was
	case "tab":
		o.menu = !o.menu && len(o.offered()) > 0
		return false
	}
	for _, a := range o.offered() {
		if s == "alt+"+a.letter || o.menu && s == a.letter {
			o.menu = false
			if row, ok := o.row(); ok || a.rowless {
				return a.do(row)
			}
			return false
		}
	}
	if !o.menu && o.query.Key(k) {
		o.edited()
	}
	return false
}

// typed is what the rows are filtered by.
func (o *list[T]) typed() string { return o.query.String() }

// offered are the actions there are now.
func (o *list[T]) offered() []action[T] {
	if o.actions == nil {
		return nil
	}
	return o.actions()
}

func (o *list[T]) choose() bool {
	row, ok := o.row()
	return ok && o.enter != nil && o.enter(row)
}

// Paste implements Overlay.
func (o *list[T]) Paste(text string) {
	o.menu = false
	o.query.Insert(text)
	o.edited()
}

// Click implements Clicker: it chooses a row, and enters the chosen one.
func (o *list[T]) Click(x, y int) bool {
	o.menu = false
	i := o.top + y - o.inside.Y
	if !o.inside.Contains(x, y) || i >= len(o.shown) {
		return false
	}
	again := i == o.chosen || o.clickEnters
	o.move(i - o.chosen)
	return again && o.choose()
}

// Wheel implements Clicker.
func (o *list[T]) Wheel(up bool) {
	if up {
		o.move(-1)
	} else {
		o.move(1)
	}
}

// frame draws the list's box, of at most w by h cells, with the filter on its first
// row. It gives the room below that and the place of the cursor; the room is empty
// when there is none.
func (o *list[T]) frame(c *paint.Canvas, area paint.Rect, w, h int, title, prompt string, l look.Look) (room paint.Rect, cursor paint.Cursor) {
	r := centred(area, min(w, area.W-2), h)
	in := box(c, r, title, o.footer(r.W-6), l)
	if in.H < 2 || in.W < 4 {
		return paint.Rect{}, paint.Cursor{}
	}
	c.Text(in.X+1, in.Y, in.W-2, prompt, l.OverlayAccent)
	text, at := o.query.Window(in.W - 4)
	c.Text(in.X+3, in.Y, in.W-4, text, l.Overlay)
	if text == "" {
		c.Text(in.X+3, in.Y, in.W-4, "type to filter", l.OverlayMuted)
	}
	room = paint.Rect{X: in.X, Y: in.Y + 1, W: in.W, H: in.H - 1}
	return room, paint.Cursor{X: in.X + 3 + at, Y: in.Y, Visible: true, Default: true}
}

// footer says what the keys do, in at most w cells.
func (o *list[T]) footer(w int) string {
	keys, leave := "", "esc leave"
	if o.enterKeys != "" {
		keys = o.enterKeys + "  "
	}
	actions := o.offered()
	if len(actions) == 0 {
		return keys + leave
	}
	all := keys
	for _, a := range actions {
		all += "alt+" + a.letter + " " + a.label + "  "
	}
	keys += "tab actions"
	for _, text := range []string{all + "tab actions", keys + "  " + leave} {
		if paint.Width(text) <= w {
			return text
		}
	}
	return keys
}

// draw draws those rows that r has room for, each by put, which gets the style of
// any text in it; empty is said when there is none. The menu of actions comes on
// top when it is open.
func (o *list[T]) draw(c *paint.Canvas, r paint.Rect, empty string, l look.Look, put func(r paint.Rect, row T, on func(look.Style) look.Style)) {
	o.inside = r
	o.top = max(min(max(o.top, o.chosen-r.H+1), o.chosen, len(o.shown)-r.H), 0)
	if len(o.shown) == 0 {
		c.Text(r.X+3, r.Y, r.W-4, empty, l.OverlayMuted)
	}
	for i := range min(r.H, len(o.shown)-o.top) {
		on := func(s look.Style) look.Style {
			if o.top+i == o.chosen {
				return l.Selected
			}
			s.BG = l.Overlay.BG
			return s
		}
		at := paint.Rect{X: r.X, Y: r.Y + i, W: r.W, H: 1}
		c.Fill(at, ' ', on(l.Overlay))
		put(at, o.shown[o.top+i], on)
	}
}

// drawMenu draws the actions, when they are open, over the list in r.
func (o *list[T]) drawMenu(c *paint.Canvas, r paint.Rect, l look.Look) {
	actions := o.offered()
	if !o.menu || len(actions) == 0 {
		return
	}
	w := len("esc back") + 6
	for _, a := range actions {
		w = max(w, paint.Width(a.label)+7)
	}
	in := box(c, centred(r, w, len(actions)+2), "", "esc back", l)
	for i, a := range actions[:min(len(actions), in.H)] {
		c.Text(in.X+1, in.Y+i, in.W-2, a.letter, l.HintKeyOn(l.Overlay))
		c.Text(in.X+3, in.Y+i, in.W-4, paint.Cut(a.label, in.W-4, l.Ellipsis), l.Overlay)
	}
}

// factsLine draws a line of facts about the chosen row.
func factsLine(c *paint.Canvas, r paint.Rect, l look.Look, facts ...string) {
	if r.Empty() {
		return
	}
	c.Fill(r, l.Horizontal, l.OverlayBox)
	facts = slices.DeleteFunc(facts, func(s string) bool { return s == "" })
	if text := strings.Join(facts, " "+l.Separator+" "); text != "" {
		c.Text(r.X+1, r.Y, r.W-2, " "+paint.Cut(text, r.W-4, l.Ellipsis)+" ", l.OverlayMuted)
	}
}
