package host

import (
	"context"

	"tandemux/ahp"
	"tandemux/host/requests"
)

// read gives a terminal's text without a subscription (x-tandemux/read).
func read(_ context.Context, h *Host, c *requests.Conn, p ahp.ReadParams) (any, error) {
	switch p.What {
	case ahp.ReadScreen, ahp.ReadHistory, ahp.ReadRaw:
	default:
		return nil, ahp.InvalidParams("read terminal: what: %q is none of %q, %q, %q", p.What, ahp.ReadScreen, ahp.ReadHistory, ahp.ReadRaw)
	}
	tx := h.core.Lock()
	t, ok := termAt(tx, p.Channel)
	tx.Unlock()
	if !ok {
		return nil, ahp.NotFound("read terminal: there is no terminal %q", p.Channel)
	}
	r, err := t.t.Read(p.What)
	if err != nil {
		return nil, ahp.Internal("read terminal: %v", err)
	}
	return r, nil
}
