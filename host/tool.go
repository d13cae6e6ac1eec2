package host

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/core"
	"tandemux/host/files"
)

// call is a tool call of a turn that an agent is at.
type call struct {
	r    *prompting
	id   string
	told agent.ToolCall // what was told last
	over bool           // nothing more can happen
	runs time.Time      // since when it has run, zero while it has not
	// before says that it is of the turn as it was before it was resumed.
	before bool

	asked []agent.Choice // while confirmation is pending
	// editable is the member of the input that the answer may change, or "".
	editable string
	answer   chan ahp.ChatToolCallConfirmed // closed when it was given up
	owner    string                         // the clientId, of a client's tool
	result   chan ahp.ToolResult            // of the same; closed when it was given up
}

// giveUp ends the waiting for anybody's answer.
func (k *call) giveUp(tx core.Tx) {
	k.over = true
	k.endConfirm(tx)
	k.endResult(tx)
}

func (k *call) endConfirm(tx core.Tx) {
	if k.answer != nil {
		close(k.answer)
		k.answer = nil
		k.r.c.s.met(tx, k.need())
	}
}

func (k *call) endResult(tx core.Tx) {
	if k.result != nil {
		close(k.result)
		k.result = nil
		k.r.c.s.met(tx, k.need())
	}
}

// need is the id of the session's entry for what waits.
func (k *call) need() string { return k.r.c.ch.URI + "#" + k.id }

// status is how the call stands for the clients; empty when there is none.
func (k *call) status() string {
	if t := k.r.c.value.ToolCall(k.r.id, k.id); t != nil {
		return t.Status
	}
	return ""
}

// Tool implements agent.Sink: the difference to what was told becomes actions.
func (r *prompting) Tool(t agent.ToolCall) {
	size := len(t.Title) + len(t.Input) + len(t.Output)
	content := toolContent(t.Content)
	for i := range content {
		size += len(content[i].Text) + len(content[i].Data) + len(content[i].Before) + len(content[i].After)
	}
	r.event(size, func(tx core.Tx) { r.tool(tx, t, content) })
}

func (r *prompting) tool(tx core.Tx, t agent.ToolCall, content []ahp.ToolContent) {
	if t.ID == "" || len(t.ID) > maxURI {
		return
	}
	k := r.calls[t.ID]
	if k == nil || k.before {
		r.closeText(tx)
		if r.over || !r.room(tx) {
			return
		}
		id := t.ID
		if k != nil { // An agent that counts from one again.
			id = newID("call")
		}
		k = &call{r: r, id: id}
		r.calls[t.ID], r.calls[id] = k, k
		r.c.apply(tx, ahp.ChatToolCallStart{
			TurnID: r.id, ToolCallID: id, ToolName: clipTo(orElse(t.Name, orElse(t.Kind, "tool")), maxTitle),
			DisplayName: clipTo(orElse(t.Title, orElse(t.Name, "Tool")), maxTitle), Meta: toolMeta(t),
		}, nil)
	}
	if k.over || k.owner != "" {
		return
	}
	k.advance(tx, t, content)
	k.told = t
}

// advance brings the call to where the agent says it is.
func (k *call) advance(tx core.Tx, t agent.ToolCall, content []ahp.ToolContent) {
	r, c := k.r, k.r.c
	switch k.status() {
	case ahp.ToolStreaming:
		if t.Status == agent.ToolPending {
			if t.Title != k.told.Title || !reflect.DeepEqual(t.Locations, k.told.Locations) {
				c.apply(tx, ahp.ChatToolCallDelta{TurnID: r.id, ToolCallID: k.id, InvocationMessage: title(t), Meta: toolMeta(t)}, nil)
			}
			return
		}
		c.apply(tx, k.ready(t, ahp.ConfirmedNotNeeded), nil)
		k.runs = c.h.now()
		k.say(tx, t)
	case ahp.ToolPending:
		if !t.Status.Over() {
			return // It waits for a person, whatever the agent says.
		}
		k.endConfirm(tx)
	case ahp.ToolRunning:
		if t.Title != k.told.Title && !t.Status.Over() {
			k.say(tx, t)
		}
	default:
		return
	}
	if !t.Status.Over() {
		if len(content) > 0 && !reflect.DeepEqual(t.Content, k.told.Content) {
			c.apply(tx, ahp.ChatToolCallContentChanged{TurnID: r.id, ToolCallID: k.id, Content: content, Meta: toolMeta(t)}, nil)
		}
		return
	}
	result := ahp.ToolResult{Success: t.Status == agent.ToolCompleted, PastTenseMessage: title(t), Content: content}
	if out := bounded(t.Output); out != nil {
		result.StructuredContent = out
	}
	if !result.Success {
		result.Error = &ahp.ToolError{Message: "The tool failed, or was not allowed to run."}
	}
	k.complete(tx, result, toolMeta(t), nil)
}

// complete ends the call with a result.
func (k *call) complete(tx core.Tx, result ahp.ToolResult, meta json.RawMessage, by *core.By) {
	c := k.r.c
	k.over = true
	k.endConfirm(tx)
	meta = k.took(meta)
	if c.value.Activity != "" {
		tx.Apply(c.ch, ahp.ChatActivityChanged{}, nil)
	}
	c.apply(tx, ahp.ChatToolCallComplete{TurnID: k.r.id, ToolCallID: k.id, Result: result, Meta: meta}, by)
	if ended := c.h.sessions.turnEnded; ended != nil {
		ended(tx, c, k.r.id, k.id)
	}
}

// say puts what the call does where the chat's row shows it.
func (k *call) say(tx core.Tx, t agent.ToolCall) {
	words := cleanTitle(clipTo(orElse(t.Title, t.Name), maxNamed))
	if words != "" && words != k.r.c.value.Activity {
		k.r.c.apply(tx, ahp.ChatActivityChanged{Activity: words}, nil)
	}
}

// ready is the action that begins the call, or with confirmed "" asks.
func (k *call) ready(t agent.ToolCall, confirmed string) ahp.ChatToolCallReady {
	a := ahp.ChatToolCallReady{TurnID: k.r.id, ToolCallID: k.id, InvocationMessage: title(t), Confirmed: confirmed, Meta: toolMeta(t)}
	if in := bounded(t.Input); in != nil {
		a.ToolInput = ahp.TextInput(string(in))
	}
	return a
}

func title(t agent.ToolCall) *ahp.Prose {
	text := clipTo(orElse(t.Title, orElse(t.Name, t.Kind)), maxErrorText)
	return &ahp.Prose{Text: text, Markdown: strings.Contains(text, "`")}
}

// toolMeta is what AHP has no member for.
func toolMeta(t agent.ToolCall) json.RawMessage {
	m := map[string]any{}
	if t.Kind != "" {
		m["tandemux/kind"] = clipTo(t.Kind, maxNamed)
	}
	if t.Parent != "" {
		m["tandemux/parent"] = clipTo(t.Parent, maxURI)
	}
	var places []map[string]any
	for _, l := range t.Locations[:min(len(t.Locations), maxLocations)] {
		place := map[string]any{"path": clipTo(l.Path, maxURI)}
		if l.Line > 0 {
			place["line"] = l.Line
		}
		places = append(places, place)
	}
	if places != nil {
		m["tandemux/locations"] = places
	}
	if len(m) == 0 {
		return nil
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return b
}

// bounded is JSON of a tool's that is not too large, or nil.
func bounded(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || len(raw) > maxToolText || !json.Valid(raw) || string(raw) == "null" {
		return nil
	}
	return raw
}

// toolContent is a tool's content on the wire.
func toolContent(list []agent.Content) []ahp.ToolContent {
	var out []ahp.ToolContent
	for _, c := range list[:min(len(list), maxContents)] {
		switch {
		case c.Diff != nil:
			out = append(out, fileEdit(*c.Diff))
		case c.Terminal != nil && c.Terminal.URI != "":
			out = append(out, terminalContent(*c.Terminal))
		case c.Terminal != nil:
			out = append(out, ahp.ToolContent{Type: ahp.ContentText, Text: clipTo(c.Terminal.Output, maxToolText)})
		case c.Resource != nil && c.Resource.Data != nil:
			data := c.Resource.Data[:min(len(c.Resource.Data), maxToolText)]
			out = append(out, ahp.ToolContent{Type: ahp.ContentEmbedded, Data: base64.StdEncoding.EncodeToString(data), ContentType: orElse(c.Resource.Type, "application/octet-stream")})
		case c.Resource != nil:
			out = append(out, ahp.ToolContent{Type: ahp.ContentResource, URI: clipTo(c.Resource.URI, maxURI), ContentType: c.Resource.Type})
		default:
			out = append(out, ahp.ToolContent{Type: ahp.ContentText, Text: clipTo(c.Text, maxToolText)})
		}
	}
	return out
}

func terminalContent(t agent.TerminalContent) ahp.ToolContent {
	yes := true
	w := ahp.ToolContent{Type: ahp.ContentTerminal, Resource: t.URI, Title: clipTo(t.Title, maxTitle), IsPty: &yes}
	if t.Exit != nil {
		w.Result = &ahp.TerminalResult{ExitCode: t.Exit.Code}
	}
	return w
}

// fileEdit is a change of a file, whose texts are in the URIs themselves: what
// the agent says of a file is not always what the file has.
func fileEdit(d agent.Diff) ahp.ToolContent {
	side := func(text string) json.RawMessage {
		b, err := json.Marshal(map[string]any{
			"uri": files.URI(d.Path),
			"content": map[string]any{
				"uri":         "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(clipTo(text, maxToolText))),
				"contentType": "text/plain", "sizeHint": len(text),
			},
		})
		if err != nil {
			return nil
		}
		return b
	}
	w := ahp.ToolContent{Type: ahp.ContentFileEdit, After: side(d.New)}
	if d.Old != nil {
		w.Before = side(*d.Old)
	}
	return w
}

// clipTo bounds a text at a character.
func clipTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}
