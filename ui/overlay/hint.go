package overlay

import (
	"cotty/keymap"
	"cotty/ui/look"
	"cotty/ui/paint"
)

// HintRow is what a key would do now.
type HintRow struct {
	Keys string
	Text string
	Off  bool // it can't run now
}

// Hint draws what can follow the keys pressed so far on the last rows of the
// area. It takes no keys.
func Hint(c *paint.Canvas, area paint.Rect, rows []HintRow, l look.Look) {
	keys, text := 0, 0
	for _, r := range rows {
		keys, text = max(keys, paint.Width(r.Keys)), max(text, paint.Width(r.Text))
	}
	keys = min(keys, 12)
	w := min(keys+text+4, max(area.W-2, 1))
	n := max((area.W-1)/w, 1)
	h := min((len(rows)+n-1)/n, area.H)
	if h == 0 {
		return
	}
	box := paint.Rect{X: area.X, Y: area.Y + area.H - h, W: area.W, H: h}
	c.Fill(box, ' ', l.Hint)
	for i, r := range rows {
		x, y := box.X+1+i/h*w, box.Y+i%h
		if x+w > box.X+box.W+2 {
			break
		}
		style := l.Hint
		if r.Off {
			style.Attrs |= look.Faint
		}
		k := paint.Cut(r.Keys, keys, l.Ellipsis)
		c.Text(x+keys-paint.Width(k), y, keys, k, l.HintKey)
		c.Text(x+keys+1, y, w-keys-2, paint.Cut(r.Text, w-keys-3, l.Ellipsis), style)
	}
}

// HintRows words the bindings that can follow, those with the same effect
// together and counting ones as a range; why says why a command can't run now.
func HintRows(sections []keymap.Section, why func(name string, args []string) string) []HintRow {
	var rows []HintRow
	for _, s := range sections {
		for _, r := range s.Rows {
			keys := ""
			for i, k := range r.Keys {
				if i > 0 {
					keys += " "
				}
				keys += k
			}
			off := len(r.Args) == 0 && why(r.Command, nil) != "" || len(r.Args) > 0 && why(r.Command, r.Args) != ""
			rows = append(rows, HintRow{Keys: keys, Text: r.Text, Off: off})
		}
	}
	return rows
}
