package transcript

import (
	"sort"

	"tandemux/ui/markup"
)

// layout computes the rows of what has changed. A blank row stands before each item
// but those tool calls that are one row each.
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

// gap is how many blank rows stand before an item.
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

// resize lays everything out for another width, keeping what shows at the top.
func (tr *View) resize(w int) {
	if w == tr.r.w {
		return
	}
	a, ok := tr.anchor()
	tr.r.w, tr.stale, tr.sel = w, 0, selection{}
	tr.layout()
	tr.restore(a, ok)
}

// locate finds the item at a row, and which of its rows that is: below zero in the
// gap before.
func (tr *View) locate(row int) (i, of int, ok bool) {
	i = sort.Search(len(tr.at), func(i int) bool { return tr.at[i] > row }) - 1
	if row >= tr.rows || i < 0 || i >= len(tr.items) {
		return 0, 0, false
	}
	return i, row - tr.rowOf(i), true
}

// rowOf is the first row of an item's lines.
func (tr *View) rowOf(i int) int { return tr.at[i] + tr.gap(i) }

// lineAt gives the line at a row, and the item that it is of; ok is false in a gap and
// beyond the end.
func (tr *View) lineAt(row int) (l markup.Line, i int, ok bool) {
	i, of, ok := tr.locate(row)
	if !ok || of < 0 || of >= tr.items[i].lines {
		return l, i, false
	}
	return tr.items[i].line(of), i, true
}

// anchored names a place that outlives a layout.
type anchored struct {
	turn, item string
	row        int
}

// anchor names what shows at the top.
func (tr *View) anchor() (a anchored, ok bool) {
	i, of, ok := tr.locate(tr.top)
	if !ok || tr.follow {
		return a, false
	}
	return anchored{tr.items[i].turn.ID, tr.items[i].id, of}, true
}

// restore brings to the top what was there.
func (tr *View) restore(a anchored, ok bool) {
	if !ok {
		return
	}
	for i, it := range tr.items[:min(len(tr.items), len(tr.at))] {
		if it.turn.ID == a.turn && it.id == a.item {
			tr.top = tr.rowOf(i) + min(a.row, max(it.lines-1, 0))
			return
		}
	}
}

// relayout lays out what has changed and keeps what shows at the top.
func (tr *View) relayout() {
	if tr.stale >= len(tr.items) && len(tr.at) == len(tr.items) {
		return
	}
	a, ok := tr.anchor()
	tr.layout()
	tr.restore(a, ok)
}
