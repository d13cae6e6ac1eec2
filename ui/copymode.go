package ui

import (
	"strconv"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandemux/keymap"
	"tandemux/ui/command"
	"tandemux/ui/loop"
	"tandemux/ui/pane"
	"tandemux/ui/status"
)

// copyActions are the commands that scroll, search and copy.
var copyActions = map[string]action{
	"copy-mode": onView(func(m *Model, v *pane.View, _ int) { v.EnterCopy() }),
	"copy-escape": onView(func(m *Model, v *pane.View, _ int) {
		if !v.Unselect() {
			v.Follow()
		}
	}),
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
	"copy-big-word-next":  move(pane.MoveBigWordNext),
	"copy-big-word-back":  move(pane.MoveBigWordBack),
	"copy-big-word-end":   move(pane.MoveBigWordEnd),
	"copy-bracket":        move(pane.MoveBracket),
	"copy-screen-top":     move(pane.MoveScreenTop),
	"copy-screen-middle":  move(pane.MoveScreenMiddle),
	"copy-screen-bottom":  move(pane.MoveScreenBottom),
	"copy-paragraph-back": move(pane.MoveParagraphBack),
	"copy-paragraph-next": move(pane.MoveParagraphNext),
	"copy-view-up":        move(pane.ScrollUp),
	"copy-view-down":      move(pane.ScrollDown),
	"copy-view-top":       onView(func(_ *Model, v *pane.View, _ int) { v.Recentre(pane.AtTop) }),
	"copy-view-middle":    onView(func(_ *Model, v *pane.View, _ int) { v.Recentre(pane.AtMiddle) }),
	"copy-view-bottom":    onView(func(_ *Model, v *pane.View, _ int) { v.Recentre(pane.AtBottom) }),
	"copy-go-line":        goLine,

	"copy-count":        countDigit,
	"copy-find":         find(pane.Find{}),
	"copy-find-back":    find(pane.Find{Back: true}),
	"copy-till":         find(pane.Find{Till: true}),
	"copy-till-back":    find(pane.Find{Back: true, Till: true}),
	"copy-find-again":   onView(func(_ *Model, v *pane.View, n int) { v.FindAgain(n, false) }),
	"copy-find-reverse": onView(func(_ *Model, v *pane.View, n int) { v.FindAgain(n, true) }),
	"copy-set-mark":     withChar("mark", func(_ *Model, v *pane.View, _ int, r rune) { v.SetMark(r) }),
	"copy-go-mark":      withChar("go to mark", goMark),
	"copy-other-end":    onView(func(_ *Model, v *pane.View, _ int) { v.OtherEnd() }),
	"copy-select":       onView(func(m *Model, v *pane.View, _ int) { v.Mark(pane.Chars) }),
	"copy-select-lines": onView(func(m *Model, v *pane.View, _ int) { v.Mark(pane.Lines) }),
	"copy-select-block": onView(func(m *Model, v *pane.View, _ int) { v.Mark(pane.Block) }),
	"copy-select-clear": onView(func(m *Model, v *pane.View, _ int) { v.Unselect() }),
	"copy-yank":         onView(func(m *Model, v *pane.View, _ int) { m.clip.CopyText(v.SelectedText()); v.Follow() }),
	"copy-selection":    onView(func(m *Model, v *pane.View, _ int) { m.clip.CopyText(v.SelectedText()) }),
	"copy-open-link":    onView(func(m *Model, v *pane.View, _ int) { m.linkHere(v, (*Model).openLink) }),
	"copy-link":         onView(func(m *Model, v *pane.View, _ int) { m.linkHere(v, (*Model).copyLink) }),

	"search":           onView(func(m *Model, v *pane.View, _ int) { m.search(v, false) }),
	"search-back":      onView(func(m *Model, v *pane.View, _ int) { m.search(v, true) }),
	"search-next":      onView(func(m *Model, v *pane.View, n int) { m.searchNext(v, false, n) }),
	"search-previous":  onView(func(m *Model, v *pane.View, n int) { m.searchNext(v, true, n) }),
	"search-word":      onView(func(m *Model, v *pane.View, _ int) { m.searchWord(v, false) }),
	"search-word-back": onView(func(m *Model, v *pane.View, _ int) { m.searchWord(v, true) }),

	"paste-buffer":    func(m *Model, _ []string) { m.clip.Paste(0) },
	"choose-buffer":   func(m *Model, _ []string) { m.clip.Choose() },
	"delete-buffer":   func(m *Model, _ []string) { m.clip.Forget() },
	"save-buffer":     func(m *Model, args []string) { m.clip.SaveBuffer(0, strings.Join(args, " ")) },
	"edit-scrollback": onView(func(m *Model, v *pane.View, _ int) { m.editScrollback(v) }),
	"save-scrollback": saveScrollback,
}

// onView is a command about the focused pane's view, with a number: its argument,
// or the count that was typed before it in copy mode.
func onView(f func(m *Model, v *pane.View, n int)) action {
	return func(m *Model, args []string) {
		if _, _, v := m.panes.Focused(); v != nil {
			n := command.Number(args, 0, 1)
			if m.kb.count > 0 {
				n, m.kb.count = m.kb.count, 0
			}
			v.Separators = m.cfg.WordSeparators
			f(m, v, n)
			m.loop.Dirty |= loop.Panes | loop.Chrome
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

// goLine goes to the line of its argument or the count, else to the last one.
func goLine(m *Model, args []string) {
	onView(func(_ *Model, v *pane.View, n int) {
		if n == 0 {
			v.Move(pane.MoveHistoryBottom, 1)
			return
		}
		v.GoLine(n)
	})(m, append(args, "0"))
}

// countDigit adds a digit to the count; 0 without one goes to the line's start.
func countDigit(m *Model, args []string) {
	digit := command.Number(args, 0, 0)
	if digit == 0 && m.kb.count == 0 {
		move(pane.MoveLineStart)(m, nil)
		return
	}
	m.kb.count = min(m.kb.count*10+digit, pane.MaxCount)
	m.loop.Dirty |= loop.Chrome
}

// find goes to the character typed next.
func find(how pane.Find) action {
	return withChar("go to character", func(_ *Model, v *pane.View, n int, r rune) {
		how := how
		how.Char = r
		v.FindChar(how, n)
	})
}

func goMark(m *Model, v *pane.View, _ int, r rune) {
	if !v.GoMark(r) {
		m.loop.Say(status.Info, "mark %c is not set", r)
	}
}

// goCommand goes n commands on.
func goCommand(v *pane.View, next bool, n int) {
	for range min(n, pane.MaxCount) {
		if !v.GoCommand(next) {
			return
		}
	}
}

// linkHere does something with the link at copy mode's cursor, or the last one
// that shows.
func (m *Model) linkHere(v *pane.View, do func(*Model, string)) {
	if uri, ok := v.LinkHere(); ok {
		do(m, uri)
		return
	}
	m.loop.Say(status.Info, "there is no link here")
}

func saveScrollback(m *Model, args []string) {
	if _, _, v := m.panes.Focused(); v != nil {
		m.saveScrollback(v, strings.Join(args, " "))
	}
}

// asked is what waits for a character.
type asked struct {
	what string
	take func(m *Model, r rune)
}

// withChar is a command of copy mode about a character: its argument, or the one
// that is typed next.
func withChar(what string, f func(m *Model, v *pane.View, n int, r rune)) action {
	return func(m *Model, args []string) {
		_, _, v := m.panes.Focused()
		if v == nil {
			return
		}
		n := max(m.kb.count, 1)
		m.kb.count = 0
		m.loop.Dirty |= loop.Panes | loop.Chrome
		if len(args) > 0 {
			r, _ := utf8.DecodeRuneInString(args[0])
			f(m, v, n, r)
			return
		}
		m.kb.asked = &asked{what, func(m *Model, r rune) {
			if v.Copying() {
				f(m, v, n, r)
			}
		}}
	}
}

// answer takes the key that a command waits for; one that types nothing ends it.
func (m *Model) answer(k tea.Key) {
	take := m.kb.asked.take
	m.kb.asked = nil
	m.loop.Dirty |= loop.Panes | loop.Chrome
	if r, n := utf8.DecodeRuneInString(k.Text); n > 0 && n == len(k.Text) && k.Mod&(tea.ModCtrl|tea.ModAlt) == 0 {
		take(m, r)
	}
}

// copyState says what copy mode is at.
func (m *Model) copyState() string {
	switch {
	case m.kb.asked != nil:
		return "copy: " + m.kb.asked.what
	case m.kb.count > 0:
		return "copy " + strconv.Itoa(m.kb.count)
	}
	return "copy"
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
