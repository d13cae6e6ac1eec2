package mouse

import (
	tea "charm.land/bubbletea/v2"

	"tandemux/emulator/input"
	"tandemux/ui/agents"
	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/paint"
)

// chatUnder returns the chat whose body is at a cell, nil for none.
func (ms *Mouse) chatUnder(x, y int) *agents.Chat {
	p, _, _ := ms.Panes.Under(x, y)
	return ms.Agents.Chat(p.Terminal)
}

// pressChat handles a press over a chat.
func (ms *Mouse) pressChat(h layout.Hit, ev tea.Mouse) bool {
	e := ms.chatUnder(ev.X, ev.Y)
	if e == nil {
		return false
	}
	ms.Panes.Freshen() // the click has moved the focus here
	ms.Loop.Dirty |= loop.Panes | loop.Chrome
	if ev.Button == tea.MouseMiddle && ms.Clip.Len() > 0 {
		ms.Clip.Paste(0)
		return true
	}
	if ev.Button != tea.MouseLeft {
		return true
	}
	if uri := e.LinkAt(ev.X, ev.Y); uri != "" && ev.Mod&tea.ModCtrl != 0 {
		ms.Copying.OpenLink(uri)
		return true
	}
	e.Unselect()
	if !e.Click(ev.X, ev.Y, ms.Loop.Now()) && e.StartDrag(ev.X, ev.Y) {
		ms.button.grab, ms.button.pane = grabChat, h.Pane
	}
	return true
}

// grabbedChat returns the chat in which text is dragged, nil for none.
func (ms *Mouse) grabbedChat() *agents.Chat {
	p, _ := ms.Panes.Arr.Pane(ms.button.pane)
	return ms.Agents.Chat(p.Terminal)
}

func (ms *Mouse) dragChat(ev tea.Mouse) {
	if e := ms.grabbedChat(); e != nil {
		ms.button.moved = ms.button.moved || ev.X != ms.button.x || ev.Y != ms.button.y
		if ms.button.moved {
			e.Drag(ev.X, ev.Y)
			ms.Loop.Dirty |= loop.Panes
		}
	}
}

// releaseChat copies the selection. A click without a drag folds or unfolds.
func (ms *Mouse) releaseChat(ev tea.Mouse) {
	e := ms.grabbedChat()
	if e == nil {
		return
	}
	ms.Loop.Dirty |= loop.Panes
	if !ms.button.moved {
		e.Hit(ev.X, ev.Y)
		return
	}
	if text := e.Selected(); text != "" && !ms.Copying.LeaveSelected {
		ms.Clip.CopySelected(text)
	}
}

func (ms *Mouse) wheelChat(ev tea.Mouse) bool {
	e := ms.chatUnder(ev.X, ev.Y)
	if e == nil {
		return false
	}
	e.Scroll(map[tea.MouseButton]int{tea.MouseWheelUp: -input.WheelLines, tea.MouseWheelDown: input.WheelLines}[ev.Button])
	ms.Loop.Dirty |= loop.Panes | loop.Chrome
	return true
}

// pressBadge goes from a terminal's badge to the terminal's chat. It reports whether it did.
func (ms *Mouse) pressBadge(h layout.Hit, ev tea.Mouse) bool {
	p, ok := ms.Panes.Arr.Pane(h.Pane)
	if !ok || h.Kind != layout.HitHeader || ev.Button != tea.MouseLeft {
		return false
	}
	t := ms.Panes.Terms.Get(p.Terminal)
	if t == nil || ms.Agents.ChatOf(t) == "" {
		return false
	}
	badge, _ := ms.Panes.Badge(t)
	w := paint.Width(badge)
	if right := p.Header.X + p.Header.W - 1; w == 0 || ev.X < right-w-3 || ev.X > right {
		return false
	}
	ms.Panes.Show(ms.Agents.ChatOf(t))
	return true
}
