package overlay

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandemux/keymap"
	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Help shows all keys and what they do, made from the binding table.
type Help struct {
	title    string
	sections []keymap.Section
	top      int
	height   int // rows shown, as last drawn
	total    int // rows there are
}

// NewHelp gives the help of some sections.
func NewHelp(title string, sections []keymap.Section) *Help {
	return &Help{title: title, sections: sections}
}

var helpMoves = map[string]func(h *Help){
	"up": func(h *Help) { h.top-- }, "k": func(h *Help) { h.top-- },
	"down": func(h *Help) { h.top++ }, "j": func(h *Help) { h.top++ },
	"pgup": func(h *Help) { h.top -= h.height }, "b": func(h *Help) { h.top -= h.height },
	"ctrl+b": func(h *Help) { h.top -= h.height }, "ctrl+f": func(h *Help) { h.top += h.height },
	"pgdown": func(h *Help) { h.top += h.height }, "space": func(h *Help) { h.top += h.height },
	"home": func(h *Help) { h.top = 0 }, "g": func(h *Help) { h.top = 0 },
	"end": func(h *Help) { h.top = h.total }, "G": func(h *Help) { h.top = h.total },
}

// Key implements Overlay: keys that scroll scroll, all others leave.
func (h *Help) Key(k tea.Key) bool {
	if move, ok := helpMoves[editor.Stroke(k)]; ok {
		move(h)
		return false
	}
	return true
}

// Paste implements Overlay.
func (h *Help) Paste(string) {}

// Click implements Clicker.
func (h *Help) Click(int, int) bool { return true }

// Wheel implements Clicker.
func (h *Help) Wheel(up bool) {
	if up {
		h.top -= 3
	} else {
		h.top += 3
	}
}

// helpLine is a row of a column: a heading, or keys and a text.
type helpLine struct{ heading, keys, text string }

func (h *Help) lines() [][]helpLine {
	var blocks [][]helpLine
	for _, s := range h.sections {
		block := []helpLine{{heading: s.Title}}
		for _, r := range s.Rows {
			block = append(block, helpLine{keys: strings.Join(r.Keys, " "), text: r.Text})
		}
		blocks = append(blocks, append(block, helpLine{}))
	}
	return blocks
}

// columns spreads the blocks over n columns of about the same height.
func columns(blocks [][]helpLine, n int) [][]helpLine {
	total := 0
	for _, b := range blocks {
		total += len(b)
	}
	cols := make([][]helpLine, n)
	i := 0
	for _, b := range blocks {
		if i < n-1 && len(cols[i]) > 0 && len(cols[i])+len(b)/2 > (total+n-1)/n {
			i++
		}
		cols[i] = append(cols[i], b...)
	}
	return cols
}

// helpWidth is the least width of a column of help.
const helpWidth = 36

// Draw implements Overlay.
func (h *Help) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	n := min(max((area.W-4)/helpWidth, 1), 3)
	cols := columns(h.lines(), n)
	h.total = 0
	for _, col := range cols {
		h.total = max(h.total, len(col))
	}
	r := centred(area, min(n*44+4, area.W), min(h.total+2, area.H))
	h.height = max(r.H-2, 1)
	h.top = max(min(h.top, h.total-h.height), 0)
	footer := "any key leaves"
	if h.total > h.height {
		footer = "scroll with " + l.Up + l.Down + "  " + footer
	}
	in := box(c, r, h.title, footer, l)
	w := in.W / n
	for i, col := range cols {
		keys := 0
		for _, line := range col {
			keys = max(keys, min(paint.Width(line.keys), w/3))
		}
		for y := range min(in.H, max(len(col)-h.top, 0)) {
			line := col[h.top+y]
			x := in.X + i*w + 1
			if line.heading != "" {
				c.Text(x, in.Y+y, w-2, line.heading, l.OverlayAccent)
				continue
			}
			c.Text(x, in.Y+y, keys, paint.Cut(line.keys, keys, l.Ellipsis), l.HintKeyOn(l.Overlay))
			c.Text(x+keys+2, in.Y+y, w-keys-4, paint.Cut(line.text, w-keys-4, l.Ellipsis), l.Overlay)
		}
	}
	return paint.Cursor{}
}
