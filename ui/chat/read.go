package chat

import (
	"strings"

	"tandemux/ahp"
	"tandemux/internal/approval"
	"tandemux/ui/words"
)

// stop is what the reader is at: an item, or a block of code in it.
type stop struct {
	on   bool
	turn string
	item string
	code int // index of the block, -1 for the whole item
}

// stopAt is a stop with its rows.
type stopAt struct {
	stop
	turnAt, itemAt int
	from, to       int // rows
}

// stops are what the reader can be at, in order.
func (c *Chat) stops() []stopAt {
	var out []stopAt
	for i, v := range c.turns {
		for k, it := range v.items {
			if it.lines == 0 || it.kind == footItem || i >= len(c.starts) || k >= len(v.at) {
				continue
			}
			row := c.rowOf(i, k)
			out = append(out, stopAt{stop{true, v.id, it.id, -1}, i, k, row, row + it.lines})
			if it.md == nil || it.n == 0 || it.kind == messageItem {
				continue
			}
			first := row + len(it.head)
			for n := range it.md.Blocks() {
				if from, to := it.md.Block(n); from < it.n {
					out = append(out, stopAt{stop{true, v.id, it.id, n}, i, k, first + from, first + to})
				}
			}
		}
	}
	return out
}

// current is the stop that the reader is at, or the last that shows.
func (c *Chat) current(all []stopAt) int {
	for i, s := range all {
		if s.stop == c.focus {
			return i
		}
	}
	last := -1
	for i, s := range all {
		if s.from < c.top+c.view.transcript.H && s.code < 0 {
			last = i
		}
	}
	return last
}

// step goes to the nth stop from here and brings it into view.
func (c *Chat) step(n int) {
	c.relayout()
	all := c.stops()
	if len(all) == 0 {
		return
	}
	i := c.current(all)
	if c.focus.on && i >= 0 && all[i].stop == c.focus {
		i = min(max(i+n, 0), len(all)-1)
	}
	c.visit(all[max(i, 0)])
}

// visit goes to a stop.
func (c *Chat) visit(s stopAt) {
	c.focus, c.where, c.dirty = s.stop, inReading, true
	h := max(c.view.transcript.H, 1)
	switch {
	case s.from < c.top:
		c.scrollTo(s.from)
	case s.to > c.top+h:
		c.scrollTo(min(s.from, s.to-h))
	}
}

// focused gives the item that the reader is at, nil for none.
func (c *Chat) focused() (turn, at int, it *item) {
	for i, v := range c.turns {
		if v.id != c.focus.turn || !c.focus.on {
			continue
		}
		for k, it := range v.items {
			if it.id == c.focus.item {
				return i, k, it
			}
		}
	}
	return 0, 0, nil
}

// toggle folds an item or unfolds it.
func (c *Chat) toggle(turn, at int) bool {
	it := c.turns[turn].items[at]
	if !it.foldable() {
		return false
	}
	a, ok := c.anchor()
	open := !it.unfolded(&c.r)
	it.open = &open
	c.open[c.turns[turn].id+"/"+it.id] = open
	c.touch(turn, at)
	c.layout()
	c.restore(a, ok)
	return true
}

// details folds or unfolds everything.
func (c *Chat) details() {
	a, ok := c.anchor()
	c.r.details = !c.r.details
	clear(c.open)
	for i, v := range c.turns {
		for k, it := range v.items {
			if it.open = nil; it.foldable() {
				c.touch(i, k)
			}
		}
	}
	c.layout()
	c.restore(a, ok)
}

// copied is the text that the reader is at, and what it is.
func (c *Chat) copied() (text, what string) {
	_, _, it := c.focused()
	if it == nil {
		return "", ""
	}
	if c.focus.code >= 0 && it.md != nil && c.focus.code < it.md.Blocks() {
		return it.md.CodeText(c.focus.code), "the code"
	}
	switch it.kind {
	case messageItem:
		return it.md.Source(), "the message"
	case answerItem:
		return it.md.Source(), "the text"
	case thoughtItem:
		return it.md.Source(), "the thought"
	case toolItem:
		return c.toolText(it), "what the tool gave"
	}
	var b strings.Builder
	for i := range it.lines {
		b.WriteString(it.line(i).Text() + "\n")
	}
	return b.String(), "the text"
}

// toolText is what a tool call gave, as text.
func (c *Chat) toolText(it *item) string {
	var b strings.Builder
	for _, k := range it.call.Content {
		switch k.Type {
		case ahp.ContentText:
			b.WriteString(k.Text)
		case ahp.ContentTerminal:
			if s := c.screen(k.Resource); s != nil {
				for _, row := range s.Tail(mostRows) {
					b.WriteString(cellText(row) + "\n")
				}
			}
		case ahp.ContentFileEdit:
			for _, h := range approval.EditOf(k.Before, k.After, k.Diff).Hunks {
				b.WriteString(strings.Join(h.Lines, "\n") + "\n")
			}
		}
	}
	if b.Len() == 0 {
		if in, ok := ahp.InputText(it.call.ToolInput); ok {
			return in
		}
		return callTitle(it.call)
	}
	return b.String()
}

func (c *Chat) screen(uri ahp.URI) Screen {
	if c.do.Screen == nil || uri == "" {
		return nil
	}
	return c.do.Screen(uri)
}

// copyAnswer copies all that the agent said in the turn that the reader is at, or
// in the last one.
func (c *Chat) copyAnswer() {
	turn, _, it := c.focused()
	if it == nil {
		if turn = len(c.turns) - 1; turn < 0 {
			c.do.Say(false, "there is nothing to copy yet")
			return
		}
	}
	var parts []string
	for _, it := range c.turns[turn].items {
		if it.kind == answerItem {
			parts = append(parts, strings.TrimSpace(it.md.Source()))
		}
	}
	if len(parts) == 0 {
		c.do.Say(false, "there is no answer to copy")
		return
	}
	c.do.Copy(strings.Join(parts, "\n\n")+"\n", "the answer")
}

// copyHere copies what the reader is at; from the prompt the last block of code, or
// else the last answer.
func (c *Chat) copyHere() {
	if text := c.selected(); text != "" {
		c.do.Copy(text, "the selection")
		return
	}
	if c.where == inReading && c.focus.on {
		if text, what := c.copied(); text != "" {
			c.do.Copy(text, what)
		}
		return
	}
	c.copyAnswer()
}

// copyCode copies the last block of code.
func (c *Chat) copyCode() {
	c.relayout()
	all := c.stops()
	for i := len(all) - 1; i >= 0; i-- {
		if s := all[i]; s.code >= 0 {
			c.do.Copy(c.turns[s.turnAt].items[s.itemAt].md.CodeText(s.code), "the code")
			return
		}
	}
	c.do.Say(false, "there is no code here")
}

// openTerminal shows the terminal of the tool call that the reader is at, or of the
// last one.
func (c *Chat) openTerminal() {
	if _, _, it := c.focused(); c.where == inReading && it != nil {
		if uri := terminalOf(it.call); uri != "" {
			c.do.Open(uri)
			return
		}
	}
	for i := len(c.turns) - 1; i >= 0; i-- {
		for k := len(c.turns[i].items) - 1; k >= 0; k-- {
			if uri := terminalOf(c.turns[i].items[k].call); uri != "" {
				c.do.Open(uri)
				return
			}
		}
	}
	c.do.Say(false, "no tool call here has a terminal")
}

// chosenTurn is the turn that the reader is at, or the last.
func (c *Chat) chosenTurn() (at int, ok bool) {
	at, _, it := c.focused()
	if it == nil {
		at = len(c.turns) - 1
	}
	return at, at >= 0
}

// fork makes a chat of the turns up to the one that the reader is at.
func (c *Chat) fork() {
	at, ok := c.chosenTurn()
	switch {
	case !c.session.Fork:
		c.do.Say(false, "this agent can't begin a chat from another one")
	case !ok || c.turns[at].active():
		c.do.Say(false, "there is no finished turn to fork from")
	default:
		c.do.Fork(c.turns[at].id)
	}
}

// rewind forgets the turn that the reader is at and what follows; its message goes
// back into the prompt.
func (c *Chat) rewind() {
	at, ok := c.chosenTurn()
	if !ok {
		c.do.Say(false, "there is no turn to go back to")
		return
	}
	if c.state.ActiveTurn != nil {
		c.do.Say(false, "a turn runs: cancel it first")
		return
	}
	a := ahp.ChatTruncated{}
	if at > 0 {
		a.TurnID = c.turns[at-1].id
	} else if c.state.TurnsNextCursor != "" {
		c.do.Say(false, "load older messages first")
		return
	}
	text := c.turns[at].turn.Message.Text
	if !c.do.Dispatch(a) {
		return
	}
	c.edit.Set(text)
	c.attach = append(c.attach, c.turns[at].turn.Message.Attachments...)
	c.focus, c.where = stop{}, inPrompt
	c.edited()
	c.Bottom()
}

// retry goes on with a turn that failed or was cancelled: where the host can, with
// the turn itself, else with its message.
func (c *Chat) retry() {
	n := len(c.state.Turns)
	if n == 0 || c.state.ActiveTurn != nil || c.state.Turns[n-1].State == ahp.TurnComplete {
		c.do.Say(false, "the last turn did not fail")
		return
	}
	t := c.state.Turns[n-1]
	if c.state.Resumable(t.ID) {
		c.do.Dispatch(ahp.ChatTurnResume{TurnID: t.ID})
		return
	}
	m := t.Message
	m.Origin = ahp.MessageOrigin{Kind: ahp.OriginUser}
	if c.do.Dispatch(ahp.ChatTurnStarted{TurnID: c.do.NewID("turn"), Message: m}) {
		c.Bottom()
	}
}

// login offers the ways to log in that the last error named.
func (c *Chat) login() {
	ways := c.Ways()
	if len(ways) == 0 {
		c.do.Say(false, "the agent asks for no login")
		return
	}
	if len(ways) == 1 {
		c.do.Login(ways[0])
		return
	}
	var rows []string
	for _, w := range ways {
		rows = append(rows, words.Line(w.Name))
	}
	c.do.Choose("Log in", rows, 0, func(i int) { c.do.Login(ways[i]) })
}
