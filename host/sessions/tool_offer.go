package sessions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"tandemux/ahp"
	"tandemux/ahp/clienttool"
	"tandemux/host/agent/words"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/requests"
)

// Agents that speak ACP get the tools of their session's clients through the MCP server that they are
// given, which asks for them here, with the rights of an agent of that session.

// ownChat returns the chat uri of the session in which the agent p works.
func (ss *Sessions) ownChat(tx core.Tx, p *auth.Principal, uri ahp.URI) (*Chat, error) {
	c, ok := core.At[*Chat](tx, uri)
	if p.Agent == "" || !ok || c.s.ch.URI != p.Session {
		return nil, ahp.PermissionDenied("the tools of a session's clients are for the agent that works in it")
	}
	return c, nil
}

// offerTools handles x-tandemux/clientTools.
func (ss *Sessions) offerTools(ctx context.Context, c *requests.Conn, p clienttool.ListParams) (any, error) {
	tx := ss.Core.Lock()
	chat, err := ss.ownChat(tx, c.Principal, p.Channel)
	if err != nil {
		tx.Unlock()
		return nil, err
	}
	r, changed := chat.offer(tx)
	tx.Unlock()
	if p.Known != r.Version {
		return r, nil
	}
	return c.Aside(ctx, func(ctx context.Context) (any, error) {
		for {
			select {
			case <-changed:
			case <-ctx.Done():
				return nil, core.ErrClosing
			}
			tx := ss.Core.Lock()
			if chat.Dead(tx) {
				tx.Unlock()
				return nil, ahp.SessionNotFound("client tools: the chat was disposed of")
			}
			r, changed = chat.offer(tx)
			tx.Unlock()
			if p.Known != r.Version {
				return r, nil
			}
		}
	})
}

// offer returns the current tools, and a channel that is closed when they may have changed.
func (c *Chat) offer(tx core.Tx) (clienttool.ListResult, <-chan struct{}) {
	list := append([]ahp.ToolDefinition{}, c.s.clientTools(tx)...)
	b, _ := json.Marshal(list) //nolint:errcheck // it came as JSON
	sum := sha256.Sum256(b)
	if c.s.toolsChanged == nil {
		c.s.toolsChanged = make(chan struct{})
	}
	return clienttool.ListResult{Tools: list, Version: hex.EncodeToString(sum[:8])}, c.s.toolsChanged
}

// toolsMayHaveChanged wakes those who wait for a change of a session's tools.
func (s *session) toolsMayHaveChanged(tx core.Tx) {
	if s.toolsChanged != nil {
		close(s.toolsChanged)
		s.toolsChanged = nil
	}
}

type callParams struct {
	clienttool.CallParams
	Input json.RawMessage `json:"input"`
}

// callTool handles x-tandemux/callTool.
func (ss *Sessions) callTool(ctx context.Context, c *requests.Conn, p callParams) (any, error) {
	tx := ss.Core.Lock()
	chat, err := ss.ownChat(tx, c.Principal, p.Channel)
	tx.Unlock()
	if err != nil {
		return nil, err
	}
	id := "mcp-" + c.Client.ID + "-" + p.ID // another server of the same agent counts separately
	if p.Cancel {
		ss.Core.Do(func(tx core.Tx) { chat.failCall(tx, id, nil, words.FailedResult("the agent no longer waits for it")) })
		return nil, nil
	}
	return c.Aside(ctx, func(ctx context.Context) (any, error) {
		r, err := (&clientTools{chat}).Call(ctx, id, p.Name, p.Input)
		if err != nil {
			return nil, ahp.Conflict("call tool: %v", err)
		}
		return r, nil
	})
}
