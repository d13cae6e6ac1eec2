package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandemux/ahp"
)

type Server struct {
	o     Options
	sdk   *mcp.Server
	calls atomic.Int64 // numbers tool calls, for claims
	named atomic.Value // what the client called itself last, a string

	keeping sync.Mutex
	kept    []ahp.URI // terminals that are kept for their output, the oldest first

	opening chan struct{} // holds one token: who has it may change host
	host    Host          // nil before the first call
}

// instructions is what a model is told of the tools as a whole (T42–T47).
var instructions = fmt.Sprintf(`Terminals of this machine, shared with a person. The person sees what you start and may take it over at any time.
Prefer run_command for anything that ends; use spawn_background_terminal for what keeps running, such as a development server.
Call list_terminals before you start something that may run already. After spawning, read_terminal or wait_for tells whether it came up; do not go on before.
Start in the background and promote_terminal when it is stable and the person should have it; that is final.
kill_terminal what you no longer need. A background terminal without input and output for %.0f minutes is ended; run_command's commands are not, while you are there.
When a limit is met (%d spawns a minute, %d terminals), wait or kill one of yours; do not retry at once.`, limits.Idle.Minutes(), limits.Spawns, limits.Terminals)

// New makes the server of one agent.
func New(o Options) *Server {
	s := &Server{o: o, opening: make(chan struct{}, 1)}
	instructions := instructions
	if o.Chat != "" {
		instructions = "run_command is the shell here: use it wherever you would use Bash, shell, exec_command or run_shell_command.\n" + instructions
	}
	s.sdk = mcp.NewServer(
		&mcp.Implementation{Name: "tandemux", Title: "tandemux: shared terminals", Version: o.Version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}},
	)
	s.named.Store(o.Name)
	s.sdk.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			s.note(req)
			defer s.note(req) // a handshake, which has told only now
			r, err := next(ctx, method, req)
			if called, ok := r.(*mcp.CallToolResult); ok && called != nil {
				split(called)
			}
			return r, err
		}
	})
	s.sdk.AddReceivingMiddleware(asShell)
	for _, t := range tools {
		t.add(s)
	}
	return s
}

// note notes what a client calls itself.
func (s *Server) note(req mcp.Request) {
	if r, ok := req.(interface{ ClientInfo() *mcp.Implementation }); ok {
		if c := r.ClientInfo(); c != nil && c.Name != "" {
			s.named.Store(c.Name)
		}
	}
}

// ServeStdio serves one client on the process's stdin and stdout until it
// leaves or ctx ends.
func (s *Server) ServeStdio(ctx context.Context) error {
	if s.o.Chat != "" {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		offered := make(chan struct{})
		go s.followTools(ctx, sync.OnceFunc(func() { close(offered) }))
		select {
		case <-offered:
		case <-time.After(offerTime):
		}
	}
	return s.sdk.Run(ctx, stdio(os.Stdin, os.Stdout))
}

// call is one tool call under way.
type call struct {
	*Server
	host Host
	req  *mcp.CallToolRequest
	id   string // in the claims of terminals that it works in

	begun time.Time
}

// begin makes a call of a request: the connection to the host is made with the
// first one, when the client has said its name.
func (s *Server) begin(ctx context.Context, tool string, req *mcp.CallToolRequest) (call, error) {
	c := call{Server: s, req: req, begun: time.Now(), id: fmt.Sprintf("%s-%d", tool, s.calls.Add(1))}
	var err error
	c.host, err = s.reach(ctx)
	return c, err
}

// reach is the connection to the host, made where there is none.
func (s *Server) reach(ctx context.Context) (Host, error) {
	select {
	case s.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.opening }()
	if s.host != nil {
		select {
		case <-s.host.Done():
			s.host = nil
		default:
		}
	}
	if s.host == nil {
		var err error
		if s.host, err = s.o.Open(ctx, s.named.Load().(string)); err != nil {
			s.host = nil
			return nil, err
		}
	}
	return s.host, nil
}

// close ends the connection to the host, if there is one.
func (s *Server) close() {
	s.opening <- struct{}{}
	defer func() { <-s.opening }()
	if s.host != nil {
		s.host.Close() //nolint:errcheck // it ends either way
	}
}

// tool is a row of the table of tools.
type tool struct {
	name string
	add  func(*Server)
}

// row makes one: what a tool is called, says of itself, and does. An error's
// text is the answer, marked as an error (T14–T16, T21). The answer is text alone, JSON in
// the order of its members: a structured form would be the same once more, and some clients
// show models nothing else.
func row[In, Out any](t mcp.Tool, do func(ctx context.Context, c call, in In) (Out, error)) tool {
	return tool{t.Name, func(s *Server) {
		t := t // each server its own
		t.InputSchema = schemaOf[In]()
		mcp.AddTool(s.sdk, &t, func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			ctx, cancel := heed(ctx)
			defer cancel()
			c, err := s.begin(ctx, t.Name, req)
			if err != nil {
				return nil, nil, err
			}
			out, err := do(ctx, c, in)
			if ctx.Err() != nil {
				err = errCancelled
			}
			if err != nil {
				return nil, nil, err
			}
			text, err := encode(out)
			r := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
			if p, ok := any(out).(printer); ok && p.printed() != "" {
				r.Content = append(r.Content, &mcp.TextContent{Text: p.printed()})
			}
			return r, nil, err
		})
	}}
}

var errCancelled = errors.New("the call was cancelled")

// printer is an answer with output of a program, which is a text of its own: as it is, not
// as a string of JSON.
type printer interface{ printed() string }

// encode is JSON for models: as HTML, with \u003c, it would cost twice as much.
func encode(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// schemaOf is the schema of a tool's input. A list that may be left out is not
// therefore null, which the inferred schema would allow.
func schemaOf[In any]() *jsonschema.Schema {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // the types are ours
	}
	for _, p := range s.Properties {
		if slices.Contains(p.Types, "array") {
			p.Type, p.Types = "array", nil
		}
	}
	return s
}

func (c call) request(ctx context.Context, method string, params, result any) error {
	return c.host.Call(ctx, method, params, result)
}

// act has the host carry out an action.
func (c call) act(ctx context.Context, channel ahp.URI, a ahp.Action) error {
	_, err := c.host.DispatchWait(ctx, channel, a)
	return err
}

var (
	// The hints of MCP; absent ones mean destructive and open.
	looks  = &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: new(false), IdempotentHint: true, OpenWorldHint: new(false)}
	shapes = &mcp.ToolAnnotations{DestructiveHint: new(false), IdempotentHint: true, OpenWorldHint: new(false)}
	ends   = &mcp.ToolAnnotations{DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: new(false)}
	acts   = &mcp.ToolAnnotations{DestructiveHint: new(true), OpenWorldHint: new(true)}
)

// Handler serves the tools over streamable HTTP. It keeps no sessions: each
// request is by itself, and cancelling it cancels what it started. Who asks has
// been authenticated, Host and Origin checked.
func (s *Server) Handler() http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.sdk }, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxBody,
	})
}

// maxBody bounds a request in bytes.
const maxBody = 1 << 20

// Host is an AHP connection of one agent to a host. Its methods may be called
// from any goroutine.
type Host interface {
	// Call sends a request and waits for its answer.
	Call(ctx context.Context, method string, params, result any) error
	// DispatchWait sends an action and waits for the host's word on it.
	DispatchWait(ctx context.Context, channel ahp.URI, a ahp.Action) (ahp.Envelope, error)
	// Press encodes keys, named as in the configuration ("ctrl+c", "up"), for
	// the modes that a terminal's program has set.
	Press(ctx context.Context, channel ahp.URI, keys []string) (string, error)
	// Claim is that of the agent's terminals: its session, and its chat if it has
	// one.
	Claim() ahp.Claim
	// Done is closed when the connection has ended for good.
	Done() <-chan struct{}
	Close() error
}

// Options says whose server it is.
type Options struct {
	// Open connects to the host as an agent of that name. It is called when the
	// first tool is, and again when the connection has ended.
	Open func(ctx context.Context, name string) (Host, error)
	// Name is the agent's, for clients that do not say theirs.
	Name string
	// Version of tandemux, told to clients.
	Version string
	// Dir is where terminals are started when a call names no directory; an
	// absolute path, or empty for the host's default.
	Dir string
	// Chat is the one of the host's that the agent works in: tools of its session's
	// clients are offered too (ServeStdio). Empty: there is none.
	Chat ahp.URI
	// Terminal is the one that the agent runs in itself, where that is known.
	Terminal ahp.URI
	// NewURI makes the URI of a new terminal.
	NewURI func() ahp.URI
}

// A client of a protocol before 2026-07-28 cancels a call over HTTP by a request of its own
// (notifications/cancelled), or by hanging up. The SDK heeds neither where it keeps no
// sessions, so it is done here. Mcp-Session-Id tells the clients of one token apart, whose
// requests have the same ids; it stands for nothing else and is never too old.

const sessionHeader = "Mcp-Session-Id"

// pending are the requests under way of one principal, by session and id.
type pending struct {
	mu    sync.Mutex
	calls map[string]context.CancelFunc
}

// endsWith is the key of the context of a call's HTTP request.
type endsWith struct{}

// serve has next answer a request that can be cancelled.
func (p *pending) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return // It has gone.
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var is struct {
		ID     json.RawMessage
		Method string
		Params struct{ RequestID json.RawMessage }
	}
	json.Unmarshal(body, &is) //nolint:errcheck // whoever it is for says what is wrong with it
	session := r.Header.Get(sessionHeader) + " "
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	p.mu.Lock()
	switch end := p.calls[session+string(is.Params.RequestID)]; {
	case is.Method == "initialize":
		w.Header().Set(sessionHeader, rand.Text())
	case is.Method == "notifications/cancelled" && end != nil:
		end()
	case is.Method == "tools/call":
		key := session + string(is.ID)
		p.calls[key] = cancel
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.calls, key)
		}()
	}
	p.mu.Unlock()
	next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, endsWith{}, ctx)))
}

// heed is the context of a call, which ends with its HTTP request too.
func heed(ctx context.Context) (context.Context, context.CancelFunc) {
	request, ok := ctx.Value(endsWith{}).(context.Context)
	ctx, cancel := context.WithCancel(ctx)
	if !ok {
		return ctx, cancel
	}
	stop := context.AfterFunc(request, cancel)
	return ctx, func() { stop(); cancel() }
}
