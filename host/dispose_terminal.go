package host

import (
	"context"
	"time"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// endTime bounds the ending of one terminal's process: the keeper kills after
// five seconds.
const endTime = 15 * time.Second

// disposeTerminal removes a terminal at once and ends its process in the
// background (R28, G38).
func disposeTerminal(_ context.Context, h *Host, c *requests.Conn, p ahp.DisposeTerminalParams) (any, error) {
	if p.Channel == "" {
		return nil, ahp.InvalidParams("dispose terminal: channel: missing")
	}
	tx := h.core.Lock()
	defer tx.Unlock()
	t, ok := termAt(tx, p.Channel)
	if !ok {
		return nil, ahp.NotFound("dispose terminal: there is no terminal %q", p.Channel)
	}
	refusal := t.mayDispose(c.Principal)
	if refusal == "" {
		refusal = c.Principal.Lacks(auth.ScopeClaim)
	}
	if refusal == "" {
		refusal = mayEnd(c.Principal, t, t.inLayout(tx))
	}
	if refusal != "" {
		return nil, params.Allowed("dispose terminal", refusal)
	}
	h.audit.Did(c.Who(), "dispose", p.Channel, "held by", claimText(t.value.Claim))
	t.dispose(tx)
	return nil, nil
}

// dispose removes a terminal, and ends its process.
func (t *term) dispose(tx core.Tx) {
	t.removeTerm(tx)
	t.abandon()
}
