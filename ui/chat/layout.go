package chat

import (
	"sort"

	"tandemux/ui/markup"
)

// layout computes the rows of what has changed.
func (c *Chat) layout() {
	if c.r.w <= 0 || c.r.g == nil {
		return
	}
	if len(c.starts) != len(c.turns) {
		c.stale = min(c.stale, len(c.starts))
		c.starts = append(c.starts[:min(len(c.starts), len(c.turns))], make([]int, max(len(c.turns)-len(c.starts), 0))...)
	}
	for i := c.stale; i < len(c.turns); i++ {
		v := c.turns[i]
		c.starts[i] = 0
		if i > 0 {
			c.starts[i] = c.starts[i-1] + c.turns[i-1].rows
		}
		v.layout(&c.r, i == 0)
	}
	c.stale = len(c.turns)
	c.rows = 0
	if n := len(c.turns); n > 0 {
		c.rows = c.starts[n-1] + c.turns[n-1].rows
	}
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
func (c *Chat) resize(w int) {
	if w == c.r.w {
		return
	}
	id, off := c.anchor()
	c.r.w = w
	for _, v := range c.turns {
		v.from = 0
	}
	c.stale = 0
	c.sel = selection{}
	c.layout()
	c.restore(id, off)
}

// place is an item, and a row in it: below zero in the gap before.
type place struct {
	turn, item int
	row        int
}

// locate finds what stands at a row.
func (c *Chat) locate(row int) (p place, ok bool) {
	if row < 0 || row >= c.rows || len(c.turns) == 0 || len(c.starts) < len(c.turns) {
		return p, false
	}
	p.turn = sort.Search(len(c.turns), func(i int) bool { return c.starts[i] > row }) - 1
	v := c.turns[p.turn]
	row -= c.starts[p.turn]
	p.item = sort.Search(len(v.at), func(i int) bool { return v.at[i] > row }) - 1
	if p.item < 0 {
		return p, false
	}
	p.row = row - v.at[p.item] - v.gap(p.item, p.turn == 0)
	return p, true
}

// rowOf is the first row of an item's lines.
func (c *Chat) rowOf(turn, item int) int {
	v := c.turns[turn]
	return c.starts[turn] + v.at[item] + v.gap(item, turn == 0)
}

// lineAt gives the line at a row; ok is false in a gap and beyond the end.
func (c *Chat) lineAt(row int) (l markup.Line, p place, ok bool) {
	p, ok = c.locate(row)
	if !ok || p.row < 0 {
		return l, p, false
	}
	it := c.turns[p.turn].items[p.item]
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
func (c *Chat) anchor() (a anchored, ok bool) {
	if c.follow {
		return a, false
	}
	p, ok := c.locate(c.top)
	if !ok {
		return a, false
	}
	v := c.turns[p.turn]
	return anchored{v.id, v.items[p.item].id, p.row}, true
}

// restore brings to the top what was there.
func (c *Chat) restore(a anchored, ok bool) {
	if !ok || len(c.starts) < len(c.turns) {
		return
	}
	for i, v := range c.turns {
		if v.id != a.turn {
			continue
		}
		for k, it := range v.items {
			if it.id == a.item && k < len(v.at) {
				c.top = c.rowOf(i, k) + min(a.row, max(it.lines-1, 0))
				return
			}
		}
	}
}

// relayout lays out what has changed and keeps what shows at the top.
func (c *Chat) relayout() {
	if c.stale >= len(c.turns) && len(c.starts) == len(c.turns) {
		return
	}
	a, ok := c.anchor()
	c.layout()
	c.restore(a, ok)
}
