package host

import (
	"context"
	"encoding/json"
	"os"

	"tandemux/ahp"
	"tandemux/host/activity"
	"tandemux/host/front"
	"tandemux/host/listen"
	"tandemux/host/requests"
)

// describeHost answers x-tandemux/host. A token bound to one terminal learns only
// what concerns it.
func (h *Host) describeHost(_ context.Context, c *requests.Conn, _ json.RawMessage) (any, error) {
	r := ahp.HostResult{Version: h.cfg.Version, Listen: []string{}, URLs: []string{}, Principal: c.Principal.ID}
	if c.Principal.Bounded() {
		return r, nil
	}
	trouble := h.requests.Tokens.Trouble()
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
	r.Pid, r.KeeperPid, r.Started = os.Getpid(), h.terminals.Keeper().Pid(), h.life.started.UnixMilli()
	for _, p := range h.terminals.Strays() {
		r.Orphans = append(r.Orphans, ahp.Orphan{Terminal: p.Terminal, Pid: p.Pid, Name: p.Name})
	}
	r.Terminals = len(h.terminals.All(tx))
	for c := range h.requests.Conns(tx) {
		if !h.keepsHouse(c) {
			r.Clients++
			r.Waits += h.commands.Waits(tx, c)
		}
	}
	return r, nil
}

// keepsHouse reports whether the connection is the housekeeper's.
func (h *Host) keepsHouse(c *requests.Conn) bool {
	return c.Client != nil && c.Client.ID != "" && c.Client.ID == h.cfg.Housekeeper
}
