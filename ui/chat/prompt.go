package chat

import (
	"slices"
	"strings"
	"unicode/utf16"

	"tandemux/ahp"
	"tandemux/ui/editor"
	"tandemux/ui/words"
)

// prompt is the message being written, with its history and completions.
type prompt struct {
	edit    editor.Text
	attach  []ahp.Attachment // attachments that the text may name
	changed bool             // the host doesn't have the present draft
	history history
	popup   popup
	// lookUp asks for completions at an offset in UTF-16 units.
	lookUp func(text string, offset int)
}

// history is the person's messages, the newest last.
type history struct {
	texts []string
	at    int // index in texts; len(texts) is the draft
	draft string
}

// maxHistory is how many messages are remembered.
const maxHistory = 500

func (h *history) add(m ahp.Message) {
	if m.Origin.Kind != "" && m.Origin.Kind != ahp.OriginUser {
		return
	}
	h.put(m.Text)
}

func (h *history) put(text string) {
	if text = editor.Tidy(text); strings.TrimSpace(text) == "" || len(h.texts) > 0 && h.texts[len(h.texts)-1] == text {
		h.at = len(h.texts)
		return
	}
	h.texts = append(h.texts, text)
	if len(h.texts) > maxHistory {
		h.texts = h.texts[1:]
	}
	h.at = len(h.texts)
}

// recall puts the message n places further in the history into the prompt.
func (p *prompt) recall(n int) {
	h := &p.history
	to := h.at + n
	if to < 0 || to > len(h.texts) {
		return
	}
	if h.at == len(h.texts) {
		h.draft = p.edit.String()
	}
	h.at = to
	text := h.draft
	if to < len(h.texts) {
		text = h.texts[to]
	}
	p.edit.Set(text)
	p.edited()
}

func (p *prompt) edited() {
	p.changed = true
	p.suggest()
}

// takeDraft shows another client's draft.
func (p *prompt) takeDraft(m *ahp.Message) {
	text := ""
	if m != nil {
		text = m.Text
		p.attach = slices.Clone(m.Attachments)
	}
	if text = editor.Tidy(text); text != p.edit.String() {
		p.edit.Set(text)
	}
}

// Draft returns the action that sends the draft to the host. changed is false if the host has it.
func (c *Chat) Draft() (a ahp.ChatDraftChanged, changed bool) {
	if !c.changed || !c.ready {
		return a, false
	}
	c.changed = false
	if text := c.edit.String(); strings.TrimSpace(text) != "" {
		a.Draft = new(c.message(text))
	}
	if a.Draft == nil && c.state.Draft == nil {
		return a, false
	}
	return a, true
}

// Unsent reports whether Draft has something to send.
func (c *Chat) Unsent() bool { return c.changed && c.ready }

// message returns a message with the attachments that its text names.
func (p *prompt) message(text string) ahp.Message {
	m := ahp.Message{Text: text, Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}
	for _, a := range p.attach {
		named := func(o ahp.Attachment) bool { return o.Label == a.Label }
		if strings.Contains(text, "@"+a.Label) && !slices.ContainsFunc(m.Attachments, named) {
			m.Attachments = append(m.Attachments, a)
		}
	}
	return m
}

// send sends the prompt: as a new turn, or while a turn runs to the queue, or with steer into the
// turn.
func (c *Chat) send(steer bool) {
	text := strings.TrimRight(c.edit.String(), " \n")
	if strings.TrimSpace(text) == "" {
		return
	}
	if c.gone != nil || !c.ready {
		c.do.Say(true, "the chat is not there yet")
		return
	}
	m := c.message(text)
	var a ahp.Action = ahp.ChatTurnStarted{TurnID: c.do.NewID("turn"), Message: m}
	if c.state.ActiveTurn != nil {
		p := ahp.ChatPendingMessageSet{Kind: ahp.PendingQueued, ID: c.do.NewID("message"), Message: m}
		if steer {
			p.Kind = ahp.PendingSteering
		}
		a = p
	}
	if !c.do.Dispatch(a) {
		c.do.Say(true, "not sent: the host does not answer")
		return
	}
	if steer && c.state.ActiveTurn != nil && !c.session.Steer {
		c.do.Say(false, "this agent takes it when its turn has ended; "+c.do.Keys("chat-escape")+" twice ends that now")
	}
	c.history.put(text)
	c.edit.Reset()
	c.attach = nil
	c.edited()
	c.Bottom()
	c.where = inPrompt
}

// unqueue moves the message that was queued last back into the prompt.
func (c *Chat) unqueue() {
	kind, p := ahp.PendingQueued, (*ahp.PendingMessage)(nil)
	if n := len(c.state.QueuedMessages); n > 0 {
		p = &c.state.QueuedMessages[n-1]
	} else if c.state.SteeringMessage != nil {
		kind, p = ahp.PendingSteering, c.state.SteeringMessage
	}
	if p == nil {
		c.do.Say(false, "no message is queued")
		return
	}
	if c.do.Dispatch(ahp.ChatPendingMessageRemoved{Kind: kind, ID: p.ID}) {
		text := p.Message.Text
		if now := c.edit.String(); strings.TrimSpace(now) != "" {
			text += "\n" + now
		}
		c.edit.Set(text)
		c.attach = append(c.attach, p.Message.Attachments...)
		c.edited()
	}
}

// popup is the completions of the word at the cursor.
type popup struct {
	items  []ahp.CompletionItem
	at     int
	text   string // the text that they are for
	offset int
	asked  bool // an answer is awaited
	again  bool // the text has changed since it was asked for
	closed bool // esc has closed it for this word
}

// maxPopup is how many completions show at once.
const maxPopup = 8

// completing reports whether the word before the cursor can be completed.
func (p *prompt) completing() bool {
	before := p.edit.Before()
	word := before[strings.LastIndexAny(before, " \n")+1:]
	return strings.HasPrefix(word, "@") || strings.HasPrefix(before, "/") && !strings.ContainsAny(before, " \n")
}

// suggest asks for completions of the word at the cursor.
func (p *prompt) suggest() {
	if !p.completing() || p.history.at < len(p.history.texts) {
		p.popup.items, p.popup.closed, p.popup.again = nil, false, false
		return
	}
	if p.popup.asked {
		p.popup.again = true
		return
	}
	if p.popup.closed {
		return
	}
	p.popup.asked = true
	p.lookUp(p.edit.String(), len(utf16.Encode([]rune(p.edit.Before()))))
}

// Offer takes the answer to Actions.Complete.
func (c *Chat) Offer(items []ahp.CompletionItem, text string, offset int) {
	p := &c.popup
	p.asked = false
	if p.again {
		p.again = false
		c.suggest()
	}
	c.dirty = true
	if text != c.edit.String() || p.closed || !c.completing() {
		return
	}
	p.items, p.text, p.offset, p.at = items, text, offset, 0
	if len(items) == 1 && items[0].InsertText == text {
		p.items = nil
	}
}

// completes reports whether the chosen completion would change anything.
func (p *prompt) completes() bool {
	it := p.popup.items[p.popup.at]
	return editor.Tidy(it.InsertText) != "" && !slices.Contains([]string{p.edit.String(), p.edit.String() + " "}, it.InsertText)
}

// accept inserts the chosen completion.
func (p *prompt) accept() {
	if p.popup.at >= len(p.popup.items) {
		return
	}
	item := p.popup.items[p.popup.at]
	from, to := p.popup.offset, p.popup.offset
	if item.RangeStart != nil && item.RangeEnd != nil {
		from, to = *item.RangeStart, *item.RangeEnd
	}
	units := utf16.Encode([]rune(p.edit.String()))
	if from < 0 || to < from || to > len(units) {
		return
	}
	at := len(utf16.Decode(units[:from]))
	p.edit.Replace(at, at+len(utf16.Decode(units[from:to])), item.InsertText)
	if a := item.Attachment; a != nil {
		if !slices.ContainsFunc(p.attach, func(o ahp.Attachment) bool { return o.Label == a.Label }) {
			p.attach = append(p.attach, *a)
		}
	}
	p.popup.items = nil
	p.edited()
}

// describe is a completion's description.
func describe(item ahp.CompletionItem, commands []ahp.AgentCommand) string {
	name, ok := strings.CutPrefix(strings.TrimSpace(item.InsertText), "/")
	if !ok {
		return ""
	}
	for _, k := range commands {
		if k.Name == name {
			return words.Line(strings.TrimSpace(k.Hint + "  " + k.Description))
		}
	}
	return ""
}
