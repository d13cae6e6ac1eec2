package overlay

import (
	"slices"
	"strings"

	"cotty/keymap"
	"cotty/ui/look"
	"cotty/ui/paint"
)

// HintRow is what a key would do now.
type HintRow struct {
	Keys string
	Text string
	Off  bool // it can't run now
	Keep bool // it shows also where not everything fits
}

// Widths of a hint's columns, in cells.
const (
	hintKeys = 7
	hintText = 17
)

// brief writes modifiers as short as a hint's columns are.
var brief = strings.NewReplacer("ctrl+", "^", "shift+", "S-", "alt+", "M-")

// Hint draws what can follow the keys pressed so far on the last rows of the
// area, in columns. It takes no keys. What does not fit is left to the help.
func Hint(c *paint.Canvas, area paint.Rect, rows []HintRow, l look.Look) {
	if len(rows) == 0 || area.Empty() {
		return
	}
	n := max((area.W-1)/(hintKeys+hintText+2), 1)
	h := min((len(rows)+n-1)/n, max(area.H*2/3, 1))
	n = min(n, (len(rows)+h-1)/h)
	rows = fitting(rows, n*h)
	w := (area.W - 1) / n
	r := paint.Rect{X: area.X, Y: area.Y + area.H - h, W: area.W, H: h}
	c.Fill(r, ' ', l.Hint)
	for i, row := range rows[:min(len(rows), n*h)] {
		x, y := r.X+1+i/h*w, r.Y+i%h
		style := l.Hint
		if row.Off {
			style.Attrs |= look.Faint
		}
		k := paint.Cut(brief.Replace(row.Keys), hintKeys, l.Ellipsis)
		c.Text(x+hintKeys-paint.Width(k), y, hintKeys, k, l.HintKey)
		c.Text(x+hintKeys+1, y, w-hintKeys-2, paint.Cut(row.Text, w-hintKeys-2, l.Ellipsis), style)
	}
}

// fitting leaves out rows from the end until there are at most n, first those
// that can't run now.
func fitting(rows []HintRow, n int) []HintRow {
	rows = slices.Clone(rows)
	for _, off := range []bool{true, false} {
		for i := len(rows) - 1; i >= 0 && len(rows) > n; i-- {
			if !rows[i].Keep && (rows[i].Off || !off) {
				rows = slices.Delete(rows, i, i+1)
			}
		}
	}
	return rows
}

// HintRows words the bindings that can follow, each with its first key and
// counting ones as a range; why says why a command can't run now.
func HintRows(sections []keymap.Section, why func(name string, args []string) string) []HintRow {
	var rows []HintRow
	for _, s := range sections {
		for _, r := range s.Rows {
			off := len(r.Args) == 0 && why(r.Command, nil) != "" || len(r.Args) > 0 && why(r.Command, r.Args) != ""
			rows = append(rows, HintRow{Keys: r.Keys[0], Text: r.Text, Off: off, Keep: r.Command == "help" || r.Command == "palette"})
		}
	}
	return rows
}
