package words

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/params"
	"tandemux/internal/fileuri"
)

func Title(t agent.ToolCall) *ahp.Prose {
	text := params.ClipTo(cmp.Or(t.Title, cmp.Or(t.Name, t.Kind)), MaxError)
	return &ahp.Prose{Text: text, Markdown: strings.Contains(text, "`")}
}

// ToolMeta returns what AHP has no member for, as a tool call's _meta.
func ToolMeta(t agent.ToolCall) json.RawMessage {
	m := map[string]any{}
	if t.Kind != "" {
		m["tandemux/kind"] = params.ClipTo(t.Kind, MaxNamed)
	}
	if t.Parent != "" {
		m["tandemux/parent"] = params.ClipTo(t.Parent, params.MaxURI)
	}
	var places []map[string]any
	for _, l := range t.Locations[:min(len(t.Locations), maxLocations)] {
		place := map[string]any{"path": params.ClipTo(l.Path, params.MaxURI)}
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

// Bounded returns raw if it is JSON of at most MaxText bytes, else nil.
func Bounded(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || len(raw) > MaxText || !json.Valid(raw) || string(raw) == "null" {
		return nil
	}
	return raw
}

// Contents converts a tool call's content to AHP's form.
func Contents(list []agent.Content) []ahp.ToolContent {
	var out []ahp.ToolContent
	for _, c := range list[:min(len(list), MaxContents)] {
		switch {
		case c.Diff != nil:
			out = append(out, fileEdit(*c.Diff))
		case c.Terminal != nil && c.Terminal.URI != "":
			out = append(out, terminalContent(*c.Terminal))
		case c.Terminal != nil:
			out = append(out, ahp.ToolContent{Type: ahp.ContentText, Text: params.ClipTo(c.Terminal.Output, MaxText)})
		case c.Resource != nil && c.Resource.Data != nil:
			data := c.Resource.Data[:min(len(c.Resource.Data), MaxText)]
			out = append(out, ahp.ToolContent{Type: ahp.ContentEmbedded, Data: base64.StdEncoding.EncodeToString(data), ContentType: cmp.Or(c.Resource.Type, "application/octet-stream")})
		case c.Resource != nil:
			out = append(out, ahp.ToolContent{Type: ahp.ContentResource, URI: params.ClipTo(c.Resource.URI, params.MaxURI), ContentType: c.Resource.Type})
		default:
			out = append(out, ahp.ToolContent{Type: ahp.ContentText, Text: params.ClipTo(c.Text, MaxText)})
		}
	}
	return out
}

func terminalContent(t agent.TerminalContent) ahp.ToolContent {
	w := ahp.ToolContent{Type: ahp.ContentTerminal, Resource: t.URI, Title: params.ClipTo(t.Title, params.MaxTitle), IsPty: new(true)}
	if t.Exit != nil {
		w.Result = &ahp.TerminalResult{ExitCode: t.Exit.Code, Preview: params.ClipTo(t.Output, MaxText), Truncated: t.Truncated}
	}
	return w
}

// fileEdit converts a change of a file. Its URIs contain the texts, because what the agent says about
// a file is not always what is in the file.
func fileEdit(d agent.Diff) ahp.ToolContent {
	side := func(text string) json.RawMessage {
		b, err := json.Marshal(map[string]any{
			"uri": fileuri.Of(d.Path),
			"content": map[string]any{
				"uri":         "data:text/plain;charset=utf-8;base64," + base64.StdEncoding.EncodeToString([]byte(params.ClipTo(text, MaxText))),
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
