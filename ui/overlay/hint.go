package overlay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// HintRow is what a key would do now.
type HintRow struct {
	Keys string
	Text string
	Off  bool // it can't run now
	Keep bool // it is on the first page, whatever else is
}

// brief writes modifiers as short as a hint's columns are.
var brief = strings.NewReplacer("ctrl+", "^", "shift+", "S-", "alt+", "M-")

// MoreKey is the key that turns a hint's pages.
const MoreKey = "pgdown"

// Hint draws what can follow the keys pressed so far on the last rows of the area,
// in columns: first what can run now. Where not everything fits there are pages,
// counted from 0 and around, and the last cell says how much more there is. It
// takes no keys.
func Hint(c *paint.Canvas, area paint.Rect, rows []HintRow, page int, l look.Look) {
	if len(rows) == 0 || area.Empty() {
		return
	}
	keys, text := 0, 0
	for _, row := range rows {
		keys, text = max(keys, paint.Width(brief.Replace(row.Keys))), max(text, paint.Width(row.Text))
	}
	most := max((area.W-1)/(keys+text+3), 1)
	h := min((len(rows)+most-1)/most, max(area.H*2/3, 1))
	n := min(most, (len(rows)+h-1)/h)
	rows = hintPage(rows, n*h, page)
	w := (area.W - 1) / n
	r := paint.Rect{X: area.X, Y: area.Y + area.H - h, W: area.W, H: h}
	c.Fill(r, ' ', l.Hint)
	for i, row := range rows {
		x, y := r.X+1+i/h*w, r.Y+i%h
		style := l.Hint
		if row.Off {
			style.Attrs |= look.Faint
		}
		k := brief.Replace(row.Keys)
		c.Text(x+keys-paint.Width(k), y, keys, k, l.HintKey)
		c.Text(x+keys+1, y, w-keys-2, paint.Cut(row.Text, w-keys-2, l.Ellipsis), style)
	}
}

// hintPage gives the rows of a page of n: those that can't run come last, and where
// there is more than one page those to keep come first, and the last row is for the
// next page.
func hintPage(rows []HintRow, n, page int) []HintRow {
	paged := len(rows) > n
	rank := func(r HintRow) int {
		switch {
		case r.Keep && paged:
			return 0
		case r.Off:
			return 2
		}
		return 1
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b HintRow) int { return cmp.Compare(rank(a), rank(b)) })
	if !paged || n < 2 {
		return rows[:min(len(rows), n)]
	}
	n--
	pages := (len(rows) + n - 1) / n
	from := page % pages * n
	to := min(from+n, len(rows))
	more := HintRow{Keys: "pgdn", Text: fmt.Sprintf("%d more", len(rows)-to)}
	if to == len(rows) {
		more.Text = "back to the first"
	}
	return append(rows[from:to:to], more)
}
