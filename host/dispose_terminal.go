package host

import (
	"context"
	"encoding/json"
	"time"

	"tandemux/ahp"
	"tandemux/host/auth"
)

// endTime bounds the ending of one terminal's process: the keeper kills after
// five seconds.
const endTime = 15 * time.Second

// disposeTerminal removes a terminal at once and ends its process in the
// background (R28, G38).
func disposeTerminal(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
	var p ahp.DisposeTerminalParams
	if err := decode(raw, &p); err != nil {
		return nil, err
	}
	if p.Channel == "" {
		return nil, ahp.InvalidParams("dispose terminal: channel: missing")
	}
	h := c.h
	tx := h.lock()
	defer tx.unlock()
	t, ok := h.termAt(tx, p.Channel)
	if !ok {
		return nil, ahp.NotFound("dispose terminal: there is no terminal %q", p.Channel)
	}
	refusal := t.mayDispose(c.principal)
	if refusal == "" {
		refusal = c.principal.Lacks(auth.ScopeClaim)
	}
	if refusal == "" {
		refusal = mayEnd(c.principal, t, t.inLayout(tx))
	}
	if refusal != "" {
		return nil, allowed("dispose terminal", refusal)
	}
	h.audit.Did(c.by(), "dispose", p.Channel, "held by", claimText(t.value.Claim))
	t.dispose(tx)
	return nil, nil
}

// dispose removes a terminal, and ends its process.
func (t *term) dispose(tx Tx) {
	t.removeTerm(tx)
	t.abandon()
}
