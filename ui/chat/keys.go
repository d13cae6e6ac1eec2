package chat

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/ui/editor"
	"tandemux/ui/markup"
	"tandemux/ui/words"
)

// cancelTime is how long after esc another one cancels the turn.
const cancelTime = 2 * time.Second

// commands are what keys can be bound to in a chat.
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
	"chat-older":    func(c *Chat) { c.recall(-1) },
	"chat-newer":    func(c *Chat) { c.recall(1) },
	"chat-unqueue":  (*Chat).unqueue,
	"chat-edit":     (*Chat).editPrompt,
	"chat-details":  (*Chat).details,
	"chat-plan":     func(c *Chat) { c.planned = !c.planned },
	"chat-options":  (*Chat).options,
	"chat-model":    func(c *Chat) { c.option("model") },
	"chat-read":     (*Chat).Read,
	"chat-prompt":   func(c *Chat) { c.toPrompt() },
	"chat-next":     func(c *Chat) { c.step(1) },
	"chat-previous": func(c *Chat) { c.step(-1) },
	"chat-fold":     (*Chat).fold,
	"chat-copy":     (*Chat).copyHere,
	"chat-answer":   (*Chat).copyAnswer,
	"chat-code":     (*Chat).copyCode,
	"chat-terminal": (*Chat).openTerminal,
	"chat-fork":     (*Chat).fork,
	"chat-rewind":   (*Chat).rewind,
	"chat-retry":    (*Chat).retry,
	"chat-login":    (*Chat).login,
	"chat-search":   func(c *Chat) { c.do.Search(false) },

	"chat-line-up":   func(c *Chat) { c.Scroll(-1) },
	"chat-line-down": func(c *Chat) { c.Scroll(1) },
	"chat-half-up":   func(c *Chat) { c.Scroll(-max(c.view.transcript.H/2, 1)) },
	"chat-half-down": func(c *Chat) { c.Scroll(max(c.view.transcript.H/2, 1)) },
	"chat-page-up":   func(c *Chat) { c.page(-1) },
	"chat-page-down": func(c *Chat) { c.page(1) },
	"chat-top":       func(c *Chat) { c.relayout(); c.focus = stop{}; c.Scroll(-c.rows) },
	"chat-bottom":    (*Chat).Bottom,
	"chat-find-next": func(c *Chat) { c.findNext(false) },
	"chat-find-back": func(c *Chat) { c.findNext(true) },

	"chat-approve":        func(c *Chat) { c.choose("allow_once", "allowed") },
	"chat-approve-always": func(c *Chat) { c.choose("allow_always", "always allowed") },
	"chat-reject":         func(c *Chat) { c.choose("reject_once", "rejected") },
}

// Commands are the names of what Do does, sorted.
func Commands() []string {
	var names []string
	for name := range commands {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Do runs a command; it reports whether there is one of that name.
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

// Reading reports whether the transcript has the keys.
func (c *Chat) Reading() bool { return c.where == inReading }

// Type takes a key that is bound to nothing.
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
			c.formKey(k, stroke)
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

// Paste takes pasted text.
func (c *Chat) Paste(text string, now time.Time) {
	c.now, c.dirty = now, true
	if c.where == inPanel && c.form.id != "" && c.form.at < len(c.form.fields) {
		d := &c.form.fields[c.form.at]
		d.edit.Insert(text)
		d.given = true
		return
	}
	c.where = inPrompt
	c.edit.Insert(text)
	c.Bottom()
	c.edited()
}

// askKey answers the question by the key of an option.
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

// enterAsked goes on reading the question, or takes the option that was moved to.
func (c *Chat) enterAsked() {
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
}

// choose answers the question from a command.
func (c *Chat) choose(group, what string) {
	if c.asked() == nil {
		c.do.Say(false, "no tool call waits here")
	} else if !c.Answer(group) {
		c.do.Say(false, "it can't be "+what)
	}
}

// enter does what enter does where the keys are.
func (c *Chat) enter() {
	switch {
	case c.where == inReading:
		c.fold()
	case c.where == inPanel && !c.armed():
	case c.where == inPanel && c.form.id != "":
		c.formEnter()
	case c.where == inPanel:
		c.enterAsked()
	case len(c.popup.items) > 0 && c.popup.text == c.edit.String() && c.completes():
		c.accept()
	default:
		c.popup.items = nil
		c.send(false)
	}
}

// completes reports whether the chosen completion would change anything.
func (c *Chat) completes() bool {
	it := c.popup.items[c.popup.at]
	return editor.Tidy(it.InsertText) != "" && !slices.Contains([]string{c.edit.String(), c.edit.String() + " "}, it.InsertText)
}

func (c *Chat) newline() {
	if c.where == inReading {
		return
	}
	c.where = inPrompt
	c.edit.Insert("\n")
	c.edited()
}

// escape closes what is open; twice it cancels the turn.
func (c *Chat) escape() {
	again := !c.escaped.IsZero() && c.now.Sub(c.escaped) < cancelTime
	c.escaped = time.Time{}
	switch {
	case len(c.popup.items) > 0:
		c.popup.items, c.popup.closed = nil, true
		return
	case c.sel.on:
		c.sel = selection{}
		return
	case c.where == inReading:
		if c.find.text != "" {
			c.find = find{}
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
	c.do.Say(false, c.keys("chat-escape")+" again cancels the turn")
}

// interrupt is ctrl+c: it clears the prompt, or cancels the turn.
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

// tab completes, goes on in a form, or hands the keys on: to a question, to the
// transcript, back to the prompt.
func (c *Chat) tab(n int) {
	panel := c.ask.id != "" || c.form.id != ""
	switch {
	case c.where == inPrompt && len(c.popup.items) > 0:
		c.accept()
	case c.where == inPanel && c.form.id != "" && c.form.at+n >= 0 && c.form.at+n < c.form.rows():
		c.form.at += n
		if c.form.at < len(c.form.fields) {
			c.form.fields[c.form.at].cursor = 0
		}
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

// backtab goes back in a form, or takes the next of the agent's modes.
func (c *Chat) backtab() {
	if c.where == inPanel && c.form.id != "" {
		c.tab(-1)
		return
	}
	for _, o := range c.session.Options {
		if o.Category != "mode" || len(o.Choices) == 0 {
			continue
		}
		now := fmt.Sprint(c.session.Values[o.ID])
		i := slices.IndexFunc(o.Choices, func(ch ahp.AgentChoice) bool { return ch.ID == now })
		next := o.Choices[(i+1)%len(o.Choices)]
		c.do.Configure(o.ID, next.ID)
		c.do.Say(false, "mode: "+words.Line(next.Name))
		return
	}
	c.do.Say(false, "this agent has no modes")
}

// vertical moves within the prompt, among completions or options; beyond the
// prompt's ends it takes other messages.
func (c *Chat) vertical(n int) {
	switch {
	case c.where == inReading:
		c.step(n)
	case c.where == inPanel && c.form.id != "":
		c.formMove(n)
	case c.where == inPanel:
		if c.asked() != nil {
			c.ask.read.Move(n, len(c.ask.read.Options))
		}
	case len(c.popup.items) > 0:
		c.popup.moved(n)
	case !c.edit.Vertical(n):
		c.recall(n)
	}
}

// page scrolls by a page: the question where it has the keys and more than shows.
func (c *Chat) page(n int) {
	if c.where == inPanel && c.asked() != nil && !c.ask.read.Short() {
		c.ask.read.Page(n)
		return
	}
	c.Scroll(n * max(c.view.transcript.H-2, 1))
}

// Read gives the keys to the transcript.
func (c *Chat) Read() {
	c.where, c.dirty = inReading, true
	c.relayout()
	if all := c.stops(); !c.focus.on && len(all) > 0 {
		if i := c.current(all); i >= 0 {
			c.focus = all[i].stop
		}
	}
}

func (c *Chat) toPrompt() {
	c.where, c.focus, c.find, c.dirty = inPrompt, stop{}, find{}, true
	if c.edit.Empty() && (c.ask.id != "" || c.form.id != "") {
		c.where = inPanel
	}
	c.Bottom()
}

// fold folds or unfolds what the reader is at.
func (c *Chat) fold() {
	turn, at, it := c.focused()
	if it == nil {
		c.step(0)
		return
	}
	if !c.toggle(turn, at) {
		c.do.Say(false, "this does not fold")
	}
}

func (c *Chat) findNext(back bool) {
	if c.find.text == "" {
		c.do.Search(back)
		return
	}
	if note := c.FindNext(back); len(c.find.hits) == 0 {
		c.do.Say(false, note)
	}
}

// editPrompt has the prompt edited elsewhere.
func (c *Chat) editPrompt() {
	c.do.Edit(c.edit.String(), func(text string) {
		c.edit.Set(text)
		c.edited()
		c.toPrompt()
	})
}

// options offers all that can be set.
func (c *Chat) options() {
	var rows []string
	var do []func()
	for _, o := range c.session.Options {
		now := ""
		for _, ch := range o.Choices {
			if ch.ID == fmt.Sprint(c.session.Values[o.ID]) {
				now = ch.Name
			}
		}
		if o.Boolean {
			now = map[bool]string{true: "on", false: "off"}[c.session.Values[o.ID] == true]
		}
		rows = append(rows, words.Line(o.Name)+": "+words.Line(now))
		do = append(do, func() { c.set(o) })
	}
	rows = append(rows, "Ask before tools run: "+confirmText(fmt.Sprint(c.session.Values["tandemux/confirm"])))
	do = append(do, c.confirmation)
	if len(rows) == 1 {
		do[0]()
		return
	}
	c.do.Choose("Options", rows, 0, func(i int) { do[i]() })
}

// option offers the values of an option of a category.
func (c *Chat) option(category string) {
	for _, o := range c.session.Options {
		if o.Category == category {
			c.set(o)
			return
		}
	}
	c.do.Say(false, "this agent has no "+category+" to choose")
}

// set offers an option's values; what is on or off is switched.
func (c *Chat) set(o ahp.AgentOption) {
	if o.Boolean {
		c.do.Configure(o.ID, c.session.Values[o.ID] != true)
		return
	}
	var rows []string
	at := 0
	for i, ch := range o.Choices {
		text := words.Line(ch.Name)
		if d := words.Line(ch.Description); d != "" {
			text += "  " + d
		}
		rows = append(rows, text)
		if ch.ID == fmt.Sprint(c.session.Values[o.ID]) {
			at = i
		}
	}
	c.do.Choose(words.Line(o.Name), rows, at, func(i int) { c.do.Configure(o.ID, o.Choices[i].ID) })
}

// policies are when a person is asked before a tool runs.
var policies = []struct{ id, text string }{
	{ahp.ConfirmAsk, "whenever the agent asks"},
	{ahp.ConfirmReads, "not for those that only read"},
	{ahp.ConfirmAll, "never"},
}

func confirmText(id string) string {
	for _, p := range policies {
		if p.id == id {
			return p.text
		}
	}
	return policies[0].text
}

func (c *Chat) confirmation() {
	var rows []string
	at := 0
	for i, p := range policies {
		rows = append(rows, p.text)
		if p.id == c.session.Values["tandemux/confirm"] {
			at = i
		}
	}
	c.do.Choose("Ask before tools run", rows, at, func(i int) { c.do.Configure("tandemux/confirm", policies[i].id) })
}

// Click handles a press at a cell; it reports whether it was for something other
// than text.
func (c *Chat) Click(x, y int, now time.Time) bool {
	c.now = now
	v := &c.view
	switch {
	case v.popup.Contains(x, y) && len(c.popup.items) > 0:
		top := min(max(c.popup.at-v.popup.H+1, 0), max(len(c.popup.items)-v.popup.H, 0))
		if i := top + y - v.popup.Y; i < len(c.popup.items) {
			c.popup.at = i
			c.accept()
		}
	case v.panel.Contains(x, y):
		c.clickPanel(y - v.panel.Y)
	case v.prompt.Contains(x, y):
		c.where = inPrompt
		c.edit.Click(x-v.prompt.X-3, y-v.prompt.Y)
	default:
		return false
	}
	c.dirty = true
	return true
}

// clickPanel does what a line of the panel is for. A click means what it hits, so
// that no question is answered by one that was under way when it appeared.
func (c *Chat) clickPanel(row int) {
	c.where = inPanel
	if !c.armed() {
		return
	}
	for _, r := range c.view.panelRows {
		if r.line != row {
			continue
		}
		if c.asked() != nil {
			if list := c.ask.read.Options; r.at < len(list) {
				c.answer(list[r.at])
			} else {
				c.editInput()
			}
			return
		}
		if c.form.id != "" {
			c.form.at = r.at
			if r.at >= len(c.form.fields) {
				c.formEnter()
			}
		}
		return
	}
}

// Hit is what a click on the transcript means that dragged nothing: a head folds.
func (c *Chat) Hit(x, y int) {
	if !c.view.transcript.Contains(x, y) {
		return
	}
	row := c.top + y - c.view.transcript.Y
	l, p, ok := c.lineAt(row)
	if !ok {
		return
	}
	it := c.turns[p.turn].items[p.item]
	if it.foldable() && (p.row == 0 || l.Lead >= c.r.w-2) {
		c.toggle(p.turn, p.item)
		c.dirty = true
	}
}

// LinkAt is the address at a cell, "" for none.
func (c *Chat) LinkAt(x, y int) string {
	if !c.view.transcript.Contains(x, y) {
		return ""
	}
	l, _, ok := c.lineAt(c.top + y - c.view.transcript.Y)
	if !ok {
		return ""
	}
	at := c.view.text.X
	for _, r := range l.Runs {
		w := markup.Width([]markup.Run{r})
		if x >= at && x < at+w {
			return r.Link
		}
		at += w
	}
	return ""
}
