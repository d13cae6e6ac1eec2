package host

import (
	"context"
	"encoding/json"
	"os"

	"tandemux/ahp"
	"tandemux/host/front"
	"tandemux/host/listen"
)

// describeHost answers x-tandemux/host. A token bound to one terminal learns only
// what concerns it.
func describeHost(_ context.Context, c *conn, _ json.RawMessage) (any, error) {
	h := c.h
	r := ahp.HostResult{Version: h.cfg.Version, Listen: []string{}, URLs: []string{}, Principal: c.principal.ID}
	if c.principal.Bounded() {
		return r, nil
	}
	trouble := h.tokens.Trouble()
	tx := h.lock()
	defer tx.unlock()
	if c.principal.Operates() {
		r.Warning = h.warning(tx, trouble)
		if err := h.losing(tx); err != nil {
			r.Losing = oneLine(err)
		}
	}
	at := listen.Addresses(h.front.Listeners(front.TCP))
	r.Listen, r.URLs, r.Fingerprint = at.Listen, at.URLs, at.Fingerprint
	r.Pid, r.KeeperPid, r.Started = os.Getpid(), h.keeper().Pid(), h.started.UnixMilli()
	r.Orphans = h.orphans()
	r.Clients, r.Terminals = len(h.conns), len(h.terms)
	for c := range h.conns {
		if c.keepsHouse(tx) {
			r.Clients--
			continue
		}
		r.Waits += len(c.waits)
	}
	return r, nil
}

// keepsHouse reports whether the connection is the housekeeper's.
func (c *conn) keepsHouse(tx Tx) bool {
	return c.client != nil && c.client.id != "" && c.client.id == c.h.cfg.Housekeeper
}
