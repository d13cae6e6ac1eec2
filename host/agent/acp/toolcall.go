package acp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tandemux/host/agent"
	"tandemux/internal/plaintext"
)

const (
	// maxContent bounds the content of a tool call, in bytes.
	maxContent = 1 << 20
	// maxItems bounds the numbers of its content items and locations.
	maxItems = 200
	// maxRaw bounds a tool call's raw input and its raw output, in bytes.
	maxRaw = 256 << 10
	// maxDisplay bounds how much of the end of a displayed terminal's output is kept, in bytes.
	maxDisplay = 64 << 10
)

// call is the current state of a tool call.
type call struct {
	agent.ToolCall
	items []toolContent
	// cutInput and cutItems say that the newest input or content was too large and is not all there.
	cutInput, cutItems bool
	host               *host
}

// statuses maps ACP's statuses. Unknown ones count as running.
var statuses = map[string]agent.ToolStatus{
	"pending": agent.ToolPending, "in_progress": agent.ToolRunning, "completed": agent.ToolCompleted, "failed": agent.ToolFailed,
}

// toolUpdate handles a new tool call or a change of one. The turn's mutex is held.
func (s *session) toolUpdate(t *turn, sink agent.Sink, u *update) {
	if c := s.merge(t, sink, u.toolCall, u.Content); c != nil {
		// The agent did not run the command as a person had changed it.
		if _, left := t.edits[c.ID]; left && c.Status.Over() {
			delete(t.edits, c.ID)
			sink.Notice(fmt.Sprintf("The agent ended the tool call %q without the command that you had changed; it may have run its own.", clip(c.Title, 200)))
		}
		sink.Tool(c.ToolCall)
	}
}

// merge applies a change and returns the call, or nil if there are too many or the id is missing.
func (s *session) merge(t *turn, sink agent.Sink, u toolCall, content json.RawMessage) *call {
	c := t.calls[u.ID]
	if c == nil {
		if u.ID == "" {
			return nil
		}
		if len(t.calls) >= maxCalls {
			if !t.full {
				t.full = true
				sink.Notice(fmt.Sprintf("The agent has made more than %d tool calls in this turn: further ones are not shown.", maxCalls))
			}
			return nil
		}
		c = &call{ToolCall: agent.ToolCall{ID: u.ID, Title: u.ID, Kind: "other", Name: "other"}}
		t.calls[u.ID] = c
	}
	c.describe(u)
	if len(content) > 0 {
		var items []toolContent
		if lenient(content, &items) == nil {
			c.items = items[:min(len(items), maxItems)]
			c.cutItems = len(items) > maxItems
		}
	}
	s.hostCommand(c)
	s.bind(t, c)
	s.noteDisplay(u.Meta)
	s.render(c)
	return c
}

// describe applies the changed members.
func (c *call) describe(u toolCall) {
	if u.Title != nil {
		c.Title = clip(*u.Title, maxTitle)
	}
	if u.Kind != nil && *u.Kind != "" {
		if c.Name == c.Kind {
			c.Name = clip(*u.Kind, 50)
		}
		c.Kind = clip(*u.Kind, 50)
	}
	if u.Name != nil && *u.Name != "" {
		c.Name = clip(*u.Name, 200)
	}
	if u.Status != nil {
		status, known := statuses[*u.Status]
		if !known {
			status = agent.ToolRunning
		}
		if status != agent.ToolPending || c.Status != agent.ToolRunning {
			c.Status = status
		}
	}
	if u.Locations != nil {
		var list []struct {
			Path string `json:"path"`
			Line int    `json:"line"`
		}
		if lenient(*u.Locations, &list) == nil {
			c.Locations = nil
			for _, l := range list[:min(len(list), maxItems)] {
				c.Locations = append(c.Locations, agent.Location{Path: clip(l.Path, maxTitle), Line: max(0, l.Line)})
			}
		}
	}
	if len(u.RawInput) > 0 {
		c.cutInput = len(u.RawInput) > maxRaw
	}
	c.Input, c.Output = raw(c.Input, u.RawInput), raw(c.Output, u.RawOutput)
	if m := u.Meta; m != nil && m.Claude != nil {
		c.Name = clip(cmp.Or(m.Claude.ToolName, c.Name), 200)
		c.Parent = clip(cmp.Or(m.Claude.Parent, c.Parent), 200)
	}
}

// raw returns a tool's input or output after a change. One that is too long is replaced by its size.
func raw(was, now json.RawMessage) json.RawMessage {
	switch {
	case len(now) == 0 || string(now) == "null":
		return was
	case len(now) > maxRaw:
		left, _ := json.Marshal(fmt.Sprintf("(%d bytes were left out)", len(now)))
		return left
	}
	return slices.Clone(now)
}

// render makes the call's content from the agent's items, within bounds.
func (s *session) render(c *call) {
	left := maxContent
	c.Content, c.Partial = nil, c.cutInput || c.cutItems
	for _, item := range c.items {
		content, size := s.content(item, c.Status.Over())
		if size > left {
			content, size = agent.Content{Text: fmt.Sprintf("(%d bytes of content are too many to show)", size)}, 100
			c.Partial = true
		}
		left -= size
		if content != (agent.Content{}) {
			c.Content = append(c.Content, content)
		}
	}
}

// content converts an item of the agent's, and returns its size in bytes.
func (s *session) content(item toolContent, over bool) (agent.Content, int) {
	switch item.Type {
	case "content":
		if item.Content == nil {
			return agent.Content{}, 0
		}
		b := *item.Content
		if b.Type == "resource_link" {
			return agent.Content{Resource: &agent.Attachment{Label: cmp.Or(b.Title, b.Name), URI: b.URI, Type: b.MIMEType}}, len(b.URI) + len(b.Name)
		}
		if data, err := base64.StdEncoding.DecodeString(b.Data); b.Type == "image" && err == nil {
			return agent.Content{Resource: &agent.Attachment{Label: b.Name, URI: b.URI, Type: b.MIMEType, Data: data}}, len(data)
		}
		text := markdown(b)
		return agent.Content{Text: text}, len(text)
	case "diff":
		size := len(item.Path) + len(item.NewText)
		if item.OldText != nil {
			size += len(*item.OldText)
		}
		return agent.Content{Diff: &agent.Diff{Path: item.Path, Old: item.OldText, New: item.NewText}}, size
	case "terminal":
		return s.terminalContent(item.TerminalID, over)
	}
	return agent.Content{}, 0
}

// show returns the displayed terminal with an id, one that the agent runs itself. It makes one if
// there is none and there are fewer than maxTerminals.
func (s *session) show(id string) *agent.TerminalContent {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.displays[id]
	if d == nil && id != "" && len(s.displays) < maxTerminals {
		d = &agent.TerminalContent{}
		s.displays[id] = d
	}
	return d
}

// noteDisplay handles the extension with which an agent shows its own shell.
func (s *session) noteDisplay(m *toolMeta) {
	if m == nil {
		return
	}
	if m.TerminalInfo != nil {
		s.show(m.TerminalInfo.ID)
	}
	if o := m.TerminalOutput; o != nil {
		if d := s.show(o.ID); d != nil {
			d.Output = plaintext.Tail(d.Output+strings.ToValidUTF8(o.Data, "\uFFFD"), maxDisplay)
		}
	}
	if x := m.TerminalExit; x != nil {
		if d := s.show(x.ID); d != nil {
			d.Exit = &agent.Exit{Code: x.Code, Signal: x.Signal}
		}
	}
}

// ACP can't tell an agent that a person has changed the command of a tool call. But the host starts
// commands of terminal/create, so there it starts the changed one instead, and says so at the
// beginning of the output. One agent's tool is known to use terminal/create; other tools are learned
// when their first command comes.

// commandMember is the member of a tool's input that has the command.
const commandMember = "command"

// terminalTools are the tools that are known to use terminal/create.
var terminalTools = map[string]bool{"mcp__acp__Bash": true}

// command returns the command in a tool call's input, or "".
func command(input json.RawMessage) string {
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	return in.Command
}

// editable returns the agent.Confirmation.Editable of a call.
func (s *session) editable(c *call) string {
	if c.Kind != "execute" || command(c.Input) == "" || s.spec.Terminals == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !terminalTools[c.Name] && !s.through[c.Name] {
		return ""
	}
	return commandMember
}

// takeEdit returns the command to start instead of line, and whether it differs. It also learns which
// tool uses terminal/create.
func (s *session) takeEdit(t *turn, line string) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.calls {
		if c.Status.Over() || c.Kind != "execute" || command(c.Input) != line {
			continue
		}
		s.mu.Lock()
		if s.through == nil {
			s.through = map[string]bool{}
		}
		if len(s.through) < maxTools {
			s.through[c.Name] = true
		}
		s.mu.Unlock()
		if to, ok := t.edits[c.ID]; ok {
			delete(t.edits, c.ID)
			return to, true
		}
	}
	return line, false
}

// maxTools bounds the names of tools in session.through.
const maxTools = 100

// editedTerm is a terminal that runs a changed command.
type editedTerm struct {
	agent.Terminal
	note string
}

// Output returns the note and the output.
func (e editedTerm) Output() (string, bool, *agent.Exit) {
	text, truncated, exit := e.Terminal.Output()
	return e.note + text, truncated, exit
}
