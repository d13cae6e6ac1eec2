package ptyws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/front"
	"tandemux/host/pool"
	"tandemux/internal/client"
	"tandemux/internal/fileuri"
)

const (
	// maxMessage bounds a message and a request's body in bytes.
	maxMessage = 1 << 20
	callTime   = 15 * time.Second
)

// Server answers the requests of its door.
type Server struct {
	Version string
	// NewURI makes the URI of a new terminal.
	NewURI func() ahp.URI
}

// Door is the entrance on the host's listeners.
func (f Server) Door() front.Door {
	return front.Door{Serve: f.serve, Paths: map[string][]string{
		"/pty":       {http.MethodGet},
		"/pty/spawn": {http.MethodPost},
	}}
}

// serve answers a request, whose sender the host has authenticated; it returns
// when the socket that it became has ended.
func (f Server) serve(w http.ResponseWriter, r *http.Request, c front.Caller) {
	switch {
	case strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		f.upgrade(w, r, c)
	case r.Method == http.MethodPost:
		f.respond(w, r, c, f.spawn)
	default:
		f.respond(w, r, c, list)
	}
}

// problem is an error of the caller's making.
type problem struct {
	status int
	text   string
}

func (p problem) Error() string { return p.text }

// statuses are HTTP's words for AHP's errors.
var statuses = map[int]int{
	ahp.CodeInvalidParams: http.StatusBadRequest, ahp.CodePermissionDenied: http.StatusForbidden,
	ahp.CodeNotFound: http.StatusNotFound, ahp.CodeConflict: http.StatusConflict, ahp.CodeAlreadyExists: http.StatusConflict,
}

// respond answers with what do gives, as JSON, or with {"error": text}.
func (f Server) respond(w http.ResponseWriter, r *http.Request, c front.Caller, do func(ctx context.Context, r *http.Request, c *client.Client) (any, error)) {
	ctx, cancel := context.WithTimeout(r.Context(), callTime)
	defer cancel()
	status, answer := http.StatusOK, any(nil)
	cl, err := f.connect(ctx, c, "http", nil)
	if err == nil {
		answer, err = do(ctx, r, cl)
		cl.Close()
	}
	if err != nil {
		var p problem
		status = http.StatusInternalServerError
		if s, ok := statuses[ahp.CodeOf(err)]; ok {
			status = s
		} else if errors.As(err, &p) {
			status = p.status
		}
		answer = map[string]string{"error": err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(answer) //nolint:errcheck // the client is gone
}

func (f Server) connect(ctx context.Context, c front.Caller, id string, sink client.Sink) (*client.Client, error) {
	return client.Connect(ctx, client.Options{
		Dial: c.Dial, ClientID: "pty-" + id + "-" + c.Name(), Sink: sink,
		Info: ahp.Implementation{Name: "tandemux-pty", Version: f.Version},
	})
}

// spawnRequest is the body of POST /pty/spawn; all members are optional.
type spawnRequest struct {
	Cwd     string   `json:"cwd"`
	Command []string `json:"command"` // an argument vector; absent: the user's shell
	Title   string   `json:"title"`
	Cols    int      `json:"cols"`
	Rows    int      `json:"rows"`
}

// spawn starts a terminal of the caller's (T35).
func (f Server) spawn(ctx context.Context, r *http.Request, c *client.Client) (any, error) {
	var in spawnRequest
	if err := readBody(r, &in); err != nil {
		return nil, err
	}
	p := ahp.CreateTerminalParams{
		Channel: f.NewURI(), Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: c.ClientID()},
		Name: in.Title, Cols: in.Cols, Rows: in.Rows,
	}
	if len(in.Command) > 0 {
		p.Meta = &ahp.CreateMeta{Command: in.Command}
	}
	if in.Cwd != "" {
		if !filepath.IsAbs(in.Cwd) {
			return nil, problem{http.StatusBadRequest, "cwd is not an absolute path"}
		}
		p.Cwd = fileuri.Of(in.Cwd)
	}
	if err := c.Call(ctx, ahp.MethodCreateTerminal, p, nil); err != nil {
		return nil, err
	}
	all, err := terminals(ctx, c)
	if err != nil {
		return nil, err
	}
	t := pool.Find(all, p.Channel)
	if t == nil {
		return nil, fmt.Errorf("the terminal was started and is gone already")
	}
	return pool.Describe(t), nil
}

// readBody reads a JSON body, which may be empty.
func readBody(r *http.Request, into any) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxMessage+1))
	switch {
	case err != nil:
		return problem{http.StatusBadRequest, "read the body: " + err.Error()}
	case len(body) > maxMessage:
		return problem{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is longer than %d bytes", maxMessage)}
	case len(body) == 0:
		return nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		return problem{http.StatusBadRequest, "the body is not what is expected: " + err.Error()}
	}
	return nil
}

// list gives the terminals whose process runs (docs/contributing/decisions.md §17).
func list(ctx context.Context, _ *http.Request, c *client.Client) (any, error) {
	all, err := terminals(ctx, c)
	if err != nil {
		return nil, err
	}
	live := []pool.Terminal{}
	for i := range all {
		if !all[i].Lifecycle.Exited() {
			live = append(live, pool.Describe(&all[i]))
		}
	}
	return live, nil
}

// terminals are the host's, as of now.
func terminals(ctx context.Context, c *client.Client) ([]ahp.TerminalInfo, error) {
	var raw json.RawMessage
	if err := c.Call(ctx, ahp.MethodSubscribe, ahp.SubscribeParams{Channel: ahp.RootURI}, &raw); err != nil {
		return nil, err
	}
	return pool.List(raw)
}
