package chat

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/ui/editor"
	"tandemux/ui/transcript"
)

// cancelTime is how soon a second esc cancels the turn.
const cancelTime = 2 * time.Second

// commands is the commands that keys can be bound to in a chat. Those without "chat-" do what
// they do elsewhere.
var commands = map[string]func(c *Chat){
	"chat-send":     (*Chat).enter,
	"chat-newline":  func(c *Chat) { c.newline() },
	"chat-steer":    func(c *Chat) { c.send(true) },
	"chat-escape":   (*Chat).escape,
	"chat-cancel":   (*Chat).interrupt,
	"chat-tab":      func(c *Chat) { c.tab(1) },
	"chat-mode":     (*Chat).backtab,
	"chat-up":       func(c *Chat) { c.vertical(-1) },
	"chat-down":     func(c *Chat) { c.vertical(1) },
	"chat-unqueue":  (*Chat).unqueue,
	"chat-edit":     (*Chat).editPrompt,
	"chat-plan":     func(c *Chat) { c.planned = !c.planned },
	"chat-options":  func(c *Chat) { c.settings().all() },
	"chat-model":    func(c *Chat) { c.settings().choose("model") },
	"chat-prompt":   func(c *Chat) { c.toPrompt() },
	"chat-next":     func(c *Chat) { c.step(1) },
	"chat-previous": func(c *Chat) { c.step(-1) },
	"chat-fold":     (*Chat).fold,
	"chat-code":     (*Chat).copyCode,
	"chat-terminal": (*Chat).openTerminal,
	"chat-fork":     (*Chat).fork,
	"chat-rewind":   (*Chat).rewind,
	"chat-retry":    (*Chat).retry,
	"chat-login":    (*Chat).login,

	"copy-mode":      (*Chat).Read,
	"copy-output":    (*Chat).copyAnswer,
	"copy-selection": (*Chat).copyHere,
	"fold-output":    func(c *Chat) { c.Details() },

	"search":          func(c *Chat) { c.do.Search(false) },
	"search-back":     func(c *Chat) { c.do.Search(true) },
	"search-next":     func(c *Chat) { c.findNext(false) },
	"search-previous": func(c *Chat) { c.findNext(true) },

	"scroll-up":        func(c *Chat) { c.Scroll(-1) },
	"scroll-down":      func(c *Chat) { c.Scroll(1) },
	"scroll-half-up":   func(c *Chat) { c.Scroll(-max(c.Height()/2, 1)) },
	"scroll-half-down": func(c *Chat) { c.Scroll(max(c.Height()/2, 1)) },
	"scroll-page-up":   func(c *Chat) { c.page(-1) },
	"scroll-page-down": func(c *Chat) { c.page(1) },
	"scroll-top":       func(c *Chat) { c.Unfocus(); c.Scroll(-1 << 30) },
	"scroll-bottom":    func(c *Chat) { c.Bottom() },
}

// Do runs a command. It reports whether the chat has it.
func (c *Chat) Do(command string, now time.Time) bool {
	f, ok := commands[command]
	if !ok {
		return false
	}
	c.now, c.dirty = now, true
	if command != "chat-escape" {
		c.escaped = time.Time{}
	}
	f(c)
	return true
}

// Reading reports whether the transcript gets the keys.
func (c *Chat) Reading() bool { return c.where == inReading }

// Type takes an unbound key.
func (c *Chat) Type(k tea.Key, now time.Time) {
	c.now, c.dirty, c.escaped = now, true, time.Time{}
	stroke := editor.Stroke(k)
	switch c.where {
	case inReading:
		return
	case inPanel:
		if !c.armed() {
			break
		}
		if c.form.id != "" {
			if c.form.key(k, stroke) {
				c.enterForm()
			}
			return
		}
		if c.askKey(stroke) {
			return
		}
	}
	was := c.edit.String()
	if !c.edit.Key(k) {
		return
	}
	if c.where == inPanel && !c.edit.Empty() {
		c.where = inPrompt
	}
	c.Bottom()
	if c.edit.String() != was {
		c.history.at = len(c.history.texts)
		c.popup.closed = c.popup.closed && c.completing()
		c.edited()
	}
}

func (c *Chat) Paste(text string, now time.Time) {
	c.now, c.dirty = now, true
	if d := c.form.field(); c.where == inPanel && c.form.id != "" && d != nil {
		d.edit.Insert(text)
		d.given = true
		return
	}
	c.where = inPrompt
	c.edit.Insert(text)
	c.Bottom()
	c.edited()
}

// askKey takes a key for the question: an option's key, a blank to page, or e to edit. It reports
// whether it was one.
func (c *Chat) askKey(stroke string) bool {
	t := c.asked()
	if t == nil {
		return false
	}
	if o, ok := c.ask.read.Find(stroke); ok {
		c.answer(o)
		return true
	}
	if stroke == " " || stroke == "space" {
		c.ask.read.Page(1)
		return true
	}
	if stroke == "e" && t.Editable != nil && *t.Editable {
		c.editInput()
		return true
	}
	return false
}

// enter handles the enter key in each part of the chat.
func (c *Chat) enter() {
	switch {
	case c.where == inReading:
		c.fold()
	case c.where == inPanel && !c.armed():
	case c.where == inPanel && c.form.id != "":
		c.enterForm()
	case c.where == inPanel:
		r := c.ask.read
		switch {
		case c.asked() == nil:
		case !r.Whole():
			r.Page(1)
		case r.At >= 0:
			c.answer(r.Options[r.At])
		default:
			c.do.Say(false, "choose an answer: a key, or the arrows")
		}
	case len(c.popup.items) > 0 && c.popup.text == c.edit.String() && c.completes():
		c.accept()
	default:
		c.popup.items = nil
		c.send(false)
	}
}

func (c *Chat) newline() {
	if c.where == inReading {
		return
	}
	c.where = inPrompt
	c.edit.Insert("\n")
	c.edited()
}

// escape closes what is open. If nothing is, the second escape cancels the turn.
func (c *Chat) escape() {
	again := !c.escaped.IsZero() && c.now.Sub(c.escaped) < cancelTime
	c.escaped = time.Time{}
	switch {
	case len(c.popup.items) > 0:
		c.popup.items, c.popup.closed = nil, true
		return
	case c.Unselect():
		return
	case c.where == inReading:
		if c.Finding() != "" {
			c.Find("", false)
			return
		}
		c.toPrompt()
		return
	}
	if _, works := c.Working(); !works {
		return
	}
	if again {
		c.cancel()
		return
	}
	c.escaped = c.now
	c.do.Say(false, c.do.Keys("chat-escape")+" again cancels the turn")
}

// interrupt handles ctrl+c: it clears the prompt, or cancels the turn.
func (c *Chat) interrupt() {
	switch {
	case c.where == inReading:
		c.toPrompt()
	case !c.edit.Empty():
		c.edit.Set("")
		c.attach = nil
		c.history.at = len(c.history.texts)
		c.edited()
	default:
		if _, works := c.Working(); works {
			c.cancel()
			return
		}
		c.do.Say(false, "no turn runs")
	}
}

func (c *Chat) cancel() {
	if c.state.ActiveTurn != nil {
		c.do.Dispatch(ahp.ChatTurnCancelled{TurnID: c.state.ActiveTurn.ID})
	}
}

// tab completes, goes to the next field of a form, or moves the keys: to a question, to the
// transcript, back to the prompt.
func (c *Chat) tab(n int) {
	panel := c.ask.id != "" || c.form.id != ""
	switch {
	case c.where == inPrompt && len(c.popup.items) > 0:
		c.accept()
	case c.where == inPanel && c.form.id != "" && c.form.at+n >= 0 && c.form.at+n < c.form.rows():
		c.form.visit(c.form.at + n)
	case c.where == inPanel:
		c.where = inPrompt
	case c.where == inPrompt && panel:
		c.where = inPanel
	case c.where == inPrompt:
		c.Read()
	default:
		c.toPrompt()
	}
}

// backtab goes to the previous field of a form, or selects the agent's next mode.
func (c *Chat) backtab() {
	if c.where == inPanel && c.form.id != "" {
		c.tab(-1)
		return
	}
	c.settings().nextMode()
}

// vertical moves the cursor up or down in the prompt, completions, options or the transcript.
// Beyond the prompt's ends it recalls other messages.
func (c *Chat) vertical(n int) {
	switch {
	case c.where == inReading:
		c.step(n)
	case c.where == inPanel && c.form.id != "":
		c.form.move(n)
	case c.where == inPanel:
		if c.asked() != nil {
			c.ask.read.Move(n, len(c.ask.read.Options))
		}
	case len(c.popup.items) > 0:
		c.popup.at = (c.popup.at + n + len(c.popup.items)) % len(c.popup.items)
	case !c.edit.Vertical(n):
		c.recall(n)
	}
}

// page scrolls by a page: the question if it has the keys and doesn't fit, else the transcript.
func (c *Chat) page(n int) {
	if c.where == inPanel && c.asked() != nil && !c.ask.read.Short() {
		c.ask.read.Page(n)
		return
	}
	c.Scroll(n * max(c.Height()-2, 1))
}

// Read moves the keys to the transcript.
func (c *Chat) Read() {
	c.where = inReading
	c.Focus()
}

func (c *Chat) toPrompt() {
	c.where = inPrompt
	c.Find("", false)
	if c.edit.Empty() && (c.ask.id != "" || c.form.id != "") {
		c.where = inPanel
	}
	c.Bottom()
}

// fold folds or unfolds the focused piece of the transcript.
func (c *Chat) fold() {
	if !c.Focused() {
		c.step(0)
	} else if !c.Toggle() {
		c.do.Say(false, "this does not fold")
	}
}

// step moves the focus n pieces on in the transcript.
func (c *Chat) step(n int) {
	if c.Step(n) {
		c.where = inReading
	}
}

func (c *Chat) findNext(back bool) {
	if c.Finding() == "" {
		c.do.Search(back)
		return
	}
	if note := c.FindNext(back); note == transcript.NoMatch {
		c.do.Say(false, note)
	}
}

// editPrompt has the prompt edited in an editor.
func (c *Chat) editPrompt() {
	c.do.Edit(c.edit.String(), func(text string) {
		c.edit.Set(text)
		c.edited()
		c.toPrompt()
	})
}
