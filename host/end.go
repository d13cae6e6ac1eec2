package host

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/guard"
	"tandemux/host/requests"
	"tandemux/internal/jsonrpc"
)

// endTime bounds the end of a host: the keeper kills after five seconds.
const endTime = 20 * time.Second

// endSoon ends the host in a new goroutine, since Shutdown may wait for the caller. If
// before is not nil and returns false, the host is not ended here.
func (h *Host) endSoon(reason string, before func(ctx context.Context) bool) {
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		if before != nil && !before(ctx) {
			return
		}
		if err := h.shutdown(ctx, reason); err != nil {
			h.cfg.Log.Error("shut down", "err", err)
		}
	}()
}

// stop ends all terminals, the keeper and the host (x-tandemux/stop). The reply
// comes first; then the connection is closed.
func (h *Host) stop(_ context.Context, c *requests.Conn, _ json.RawMessage) (any, error) {
	if !c.Principal.Operates() {
		return nil, ahp.PermissionDenied("stop: %s", c.Principal.Lacks(auth.ScopeAdmin))
	}
	h.requests.Audit.Did(c.Who(), "stop", "")
	c.Out.RPC.AfterReply(func() { h.endSoon("", h.terminals.End) })
	return nil, nil
}

// yield ends the host and nothing else, so that another one takes over what it
// holds (x-tandemux/yield).
func (h *Host) yield(_ context.Context, c *requests.Conn, _ json.RawMessage) (any, error) {
	if !c.Principal.Operates() {
		return nil, ahp.PermissionDenied("yield: %s", c.Principal.Lacks(auth.ScopeAdmin))
	}
	tx := h.core.Lock()
	ends := h.terminals.Ending(tx)
	h.life.yielding = h.life.yielding || !ends
	tx.Unlock()
	if ends {
		return nil, ahp.Conflict("yield: the host is ending all its terminals")
	}
	h.requests.Audit.Did(c.Who(), "yield", "")
	h.cfg.Log.Info("yield: end, and leave the terminals to the next host")
	c.Out.RPC.AfterReply(func() { h.endSoon("", nil) })
	return nil, nil
}

// superseded ends this host: another one has what it had. Nothing is written any
// more, neither to journals nor to ptys, and clients come back to the other one.
func (h *Host) superseded(_ core.Tx, why error) {
	h.cfg.Log.Warn("another host has taken over; this one ends", "err", why)
	h.endSoon("another host has taken over: reconnect", nil)
}

// parting is what clients are told at the end: whether to come back, and when.
func (h *Host) parting(tx core.Tx, reason string) (code int, why string) {
	code, why = jsonrpc.CloseAway, reason
	switch {
	case h.life.yielding:
		code, why = jsonrpc.CloseRestart, "another host takes over"
	case h.terminals.Ending(tx):
		code, why = jsonrpc.CloseDone, "the host was stopped"
	}
	if h.cfg.Ending != nil {
		h.cfg.Ending(code)
	}
	return code, why
}

// refusedGuest tells people what was not allowed of a request of an agent from the side.
func (h *Host) refusedGuest(c *requests.Conn, method string, params json.RawMessage, err error) {
	var p struct {
		Channel ahp.URI         `json:"channel"`
		Command []string        `json:"command"` // x-tandemux/run
		Line    string          `json:"line"`
		Meta    *ahp.CreateMeta `json:"_meta"` // createTerminal
	}
	if _, may := guard.Asks(err.Error()); may && c.Principal.Asks {
		return // They are told if they can't be asked.
	}
	json.Unmarshal(params, &p) //nolint:errcheck // then what is there
	what := p.Line
	if p.Meta != nil && len(p.Meta.Command) > 0 {
		p.Command = p.Meta.Command
	}
	if len(p.Command) > 0 {
		what = guard.Text(p.Command, "")
	}
	h.core.Do(func(tx core.Tx) {
		h.activity.Refuse(tx, ahp.AgentRefusal{
			Agent: c.Principal.Name(), Session: c.Principal.Session, Terminal: p.Channel,
			What: cmp.Or(what, method), Why: ahp.FromRPC(err).Message,
		})
	})
}
