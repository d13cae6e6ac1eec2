package transcript

import (
	"slices"
	"sort"
	"time"

	"tandemux/ahp"
	"tandemux/ui/look"
	"tandemux/ui/markup"
	"tandemux/ui/paint"
)

// View is the turns of a chat, and which part of them shows.
type View struct {
	// Glyphs and Palette are set by Dress.
	Glyphs  *markup.Glyphs
	Palette markup.Palette

	turns []*turn
	items []*item // of all turns
	at    []int   // first row of each item, including the gap before it
	rows  int     // number of all rows
	stale int     // items from this index on must be laid out again
	r     renderer
	open  map[string]bool // what the reader folded (false) or unfolded (true)
	dirty bool            // something has changed since it was drawn

	top    int // row at the top
	follow bool
	focus  stop
	find   find
	sel    selection
	area   paint.Rect // as last drawn
	text   paint.Rect // area without margins
}

// New makes an empty View. screens returns a terminal's screen, nil while it is not available;
// screens may be nil.
func New(screens func(ahp.URI) Screen) *View {
	return &View{follow: true, open: map[string]bool{}, r: renderer{screens: screens}}
}

// Reset replaces all turns.
func (tr *View) Reset(s *ahp.ChatState) { tr.reset(s, nil) }

// reset is Reset. runs, if not nil, is kept as the running turn.
func (tr *View) reset(s *ahp.ChatState, runs *turn) {
	old := tr.turns
	tr.turns, tr.items, tr.at = nil, nil, nil
	for _, t := range s.Turns {
		i := slices.IndexFunc(old, func(v *turn) bool { return v.ID == t.ID && v.State == t.State })
		if i < 0 {
			tr.add(tr.newTurn(t))
		} else {
			tr.add(old[i])
		}
	}
	if s.ActiveTurn != nil && runs == nil {
		runs = tr.newTurn(*s.ActiveTurn)
	}
	if runs != nil {
		tr.add(runs)
	}
	tr.stale, tr.find.rows, tr.dirty = 0, 0, true
}

func (tr *View) add(v *turn) {
	tr.stale = min(tr.stale, len(tr.items))
	tr.turns, tr.items = append(tr.turns, v), append(tr.items, v.items...)
}

// SetRoots sets the directories below which paths are shown relative to them.
func (tr *View) SetRoots(roots []string) {
	if slices.Equal(roots, tr.r.roots) {
		return
	}
	tr.r.roots = roots
	for i, it := range tr.items {
		if it.kind == toolItem {
			tr.touch(i)
		}
	}
}

// Len is the number of turns.
func (tr *View) Len() int { return len(tr.turns) }

// newTurn makes a turn with its items.
func (tr *View) newTurn(t ahp.Turn) *turn {
	v := &turn{Turn: t}
	m := &item{kind: messageItem, id: "message", md: &markup.Markdown{}, msg: &t.Message, turn: v, dirty: true}
	m.md.Append(t.Message.Text)
	v.items = append(v.items, m)
	for _, p := range t.ResponseParts {
		v.items = append(v.items, newItem(v, p, time.Time{}))
	}
	if !v.active() {
		v.items = append(v.items, foot(v))
	}
	for _, it := range v.items[:len(v.items)-1] {
		it.over = true
	}
	for _, it := range v.items {
		if open, ok := tr.open[v.ID+"/"+it.id]; ok {
			it.open = &open
		}
	}
	return v
}

func (v *turn) active() bool { return v.State == "" }

// foot returns the item for the end of a turn.
func foot(v *turn) *item { return &item{kind: footItem, id: "foot", turn: v, dirty: true} }

func newItem(v *turn, p ahp.ResponsePart, now time.Time) *item {
	it := &item{kind: partItems[p.Kind], id: p.ID, turn: v, part: &p, dirty: true, began: now}
	switch it.kind {
	case answerItem, thoughtItem:
		it.md = &markup.Markdown{}
		it.md.Append(p.Content)
	case toolItem:
		it.id, it.call = p.ToolCall.ToolCallID, p.ToolCall
	case questionItem:
		it.id = p.Request.ID
	}
	return it
}

// active returns the running turn, nil for none, and the index of its first item.
func (tr *View) active() (v *turn, first int) {
	if n := len(tr.turns); n > 0 && tr.turns[n-1].active() {
		return tr.turns[n-1], len(tr.items) - len(tr.turns[n-1].items)
	}
	return nil, len(tr.items)
}

// Grow appends to an answer or a thought of the running turn.
func (tr *View) Grow(turn, part string, thought bool, text string) {
	kind := answerItem
	if thought {
		kind = thoughtItem
	}
	v, first := tr.active()
	if v == nil || v.ID != turn {
		return
	}
	for i := len(tr.items) - 1; i >= first; i-- {
		if it := tr.items[i]; it.id == part && it.kind == kind {
			it.md.Append(text)
			tr.touch(i)
			return
		}
	}
}

// touch marks an item to be laid out again.
func (tr *View) touch(i int) {
	tr.items[i].dirty = true
	tr.stale = min(tr.stale, i)
	tr.dirty = true
}

// push appends an item to the last turn.
func (tr *View) push(it *item) {
	it.turn.items, tr.items = append(it.turn.items, it), append(tr.items, it)
	tr.touch(len(tr.items) - 1)
}

// Sync updates the last turns from the state: a turn that began, the parts of the running one, a
// turn that ended. It reports whether a turn began.
func (tr *View) Sync(s *ahp.ChatState, now time.Time) (began bool) {
	tr.dirty = true
	if v, first := tr.active(); v != nil {
		if s.ActiveTurn != nil && s.ActiveTurn.ID == v.ID {
			tr.syncTurn(v, first, *s.ActiveTurn, now)
		} else if i := slices.IndexFunc(s.Turns, func(t ahp.Turn) bool { return t.ID == v.ID }); i >= 0 {
			tr.syncTurn(v, first, s.Turns[i], now)
			tr.push(foot(v))
		} else {
			tr.Rebuild(s)
			return false
		}
	}
	t := s.ActiveTurn
	if t == nil || len(tr.turns) > 0 && tr.turns[len(tr.turns)-1].ID == t.ID {
		return false
	}
	tr.add(tr.newTurn(*t))
	return true
}

// syncTurn updates the items of the last turn from its parts.
func (tr *View) syncTurn(v *turn, first int, t ahp.Turn, now time.Time) {
	v.Turn = t
	for i, p := range t.ResponseParts {
		k := first + i + 1
		if k >= len(tr.items) {
			tr.settle(first, now)
			tr.push(newItem(v, p, now))
			continue
		}
		it := tr.items[k]
		switch {
		case it.kind == toolItem && it.call != p.ToolCall: // a changed call has another address
			was := it.call.Status
			it.call = p.ToolCall
			switch {
			case it.call.Over() && it.ended.IsZero():
				it.ended = now
			case it.call.Status == ahp.ToolRunning && was != ahp.ToolRunning:
				it.began = now
			}
			tr.touch(k)
		case it.kind == questionItem:
			it.part = &p
			tr.touch(k)
		}
	}
	if !v.active() {
		tr.settle(first, now)
	}
}

// settle marks the thoughts from an item on as ended.
func (tr *View) settle(first int, now time.Time) {
	for i, it := range tr.items[first:] {
		if it.kind == thoughtItem && !it.over {
			it.over, it.ended = true, now
			tr.touch(first + i)
		}
	}
}

// Rebuild replaces all turns. It keeps unchanged ones, and what shows at the top.
func (tr *View) Rebuild(s *ahp.ChatState) {
	tr.keep(func() {
		runs, _ := tr.active()
		if runs != nil && (s.ActiveTurn == nil || s.ActiveTurn.ID != runs.ID) {
			runs = nil
		}
		tr.reset(s, runs)
		tr.focus = stop{}
	})
}

// Dress sets the look and the time. If the glyphs change, all items are laid out again.
func (tr *View) Dress(l *look.Look, now time.Time) {
	tr.r.now, tr.Palette = now, markup.PaletteOf(l)
	if tr.Glyphs != nil && tr.Glyphs.Ellipsis == l.Ellipsis {
		return
	}
	g := markup.GlyphsOf(l)
	tr.Glyphs, tr.r.g = &g, &g
	for i := range tr.items {
		tr.touch(i)
	}
}

// Stale reports whether something has changed since it was drawn, including visible terminals.
func (tr *View) Stale() bool { return tr.dirty || tr.watch() }

// watch looks for changes of the visible terminals.
func (tr *View) watch() (redraw bool) {
	for _, i := range tr.lively() {
		again, changed := tr.items[i].stale(&tr.r)
		if again {
			tr.touch(i)
		}
		redraw = redraw || changed
	}
	return redraw
}

// lively returns the items whose terminals are visible.
func (tr *View) lively() []int {
	var out []int
	first, _, ok := tr.locate(tr.top)
	for i := first; ok && i < len(tr.at) && tr.at[i] < tr.top+tr.area.H; i++ {
		if tr.items[i].live != nil {
			out = append(out, i)
		}
	}
	return out
}

// Terminals returns the visible terminals, which must be subscribed.
func (tr *View) Terminals() []ahp.URI {
	var out []ahp.URI
	for _, i := range tr.lively() {
		out = append(out, tr.items[i].live.uri)
	}
	return out
}

// TerminalReady says that a terminal's screen has become available.
func (tr *View) TerminalReady() {
	for _, i := range tr.lively() {
		tr.touch(i)
	}
}

// running returns the tool calls that run.
func (tr *View) running() (out []int) {
	_, first := tr.active()
	for i := first; i < len(tr.items); i++ {
		if it := tr.items[i]; it.kind == toolItem && it.call.Status == ahp.ToolRunning {
			out = append(out, i)
		}
	}
	return out
}

// Tick makes the next drawing update times.
func (tr *View) Tick() {
	for _, i := range tr.running() {
		tr.touch(i)
	}
}

// layout computes the rows of items that have changed. There is a blank row before each item,
// except between tool calls of one row.
func (tr *View) layout() {
	if tr.r.w <= 0 || tr.r.g == nil {
		return
	}
	from, row := min(tr.stale, len(tr.at), len(tr.items)), 0
	if from > 0 {
		row = tr.rowOf(from-1) + tr.items[from-1].lines
	}
	if from < len(tr.items) {
		tr.find.rows = min(tr.find.rows, row)
	}
	tr.at = tr.at[:from]
	for i := from; i < len(tr.items); i++ {
		tr.items[i].render(&tr.r)
		tr.at = append(tr.at, row)
		row += tr.gap(i) + tr.items[i].lines
	}
	tr.rows, tr.stale = row, len(tr.items)
}

// gap is the number of blank rows before an item.
func (tr *View) gap(i int) int {
	it := tr.items[i]
	if it.lines == 0 || i == 0 {
		return 0
	}
	if before := tr.items[i-1]; it.kind == toolItem && it.lines == 1 && before.kind == toolItem && before.lines == 1 {
		return 0
	}
	return 1
}

// resize lays everything out for a width and keeps what shows at the top.
func (tr *View) resize(w int) {
	if w != tr.r.w {
		tr.keep(func() { tr.r.w, tr.stale, tr.sel = w, 0, selection{} })
	}
}

// locate returns the item at a row, and the row within the item, negative in the gap before it.
func (tr *View) locate(row int) (i, of int, ok bool) {
	i = sort.Search(len(tr.at), func(i int) bool { return tr.at[i] > row }) - 1
	if row >= tr.rows || i < 0 || i >= len(tr.items) {
		return 0, 0, false
	}
	return i, row - tr.rowOf(i), true
}

// rowOf is the row of an item's first line.
func (tr *View) rowOf(i int) int { return tr.at[i] + tr.gap(i) }

// lineAt returns the line at a row and its item. ok is false in a gap and beyond the end.
func (tr *View) lineAt(row int) (l markup.Line, i int, ok bool) {
	i, of, ok := tr.locate(row)
	if !ok || of < 0 || of >= tr.items[i].lines {
		return l, i, false
	}
	return tr.items[i].line(of), i, true
}

// keep makes a change and lays out again. What shows at the top stays there.
func (tr *View) keep(change func()) {
	i, row, ok := tr.locate(tr.top)
	var top *item // nil if nothing needs to stay
	if ok && !tr.follow {
		top = tr.items[i]
	}
	change()
	tr.layout()
	if top == nil {
		return
	}
	for i, it := range tr.items[:min(len(tr.items), len(tr.at))] {
		if it.turn.ID == top.turn.ID && it.id == top.id {
			tr.top = tr.rowOf(i) + min(row, max(it.lines-1, 0))
			return
		}
	}
}

// relayout lays out what has changed. What shows at the top stays there.
func (tr *View) relayout() {
	if tr.stale < len(tr.items) || len(tr.at) != len(tr.items) {
		tr.keep(func() {})
	}
}
