package transcript

import (
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/ui/look"
	"tandemux/ui/markup"
	"tandemux/ui/paint"
)

// View is the turns of a chat, and what of them shows.
type View struct {
	// Glyphs and Palette are those of the look that it was dressed in last.
	Glyphs  *markup.Glyphs
	Palette markup.Palette

	turns  []*turnView
	starts []int // first row of each turn
	rows   int   // of all
	stale  int   // turns from here on are to be laid out anew
	r      renderer
	open   map[string]bool // items that were folded or unfolded
	dirty  bool            // something has changed that was not drawn

	top    int // row at the top
	follow bool
	focus  stop
	find   find
	sel    selection
	area   paint.Rect // as last drawn
	text   paint.Rect // of that the lines, without margins
}

// New gives an empty one. screens gives a terminal's screen, nil while it
// is not followed; it may be nil.
func New(screens func(ahp.URI) Screen) *View {
	return &View{follow: true, open: map[string]bool{}, r: renderer{screens: screens}}
}

// Reset takes all turns of a chat.
func (tr *View) Reset(s *ahp.ChatState) {
	old := tr.turns
	tr.turns = nil
	for _, t := range s.Turns {
		tr.turns = append(tr.turns, tr.newTurn(t, old))
	}
	if s.ActiveTurn != nil {
		tr.turns = append(tr.turns, tr.newTurn(*s.ActiveTurn, nil))
	}
	tr.stale, tr.starts, tr.find.rows, tr.dirty = 0, nil, 0, true
}

// SetRoots takes the directories below which paths are shown without them.
func (tr *View) SetRoots(roots []string) {
	if slices.Equal(roots, tr.r.roots) {
		return
	}
	tr.r.roots = roots
	for i, v := range tr.turns {
		for k, it := range v.items {
			if it.kind == toolItem {
				tr.touch(i, k)
			}
		}
	}
}

// Len is how many turns there are.
func (tr *View) Len() int { return len(tr.turns) }

// newTurn makes a turn's view, or finds the one that was there.
func (tr *View) newTurn(t ahp.Turn, old []*turnView) *turnView {
	over := t.State != ""
	if over {
		if i := slices.IndexFunc(old, func(v *turnView) bool { return v.id == t.ID && v.turn.State == t.State }); i >= 0 {
			return old[i]
		}
	}
	v := &turnView{id: t.ID, turn: t}
	m := &item{kind: messageItem, id: "message", md: &markup.Markdown{}, msg: &t.Message, turn: v, dirty: true}
	m.md.Append(t.Message.Text)
	v.items = append(v.items, m)
	for i := range t.ResponseParts {
		v.items = append(v.items, tr.newItem(v, t.ResponseParts[i], time.Time{}))
	}
	if over {
		v.end()
	}
	for _, it := range v.items[:len(v.items)-1] {
		it.over = true
	}
	for _, it := range v.items {
		if open, ok := tr.open[v.id+"/"+it.id]; ok {
			it.open = &open
		}
	}
	return v
}

func (v *turnView) active() bool { return v.turn.State == "" }

// end appends how the turn ended.
func (v *turnView) end() {
	v.items = append(v.items, &item{kind: footItem, id: "foot", turn: v, dirty: true})
}

// newItem makes the item of a part.
func (tr *View) newItem(v *turnView, p ahp.ResponsePart, now time.Time) *item {
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

// Grow appends to a text of the active turn: to one that is an answer or a thought.
func (tr *View) Grow(turn, part string, thought bool, text string) {
	kind := answerItem
	if thought {
		kind = thoughtItem
	}
	n := len(tr.turns)
	if n == 0 || tr.turns[n-1].id != turn || !tr.turns[n-1].active() {
		return
	}
	v := tr.turns[n-1]
	for i := len(v.items) - 1; i >= 0; i-- {
		if it := v.items[i]; it.id == part && it.kind == kind {
			it.md.Append(text)
			tr.touch(n-1, i)
			return
		}
	}
}

// touch notes that an item is to be laid out anew.
func (tr *View) touch(turn, item int) {
	v := tr.turns[turn]
	v.items[item].dirty = true
	v.from = min(v.from, item)
	tr.stale = min(tr.stale, turn)
	tr.dirty = true
}

// Sync brings the last turns up to date with the state: one that began, the parts
// of the active one, one that ended. It reports whether one began.
func (tr *View) Sync(s *ahp.ChatState, now time.Time) (began bool) {
	tr.dirty = true
	if n := len(tr.turns); n > 0 && tr.turns[n-1].active() {
		v := tr.turns[n-1]
		if s.ActiveTurn != nil && s.ActiveTurn.ID == v.id {
			tr.syncTurn(n-1, *s.ActiveTurn, now)
		} else if i := slices.IndexFunc(s.Turns, func(t ahp.Turn) bool { return t.ID == v.id }); i >= 0 {
			tr.syncTurn(n-1, s.Turns[i], now)
			v.end()
			v.from, tr.stale = min(v.from, len(v.items)-1), min(tr.stale, n-1)
		} else {
			tr.Rebuild(s)
			return false
		}
	}
	t := s.ActiveTurn
	if t == nil || len(tr.turns) > 0 && tr.turns[len(tr.turns)-1].id == t.ID {
		return false
	}
	tr.turns = append(tr.turns, tr.newTurn(*t, nil))
	tr.stale = min(tr.stale, len(tr.turns)-1)
	return true
}

// syncTurn brings a turn's items up to date with its parts.
func (tr *View) syncTurn(at int, t ahp.Turn, now time.Time) {
	v := tr.turns[at]
	v.turn = t
	for i := range t.ResponseParts {
		p := t.ResponseParts[i]
		k := i + 1
		if k >= len(v.items) {
			tr.settle(at, now)
			v.items = append(v.items, tr.newItem(v, p, now))
			tr.touch(at, len(v.items)-1)
			continue
		}
		it := v.items[k]
		switch {
		case it.kind == toolItem && it.call != p.ToolCall: // a changed call is another value
			was := it.call.Status
			it.call = p.ToolCall
			switch {
			case it.call.Over() && it.ended.IsZero():
				it.ended = now
			case it.call.Status == ahp.ToolRunning && was != ahp.ToolRunning:
				it.began = now
			}
			tr.touch(at, k)
		case it.kind == questionItem:
			it.part = &p
			tr.touch(at, k)
		}
	}
	if !v.active() {
		tr.settle(at, now)
	}
}

// settle notes that the thoughts of a turn are over.
func (tr *View) settle(at int, now time.Time) {
	for k, it := range tr.turns[at].items {
		if it.kind == thoughtItem && !it.over {
			it.over, it.ended = true, now
			tr.touch(at, k)
		}
	}
}

// Rebuild makes the turns anew, keeping those that are as they were and what shows
// at the top.
func (tr *View) Rebuild(s *ahp.ChatState) {
	anchor, off := tr.anchor()
	old := tr.turns
	tr.Reset(s)
	if n := len(tr.turns); s.ActiveTurn != nil {
		if i := slices.IndexFunc(old, func(v *turnView) bool { return v.id == s.ActiveTurn.ID && v.active() }); i >= 0 {
			tr.turns[n-1] = old[i]
		}
	}
	tr.focus = stop{}
	tr.layout()
	tr.restore(anchor, off)
}

// Dress takes a look, and the time; another look is drawn in, another set of glyphs
// laid out anew.
func (tr *View) Dress(l *look.Look, now time.Time) {
	tr.r.now, tr.Palette = now, markup.PaletteOf(l)
	if tr.Glyphs != nil && tr.Glyphs.Ellipsis == l.Ellipsis {
		return
	}
	g := markup.GlyphsOf(l)
	tr.Glyphs, tr.r.g = &g, &g
	for _, v := range tr.turns {
		v.from = 0
		for _, it := range v.items {
			it.dirty = true
		}
	}
	tr.stale = 0
}

// Stale reports whether something has changed that was not drawn, terminals that
// show in it included.
func (tr *View) Stale() bool { return tr.dirty || tr.watch() }

// watch looks at the terminals that show.
func (tr *View) watch() (redraw bool) {
	for _, k := range tr.lively() {
		again, changed := tr.turns[k.turn].items[k.item].stale(&tr.r)
		if again {
			tr.touch(k.turn, k.item)
		}
		redraw = redraw || changed
	}
	return redraw
}

// lively are the items whose terminals show now.
func (tr *View) lively() []place {
	var out []place
	end := tr.top + tr.area.H
	for row := tr.top; row < end; {
		p, ok := tr.locate(row)
		if !ok {
			break
		}
		if it := tr.turns[p.turn].items[p.item]; it.live != nil {
			out = append(out, p)
		}
		next := tr.rowOf(p.turn, p.item) + tr.turns[p.turn].items[p.item].lines
		row = max(next, row+1)
	}
	return out
}

// Terminals are those whose output shows in the transcript: to be followed.
func (tr *View) Terminals() []ahp.URI {
	var out []ahp.URI
	for _, p := range tr.lively() {
		out = append(out, tr.turns[p.turn].items[p.item].live.uri)
	}
	return out
}

// TerminalReady says that a terminal can be seen now that could not before.
func (tr *View) TerminalReady() {
	for _, p := range tr.lively() {
		tr.touch(p.turn, p.item)
	}
}

// Tick has what shows times drawn again.
func (tr *View) Tick() {
	if n := len(tr.turns); n > 0 && tr.turns[n-1].active() {
		for i, it := range tr.turns[n-1].items {
			if it.kind == toolItem && it.call.Status == ahp.ToolRunning {
				tr.touch(n-1, i)
			}
		}
	}
}
