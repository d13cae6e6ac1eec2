package commandline

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent"
)

// Prefix begins a message that is a command line.
const Prefix = "!"

// Text in a message's _meta, if true, says that the message is for the agent although it begins with
// Prefix.
const Text = "tandemux/text"

// Of returns the command line in a message, or "" if the message is for the agent.
func Of(m ahp.Message) string {
	line, is := strings.CutPrefix(m.Text, Prefix)
	var meta map[string]any
	if !is || json.Unmarshal(m.Meta, &meta) == nil && meta[Text] == true {
		return ""
	}
	return strings.TrimSpace(line)
}

// Output is how much of the end of a command's output is kept, in bytes.
const Output = 16 << 10

// maxTitle bounds the title of a tool call, in bytes.
const maxTitle = 256

// killTime bounds the wait for a command that was ended.
const killTime = 10 * time.Second

// Run runs a command line as a turn with one tool call. start starts the command. When ctx ends the
// command is ended, and Run waits for that, but no longer than host lasts.
func Run(ctx, host context.Context, line string, sink agent.Sink, start func(call string) (agent.Terminal, error)) (agent.Outcome, error) {
	title, _, _ := strings.Cut(line, "\n")
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		return agent.Outcome{}, err
	}
	title = strings.ToValidUTF8(title[:min(len(title), maxTitle)], "")
	call := agent.ToolCall{ID: "command-" + strings.ToLower(rand.Text()), Name: "terminal", Kind: "execute", Title: title, Input: input}
	sink.Tool(call)
	t, err := start(call.ID)
	if err != nil {
		call.Status, call.Error = agent.ToolFailed, err.Error()
		sink.Tool(call)
		return agent.Outcome{Stop: agent.StopEnd}, nil
	}
	defer t.Release()
	shown := &agent.TerminalContent{URI: t.URI(), Title: title}
	call.Status, call.Content = agent.ToolRunning, []agent.Content{{Terminal: shown}}
	sink.Tool(call)
	exit, err := t.Wait(ctx)
	if err != nil {
		t.Release()
		ctx, cancel := context.WithTimeout(host, killTime)
		defer cancel()
		t.Wait(ctx) //nolint:errcheck // else it ends later
		return agent.Outcome{Stop: agent.StopCancelled}, nil
	}
	ended := *shown
	ended.Exit = &exit
	ended.Output, ended.Truncated, _ = t.Output()
	call.Content = []agent.Content{{Terminal: &ended}}
	if call.Status = agent.ToolCompleted; exit.Code == nil || *exit.Code != 0 {
		call.Status, call.Error = agent.ToolFailed, how(exit.Code, exit.Signal)
	}
	sink.Tool(call)
	return agent.Outcome{Stop: agent.StopEnd}, nil
}

// how says in words how a command ended.
func how(code *int, signal string) string {
	switch {
	case code != nil:
		return fmt.Sprintf("exit code %d", *code)
	case signal != "":
		return "ended by " + signal
	}
	return "it did not run to its end"
}

// maxTold is how many command lines an agent is told about at once.
const maxTold = 10

// Attach adds to a message for the agent the command lines that were run since the previous one.
func Attach(m ahp.Message, turns []ahp.Turn) ahp.Message {
	var told []string
	n := 0
	for _, t := range slices.Backward(turns) {
		line := Of(t.Message)
		if line == "" {
			if t.State == ahp.TurnError && len(t.ResponseParts) == 1 {
				continue // the agent never got this message
			}
			break
		}
		if n++; n <= maxTold {
			told = append(told, describe(line, t))
		}
	}
	if n == 0 {
		return m
	}
	slices.Reverse(told)
	text := "Since your last turn the user has run this:\n"
	if n > maxTold {
		text += fmt.Sprintf("\n(%d before are left out.)\n", n-maxTold)
	}
	label := "1 command"
	if n > 1 {
		label = fmt.Sprintf("%d commands", n)
	}
	m.Attachments = append(slices.Clip(m.Attachments), ahp.Attachment{Type: ahp.AttachSimple, Label: label, ModelRepresentation: text + strings.Join(told, "")})
	return m
}

// describe describes a command line and its result.
func describe(line string, t ahp.Turn) string {
	text, end := "\n$ "+line+"\n", "it did not run to its end"
	for _, p := range t.ResponseParts {
		if p.ToolCall == nil {
			continue
		}
		if e := p.ToolCall.Error; e != nil {
			end = e.Message
		} else if ok := p.ToolCall.Success; ok != nil && *ok {
			end = how(new(int), "")
		}
		for _, c := range p.ToolCall.Content {
			if r := c.Result; r != nil {
				if r.Truncated {
					text += "(The beginning is left out.)\n"
				}
				text += r.Preview
			}
		}
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + "(" + end + ")\n"
}
