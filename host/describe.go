package host

import (
	"context"
	"encoding/json"
	"os"

	"cotty/ahp"
)

// describeHost answers x-cotty/host.
func describeHost(_ context.Context, c *conn, _ json.RawMessage) (any, error) {
	h := c.h
	h.mu.Lock()
	defer h.mu.Unlock()
	listen := []string{}
	for ln, kind := range h.listeners {
		if kind == TCP {
			listen = append(listen, ln.Addr().String())
		}
	}
	return ahp.HostResult{
		Version: h.cfg.Version, Pid: os.Getpid(), KeeperPid: h.keeper.Pid(), Listen: listen,
		Started: h.started.UnixMilli(), Clients: len(h.conns), Terminals: len(h.terms),
	}, nil
}
