package markup

import (
	"strings"
)

// alignment is the alignment of a column.
type alignment uint8

const (
	toLeft alignment = iota
	toRight
	toMiddle
)

// grid is a table in a text.
type grid struct {
	align []alignment
	rows  [][]string // the head is the first
}

// maxColumns is the largest number of columns; a wider table stays text.
const maxColumns = 32

// tableOf finds a table in the lines of a paragraph: a row of dashes below a row with as many
// cells.
func tableOf(lines []string) (before []string, g grid, ok bool) {
	for i := 1; i < len(lines); i++ {
		align, ok := dashes(lines[i])
		if !ok || len(align) > maxColumns {
			continue
		}
		head := splitRow(lines[i-1])
		if len(head) != len(align) {
			continue
		}
		g := grid{align: align, rows: [][]string{head}}
		for _, l := range lines[i+1:] {
			row := splitRow(l)
			for len(row) < len(align) {
				row = append(row, "")
			}
			g.rows = append(g.rows, row[:len(align)])
		}
		return lines[:i-1], g, true
	}
	return nil, grid{}, false
}

// dashes parses the row below a table's head.
func dashes(s string) (align []alignment, ok bool) {
	if !strings.Contains(s, "-") || !strings.Contains(s, "|") {
		return nil, false
	}
	for _, c := range splitRow(s) {
		left, right := strings.HasPrefix(c, ":"), strings.HasSuffix(c, ":")
		if body := strings.Trim(c, ":"); body == "" || strings.Trim(body, "-") != "" {
			return nil, false
		}
		switch {
		case left && right:
			align = append(align, toMiddle)
		case right:
			align = append(align, toRight)
		default:
			align = append(align, toLeft)
		}
	}
	return align, true
}

// splitRow splits a row at its bars, except in code and after a backslash.
func splitRow(s string) []string {
	s = strings.TrimSpace(s)
	s = strings.TrimPrefix(s, "|")
	if strings.HasSuffix(s, "|") && !strings.HasSuffix(s, `\|`) {
		s = s[:len(s)-1]
	}
	var cells []string
	from, inCode := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
		case s[i] == '`':
			inCode = !inCode
		case s[i] == '|' && !inCode:
			cells = append(cells, s[from:i])
			from = i + 1
		}
	}
	cells = append(cells, s[from:])
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(c), `\|`, "|")
	}
	return cells
}

// table renders a table. If it is too wide, the columns are narrowed and their text wrapped.
func (b *blocks) table(t grid, m Margin) []Line {
	room := b.w - max(Width(m.first), Width(m.Rest))
	n := len(t.align)
	cells := make([][][]Run, len(t.rows))
	natural := make([]int, n)
	for i, row := range t.rows {
		base := Run{}
		if i == 0 {
			base.Attr = Bold
		}
		for j, c := range row {
			r := b.parsed(c, base)
			cells[i] = append(cells[i], r)
			natural[j] = max(natural[j], Width(r), 1)
		}
	}
	w := share(natural, room-3*(n-1))
	var out []Line
	put := func(r []Run) {
		out = append(out, Line{Runs: Join(m.first, r), Lead: Width(m.first)})
		m = m.After()
	}
	for i, row := range cells {
		parts, h := make([][]Line, n), 1
		for j := range row {
			parts[j] = Wrap(row[j], w[j], Margin{})
			h = max(h, len(parts[j]))
		}
		for y := range h {
			var r []Run
			for j := range parts {
				if j > 0 {
					r = append(r, Run{Text: " " + b.g.Bar + " ", Role: Muted})
				}
				var text []Run
				if y < len(parts[j]) {
					text = parts[j][y].Runs
				}
				r = append(r, aligned(text, w[j], t.align[j], j == n-1)...)
			}
			put(r)
		}
		if i == 0 {
			var r []Run
			for j := range w {
				if j > 0 {
					r = append(r, Run{Text: b.g.Rule + b.g.Rule + b.g.Rule, Role: Muted})
				}
				r = append(r, Run{Text: strings.Repeat(b.g.Rule, w[j]), Role: Muted})
			}
			put(r)
		}
	}
	return out
}

// aligned pads text to w cells.
func aligned(text []Run, w int, a alignment, last bool) []Run {
	left := max(w-Width(text), 0)
	right := 0
	switch a {
	case toLeft:
		left, right = 0, left
	case toMiddle:
		left, right = left/2, left-left/2
	}
	if last {
		right = 0
	}
	var out []Run
	if left > 0 {
		out = append(out, Run{Text: strings.Repeat(" ", left)})
	}
	out = append(out, text...)
	if right > 0 {
		out = append(out, Run{Text: strings.Repeat(" ", right)})
	}
	return out
}

// share returns the widths of columns: the wanted ones if they fit; else wide columns share what
// narrow ones leave.
func share(want []int, room int) []int {
	w := make([]int, len(want))
	left, open := room, len(want)
	for open > 0 {
		fair, fixed := max(left/open, 1), false
		for i, n := range want {
			if w[i] == 0 && n <= fair {
				w[i], left, open, fixed = n, left-n, open-1, true
			}
		}
		if !fixed {
			for i := range want {
				if w[i] == 0 {
					w[i] = max(left/open, 1)
					left, open = left-w[i], open-1
				}
			}
		}
	}
	return w
}
