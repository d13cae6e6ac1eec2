package copying

import (
	"maps"
	"strconv"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandemux/ui/clipboard"
	"tandemux/ui/command"
	"tandemux/ui/link"
	"tandemux/ui/loop"
	"tandemux/ui/outer"
	"tandemux/ui/pane"
	"tandemux/ui/panes"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
)

// Desk is what copying has the machine that it runs on do. Copying starts no process and writes
// no file itself. The methods are called outside of the event loop.
type Desk interface {
	// Open opens an address with the person's program for it, and returns when that was started.
	// Addresses come from programs, so it refuses those that could do more than show something.
	Open(uri string) error
	// Edit writes text to a file that only this user can read. It returns the command that edits
	// the file from a line on, counted from 1, and then removes it.
	Edit(text string, line int) (argv []string, err error)
	// EditFile returns the command that edits a file on the host's machine, from a line on; 0
	// means none. ~ is the home directory there.
	EditFile(path string, line int) (argv []string, err error)
	// Lend writes text to a file that only this user can read. back removes it.
	Lend(text string) (path string, back func(), err error)
	// Save writes text to a new file; ~ is the home directory. It returns the file's full name.
	Save(path, text string) (full string, err error)
}

// Copying is scrolling, copy mode, searching, links, and the commands that shells have run.
type Copying struct {
	Separators    string // the characters that separate words, besides blanks
	LeaveSelected bool   // selecting with the mouse doesn't copy

	loop  *loop.Loop
	link  *link.Link
	panes *panes.Panes
	outer *outer.Terminal
	clip  *clipboard.Clipboard
	desk  Desk // may be nil
	may   func(t *terminals.Terminal) bool

	count int    // the count typed in copy mode before a command, 0 for none
	asked *asked // what waits for a character, nil if nothing does
}

// New makes a Copying. desk may be nil. mayType reports whether the person may type into a
// terminal, and if not says why.
func New(l *loop.Loop, lk *link.Link, ps *panes.Panes, o *outer.Terminal, c *clipboard.Clipboard, desk Desk, mayType func(t *terminals.Terminal) bool) *Copying {
	return &Copying{loop: l, link: lk, panes: ps, outer: o, clip: c, desk: desk, may: mayType}
}

// Asks reports whether a command waits for a character.
func (cp *Copying) Asks() bool { return cp.asked != nil }

// Ran resets the count after a command that doesn't use it.
func (cp *Copying) Ran(command string) {
	if cp.count > 0 && command != "copy-count" {
		cp.count = 0
		cp.loop.Dirty |= loop.Chrome
	}
}

// Commands returns the commands about what terminals show, by name.
func (cp *Copying) Commands() map[string]command.Do {
	all := command.Bind(cp, copyActions)
	maps.Copy(all, command.Bind(cp, shellActions))
	return all
}

// action is what a command does. It is called only if the command can run now.
type action = func(cp *Copying, args []string)

var copyActions = map[string]action{
	"hints":     func(cp *Copying, args []string) { cp.hints(args) },
	"copy-mode": onView(func(cp *Copying, v *pane.View, _ int) { v.EnterCopy() }),
	"copy-escape": onView(func(cp *Copying, v *pane.View, _ int) {
		if !v.Unselect() {
			v.Follow()
		}
	}),
	"copy-exit": onView(func(cp *Copying, v *pane.View, _ int) { v.Follow() }),

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
	"copy-view-top":       onView(func(_ *Copying, v *pane.View, _ int) { v.Recentre(pane.AtTop) }),
	"copy-view-middle":    onView(func(_ *Copying, v *pane.View, _ int) { v.Recentre(pane.AtMiddle) }),
	"copy-view-bottom":    onView(func(_ *Copying, v *pane.View, _ int) { v.Recentre(pane.AtBottom) }),
	"copy-go-line":        goLine,

	"copy-count":        countDigit,
	"copy-find":         findChar(pane.Find{}),
	"copy-find-back":    findChar(pane.Find{Back: true}),
	"copy-till":         findChar(pane.Find{Till: true}),
	"copy-till-back":    findChar(pane.Find{Back: true, Till: true}),
	"copy-find-again":   onView(func(_ *Copying, v *pane.View, n int) { v.FindAgain(n, false) }),
	"copy-find-reverse": onView(func(_ *Copying, v *pane.View, n int) { v.FindAgain(n, true) }),
	"copy-set-mark":     withChar("mark", func(_ *Copying, v *pane.View, _ int, r rune) { v.SetMark(r) }),
	"copy-go-mark": withChar("go to mark", func(cp *Copying, v *pane.View, _ int, r rune) {
		if !v.GoMark(r) {
			cp.loop.Say(status.Info, "mark %c is not set", r)
		}
	}),
	"copy-other-end":    onView(func(_ *Copying, v *pane.View, _ int) { v.OtherEnd() }),
	"copy-select":       onView(func(cp *Copying, v *pane.View, _ int) { v.Mark(pane.Chars) }),
	"copy-select-lines": onView(func(cp *Copying, v *pane.View, _ int) { v.Mark(pane.Lines) }),
	"copy-select-block": onView(func(cp *Copying, v *pane.View, _ int) { v.Mark(pane.Block) }),
	"copy-select-clear": onView(func(cp *Copying, v *pane.View, _ int) { v.Unselect() }),
	"copy-yank":         onView(func(cp *Copying, v *pane.View, _ int) { cp.clip.CopyText(v.SelectedText()); v.Follow() }),
	"copy-selection":    onView(func(cp *Copying, v *pane.View, _ int) { cp.clip.CopyText(v.SelectedText()) }),
	"copy-open-link":    onView(func(cp *Copying, v *pane.View, _ int) { cp.linkHere(v, (*Copying).OpenLink) }),
	"copy-link":         onView(func(cp *Copying, v *pane.View, _ int) { cp.linkHere(v, (*Copying).CopyLink) }),

	"search":           searchFor(false),
	"search-back":      searchFor(true),
	"search-next":      onView(func(cp *Copying, v *pane.View, n int) { cp.searchNext(v, false, n) }),
	"search-previous":  onView(func(cp *Copying, v *pane.View, n int) { cp.searchNext(v, true, n) }),
	"search-word":      onView(func(cp *Copying, v *pane.View, _ int) { cp.searchWord(v, false) }),
	"search-word-back": onView(func(cp *Copying, v *pane.View, _ int) { cp.searchWord(v, true) }),

	"history":    func(cp *Copying, _ []string) { cp.history() },
	"search-all": func(cp *Copying, args []string) { cp.searchAll(args) },

	"paste-buffer":    func(cp *Copying, _ []string) { cp.clip.Paste(0) },
	"choose-buffer":   func(cp *Copying, _ []string) { cp.clip.Choose() },
	"delete-buffer":   func(cp *Copying, _ []string) { cp.clip.Forget() },
	"save-buffer":     func(cp *Copying, args []string) { cp.clip.SaveBuffer(0, args) },
	"edit-scrollback": onView(func(cp *Copying, v *pane.View, _ int) { cp.edit(v) }),
	"save-scrollback": saveScrollback,
}

// searchFor makes a command that searches for its argument, or asks for a pattern.
func searchFor(back bool) action {
	return func(cp *Copying, args []string) {
		onView(func(cp *Copying, v *pane.View, _ int) {
			if len(args) > 0 {
				cp.lookFor(v, args[0], back)
				return
			}
			cp.search(v, back)
		})(cp, nil)
	}
}

// onView makes a command of a function of the focused pane's view and a number: the argument, or
// the count typed in copy mode.
func onView(f func(cp *Copying, v *pane.View, n int)) action {
	return func(cp *Copying, args []string) {
		if _, _, v := cp.panes.Focused(); v != nil {
			n := command.Number(args, 0, 1)
			if cp.count > 0 {
				n, cp.count = cp.count, 0
			}
			v.Separators = cp.Separators
			f(cp, v, n)
			cp.loop.Dirty |= loop.Panes | loop.Chrome
		}
	}
}

// scroll makes a command that moves copy mode's cursor, or scrolls the view outside copy mode.
func scroll(motion pane.Motion, lines func(*pane.View) int) action {
	return onView(func(cp *Copying, v *pane.View, n int) {
		if v.Copying() {
			v.Move(motion, n)
			return
		}
		v.Scroll(lines(v) * n)
	})
}

func move(motion pane.Motion) action {
	return onView(func(cp *Copying, v *pane.View, n int) { v.Move(motion, n) })
}

// goLine goes to the line of its argument or the count, else to the last line.
func goLine(cp *Copying, args []string) {
	onView(func(_ *Copying, v *pane.View, n int) {
		if n == 0 {
			v.Move(pane.MoveHistoryBottom, 1)
			return
		}
		v.GoLine(n)
	})(cp, append(args, "0"))
}

// countDigit adds a digit to the count. A 0 as first digit goes to the line's start.
func countDigit(cp *Copying, args []string) {
	digit := command.Number(args, 0, 0)
	if digit == 0 && cp.count == 0 {
		move(pane.MoveLineStart)(cp, nil)
		return
	}
	cp.count = min(cp.count*10+digit, pane.MaxCount)
	cp.loop.Dirty |= loop.Chrome
}

// findChar makes a command that goes to the next typed character.
func findChar(how pane.Find) action {
	return withChar("go to character", func(_ *Copying, v *pane.View, n int, r rune) {
		how := how
		how.Char = r
		v.FindChar(how, n)
	})
}

// goCommand goes over n commands.
func goCommand(v *pane.View, next bool, n int) {
	for range min(n, pane.MaxCount) {
		if !v.GoCommand(next) {
			return
		}
	}
}

// linkHere calls do with the link at copy mode's cursor, else with the last visible link.
func (cp *Copying) linkHere(v *pane.View, do func(*Copying, string)) {
	if uri, ok := v.LinkHere(); ok {
		do(cp, uri)
		return
	}
	cp.loop.Say(status.Info, "there is no link here")
}

// asked is a command that waits for a character.
type asked struct {
	what string
	take func(cp *Copying, r rune)
}

// withChar makes a copy-mode command of a function of a character: the argument, or the next
// typed one.
func withChar(what string, f func(cp *Copying, v *pane.View, n int, r rune)) action {
	return func(cp *Copying, args []string) {
		_, _, v := cp.panes.Focused()
		if v == nil {
			return
		}
		n := max(cp.count, 1)
		cp.count = 0
		cp.loop.Dirty |= loop.Panes | loop.Chrome
		if len(args) > 0 {
			r, _ := utf8.DecodeRuneInString(args[0])
			f(cp, v, n, r)
			return
		}
		cp.asked = &asked{what, func(cp *Copying, r rune) {
			if v.Copying() {
				f(cp, v, n, r)
			}
		}}
	}
}

// Answer gives a key to the command that waits for one. A key without text cancels the command.
func (cp *Copying) Answer(k tea.Key) {
	take := cp.asked.take
	cp.asked = nil
	cp.loop.Dirty |= loop.Panes | loop.Chrome
	if r, n := utf8.DecodeRuneInString(k.Text); n > 0 && n == len(k.Text) && k.Mod&(tea.ModCtrl|tea.ModAlt) == 0 {
		take(cp, r)
	}
}

// State describes copy mode for the status line.
func (cp *Copying) State() string {
	switch {
	case cp.asked != nil:
		return "copy: " + cp.asked.what
	case cp.count > 0:
		return "copy " + strconv.Itoa(cp.count)
	}
	return "copy"
}
