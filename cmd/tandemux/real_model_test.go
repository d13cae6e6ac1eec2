package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// shellTools are the names of the tools that run shell commands, the best first.
var shellTools = []string{"mcp__acp__Bash", "Bash", "run_shell_command", "exec_command", "shell_command", "shell", "bash"}

// hostTool ends the name of the one that agents without a shell of their own get of tandemux.
const hostTool = "run_command"

// Answer begins the text that follows a tool's result.
const Answer = "The tool said: "

// Model is a model without a mind, for running real agents without a network: it
// answers in the words of three vendors (Anthropic Messages, Gemini, OpenAI Responses),
// to a message with a call of the agent's tool for shell commands, to that tool's result
// with a text that quotes it. It may be used concurrently.
type Model struct {
	// Command is what the agent is told to run.
	Command string
	// Tool, where it is not empty, is what the name of the tool to call ends with,
	// in place of a shell's, and Args are its arguments.
	Tool string
	Args map[string]any
	// Insist, where it is not empty, is a shell's tool that is called, offered or not.
	Insist string
	// Only, where it is not empty, is what must have been said last for a tool to be called.
	Only string

	mu     sync.Mutex
	asked  []string
	bodies []string // of the newest requests
}

// maxBodies bounds the requests that Saw looks at.
const maxBodies = 50

// Saw reports whether one of the newest requests had all these texts in it.
func (m *Model) Saw(texts ...string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.bodies, func(body string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(body, text) })
	})
}

// Asked lists the requests: method, path, and what was answered.
func (m *Model) Asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

func (m *Model) note(r *http.Request, what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, r.Method+" "+r.URL.Path+": "+what)
}

// maxBody bounds a request.
const maxBody = 32 << 20

// ServeHTTP answers whatever looks like one of the three.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return
	}
	m.mu.Lock()
	m.bodies = append(m.bodies[max(0, len(m.bodies)+1-maxBodies):], string(body))
	m.mu.Unlock()
	var q modelRequest
	json.Unmarshal(body, &q) //nolint:errcheck // what isn't there is empty
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/count_tokens"), strings.HasSuffix(path, ":countTokens"):
		m.note(r, "tokens")
		fmt.Fprint(w, `{"input_tokens":10,"totalTokens":10}`)
	case strings.HasSuffix(path, "/messages"):
		m.anthropic(w, r, q)
	case strings.Contains(path, "enerateContent"):
		m.gemini(w, r, q)
	case strings.HasSuffix(path, "/responses"):
		m.openai(w, r, q)
	case strings.HasSuffix(path, "/models"):
		m.note(r, "models")
		fmt.Fprint(w, `{"object":"list","data":[{"id":"mock","object":"model"}],"models":[]}`)
	default:
		m.note(r, "404")
		http.NotFound(w, r)
	}
}

// request is any of the vendors' requests, as far as it matters.
type modelRequest struct {
	Model  string `json:"model"`
	Stream bool   `json:"stream"`
	Tools  []struct {
		Name                 string     `json:"name"`
		FunctionDeclarations []function `json:"functionDeclarations"` // Gemini
		Tools                []function `json:"tools"`                // of a namespace, OpenAI
	} `json:"tools"`
	Messages []json.RawMessage `json:"messages"` // Anthropic
	Contents []json.RawMessage `json:"contents"` // Gemini
	Input    json.RawMessage   `json:"input"`    // OpenAI
}

type function struct {
	Name string `json:"name"`
}

// names are those of the tools that the request offers, and with them the
// namespaces that they are in.
func (q modelRequest) names() (names, spaces []string) {
	for _, t := range q.Tools {
		if t.Name != "" && len(t.Tools) == 0 {
			names, spaces = append(names, t.Name), append(spaces, "")
		}
		for _, f := range append(t.FunctionDeclarations, t.Tools...) {
			names, spaces = append(names, f.Name), append(spaces, t.Name)
		}
	}
	return names, spaces
}

// tool is the tool to call, of those that the request offers, and its namespace;
// "" when it is not among them.
func (m *Model) tool(q modelRequest) (name, space string) {
	names, spaces := q.names()
	if !bytes.Contains(q.last(), []byte(m.Only)) {
		return "", ""
	}
	if m.Insist != "" && len(names) > 0 {
		return m.Insist, ""
	}
	for _, want := range shellTools {
		if i := slices.Index(names, want); i >= 0 && m.Tool == "" {
			return want, spaces[i]
		}
	}
	for i, name := range names {
		if strings.HasSuffix(name, cmp.Or(m.Tool, hostTool)) {
			return name, spaces[i]
		}
	}
	return "", ""
}

var results = lazily(`"(tool_result|functionResponse|function_call_output)"`)

// last is the last message. One that was put into the turn stands behind a tool's result.
func (q modelRequest) last() (last json.RawMessage) {
	switch {
	case len(q.Messages) > 0:
		for i := len(q.Messages) - 1; i >= 0 && !bytes.Contains(q.Messages[i], []byte(`"role":"assistant"`)); i-- {
			last = append(last, q.Messages[i]...)
		}
	case len(q.Contents) > 0:
		last = q.Contents[len(q.Contents)-1]
	case len(q.Input) > 0:
		var items []json.RawMessage
		if json.Unmarshal(q.Input, &items) == nil && len(items) > 0 {
			last = items[len(items)-1]
		}
	}
	return last
}

// result is the last message if it has a tool's result in it, cut to what can be quoted.
func (q modelRequest) result() (string, bool) {
	last := q.last()
	if !results().Match(last) {
		return "", false
	}
	text := string(last)
	return text[:min(len(text), 3000)], true
}

// arguments are those of a tool.
func (m *Model) arguments(tool string) map[string]any {
	if m.Tool != "" {
		return m.Args
	}
	args := map[string]any{"command": m.Command}
	if strings.HasSuffix(tool, hostTool) {
		return map[string]any{"line": m.Command}
	}
	switch tool {
	case "shell":
		args["command"] = []string{"bash", "-lc", m.Command}
	case "exec_command":
		args = map[string]any{"cmd": m.Command}
	case "mcp__acp__Bash": // It insists on all of them.
		args["description"], args["timeout"], args["run_in_background"] = "Run the command", 60000, false
	case "Bash", "bash":
		args["description"] = "Run the command"
	}
	return args
}

// reply is what to answer: a text, or a call.
func (m *Model) reply(q modelRequest) (text, tool, space string) {
	if said, ok := q.result(); ok {
		return Answer + said, "", ""
	}
	if tool, space := m.tool(q); tool != "" {
		return "", tool, space
	}
	return "ok", "", ""
}

// events writes server-sent events.
func events(w http.ResponseWriter, list ...any) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range list {
		b, err := json.Marshal(e)
		if err != nil {
			return
		}
		if m, ok := e.(map[string]any); ok && m["type"] != nil {
			fmt.Fprintf(w, "event: %s\n", m["type"])
		}
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

type object = map[string]any

// answers counts those of all models: an agent may have had several.
var answers atomic.Int64

func (m *Model) anthropic(w http.ResponseWriter, r *http.Request, q modelRequest) {
	text, tool, _ := m.reply(q)
	m.note(r, "text "+tool)
	n := answers.Add(1) // what has the id of another is taken for a part of that
	block, deltas, stop := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": text}, "end_turn"
	whole := object{"type": "text", "text": text}
	if tool != "" {
		args, _ := json.Marshal(m.arguments(tool))
		block, stop = object{"type": "tool_use", "id": fmt.Sprint("toolu_", n), "name": tool, "input": object{}}, "tool_use"
		deltas = object{"type": "input_json_delta", "partial_json": string(args)}
		whole = object{"type": "tool_use", "id": fmt.Sprint("toolu_", n), "name": tool, "input": m.arguments(tool)}
	}
	message := object{
		"id": fmt.Sprint("msg_", n), "type": "message", "role": "assistant", "model": q.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 10, "output_tokens": 5},
	}
	if !q.Stream {
		message["content"], message["stop_reason"] = []any{whole}, stop
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(message) //nolint:errcheck // the agent went away
		return
	}
	events(w,
		object{"type": "message_start", "message": message},
		object{"type": "content_block_start", "index": 0, "content_block": block},
		object{"type": "content_block_delta", "index": 0, "delta": deltas},
		object{"type": "content_block_stop", "index": 0},
		object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 5}},
		object{"type": "message_stop"},
	)
}

func (m *Model) gemini(w http.ResponseWriter, r *http.Request, q modelRequest) {
	text, tool, _ := m.reply(q)
	m.note(r, "text "+tool)
	part := object{"text": text}
	if tool != "" {
		part = object{"functionCall": object{"name": tool, "args": m.arguments(tool)}}
	}
	answer := object{
		"candidates": []any{object{
			"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []any{part}},
		}},
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}, "modelVersion": "mock",
	}
	if strings.Contains(r.URL.Path, "streamGenerateContent") {
		events(w, answer)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(answer) //nolint:errcheck // the agent went away
}

func (m *Model) openai(w http.ResponseWriter, r *http.Request, q modelRequest) {
	text, tool, space := m.reply(q)
	m.note(r, "text "+tool)
	n := answers.Add(1)
	item := object{
		"type": "message", "id": fmt.Sprint("msg_", n), "role": "assistant", "status": "completed",
		"content": []any{object{"type": "output_text", "text": text, "annotations": []any{}}},
	}
	if tool != "" {
		args, _ := json.Marshal(m.arguments(tool))
		item = object{"type": "function_call", "id": fmt.Sprint("fc_", n), "call_id": fmt.Sprint("call_", n), "name": tool, "arguments": string(args), "status": "completed"}
		if space != "" {
			item["namespace"] = space
		}
	}
	response := object{"id": fmt.Sprint("resp_", n), "object": "response", "status": "in_progress", "model": q.Model, "output": []any{}}
	done := object{
		"id": fmt.Sprint("resp_", n), "object": "response", "status": "completed", "model": q.Model, "output": []any{item},
		"usage": object{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0}},
	}
	list := []any{object{"type": "response.created", "response": response}, object{"type": "response.output_item.added", "output_index": 0, "item": item}}
	if tool == "" {
		list = append(list, object{"type": "response.output_text.delta", "item_id": fmt.Sprint("msg_", n), "output_index": 0, "content_index": 0, "delta": text})
	}
	events(w, append(list,
		object{"type": "response.output_item.done", "output_index": 0, "item": item},
		object{"type": "response.completed", "response": done},
	)...)
}
