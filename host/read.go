package host

import (
	"context"
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/params"
)

// read gives a terminal's text without a subscription (x-tandemux/read).
func read(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
	var p ahp.ReadParams
	if err := params.Decode(raw, &p); err != nil {
		return nil, err
	}
	switch p.What {
	case ahp.ReadScreen, ahp.ReadHistory, ahp.ReadRaw:
	default:
		return nil, ahp.InvalidParams("read terminal: what: %q is none of %q, %q, %q", p.What, ahp.ReadScreen, ahp.ReadHistory, ahp.ReadRaw)
	}
	tx := c.h.core.Lock()
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
