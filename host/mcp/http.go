package mcp

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/host/front"
)

const (
	// keepTime is how long an agent's connection is kept between requests.
	keepTime = 5 * time.Minute
	// maxAgents bounds them; the one that was used longest ago goes.
	maxAgents = 64
	// maxNames bounds the names of agents that are remembered.
	maxNames = 1024
)

// HTTP serves agents that come by HTTP: requests of one principal share an agent and
// its connection, as MCP over HTTP has no sessions. Its methods may be called from any
// goroutine.
type HTTP struct {
	Version string
	// NewURI makes the URI of a new terminal.
	NewURI func() ahp.URI
	// Connect connects to the host as an agent of that name.
	Connect func(ctx context.Context, c front.Caller, name string) (Host, error)

	mu   sync.Mutex
	open map[string]*visitor // by principal
	// names are what clients called themselves last, by principal: over HTTP they say it
	// once, in a request of its own.
	names map[string]string
}

// visitor is an agent.
type visitor struct {
	server  *Server
	handler http.Handler
	pending pending
	using   int         // requests
	idle    *time.Timer // runs while nobody uses it
	used    time.Time
}

// Door is the entrance on the host's listeners.
func (h *HTTP) Door() front.Door {
	return front.Door{Serve: h.serve, Paths: map[string][]string{"/mcp": {http.MethodPost, http.MethodGet, http.MethodDelete}}}
}

func (h *HTTP) serve(w http.ResponseWriter, r *http.Request, c front.Caller) {
	a := h.take(c)
	defer h.put(c.Principal, a)
	a.pending.serve(w, r, a.handler)
}

// take gives the principal's agent, made on first use.
func (h *HTTP) take(c front.Caller) *visitor {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.open[c.Principal]
	if a == nil {
		if h.open == nil {
			h.open, h.names = map[string]*visitor{}, map[string]string{}
		}
		if len(h.open) >= maxAgents {
			oldest := ""
			for p, a := range h.open {
				if a.using == 0 && (oldest == "" || a.used.Before(h.open[oldest].used)) {
					oldest = p
				}
			}
			if oldest != "" {
				h.end(oldest)
			}
		}
		server := New(Options{
			Name: cmp.Or(h.names[c.Principal], "agent"), Version: h.Version, NewURI: h.NewURI,
			Open: func(ctx context.Context, name string) (Host, error) { return h.Connect(ctx, c, name) },
		})
		a = &visitor{server: server, handler: server.Handler(), pending: pending{calls: map[string]context.CancelFunc{}}}
		h.open[c.Principal] = a
	}
	if a.idle != nil {
		a.idle.Stop()
	}
	a.using++
	return a
}

func (h *HTTP) put(principal string, a *visitor) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a.using--
	a.used = time.Now()
	if a.using > 0 {
		return
	}
	a.idle = time.AfterFunc(keepTime, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if a.using == 0 && h.open[principal] == a {
			h.end(principal)
		}
	})
}

// end closes the connection of an agent that nobody uses. The mutex is held.
func (h *HTTP) end(principal string) {
	a := h.open[principal]
	delete(h.open, principal)
	if len(h.names) >= maxNames {
		clear(h.names)
	}
	h.names[principal] = a.server.named.Load().(string)
	a.idle.Stop()
	go a.server.close() // it waits for the connection's end
}
