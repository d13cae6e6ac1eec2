package ahp

import "encoding/json"

// The wire forms of chats: 0.5 has input requests and errors outside of the
// parts of a turn.

func (s ChatState) MarshalJSON() ([]byte, error)    { return Encode(V1, s) }
func (t Turn) MarshalJSON() ([]byte, error)         { return Encode(V1, t) }
func (p ResponsePart) MarshalJSON() ([]byte, error) { return Encode(V1, p) }
func (c ToolContent) MarshalJSON() ([]byte, error)  { return Encode(V1, c) }

type plainChatSummary ChatSummary

func (s ChatSummary) members() plainChatSummary { return plainChatSummary(s) }

// MarshalJSON keeps ChatState's from being taken for the summary's.
func (s ChatSummary) MarshalJSON() ([]byte, error) { return marshal(s.members()) }

// UnmarshalJSON makes null members absent.
func (s *ChatSummary) UnmarshalJSON(b []byte) error {
	*s = ChatSummary{}
	if err := Unmarshal(b, (*plainChatSummary)(s)); err != nil {
		return err
	}
	s.Changes = notNull(s.Changes)
	return nil
}

func (s ChatState) appendTo(w *writer) {
	w.open('{')
	w.inline(s.members())
	opt(w, "changesets", s.Changesets)
	if len(s.BackgroundWork) > 0 && w.p != V05 {
		list(w, "backgroundWork", s.BackgroundWork)
	}
	list(w, "turns", s.Turns)
	w.optStr("turnsNextCursor", s.TurnsNextCursor)
	if s.ActiveTurn != nil {
		w.member("activeTurn", *s.ActiveTurn)
	}
	if s.SteeringMessage != nil {
		w.member("steeringMessage", *s.SteeringMessage)
	}
	if len(s.QueuedMessages) > 0 {
		list(w, "queuedMessages", s.QueuedMessages)
	}
	if s.Draft != nil {
		w.member("draft", *s.Draft)
	}
	if open := s.openRequests(); w.p == V05 && len(open) > 0 {
		list(w, "inputRequests", open)
	}
	w.optRaw("_meta", s.Meta)
	w.close('}')
}

// openRequests are the unanswered input requests, as 0.5 lists them.
func (s ChatState) openRequests() []InputRequest {
	open := s.InputRequests[:len(s.InputRequests):len(s.InputRequests)]
	if s.ActiveTurn == nil {
		return open
	}
	for _, p := range s.ActiveTurn.ResponseParts {
		if p.Kind == PartInputRequest && p.Response == "" && p.Request != nil {
			open = append(open, *p.Request)
		}
	}
	return open
}

func (t Turn) appendTo(w *writer) {
	w.open('{')
	w.str("id", t.ID)
	w.optStr("startedAt", string(t.StartedAt))
	if t.Duration != nil {
		w.int("duration", *t.Duration)
	}
	w.member("message", t.Message)
	parts, failed := t.ResponseParts, (*ErrorInfo)(nil)
	if w.p == V05 {
		parts, failed = t.parts05()
	}
	list(w, "responseParts", parts)
	if t.Usage != nil {
		w.member("usage", *t.Usage)
	}
	w.optStr("state", t.State)
	if failed != nil {
		w.member("error", *failed)
	}
	w.close('}')
}

// parts05 are the parts that 0.5 knows, and the error, which is the turn's there.
func (t Turn) parts05() (parts []ResponsePart, failed *ErrorInfo) {
	for _, p := range t.ResponseParts {
		switch p.Kind {
		case PartError:
			failed = p.Error
		case PartInputRequest:
		default:
			parts = append(parts, p)
		}
	}
	return parts, failed
}

func (p ResponsePart) appendTo(w *writer) {
	if p.Raw != nil {
		w.buf = append(w.buf, p.Raw...)
		return
	}
	w.open('{')
	w.str("kind", p.Kind)
	switch p.Kind {
	case PartMarkdown, PartReasoning:
		w.str("id", p.ID)
		w.str("content", p.Content)
	case PartToolCall:
		w.member("toolCall", p.ToolCall)
	case PartInputRequest:
		w.member("request", p.Request)
		w.optStr("response", p.Response)
	case PartSystemNotification:
		note := p.Note
		if note == nil {
			note = Plain("")
		}
		w.member("content", *note)
	case PartError:
		failed := p.Error
		if failed == nil {
			failed = &ErrorInfo{}
		}
		w.member("error", *failed)
		if p.Resumable {
			w.bool("resumable", true)
		}
	}
	w.optRaw("_meta", p.Meta)
	w.close('}')
}

// UnmarshalJSON reads a part by its kind; unknown ones are kept whole.
func (p *ResponsePart) UnmarshalJSON(b []byte) error {
	var w struct {
		Kind      string          `json:"kind"`
		ID        string          `json:"id"`
		Content   json.RawMessage `json:"content"`
		ToolCall  *ToolCall       `json:"toolCall"`
		Request   *InputRequest   `json:"request"`
		Response  string          `json:"response"`
		Error     *ErrorInfo      `json:"error"`
		Resumable bool            `json:"resumable"`
		Meta      json.RawMessage `json:"_meta"`
	}
	var head struct {
		Kind string `json:"kind"`
	}
	if err := Unmarshal(b, &head); err != nil {
		return err
	}
	*p = ResponsePart{Kind: head.Kind}
	if !knownParts[head.Kind] {
		p.Raw = append(json.RawMessage(nil), b...)
		return nil
	}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	p.ID, p.Meta = w.ID, notNull(w.Meta)
	var err error
	switch head.Kind {
	case PartMarkdown, PartReasoning:
		if !isAbsent(w.Content) {
			err = json.Unmarshal(w.Content, &p.Content)
		}
	case PartSystemNotification:
		p.ID, p.Note = "", Plain("")
		if !isAbsent(w.Content) {
			err = json.Unmarshal(w.Content, p.Note)
		}
	case PartToolCall:
		p.ID, p.ToolCall = "", w.ToolCall
		if p.ToolCall == nil {
			p.ToolCall = &ToolCall{}
		}
	case PartInputRequest:
		p.ID, p.Request, p.Response = "", w.Request, w.Response
		if p.Request == nil {
			p.Request = &InputRequest{}
		}
	case PartError:
		p.ID, p.Error, p.Resumable = "", w.Error, w.Resumable
	}
	return err
}

var knownParts = map[string]bool{
	PartMarkdown: true, PartReasoning: true, PartToolCall: true, PartSystemNotification: true,
	PartInputRequest: true, PartError: true,
}

func (c ToolContent) appendTo(w *writer) {
	if c.Raw != nil {
		w.buf = append(w.buf, c.Raw...)
		return
	}
	w.open('{')
	w.str("type", c.Type)
	switch c.Type {
	case ContentText:
		w.str("text", c.Text)
	case ContentEmbedded:
		w.str("data", c.Data)
		w.str("contentType", c.ContentType)
	case ContentResource:
		w.str("uri", c.URI)
		if c.SizeHint != nil {
			w.int("sizeHint", *c.SizeHint)
		}
		w.optStr("contentType", c.ContentType)
	case ContentFileEdit:
		w.optRaw("before", c.Before)
		w.optRaw("after", c.After)
		w.optRaw("diff", c.Diff)
	case ContentTerminal:
		w.str("resource", c.Resource)
		w.str("title", c.Title)
		if c.IsPty != nil {
			w.bool("isPty", *c.IsPty)
		}
		if c.Result != nil {
			w.member("result", *c.Result)
		}
	case ContentSubagent:
		w.str("resource", c.Resource)
		w.str("title", c.Title)
		w.optStr("agentName", c.AgentName)
		w.optStr("description", c.Description)
	}
	w.close('}')
}

// UnmarshalJSON reads a content by its type; unknown ones are kept whole.
func (c *ToolContent) UnmarshalJSON(b []byte) error {
	var head struct {
		Type string `json:"type"`
	}
	if err := Unmarshal(b, &head); err != nil {
		return err
	}
	*c = ToolContent{Type: head.Type}
	if !knownContents[head.Type] {
		c.Raw = append(json.RawMessage(nil), b...)
		return nil
	}
	var w struct {
		Text        string          `json:"text"`
		Data        string          `json:"data"`
		ContentType string          `json:"contentType"`
		URI         URI             `json:"uri"`
		SizeHint    *int64          `json:"sizeHint"`
		Before      json.RawMessage `json:"before"`
		After       json.RawMessage `json:"after"`
		Diff        json.RawMessage `json:"diff"`
		Resource    URI             `json:"resource"`
		Title       string          `json:"title"`
		IsPty       *bool           `json:"isPty"`
		Result      *TerminalResult `json:"result"`
		AgentName   string          `json:"agentName"`
		Description string          `json:"description"`
	}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	*c = ToolContent{
		Type: head.Type, Text: w.Text, Data: w.Data, ContentType: w.ContentType, URI: w.URI, SizeHint: w.SizeHint,
		Before: notNull(w.Before), After: notNull(w.After), Diff: notNull(w.Diff), Resource: w.Resource, Title: w.Title,
		IsPty: w.IsPty, Result: w.Result, AgentName: w.AgentName, Description: w.Description,
	}
	return nil
}

var knownContents = map[string]bool{
	ContentText: true, ContentEmbedded: true, ContentResource: true, ContentFileEdit: true,
	ContentTerminal: true, ContentSubagent: true,
}

// UnmarshalJSON accepts every profile's form.
func (s *ChatState) UnmarshalJSON(b []byte) error {
	var w struct {
		plainChatSummary
		Changesets      []json.RawMessage `json:"changesets"`
		BackgroundWork  []BackgroundWork  `json:"backgroundWork"`
		Turns           []Turn            `json:"turns"`
		TurnsNextCursor string            `json:"turnsNextCursor"`
		ActiveTurn      *Turn             `json:"activeTurn"`
		SteeringMessage *PendingMessage   `json:"steeringMessage"`
		QueuedMessages  []PendingMessage  `json:"queuedMessages"`
		Draft           *Message          `json:"draft"`
		Meta            json.RawMessage   `json:"_meta"`
		InputRequests   []InputRequest    `json:"inputRequests"`
	}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	*s = ChatState{
		ChatSummary: ChatSummary(w.plainChatSummary), Changesets: w.Changesets, BackgroundWork: w.BackgroundWork,
		Turns: w.Turns, TurnsNextCursor: w.TurnsNextCursor, ActiveTurn: w.ActiveTurn, SteeringMessage: w.SteeringMessage,
		QueuedMessages: w.QueuedMessages, Draft: w.Draft, Meta: notNull(w.Meta), InputRequests: w.InputRequests,
	}
	s.ChatSummary.Changes = notNull(s.ChatSummary.Changes)
	if s.ActiveTurn == nil || len(s.InputRequests) == 0 {
		return nil
	}
	for _, r := range s.InputRequests {
		s.ActiveTurn.ResponseParts = append(s.ActiveTurn.ResponseParts, ResponsePart{Kind: PartInputRequest, Request: &r})
	}
	s.InputRequests = nil
	return nil
}

// UnmarshalJSON accepts every profile's form: an error of the turn itself, as in
// 0.5, becomes its last part.
func (t *Turn) UnmarshalJSON(b []byte) error {
	var w struct {
		ID            string         `json:"id"`
		StartedAt     Instant        `json:"startedAt"`
		Duration      *number        `json:"duration"`
		Message       Message        `json:"message"`
		ResponseParts []ResponsePart `json:"responseParts"`
		Usage         *Usage         `json:"usage"`
		State         string         `json:"state"`
		Error         *ErrorInfo     `json:"error"`
	}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	*t = Turn{
		ID: w.ID, StartedAt: w.StartedAt, Duration: (*int64)(w.Duration), Message: w.Message,
		ResponseParts: nonNil(w.ResponseParts), Usage: w.Usage, State: w.State,
	}
	if w.Error != nil {
		t.ResponseParts = append(t.ResponseParts, ResponsePart{Kind: PartError, Error: w.Error})
	}
	return nil
}

// UnmarshalJSON accepts every profile's form: 0.5 has the error alone.
func (a *ChatError) UnmarshalJSON(b []byte) error {
	var w struct {
		TurnID   string        `json:"turnId"`
		Duration *number       `json:"duration"`
		Part     *ResponsePart `json:"part"`
		Error    *ErrorInfo    `json:"error"`
	}
	if err := Unmarshal(b, &w); err != nil {
		return err
	}
	*a = ChatError{TurnID: w.TurnID, Duration: (*int64)(w.Duration), Part: ResponsePart{Kind: PartError, Error: w.Error}}
	if w.Part != nil {
		a.Part = *w.Part
	}
	return nil
}
