package ui

import (
	tea "charm.land/bubbletea/v2"

	"cotty/keymap"
	"cotty/ui/command"
	"cotty/ui/overlay"
	"cotty/ui/pane"
	"cotty/ui/status"
)

// copyActions are the commands that scroll, search and copy.
var copyActions = map[string]action{
	"copy-mode": onView(func(m *Model, v *pane.View, _ int) { v.EnterCopy() }),
	"copy-exit": onView(func(m *Model, v *pane.View, _ int) { v.Follow() }),

	"scroll-up":        scroll(pane.MoveUp, func(*pane.View) int { return -1 }),
	"scroll-down":      scroll(pane.MoveDown, func(*pane.View) int { return 1 }),
	"scroll-half-up":   scroll(pane.MoveHalfUp, func(v *pane.View) int { return -max(v.Height()/2, 1) }),
	"scroll-half-down": scroll(pane.MoveHalfDown, func(v *pane.View) int { return max(v.Height()/2, 1) }),
	"scroll-page-up":   scroll(pane.MovePageUp, func(v *pane.View) int { return -max(v.Height()-2, 1) }),
	"scroll-page-down": scroll(pane.MovePageDown, func(v *pane.View) int { return max(v.Height()-2, 1) }),
	"scroll-top":       scroll(pane.MoveHistoryTop, func(*pane.View) int { return -1 << 30 }),
	"scroll-bottom":    scroll(pane.MoveHistoryBottom, func(*pane.View) int { return 1 << 30 }),

	"copy-left":           move(pane.MoveLeft),
	"copy-right":          move(pane.MoveRight),
	"copy-line-start":     move(pane.MoveLineStart),
	"copy-line-text":      move(pane.MoveLineText),
	"copy-line-end":       move(pane.MoveLineEnd),
	"copy-word-next":      move(pane.MoveWordNext),
	"copy-word-back":      move(pane.MoveWordBack),
	"copy-word-end":       move(pane.MoveWordEnd),
	"copy-screen-top":     move(pane.MoveScreenTop),
	"copy-screen-middle":  move(pane.MoveScreenMiddle),
	"copy-screen-bottom":  move(pane.MoveScreenBottom),
	"copy-paragraph-back": move(pane.MoveParagraphBack),
	"copy-paragraph-next": move(pane.MoveParagraphNext),
	"copy-view-up":        move(pane.ScrollUp),
	"copy-view-down":      move(pane.ScrollDown),

	"copy-select":       onView(func(m *Model, v *pane.View, _ int) { v.Mark(false) }),
	"copy-select-lines": onView(func(m *Model, v *pane.View, _ int) { v.Mark(true) }),
	"copy-yank":         onView(func(m *Model, v *pane.View, _ int) { m.copyText(v.SelectedText()); v.Follow() }),

	"previous-command": onView(func(_ *Model, v *pane.View, _ int) { v.GoCommand(false) }),
	"next-command":     onView(func(_ *Model, v *pane.View, _ int) { v.GoCommand(true) }),
	"copy-output":      onView(func(m *Model, v *pane.View, _ int) { m.copyOutput(v) }),

	"search":          onView(func(m *Model, v *pane.View, _ int) { m.search(v, false) }),
	"search-back":     onView(func(m *Model, v *pane.View, _ int) { m.search(v, true) }),
	"search-next":     onView(func(m *Model, v *pane.View, _ int) { m.searchNext(v, false) }),
	"search-previous": onView(func(m *Model, v *pane.View, _ int) { m.searchNext(v, true) }),
}

// onView is a command about the focused pane's view, with a number as its
// argument.
func onView(f func(m *Model, v *pane.View, n int)) action {
	return func(m *Model, args []string) {
		if _, _, v := m.focused(); v != nil {
			f(m, v, command.Number(args, 0, 1))
			m.dirty |= dirtyPanes | dirtyChrome
		}
	}
}

// scroll moves copy mode's cursor, or the view where copy mode is off.
func scroll(motion pane.Motion, lines func(*pane.View) int) action {
	return onView(func(m *Model, v *pane.View, n int) {
		if v.Copying() {
			v.Move(motion, n)
			return
		}
		v.Scroll(lines(v) * n)
	})
}

func move(motion pane.Motion) action {
	return onView(func(m *Model, v *pane.View, n int) { v.Move(motion, n) })
}

// search asks what to look for.
func (m *Model) search(v *pane.View, back bool) {
	label := "search"
	if back {
		label = "search back"
	}
	m.open(overlay.NewPrompt(label, "", func(text string) {
		if text == "" {
			m.searchNext(v, false)
			return
		}
		if !v.Search(text, back) {
			m.say(status.Info, "%q is not there", text)
		}
	}))
}

func (m *Model) searchNext(v *pane.View, reverse bool) {
	if v.Searching() == "" {
		m.say(status.Info, "nothing was searched for yet")
		return
	}
	if !v.SearchNext(reverse) {
		m.say(status.Info, "%q is not there", v.Searching())
	}
}

// namedKeys are Bubble Tea's codes of the keymap's named keys.
var namedKeys = map[rune]rune{
	keymap.Up: tea.KeyUp, keymap.Down: tea.KeyDown, keymap.Right: tea.KeyRight, keymap.Left: tea.KeyLeft,
	keymap.Home: tea.KeyHome, keymap.End: tea.KeyEnd, keymap.PgUp: tea.KeyPgUp, keymap.PgDown: tea.KeyPgDown,
	keymap.Insert: tea.KeyInsert, keymap.Delete: tea.KeyDelete,
}

// PressOf is the press that a key stands for.
func PressOf(k keymap.Key) tea.Key {
	code := k.Code
	if named, ok := namedKeys[code]; ok {
		code = named
	} else if code >= keymap.F1 && code <= keymap.F24 {
		code = tea.KeyF1 + code - keymap.F1
	}
	t := tea.Key{Code: code, Text: k.Types()}
	for from, to := range map[keymap.Mod]tea.KeyMod{
		keymap.Shift: tea.ModShift, keymap.Alt: tea.ModAlt, keymap.Ctrl: tea.ModCtrl,
		keymap.Super: tea.ModSuper, keymap.Hyper: tea.ModHyper, keymap.Meta: tea.ModMeta,
	} {
		if k.Mod&from != 0 {
			t.Mod |= to
		}
	}
	return t
}
