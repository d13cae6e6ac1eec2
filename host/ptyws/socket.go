package ptyws

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"

	"tandemux/ahp"
	"tandemux/host/front"
	"tandemux/host/pool"
	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/wsrpc"
)

// maxAttached bounds the terminals of a socket.
const maxAttached = 100

// The messages of the protocol (T25–T32).
const (
	typeAttach   = "pty:attach"
	typeDetach   = "pty:detach"
	typeInput    = "pty:input"
	typeResize   = "pty:resize"
	typeAttached = "pty:attached"
	typeOutput   = "pty:output"
	typeExit     = "pty:exit"
	typeError    = "pty:error"
)

// message is any of the client's.
type message struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	Data string `json:"data"`
	Cols int    `json:"cols"`
	Rows int    `json:"rows"`
}

// reply is any of ours but events; nil members are left out.
type reply struct {
	Type     string  `json:"type"`
	ID       string  `json:"id"`
	History  *string `json:"history,omitempty"`
	Data     *string `json:"data,omitempty"`
	ExitCode *int    `json:"exitCode,omitempty"`
	Error    string  `json:"error,omitempty"`
}

// errUnknown is the document's text (T32), errAgents what is said of terminals of agents.
const (
	errUnknown = "Session not found"
	errAgents  = "Input is for user terminals only"
)

type socket struct {
	ws     jsonrpc.Transport
	c      *client.Client
	output bool // of agents' terminals too

	write sync.Mutex // orders writes to ws

	mu       sync.Mutex
	attached map[ahp.URI]string        // by URI, the id that the client used
	followed map[ahp.URI]bool          // agents' terminals whose output is told as events
	known    map[ahp.URI]pool.Terminal // running, as of the last list; nil before the first
	ending   map[ahp.URI]*event        // whose pty:exit is under way, with what is to be told after it
}

// upgrade makes a socket of a request and serves it to its end.
func (f Server) upgrade(w http.ResponseWriter, r *http.Request, c front.Caller) {
	s := &socket{
		output:   r.URL.Query().Get("output") == "1",
		attached: map[ahp.URI]string{}, followed: map[ahp.URI]bool{}, ending: map[ahp.URI]*event{},
	}
	ctx := context.WithoutCancel(r.Context()) // the socket outlives its request
	var err error
	if s.ws, err = wsrpc.Accept(w, r, wsrpc.Options{ReadLimit: maxMessage}); err != nil {
		return
	}
	ready, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if s.c, err = f.connect(ready, c, strings.ToLower(rand.Text()[:12]), s); err != nil {
		s.ws.Close(jsonrpc.CloseAway, err.Error()) //nolint:errcheck // it ends either way
		return
	}
	go func() { // The host has closed our connection: the socket ends with the same word.
		<-s.c.Done()
		code, reason := jsonrpc.CloseAway, "the host has ended the connection"
		if ce, ok := errors.AsType[*jsonrpc.CloseError](s.c.Err()); ok && ce.Code >= 1000 {
			code, reason = ce.Code, ce.Reason
		}
		s.ws.Close(code, reason) //nolint:errcheck // it ends either way
	}()
	defer s.ws.Close(1000, "") //nolint:errcheck // it ends either way
	defer s.c.Close()
	if err := s.c.Subscribe(ready, ahp.RootURI); err != nil {
		return
	}
	for {
		msg, err := s.ws.Read(ctx)
		if err != nil {
			return
		}
		s.handle(ctx, msg)
	}
}

// handlers are the messages that a client may send.
var handlers = map[string]func(s *socket, ctx context.Context, m message, t *ahp.TerminalInfo) string{
	typeAttach: (*socket).attach,
	typeDetach: (*socket).detach,
	typeInput:  (*socket).input,
	typeResize: (*socket).resize,
}

// handle carries out a message; what is wrong with it is answered.
func (s *socket) handle(ctx context.Context, raw []byte) {
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		s.send(reply{Type: typeError, Error: "the message is not JSON of the expected form"})
		return
	}
	do, ok := handlers[m.Type]
	if !ok {
		s.send(reply{Type: typeError, ID: m.ID, Error: "unknown message type"})
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	all, err := terminals(ctx, s.c)
	refusal := errUnknown
	if err != nil {
		refusal = err.Error()
	} else if t := pool.Find(all, m.ID); t != nil {
		refusal = do(s, ctx, m, t)
	}
	if refusal != "" {
		s.send(reply{Type: typeError, ID: m.ID, Error: refusal})
	}
}

// attach is pty:attach; pty:attached with the history, and pty:output, follow
// from the snapshot on.
func (s *socket) attach(ctx context.Context, m message, t *ahp.TerminalInfo) string {
	s.mu.Lock()
	full := len(s.attached) >= maxAttached
	if !full {
		s.attached[t.Resource] = m.ID
		delete(s.followed, t.Resource)
	}
	s.mu.Unlock()
	if full {
		return "too many attached terminals on this socket: detach some"
	}
	if err := s.c.Subscribe(ctx, t.Resource); err != nil {
		s.mu.Lock()
		delete(s.attached, t.Resource)
		s.mu.Unlock()
		if ahp.CodeOf(err) == ahp.CodeNotFound {
			return errUnknown
		}
		return err.Error()
	}
	return ""
}

func (s *socket) detach(_ context.Context, _ message, t *ahp.TerminalInfo) string {
	s.mu.Lock()
	delete(s.attached, t.Resource)
	s.mu.Unlock()
	s.c.Unsubscribe(t.Resource)
	return ""
}

// input is for users' terminals only (T27); whose they are, the host knows.
func (s *socket) input(ctx context.Context, m message, t *ahp.TerminalInfo) string {
	if t.Claim.Kind != ahp.ClaimClient {
		return errAgents
	}
	return s.act(ctx, t.Resource, ahp.TerminalInput{Data: m.Data})
}

func (s *socket) resize(ctx context.Context, m message, t *ahp.TerminalInfo) string {
	if t.Claim.Kind != ahp.ClaimClient {
		return errAgents
	}
	return s.act(ctx, t.Resource, ahp.TerminalResized{Cols: m.Cols, Rows: m.Rows})
}

func (s *socket) act(ctx context.Context, uri ahp.URI, a ahp.Action) string {
	if _, err := s.c.DispatchWait(ctx, uri, a); err != nil {
		return err.Error()
	}
	return ""
}

// send writes a message to the client, or ends the socket, as when the client takes
// nothing for long.
func (s *socket) send(msg any) {
	b, err := json.Marshal(msg)
	if err != nil {
		return
	}
	s.write.Lock()
	defer s.write.Unlock()
	if err := s.ws.Write(context.Background(), b); err != nil {
		s.ws.Close(jsonrpc.CloseAway, "") //nolint:errcheck // it is over
	}
}
