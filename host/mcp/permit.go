package mcp

import (
	"context"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandemux/ahp"
	"tandemux/host/guard"
)

// permitTime is how long a person is given to allow a command: clients give up after a
// minute.
const permitTime = 40 * time.Second

// permitted does what runs a command, once more when a person has allowed what the host
// refused. uri is the terminal that it is for, empty where it gets one.
func (c call) permitted(ctx context.Context, uri ahp.URI, command string, do func() error) error {
	err := do()
	if err == nil {
		return nil
	}
	if _, asks := guard.Asks(err.Error()); !asks {
		return err
	}
	var r ahp.AskResult
	p := ahp.AskParams{Channel: uri, Claim: c.host.Claim(), TimeoutMs: permitTime.Milliseconds(), Command: command}
	if err := c.request(ctx, ahp.MethodAsk, p, &r); err != nil {
		return err
	}
	if r.Answer == ahp.AskGranted {
		return do()
	}
	return unpermitted{err, ways[r.Answer]}
}

// unpermitted is a refusal, with the way on.
type unpermitted struct {
	error
	way string
}

func (u unpermitted) Error() string { return u.error.Error() + u.way }

// ways are what an agent can do without a yes, by the answer.
var ways = map[string]string{
	ahp.AskRefused: ": the person refused it. Ask them what to do instead",
	ahp.AskTimeout: ": nobody has answered in 40 s. Do it another way, or try again when the person is back",
	ahp.AskNobody:  ": nobody is here to allow it. Do it another way, or have the person open tandemux and try again",
}

// inner are words of the program's own in errors, and what they mean to a model.
var inner = strings.NewReplacer(
	"<invalid reflect.Value> has type", "null has type", `validating "arguments": validating root: `, "", "validating /properties/", "",
	"call "+ahp.MethodWait+": ", "", "call "+ahp.MethodRun+": ", "", "call "+ahp.MethodCommand+": ", "", "call "+ahp.MethodAsk+": ", "",
	"call "+ahp.MethodPromote+": ", "", "call "+ahp.MethodShow+": ", "", "call "+ahp.MethodCreateTerminal+": ", "", "call "+ahp.MethodDisposeTerminal+": ", "",
)

// split puts what a refusal says beyond the document's text into a piece of its own (T14).
func split(r *mcp.CallToolResult) {
	if len(r.Content) != 1 || !r.IsError {
		return
	}
	if t, ok := r.Content[0].(*mcp.TextContent); ok {
		t.Text = inner.Replace(t.Text)
		if more, asks := guard.Asks(t.Text); asks {
			r.Content = []mcp.Content{&mcp.TextContent{Text: guard.Blocked}, &mcp.TextContent{Text: more}}
		}
	}
}
