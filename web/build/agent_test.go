package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// marked is Markdown, some of it hostile.
const marked = "## Done\n\nIt is **better** now, `code.txt` has:\n\n- one\n- two\n  1. under it\n\n```go\nfunc main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | *2* |\n\n" +
	"> said <b>so</b>\n\n[good](https://good.example/) [bad](javascript:window.hacked=1) ![x](https://evil.example/x.png) " + hostile + "\n"

// agentVariable has this test's program be an agent, which speaks ACP on its standard
// streams: asked to "permit" it asks whether it may run a command, asked to "count" it
// counts in a terminal, asked to "improve" it writes a file, and otherwise it repeats what it is told.
const agentVariable = "WEB_TEST_AGENT"

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

type object = map[string]any

func beAgent() {
	var mu sync.Mutex
	out := json.NewEncoder(os.Stdout)
	send := func(m object) {
		mu.Lock()
		defer mu.Unlock()
		m["jsonrpc"] = "2.0"
		out.Encode(m)
	}
	waiting := map[string]func(result json.RawMessage){}
	ask := func(id, method string, params object, then func(json.RawMessage)) {
		mu.Lock()
		waiting[`"`+id+`"`] = then
		mu.Unlock()
		send(object{"id": id, "method": method, "params": params})
	}
	update := func(u object) {
		send(object{"method": "session/update", "params": object{"sessionId": "s", "update": u}})
	}
	say := func(text string) {
		update(object{"sessionUpdate": "agent_message_chunk", "content": object{"type": "text", "text": text}})
	}
	var dir string // of the session
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		answer := func(result any) { send(object{"id": m.ID, "result": result}) }
		switch m.Method {
		case "":
			mu.Lock()
			then := waiting[string(m.ID)]
			mu.Unlock()
			if then != nil {
				then(m.Result)
			}
		case "initialize":
			answer(object{"protocolVersion": 1, "agentCapabilities": object{}, "authMethods": []any{}})
		case "session/new":
			var p struct{ Cwd string }
			json.Unmarshal(m.Params, &p)
			dir = p.Cwd
			answer(object{"sessionId": "s"})
		case "session/prompt":
			end := func() { answer(object{"stopReason": "end_turn"}) }
			switch text := string(m.Params); {
			case strings.Contains(text, "permit"):
				ask("p", "session/request_permission", object{
					"sessionId": "s",
					"toolCall":  object{"toolCallId": "c1", "title": hostile, "kind": "execute", "status": "pending", "rawInput": object{"command": "rm -rf ./build\u202e" + hostile}},
					"options": []object{
						{"optionId": "always", "name": "Always", "kind": "allow_always"},
						{"optionId": "once", "name": "Allow", "kind": "allow_once"},
						{"optionId": "no", "name": "Reject", "kind": "reject_once"},
					},
				}, func(result json.RawMessage) {
					var r struct{ Outcome struct{ OptionID string } }
					json.Unmarshal(result, &r)
					say("it was answered: " + r.Outcome.OptionID)
					end()
				})
			case strings.Contains(text, "improve"):
				os.WriteFile(filepath.Join(dir, "code.txt"), []byte("one\nfrom the agent\n"), 0o644)
				say(marked)
				end()
			case strings.Contains(text, "recite"):
				text, _ := os.ReadFile(filepath.Join(dir, "recite.txt"))
				say(string(text))
				say("\n\nrecited")
				end()
			case strings.Contains(text, "why this"):
				say("it has the comment")
				end()
			case strings.Contains(text, "count"):
				ask("t", "terminal/create", object{"sessionId": "s", "command": "sh", "args": []string{"-c", "i=0; while :; do i=$((i+1)); echo count $i; sleep .2; done"}}, func(result json.RawMessage) {
					var r struct{ TerminalID string }
					json.Unmarshal(result, &r)
					update(object{"sessionUpdate": "tool_call", "toolCallId": "c2", "title": "count", "kind": "execute", "status": "in_progress", "content": []object{{"type": "terminal", "terminalId": r.TerminalID}}})
					ask("w", "terminal/wait_for_exit", object{"sessionId": "s", "terminalId": r.TerminalID}, func(json.RawMessage) { end() })
				})
			default:
				say(fmt.Sprintf("you said %d bytes %s", len(text), hostile))
				end()
			}
		default:
			if len(m.ID) > 0 {
				answer(nil)
			}
		}
	}
}

// hostile is a text that would run a script where texts became markup.
const hostile = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>[x](javascript:window.hacked=1)`
