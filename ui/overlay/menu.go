package overlay

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Item is a row of a Menu. Without a Text it is a separator line.
type Item struct {
	Text string
	Keys string // the keys of the command, also in the menu; "" for none
	Why  string // why it can't be done now; "" if it can
	Do   func()
}

// Menu is the commands for something, shown near it. Items that can't be done are dim, and say
// why when they are chosen.
type Menu struct {
	Title string
	Items []Item
	X, Y  int // where it opens, if there is room

	at           int // index of the chosen item plus one, 0 for none
	top          int // index of the first visible item
	outer, inner paint.Rect
	moved        bool // the mouse has moved since the menu opened
}

func (m *Menu) Key(k tea.Key) bool {
	s := editor.Stroke(k)
	switch s {
	case "up", "ctrl+p", "shift+tab":
		m.move(-1)
	case "down", "ctrl+n", "tab":
		m.move(1)
	case "esc", "ctrl+c", "ctrl+g":
		return true
	case "enter", "space":
		return m.run(m.at)
	default:
		for i, it := range m.Items {
			if it.Keys != "" && it.Keys == s {
				return m.run(i + 1)
			}
		}
	}
	return false
}

// move chooses the nth next item, past separators and around the ends.
func (m *Menu) move(n int) {
	for range m.Items {
		if m.at += n; m.at < 1 {
			m.at = len(m.Items)
		} else if m.at > len(m.Items) {
			m.at = 1
		}
		if m.Items[m.at-1].Text != "" {
			return
		}
	}
}

// run does an item. If it can't be done it is chosen, so that it says why.
func (m *Menu) run(at int) bool {
	if at == 0 || m.Items[at-1].Text == "" {
		return false
	}
	if m.at = at; m.Items[at-1].Why != "" {
		return false
	}
	m.Items[at-1].Do()
	return true
}

// under returns the item at a cell, as m.at has it.
func (m *Menu) under(x, y int) int {
	if i := m.top + y - m.inner.Y; m.inner.Contains(x, y) && i < len(m.Items) && m.Items[i].Text != "" {
		return i + 1
	}
	return 0
}

// Click implements Clicker: it runs an item, or closes the menu for a click beside it.
func (m *Menu) Click(x, y int) bool { return !m.outer.Contains(x, y) || m.run(m.under(x, y)) }

func (m *Menu) Wheel(n int) { m.move(n) }

func (m *Menu) Point(x, y int) bool {
	was := m.at
	m.at, m.moved = m.under(x, y), true
	return m.at != was
}

// Release implements Pointing: if the mouse has moved since its button opened the menu, releasing
// it runs the item there.
func (m *Menu) Release(x, y int) bool { return m.moved && m.run(m.under(x, y)) }

// leastMenu is the smallest width of a menu.
const leastMenu = 30

func (m *Menu) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	w := leastMenu
	for _, it := range m.Items {
		w = max(w, paint.Width(it.Text)+paint.Width(it.Keys)+6)
	}
	w = min(w, area.W)
	var why []string
	if m.at > 0 && m.Items[m.at-1].Why != "" {
		why = strings.Split(ansi.Wrap(m.Items[m.at-1].Why, max(w-4, 1), ""), "\n")
	}
	h := min(len(m.Items)+len(why)+2, area.H)
	r := paint.Rect{X: min(max(m.X, area.X), area.X+area.W-w), Y: m.Y, W: w, H: h}
	if bottom := area.Y + area.H; r.Y+h > bottom {
		r.Y = min(max(r.Y-h, area.Y), bottom-h) // above the place
	}
	m.outer, m.inner = r, box(c, r, m.Title, "", l)
	in := m.inner
	why = why[:min(len(why), max(in.H-1, 0))]
	rows := in.H - len(why)
	m.top = max(min(max(m.top, m.at-rows), max(m.at-1, 0), len(m.Items)-rows), 0)
	for i := m.top; i < min(len(m.Items), m.top+rows); i++ {
		it := m.Items[i]
		style, keys, y := l.Overlay, l.HintKeyOn(l.Overlay), in.Y+i-m.top
		switch {
		case it.Text == "":
			c.Fill(paint.Rect{X: in.X, Y: y, W: in.W, H: 1}, l.Horizontal, l.OverlayBox)
			continue
		case it.Why != "":
			style, keys = l.OverlayMuted, l.OverlayMuted
		}
		if i+1 == m.at {
			style, keys = l.Selected, l.Selected
			if it.Why != "" {
				style.Attrs |= look.Faint
			}
			c.Fill(paint.Rect{X: in.X, Y: y, W: in.W, H: 1}, ' ', style)
		}
		room := in.W - 2 - paint.Width(it.Keys)
		c.Text(in.X+1, y, room, paint.Cut(it.Text, room-1, l.Ellipsis), style)
		c.Text(in.X+1+room, y, paint.Width(it.Keys), it.Keys, keys)
	}
	for i, line := range why {
		c.Text(in.X+1, in.Y+rows+i, in.W-2, line, l.OverlayMuted)
	}
	return paint.Cursor{Default: true}
}
