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
	t, held, err := h.dispose(c, p.Channel)
	if err != nil {
		return nil, err
	}
	go func() {
		defer h.ending.Done()
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		t.end(ctx)
	}()
	h.audit.Did(c.by(), "dispose", p.Channel, "held by", held)
	return nil, nil
}

// dispose removes a terminal for a client; its process is to be ended, which
// h.ending counts already. held says who had it.
func (h *Host) dispose(c *conn, uri ahp.URI) (t *term, held string, err error) {
	tx := h.lock()
	defer tx.unlock()
	t, ok := h.termAt(tx, uri)
	if !ok {
		return nil, "", ahp.NotFound("dispose terminal: there is no terminal %q", uri)
	}
	refusal := t.mayDispose(c.principal)
	if refusal == "" {
		refusal = c.principal.Lacks(auth.ScopeClaim)
	}
	if refusal == "" {
		refusal = mayEnd(c.principal, t, t.inLayout(tx))
	}
	if refusal != "" {
		return nil, "", allowed("dispose terminal", refusal)
	}
	held = claimText(t.value.Claim)
	t.removeTerm(tx)
	h.ending.Add(1)
	return t, held, nil
}

// endTerm removes a terminal, and ends its process beside: Shutdown waits for it.
func (t *term) endTerm(tx Tx) {
	h := t.h
	t.removeTerm(tx)
	h.ending.Add(1)
	go func() {
		defer h.ending.Done()
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		t.end(ctx)
	}()
}
