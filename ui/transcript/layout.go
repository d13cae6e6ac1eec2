package transcript

import (
	"sort"

	"tandemux/ui/markup"
)

// layout computes the rows of what has changed.
func (tr *View) layout() {
	if tr.r.w <= 0 || tr.r.g == nil {
		return
	}
	if len(tr.starts) != len(tr.turns) {
		tr.stale = min(tr.stale, len(tr.starts))
		tr.starts = append(tr.starts[:min(len(tr.starts), len(tr.turns))], make([]int, max(len(tr.turns)-len(tr.starts), 0))...)
	}
	for i := tr.stale; i < len(tr.turns); i++ {
		v := tr.turns[i]
		tr.starts[i] = 0
		if i > 0 {
			tr.starts[i] = tr.starts[i-1] + tr.turns[i-1].rows
		}
		if i == tr.stale {
			tr.find.rows = min(tr.find.rows, tr.starts[i]+v.fresh())
		}
		v.layout(&tr.r, i == 0)
	}
	tr.stale = len(tr.turns)
	tr.rows = 0
	if n := len(tr.turns); n > 0 {
		tr.rows = tr.starts[n-1] + tr.turns[n-1].rows
	}
}

// fresh is how many rows of the turn are as they were laid out.
func (v *turnView) fresh() int {
	if v.from < len(v.at) {
		return v.at[v.from]
	}
	return v.rows
}

// layout computes the rows of a turn's items from the first that has changed. A
// blank row stands before each item but those tool calls that are one row each.
func (v *turnView) layout(r *renderer, first bool) {
	if len(v.at) > len(v.items) {
		v.at = v.at[:len(v.items)]
	}
	v.from = min(v.from, len(v.at))
	row := 0
	if v.from > 0 {
		row = v.at[v.from-1] + v.gap(v.from-1, first) + v.items[v.from-1].lines
	}
	v.at = v.at[:v.from]
	for i := v.from; i < len(v.items); i++ {
		v.items[i].render(r)
		v.at = append(v.at, row)
		row += v.gap(i, first) + v.items[i].lines
	}
	v.rows, v.from = row, len(v.items)
}

// gap is how many blank rows stand before an item.
func (v *turnView) gap(i int, first bool) int {
	it := v.items[i]
	if it.lines == 0 || i == 0 && first {
		return 0
	}
	if i > 0 && it.kind == toolItem && it.lines == 1 && v.items[i-1].kind == toolItem && v.items[i-1].lines == 1 {
		return 0
	}
	return 1
}

// resize lays everything out for another width, keeping what shows at the top.
func (tr *View) resize(w int) {
	if w == tr.r.w {
		return
	}
	id, off := tr.anchor()
	tr.r.w = w
	for _, v := range tr.turns {
		v.from = 0
	}
	tr.stale = 0
	tr.sel = selection{}
	tr.layout()
	tr.restore(id, off)
}

// place is an item, and a row in it: below zero in the gap before.
type place struct {
	turn, item int
	row        int
}

// locate finds what stands at a row.
func (tr *View) locate(row int) (p place, ok bool) {
	if row < 0 || row >= tr.rows || len(tr.turns) == 0 || len(tr.starts) < len(tr.turns) {
		return p, false
	}
	p.turn = sort.Search(len(tr.turns), func(i int) bool { return tr.starts[i] > row }) - 1
	v := tr.turns[p.turn]
	row -= tr.starts[p.turn]
	p.item = sort.Search(len(v.at), func(i int) bool { return v.at[i] > row }) - 1
	if p.item < 0 {
		return p, false
	}
	p.row = row - v.at[p.item] - v.gap(p.item, p.turn == 0)
	return p, true
}

// rowOf is the first row of an item's lines.
func (tr *View) rowOf(turn, item int) int {
	v := tr.turns[turn]
	return tr.starts[turn] + v.at[item] + v.gap(item, turn == 0)
}

// lineAt gives the line at a row; ok is false in a gap and beyond the end.
func (tr *View) lineAt(row int) (l markup.Line, p place, ok bool) {
	p, ok = tr.locate(row)
	if !ok || p.row < 0 {
		return l, p, false
	}
	it := tr.turns[p.turn].items[p.item]
	if p.row >= it.lines {
		return l, p, false
	}
	return it.line(p.row), p, true
}

// anchored names a place that outlives a layout.
type anchored struct {
	turn, item string
	row        int
}

// anchor names what shows at the top.
func (tr *View) anchor() (a anchored, ok bool) {
	if tr.follow {
		return a, false
	}
	p, ok := tr.locate(tr.top)
	if !ok {
		return a, false
	}
	v := tr.turns[p.turn]
	return anchored{v.id, v.items[p.item].id, p.row}, true
}

// restore brings to the top what was there.
func (tr *View) restore(a anchored, ok bool) {
	if !ok || len(tr.starts) < len(tr.turns) {
		return
	}
	for i, v := range tr.turns {
		if v.id != a.turn {
			continue
		}
		for k, it := range v.items {
			if it.id == a.item && k < len(v.at) {
				tr.top = tr.rowOf(i, k) + min(a.row, max(it.lines-1, 0))
				return
			}
		}
	}
}

// relayout lays out what has changed and keeps what shows at the top.
func (tr *View) relayout() {
	if tr.stale >= len(tr.turns) && len(tr.starts) == len(tr.turns) {
		return
	}
	a, ok := tr.anchor()
	tr.layout()
	tr.restore(a, ok)
}
