package mcp

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

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

// stdio is a client on two streams, a message a line. The SDK ends a connection at a line
// that is no message; here it is answered, and the next one counts.
func stdio(in io.Reader, out io.WriteCloser) mcp.Transport {
	messages, to := io.Pipe()
	go func() { to.CloseWithError(pass(bufio.NewReader(in), to, out)) }()
	return &mcp.IOTransport{Reader: messages, Writer: out}
}

// pass copies the lines that are messages, and answers the others.
func pass(in *bufio.Reader, to, out io.Writer) error {
	for {
		line, err := readLine(in)
		if len(line) == 0 && err == nil {
			continue
		}
		if len(line) > 0 {
			if _, bad := jsonrpc.DecodeMessage(line); bad != nil {
				slog.Warn("a line of the client's is no message", "err", bad)
				if _, err := io.WriteString(out, complaint(line)+"\n"); err != nil {
					return err
				}
			} else if _, err := to.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// readLine is the next line; of one that is too long, a part that is no message.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line) <= mcp.DefaultMaxLineLength {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if n := len(line); n > 0 && line[n-1] == '\n' {
				line = line[:n-1]
			}
			return line[:min(len(line), mcp.DefaultMaxLineLength)], err
		}
	}
}

// complaint is JSON-RPC's answer to what is no message.
func complaint(line []byte) string {
	if json.Valid(line) {
		return `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the line is no JSON-RPC message: send one in each"}}`
	}
	return `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is not JSON, or too long"}}`
}
