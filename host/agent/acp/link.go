package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"tandemux/host/agent"
	"tandemux/internal/jsonrpc"
)

// maxRequests bounds the agent's requests that run at once.
const maxRequests = 256

// link is a running agent and the connection to it.
type link struct {
	p    *Provider
	proc *process
	conn *jsonrpc.Conn
	s    *session // nil for a probe
	init initializeResult

	cancel context.CancelFunc // of the requests
	work   sync.WaitGroup
	broken chan struct{} // closed when the connection has ended; cause is set then
	done   chan struct{} // closed when the process and the requests have ended, too
	cause  error

	mu       sync.Mutex
	requests map[string]context.CancelFunc // running requests of the agent's, by id
	stopping bool
}

// dial starts an agent in a directory and initializes the connection.
func (p *Provider) dial(ctx context.Context, dir string, s *session) (*link, error) {
	proc, err := p.start(ctx, dir, s)
	if err != nil {
		return nil, err
	}
	l := &link{
		p: p, proc: proc, s: s, requests: map[string]context.CancelFunc{},
		broken: make(chan struct{}), done: make(chan struct{}),
	}
	t := newLines(proc.in, proc.out, p.c.MaxLine, proc.errors.note)
	l.conn = jsonrpc.New(t, l.handle, jsonrpc.Options{Log: p.log})
	run, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	go l.run(run)
	if err := l.initialize(ctx); err != nil {
		return nil, l.unusable(err)
	}
	return l, nil
}

// run handles the connection until it ends, and then ends the process.
func (l *link) run(ctx context.Context) {
	l.cause = l.conn.Run(ctx)
	l.cancel()
	close(l.broken)
	if l.s != nil {
		l.s.lost(l)
	}
	l.proc.stop()
	l.work.Wait()
	close(l.done)
	l.p.log.Debug("agent ended", "agent", l.p.c.ID, "how", l.proc.how, "err", l.cause)
}

// stop ends the agent, and waits for that.
func (l *link) stop() {
	l.mu.Lock()
	l.stopping = true
	l.mu.Unlock()
	l.conn.Close(1000, "")
	<-l.done
}

// resumes returns the method with which another process can resume a session, or "".
func (l *link) resumes() string {
	switch can := l.init.AgentCapabilities; {
	case given(can.SessionCapabilities.Resume):
		return methodResume
	case can.LoadSession:
		return methodLoad
	}
	return ""
}

// alive reports whether the connection exists.
func (l *link) alive() bool {
	select {
	case <-l.broken:
		return false
	default:
		return true
	}
}

// ended waits for the link's end, and returns why it ended.
func (l *link) ended() *agent.Error {
	<-l.done
	l.mu.Lock()
	stopping := l.stopping
	l.mu.Unlock()
	if stopping {
		return agent.Errorf(agent.KindClosed, "the agent %s was ended", l.p.c.ID)
	}
	var closed *jsonrpc.CloseError
	if l.cause != nil && !errors.As(l.cause, &closed) {
		return agent.Errorf(agent.KindProtocol, "the agent %s was ended: %v", l.p.c.ID, l.cause)
	}
	return agent.Errorf(agent.KindCrashed, "the agent %s ended by itself (%s)%s", l.p.c.ID, l.proc.how, l.proc.errors.quoted(": "))
}

// initialize agrees on the protocol's version and gets the agent's capabilities.
func (l *link) initialize(ctx context.Context) error {
	params := initializeParams{
		ProtocolVersion: protocolVersion,
		ClientInfo:      implementation{Name: "tandemux", Title: "tandemux", Version: l.p.c.Version},
	}
	caps := &params.ClientCapabilities
	caps.Auth.Terminal = true
	caps.Meta = map[string]bool{"terminal_output": true, "terminal-auth": true}
	if l.s != nil {
		caps.FS.ReadTextFile = l.s.spec.Files != nil
		caps.FS.WriteTextFile = l.s.spec.Files != nil
		caps.Terminal = l.s.spec.Terminals != nil
	}
	if err := l.call(ctx, methodInitialize, params, &l.init); err != nil {
		return err
	}
	if v := l.init.ProtocolVersion; v != protocolVersion {
		return agent.Errorf(agent.KindProtocol,
			"the agent %s speaks version %d of the Agent Client Protocol and not %d: use another release of it", l.p.c.ID, v, protocolVersion)
	}
	l.p.learn(l)
	return nil
}

// call sends a request that the agent must answer before ctx ends.
func (l *link) call(ctx context.Context, method string, params, result any) error {
	return l.failed(ctx, method, l.conn.Call(ctx, method, params, result))
}

// unusable ends an agent that could not be initialized, and adds the end of its stderr to the error.
func (l *link) unusable(err error) error {
	l.stop()
	if e, is := errors.AsType[*agent.Error](err); is && e.Kind == agent.KindAgent {
		e.Message += l.proc.errors.quoted("; the last it said: ")
	}
	return err
}

// failed returns the error of a request that the agent did not do.
func (l *link) failed(ctx context.Context, method string, err error) error {
	var rpc *jsonrpc.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &rpc) && rpc.Code == codeAuthRequired:
		return &agent.Error{
			Kind: agent.KindAuthRequired, Auth: l.p.auth(l),
			Message: fmt.Sprintf("the agent %s wants somebody to log in first: %s", l.p.c.ID, l.p.howToLogIn(l, rpc)),
		}
	case errors.As(err, &rpc):
		return agent.Errorf(agent.KindAgent, "the agent %s refused %s: %s", l.p.c.ID, method, rpcText(rpc))
	case errors.Is(err, context.DeadlineExceeded):
		return agent.Errorf(agent.KindTimeout, "the agent %s did not answer %s in time%s", l.p.c.ID, method, l.proc.errors.quoted("; the last it said: "))
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, jsonrpc.ErrClosed), !l.alive():
		return l.ended()
	}
	return agent.Errorf(agent.KindProtocol, "ask the agent %s for %s: %v", l.p.c.ID, method, err)
}

// rpcText returns the message of an agent's error, with details that some agents put into its data.
func rpcText(e *jsonrpc.Error) string {
	text := e.Message
	raw, _ := e.Data.(json.RawMessage)
	var data struct {
		Details string `json:"details"`
		Message string `json:"message"`
	}
	plain := ""
	if json.Unmarshal(raw, &data) == nil {
		plain = data.Details + data.Message
	} else {
		json.Unmarshal(raw, &plain)
	}
	if plain != "" && !strings.Contains(text, plain) {
		text += ": " + plain
	}
	return clip(text, 1000)
}

// handle handles a message of the agent's. Messages are handled in order.
func (l *link) handle(ctx context.Context, _ *jsonrpc.Conn, req *jsonrpc.Request) (any, error) {
	if req.IsNotification() {
		switch {
		case req.Method == methodCancelled:
			l.cancelRequest(req.Params)
		case req.Method == methodUpdate && l.s != nil:
			l.s.update(req.Params)
		default:
			l.p.log.Debug("notification ignored", "agent", l.p.c.ID, "method", req.Method)
		}
		return nil, nil
	}
	serve := served[req.Method]
	if serve == nil || l.s == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("method not found: %q", req.Method)}
	}
	run, err := serve(l.s, req.Params)
	if err != nil {
		return nil, wireError(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	id := string(req.ID)
	l.mu.Lock()
	full := len(l.requests) >= maxRequests
	if !full {
		l.requests[id] = cancel
	}
	l.mu.Unlock()
	if full {
		cancel()
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: fmt.Sprintf("%d requests are under way already", maxRequests)}
	}
	l.work.Go(func() {
		result, err := run(ctx)
		if err != nil && ctx.Err() != nil {
			err = &jsonrpc.Error{Code: codeCancelled, Message: "cancelled"}
		}
		l.conn.Reply(req, result, wireError(err))
		cancel()
		l.mu.Lock()
		delete(l.requests, id)
		l.mu.Unlock()
	})
	return nil, jsonrpc.ErrReplied
}

// cancelRequest cancels one of the agent's requests.
func (l *link) cancelRequest(params json.RawMessage) {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if cancel := l.requests[string(p.ID)]; cancel != nil {
		cancel()
	}
}

// wireError converts an error to the form in which the agent gets it.
func wireError(err error) error {
	var rpc *jsonrpc.Error
	var refusal *agent.Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &rpc):
		return rpc
	case errors.As(err, &refusal):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: refusal.Text}
	case errors.Is(err, fs.ErrNotExist):
		return &jsonrpc.Error{Code: codeNotFound, Message: err.Error()}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: err.Error()}
}

const (
	// defaultMaxLine bounds a message in bytes, so that images in a prompt fit.
	defaultMaxLine = 32 << 20
	// maxGarbage bounds what is not a message, in bytes between two messages.
	maxGarbage = 16 << 20
	// maxNoted bounds how much of a line that is not a message is logged, and maxLines how many such
	// lines are logged between two messages.
	maxNoted = 2 << 10
	maxLines = 1000
)

// errGarbage is the error of a program that is not an ACP agent.
var errGarbage = fmt.Errorf("it wrote more than %d MB to stdout that are no messages: is it an ACP agent, with the right arguments?", maxGarbage>>20)

// lines is a jsonrpc.Transport over a child's stdin and stdout with one message per line.
type lines struct {
	in   *os.File      // the child's stdin
	out  *agent.Output // the child's stdout
	r    *bufio.Reader
	max  int
	note func(line []byte) // called with what is not a message

	buf     []byte
	garbage int
	noted   int
	line    []byte // buffer of Write, reused
}

func newLines(in *os.File, out *agent.Output, most int, note func([]byte)) *lines {
	return &lines{in: in, out: out, r: bufio.NewReaderSize(out, 64<<10), max: most, note: note}
}

// Read returns the next line that may be a message. Others are passed to note and skipped.
func (l *lines) Read(context.Context) ([]byte, error) {
	for {
		line, size, err := l.next()
		text := bytes.TrimSpace(line)
		message := len(text) > 0 && (text[0] == '{' || text[0] == '[')
		switch {
		case message && size > l.max:
			return nil, fmt.Errorf("it wrote a message of more than %d MB", l.max>>20)
		case message && err == nil:
			l.garbage, l.noted = 0, 0
			return text, nil
		case len(text) > 0:
			if l.noted++; l.noted <= maxLines {
				l.note(text[:min(len(text), maxNoted)])
			}
			if l.garbage += size; l.garbage > maxGarbage {
				return nil, errGarbage
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
				return nil, &jsonrpc.CloseError{Code: 1000, Reason: "end of its output"}
			}
			return nil, err
		}
	}
}

// next reads a line. Of a line that is too long it keeps the beginning, and returns the whole size.
func (l *lines) next() (line []byte, size int, err error) {
	if cap(l.buf) > 1<<20 {
		l.buf = nil // a single large message must not keep its memory
	}
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		size += len(part)
		start := l.buf
		if len(start) == 0 {
			start = part
		}
		keep := maxNoted
		if start = bytes.TrimLeft(start, " \t\r\n"); len(start) > 0 && start[0] == '{' {
			keep = l.max + 1
		}
		l.buf = append(l.buf, part[:min(len(part), max(0, keep-len(l.buf)))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.buf, size, err
		}
		if size > l.max && keep > maxNoted || l.garbage+size > maxGarbage && keep == maxNoted {
			return l.buf, size, nil
		}
	}
}

// Write sends a message with its line end in a single write.
func (l *lines) Write(_ context.Context, msg []byte) error {
	l.line = append(append(l.line[:0], msg...), '\n')
	_, err := l.in.Write(l.line)
	if cap(l.line) > 1<<20 {
		l.line = nil
	}
	return err
}

// Close closes both directions. The child sees the end of its stdin.
func (l *lines) Close(int, string) error {
	return errors.Join(l.in.Close(), l.out.Close())
}
