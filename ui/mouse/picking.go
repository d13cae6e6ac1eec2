package mouse

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
	"tandemux/ui/loop"
	"tandemux/ui/pane"
)

const (
	// clickTime is how long after a click another one makes two.
	clickTime = 400 * time.Millisecond
	// edgeTime is how often a view scrolls while text is dragged beyond it.
	edgeTime = 40 * time.Millisecond
)

// picking is text that the mouse selects, and what it points at.
type picking struct {
	clicks int // in a row, 1 to 3
	x, y   int // of the last one
	at     time.Time

	hovered *pane.View
	uri     string // of the link pointed at
	scrolls bool   // a timer runs that scrolls while text is dragged
	held    int    // how often it has run for this time beyond the edge
	ev      tea.Mouse
}

// pressView handles what a button does over a view before its program is asked:
// a link opens with ctrl, the scroll bar is taken hold of.
func (ms *Mouse) pressView(v *pane.View, ev tea.Mouse) bool {
	if ev.Button != tea.MouseLeft {
		return false
	}
	if ev.Mod&tea.ModCtrl != 0 {
		if uri, ok := v.LinkAt(ev.X, ev.Y); ok {
			if ev.Mod&tea.ModAlt != 0 {
				ms.Copying.CopyLink(uri)
			} else {
				ms.Copying.OpenLink(uri)
			}
			return true
		}
	}
	if id, ok := v.Stuck(ev.X, ev.Y); ok && v.GoTo(id) == nil {
		ms.Loop.Dirty |= loop.Panes | loop.Chrome
		return true
	}
	if v.OnBar(ev.X, ev.Y) {
		v.DragBar(ev.Y)
		ms.button.grab = grabBar
		ms.Loop.Dirty |= loop.Panes
		return true
	}
	return false
}

// pressText takes hold of text: by characters, words with two clicks, lines with
// three, a block with alt. The middle button pastes what was copied last.
func (ms *Mouse) pressText(v *pane.View, ev tea.Mouse) {
	if v.Unselect() {
		ms.Loop.Dirty |= loop.Panes
	}
	p := &ms.picking
	if ev.Button != tea.MouseLeft {
		p.clicks = 0
		if ev.Button == tea.MouseMiddle && ms.Clip.Len() > 0 {
			ms.Panes.Freshen() // the click moved the focus here
			ms.Clip.Paste(0)
		}
		return
	}
	ms.count(ev)
	p.held = 0
	v.Separators = ms.Copying.Separators
	v.StartDrag(ev.X, ev.Y, pane.Unit(p.clicks-1), ev.Mod&tea.ModAlt != 0)
	ms.button.grab = grabText
	ms.Loop.Dirty |= loop.Panes
}

// count counts a click, and gives how many there were here in a row, up to three.
func (ms *Mouse) count(ev tea.Mouse) int {
	p, now := &ms.picking, ms.Loop.Now()
	if p.clicks > 0 && p.clicks < 3 && ev.X == p.x && ev.Y == p.y && now.Sub(p.at) <= clickTime {
		p.clicks++
	} else {
		p.clicks = 1
	}
	p.x, p.y, p.at = ev.X, ev.Y, now
	return p.clicks
}

// dragText selects up to where the mouse is; beyond the view's edge it scrolls
// until the mouse comes back or the button is released.
func (ms *Mouse) dragText(ev tea.Mouse) {
	v := ms.Panes.Views[ms.button.pane]
	if v == nil {
		return
	}
	ms.button.moved = ms.button.moved || ev.X != ms.button.x || ev.Y != ms.button.y
	if !ms.button.moved {
		return
	}
	v.Drag(ev.X, ev.Y)
	v.Held = true // what is printed does not move what shows
	ms.Loop.Dirty |= loop.Panes
	ms.picking.ev = ev
	ms.scrollEdge()
}

// scrollEdge starts the timer that scrolls while text is dragged beyond its
// view.
func (ms *Mouse) scrollEdge() {
	v := ms.Panes.Views[ms.button.pane]
	p := &ms.picking
	if p.scrolls || ms.button.grab != grabText || v == nil {
		return
	}
	if v.Beyond(p.ev.Y, ms.Outer.H) == 0 {
		p.held = 0
		return
	}
	p.scrolls = true
	ms.Loop.After(edgeTime, func() {
		ms.picking.scrolls = false
		v := ms.Panes.Views[ms.button.pane]
		if ms.button.grab != grabText || v == nil {
			return
		}
		p := &ms.picking
		n := v.Beyond(p.ev.Y, ms.Outer.H)
		if n < 0 {
			n -= p.held / 10
		} else if n > 0 {
			n += p.held / 10
		}
		if n == 0 || !v.Scroll(min(max(n, -maxEdge), maxEdge)) {
			return // it is back, or there is no more text: the next motion tries again
		}
		p.held++
		v.Drag(ms.picking.ev.X, ms.picking.ev.Y)
		ms.Loop.Dirty |= loop.Panes
		ms.scrollEdge()
	})
}

// maxEdge bounds how many lines are scrolled at once, however far the mouse is
// and however long it has been there.
const maxEdge = 20

// releaseText copies what was selected, unless that is left to a command.
func (ms *Mouse) releaseText() {
	v := ms.Panes.Views[ms.button.pane]
	if v == nil || !v.Selected() || ms.Copying.LeaveSelected {
		return
	}
	if text := v.SelectedText(); text != "" {
		ms.Clip.CopySelected(text)
	}
}

// hover underlines the link under the mouse while ctrl is held, and shows the
// scroll bar where the mouse is on its column.
func (ms *Mouse) hover(ev tea.Mouse) {
	_, _, v := ms.Panes.Under(ev.X, ev.Y)
	p := &ms.picking
	if p.hovered != nil && p.hovered != v {
		if _, changed := p.hovered.Hover(-1, -1, false); changed {
			ms.Loop.Dirty |= loop.Panes
		}
		p.hovered = nil
	}
	uri := ""
	if v != nil {
		links := ev.Mod&tea.ModCtrl != 0
		programs := v.Feed.Modes().Mouse != emulator.MouseOff && v.Back() == 0 && !v.Copying()
		x := ev.X
		if programs && !links {
			x = -1
		}
		var changed bool
		if uri, changed = v.Hover(x, ev.Y, links); changed {
			ms.Loop.Dirty |= loop.Panes
		}
		p.hovered = v
	}
	if uri != p.uri {
		p.uri = uri
		ms.Loop.Dirty |= loop.Chrome
	}
}
