package host

import (
	"context"
	"encoding/json"
	"os"

	"tandemux/ahp"
	"tandemux/host/activity"
	"tandemux/host/core"
	"tandemux/host/front"
	"tandemux/host/listen"
)

// describeHost answers x-tandemux/host. A token bound to one terminal learns only
// what concerns it.
func describeHost(_ context.Context, c *conn, _ json.RawMessage) (any, error) {
	h := c.h
	r := ahp.HostResult{Version: h.cfg.Version, Listen: []string{}, URLs: []string{}, Principal: c.Principal.ID}
	if c.Principal.Bounded() {
		return r, nil
	}
	trouble := h.tokens.Trouble()
	tx := h.core.Lock()
	defer tx.Unlock()
	if c.Principal.Operates() {
		r.Warning = h.activity.Warning(tx, trouble)
		if err := h.losing(tx); err != nil {
			r.Losing = activity.OneLine(err)
		}
	}
	at := listen.Addresses(h.front.Listeners(front.TCP))
	r.Listen, r.URLs, r.Fingerprint = at.Listen, at.URLs, at.Fingerprint
	r.Pid, r.KeeperPid, r.Started = os.Getpid(), h.keeper().Pid(), h.started.UnixMilli()
	for _, p := range h.roster.Strays() {
		r.Orphans = append(r.Orphans, ahp.Orphan{Terminal: p.Terminal, Pid: p.Pid, Name: p.Name})
	}
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
func (c *conn) keepsHouse(tx core.Tx) bool {
	return c.Client != nil && c.Client.ID != "" && c.Client.ID == c.h.cfg.Housekeeper
}
