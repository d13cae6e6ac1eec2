package mouse

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
	"tandemux/ui/loop"
	"tandemux/ui/pane"
)

const (
	// clickTime is how soon a second click makes a double click.
	clickTime = 400 * time.Millisecond
	// edgeTime is how often a view scrolls while text is dragged outside of it.
	edgeTime = 40 * time.Millisecond
)

// picking is the state of clicks, of dragged text and of the link under the mouse.
type picking struct {
	clicks int // number of clicks in a row, 1 to 3
	x, y   int // of the last click
	at     time.Time

	hovered *pane.View
	uri     string // address of the link under the mouse
	scrolls bool   // the timer that scrolls during a drag runs
	held    int    // how often it has run in this drag outside the view
	ev      tea.Mouse
}

// pressView handles a press on a view that its program doesn't get: with ctrl on a link, on a
// command's line at the top, or on the scroll bar.
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

// pressText begins to drag text: by characters, by words after two clicks, by lines after three,
// as a block with alt. The middle button pastes.
func (ms *Mouse) pressText(v *pane.View, ev tea.Mouse) {
	if v.Unselect() {
		ms.Loop.Dirty |= loop.Panes
	}
	p := &ms.picking
	if ev.Button != tea.MouseLeft {
		p.clicks = 0
		if ev.Button == tea.MouseMiddle && ms.Clip.Len() > 0 {
			ms.Panes.Freshen() // the click has moved the focus here
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

// count counts a click. It returns the number of clicks here in a row, up to three.
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

// dragText selects up to the mouse. Outside the view it scrolls until the mouse comes back or the
// button is released.
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
	v.Held = true // output doesn't scroll the view
	ms.Loop.Dirty |= loop.Panes
	ms.picking.ev = ev
	ms.scrollEdge()
}

// scrollEdge starts the timer that scrolls while text is dragged outside its view.
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
			return // the mouse is back, or there is no more text: the next motion tries again
		}
		p.held++
		v.Drag(ms.picking.ev.X, ms.picking.ev.Y)
		ms.Loop.Dirty |= loop.Panes
		ms.scrollEdge()
	})
}

// maxEdge is the most lines that are scrolled at once, however far away the mouse is and however
// long.
const maxEdge = 20

// releaseText copies the selection, unless LeaveSelected is set.
func (ms *Mouse) releaseText() {
	v := ms.Panes.Views[ms.button.pane]
	if v == nil || !v.Selected() || ms.Copying.LeaveSelected {
		return
	}
	if text := v.SelectedText(); text != "" {
		ms.Clip.CopySelected(text)
	}
}

// hover underlines the link under the mouse while ctrl is held, and shows the scroll bar if the
// mouse is on its column.
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
