package host

import (
	"context"
	"encoding/json"
	"os"
	"slices"

	"cotty/ahp"
)

// describeHost answers x-cotty/host. A token bound to one terminal learns only
// what concerns it.
func describeHost(_ context.Context, c *conn, _ json.RawMessage) (any, error) {
	h := c.h
	r := ahp.HostResult{Version: h.cfg.Version, Listen: []string{}, URLs: []string{}, Principal: c.principal.id}
	if c.principal.terminal != "" {
		return r, nil
	}
	if err := h.tokens.trouble(); err != nil && c.principal.operates() {
		r.Warning = err.Error()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for ln, kind := range h.listeners {
		if kind != TCP {
			continue
		}
		r.Listen = append(r.Listen, ln.Addr().String())
		r.URLs = append(r.URLs, urlOf(ln))
		if s, ok := ln.(*secureListener); ok {
			r.Fingerprint = s.certificate.Fingerprint()
		}
	}
	slices.Sort(r.Listen)
	slices.Sort(r.URLs)
	r.Pid, r.KeeperPid, r.Started = os.Getpid(), h.keeper.Pid(), h.started.UnixMilli()
	r.Clients, r.Terminals = len(h.conns), len(h.terms)
	return r, nil
}
