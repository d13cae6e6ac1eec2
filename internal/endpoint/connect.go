package endpoint

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/host/listen"
	"tandemux/internal/cli"
	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/local"
	"tandemux/internal/wsrpc"
)

// Options says what connect does beyond connecting.
type Options struct {
	Start     bool // start this user's host when none runs
	Reconnect bool // go on with the next host when this one ends
	Once      bool // of a command line's: do not reconnect
	Names     bool // what the host has carries its name (package hosted)
	Follow    []ahp.URI
	Sink      client.Sink
	client.Wants
	Kind  string         // part of the client id: "tui", "cli"
	ID    string         // the client id, "" for a new one
	Log   *slog.Logger   // of the connection; nil discards
	Agent *ahp.AgentMeta // nil unless it is for an agent
}

// Connect reaches the host and shakes hands.
func Connect(ctx context.Context, p Endpoint, h Options) (*client.Client, error) {
	if p.Own() {
		if err := p.Dirs.Check(); err != nil {
			return nil, err
		}
	}
	if p.Hub {
		return nil, p.hubError()
	}
	if p.InTheClear() && !p.quiet {
		fmt.Fprintf(os.Stderr, "tandemux: %s is not encrypted: whoever is on the way can read the token and what you type\n", p.url)
	}
	if p.SSH != nil {
		// Somebody may have to type a password first.
		patient, cancel := context.WithTimeout(ctx, sshPatience)
		defer cancel()
		ctx = patient
	}
	plain, err := p.dialer()
	if err != nil {
		return nil, err
	}
	dial := plain
	if h.Reconnect && p.Own() {
		dial = (&local.Reviver{Dirs: p.Dirs, Connect: plain}).Dial
	}
	if p.debug && h.Kind != KindInterface { // which has the terminal
		dial = trace(dial)
	}
	id := cmp.Or(h.ID, NewClientID(h.Kind))
	if h.Names && p.Name != "" {
		dial = p.named(dial, hosted.Names{Host: p.Name, Here: id, There: NewClientID(h.Kind)})
	}
	opts := client.Options{
		Dial: dial, ClientID: id, Reconnect: h.Reconnect, Follow: h.Follow, Sink: h.Sink, Wants: h.Wants, Log: h.Log,
		Info: ahp.Implementation{Name: "tandemux", Version: Version}, Agent: h.Agent,
	}
	if h.Kind != KindInterface && h.Kind != "mcp" { // those never give up
		opts.Absence = changeTime
	}
	p.Pace(&opts)
	until, pause := time.Now().Add(changeTime), time.Duration(0) // at once where a host was started
	for ; ; pause = changePause {
		c, err := client.Connect(ctx, opts)
		if err == nil || !p.Own() || !isPassing(err) || ctx.Err() != nil {
			return c, explain(p, err)
		}
		if err := p.Dirs.CheckSocket(listen.SocketName); err != nil {
			return nil, err
		}
		if local.NobodyThere(err) {
			if !h.Start && !p.Dirs.HostDied() {
				return nil, p.Dirs.NoHost(ctx)
			}
			// Not by the reviver, which would wait for the lock that we hold.
			serr := p.Dirs.StartOnce(func() bool { return local.Dialled(plain(ctx)) == nil })
			if serr != nil && !isPassing(serr) {
				return nil, serr
			}
		}
		if time.Now().After(until) {
			return nil, explain(p, err)
		}
		time.Sleep(pause)
	}
}

// Dial opens a connection to the host, for somebody else's client.
func (p Endpoint) Dial(ctx context.Context) (jsonrpc.Transport, error) {
	dial, err := p.dialer()
	if err != nil {
		return nil, err
	}
	t, err := dial(ctx)
	return t, explain(p, err)
}

const (
	// changeTime is for how long a host that ends before it has answered is followed
	// by another attempt, after changePause.
	changeTime  = CallTimeout
	changePause = 10 * time.Millisecond
)

// isPassing reports whether an error of connecting says that hosts change just now:
// nobody is there, or one that ends.
func isPassing(err error) bool {
	if refused, is := errors.AsType[*wsrpc.StatusError](err); is {
		return refused.Code == http.StatusServiceUnavailable
	}
	if closed, is := errors.AsType[*jsonrpc.CloseError](err); is {
		return closed.Code == jsonrpc.CloseRestart
	}
	return local.NobodyThere(err) || errors.Is(err, local.ErrKilled)
}

const (
	// giveUp is client.Options.GiveUp, and alive its Alive, of hosts that are elsewhere.
	giveUp = 10 * time.Second
	alive  = 15 * time.Second
)

// Pace says how a lost connection is tried again: this machine's own host often
// and cheaply, one that is elsewhere, which may be away for an hour, with longer
// pauses, and however it went. A network can swallow everything without a word.
func (p Endpoint) Pace(o *client.Options) {
	if !p.Elsewhere() {
		o.MaxPause = 500 * time.Millisecond
		return
	}
	o.MaxPause, o.Away, o.GiveUp, o.Alive = 30*time.Second, -1, giveUp, alive
	if p.SSH != nil {
		o.Patience = 30 * time.Second
	}
}

// explain says what an error of connecting means and what to do.
func explain(p Endpoint, err error) error {
	if err == nil {
		return nil
	}
	if err := p.distrusted(err); err != nil {
		return err
	}
	at := "the host"
	if p.url != "" {
		at = p.url
	}
	var refused *wsrpc.StatusError
	var bySSH sshError
	switch {
	case errors.As(err, &bySSH):
		return bySSH
	case isHub(err):
		return p.hubError()
	case errors.Is(err, context.DeadlineExceeded):
		return p.silent(err)
	case p.wrongScheme(err) != nil:
		return p.wrongScheme(err)
	case !errors.As(err, &refused):
		return fmt.Errorf("connect to %s: %w", at, err)
	case refused.Code != 401 && refused.Code != 403: // earlier hosts answer 403
	case p.token == "":
		return fmt.Errorf("%s refuses the connection: put a token into %s or a --token-file (`tandemux token new` on that machine makes one)", at, tokenEnv)
	case strings.HasPrefix(p.token, "tandemux_sk_"):
		return fmt.Errorf("%s refuses the key in %s: an API key is for tasks alone (`tandemux token new` on that machine makes a token)", at, p.tokenFrom)
	case strings.Contains(refused.Body, "token"):
		return fmt.Errorf("%s refuses the token in %s: it is wrong, revoked or expired (`tandemux token new` on that machine makes another)", at, p.tokenFrom)
	}
	return fmt.Errorf("connect to %s: %w", at, err)
}

// wrongScheme says so where TLS is spoken to a host without it, or the other way round.
func (p Endpoint) wrongScheme(err error) error {
	text := err.Error()
	switch {
	case p.scheme == "wss" && (strings.Contains(text, "does not look like a TLS handshake") || strings.Contains(text, "HTTP response to HTTPS client")):
		return fmt.Errorf("connect to %s: what answers there does not speak TLS: use ws:// if it is a host on this machine", p.url)
	case p.scheme == "ws" && strings.Contains(text, "HTTP request to an HTTPS server"):
		return fmt.Errorf("connect to %s: the host speaks TLS: use wss://", p.url)
	}
	return nil
}

// silentError says which host has not answered in time.
type silentError struct {
	text string
	error
}

func (s silentError) Error() string { return s.text }
func (s silentError) Unwrap() error { return s.error }

// silent words an error of a host that has not answered in time; others stay.
func (p Endpoint) silent(err error) error {
	switch {
	case !errors.Is(err, context.DeadlineExceeded):
		return err
	case !p.Own():
		return silentError{fmt.Sprintf("the host at %s does not answer", p.url), err}
	}
	who, way := "the host", ""
	if pid, _ := p.Dirs.HostPlace().Holder(); pid > 0 { //nolint:errcheck // then it is not known
		who, way = fmt.Sprintf("the host (pid %d)", pid), fmt.Sprintf("if it was stopped, `kill -CONT %d` lets it go on; ", pid)
	}
	return silentError{fmt.Sprintf("%s, or the keeper below it, does not answer: %shost.log in %s may say more", who, way, p.Dirs.State), err}
}

// NewClientID names this process to the host. It is no secret and no identity:
// who we are follows from how we connected.
func NewClientID(kind string) string {
	return clientPrefix + kind + "-" + strings.ToLower(rand.Text()[:12])
}

// Conn is a connected command: the client and what it mirrors.
type Conn struct {
	*client.Client
	Mirror *client.Mirror
	At     Endpoint
}

// NewConn makes a Conn of a client and the mirror that is its sink.
func NewConn(c *client.Client, m *client.Mirror, at Endpoint) *Conn { return &Conn{c, m, at} }

const (
	// CallTimeout bounds every request of the command line.
	CallTimeout = 10 * time.Second
	// sshPatience bounds logging in by ssh.
	sshPatience = 2 * time.Minute
)

// WithHost runs a command's work with a connection that ends with it.
func WithHost(cmd *cobra.Command, h Options, work func(ctx context.Context, s *Conn) error) error {
	p, err := Of(cmd)
	if err != nil {
		return err
	}
	return p.With(cmd.Context(), h, work)
}

// With is WithHost for a place that is known already.
func (p Endpoint) With(ctx context.Context, h Options, work func(ctx context.Context, s *Conn) error) error {
	m := client.NewMirror(0)
	h.Sink, h.Kind, h.Reconnect = m, "cli", !h.Once
	c, err := Connect(ctx, p, h)
	if err != nil {
		return err
	}
	defer c.Close()
	return work(ctx, &Conn{c, m, p})
}

// OperatorPrincipal is what the host calls everybody of its own uid on the unix
// socket (TerminalMeta.Principal).
const OperatorPrincipal = "operator"

// Me is the principal that the host takes us for.
func (s *Conn) Me() string {
	if who := s.Principal(); who != "" || !s.At.Own() {
		return who
	}
	return OperatorPrincipal // an old host, which does not say
}

// Carry is client.Client's, with a word about a host that is too old for what it was asked.
func (s *Conn) Carry(ctx context.Context, method string, params, result any) error {
	err := s.Client.Carry(ctx, method, params, result)
	if e := ahp.FromRPC(err); e != nil && e.Code == ahp.CodeMethodNotFound {
		at := "the host"
		if s.At.url != "" {
			at = cmp.Or(s.At.Name, s.At.url)
		}
		return fmt.Errorf("%s can't do this, as its tandemux is older than this one: %w", at, err)
	}
	return err
}

// Ask asks the host, or the one that follows it, within the command line's time
// limit.
func (s *Conn) Ask(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	return s.At.silent(s.Carry(ctx, method, params, result))
}

// Act sends an action, once and only once however hosts change, and waits for
// the host's word on it.
func (s *Conn) Act(ctx context.Context, channel ahp.URI, a ahp.Action) error {
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	_, err := s.CarryDispatch(ctx, channel, a)
	return s.At.silent(err)
}

// EndSession ends a session, also where hosts change meanwhile. One that is not there any
// more has ended.
func (s *Conn) EndSession(ctx context.Context, session ahp.URI) error {
	err := s.Ask(ctx, ahp.MethodDisposeSession, ahp.SubscribeParams{Channel: session}, nil)
	if errors.Is(err, &ahp.Error{Code: ahp.CodeSessionNotFound}) {
		return nil
	}
	return err
}

// Terminals are those of the host, as of now.
func (s *Conn) Terminals() []ahp.TerminalInfo {
	root, _ := s.Mirror.Root()
	return root.Terminals
}

// Layouts are those of the host that show something, as of now; of an older host those
// that show one of its terminals.
func (s *Conn) Layouts() (all []ahp.URI) {
	root, _ := s.Mirror.Root()
	if root.Meta != nil {
		return slices.Sorted(maps.Keys(root.Meta.Layouts))
	}
	for _, t := range root.Terminals {
		if t.Meta != nil {
			all = append(all, t.Meta.Layouts...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Terminal finds the terminal that an id of the command line means.
func (s *Conn) Terminal(id string) (ahp.TerminalInfo, error) {
	return Resolve(s.Terminals(), id)
}

// debugf says what is asked and answered (U101): never what is in it, which may be secret,
// nor a token.
func debugf(format string, args ...any) {
	fmt.Fprintln(os.Stderr, "tandemux: "+cli.Line(fmt.Sprintf(format, args...)))
}

// traced is a connection of which is said what is asked and answered.
// It implements jsonrpc.Transport.
type traced struct {
	jsonrpc.Transport

	mu    sync.Mutex // Protects following.
	asked map[string]asked
}

type asked struct {
	method string
	at     time.Time
}

// header is what is looked at of a message.
type header struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (t *traced) Write(ctx context.Context, msg []byte) error {
	var h header
	if json.Unmarshal(msg, &h) == nil && h.Method != "" {
		t.mu.Lock()
		if len(h.ID) > 0 {
			t.asked[string(h.ID)] = asked{h.Method, time.Now()}
		}
		t.mu.Unlock()
		debugf("→ %s, %d bytes", h.Method, len(msg))
	}
	return t.Transport.Write(ctx, msg)
}

func (t *traced) Read(ctx context.Context) ([]byte, error) {
	msg, err := t.Transport.Read(ctx)
	var h header
	switch {
	case err != nil:
		debugf("← the connection ended: %v", err)
	case json.Unmarshal(msg, &h) != nil:
	case h.Method != "":
		debugf("← %s, %d bytes", h.Method, len(msg))
	default:
		t.mu.Lock()
		was := t.asked[string(h.ID)]
		delete(t.asked, string(h.ID))
		t.mu.Unlock()
		took := time.Since(was.at).Round(time.Millisecond)
		if h.Error != nil {
			debugf("← %s: error %d: %s, %v", was.method, h.Error.Code, h.Error.Message, took)
		} else {
			debugf("← %s: %d bytes, %v", was.method, len(msg), took)
		}
	}
	return msg, err
}

// trace has a way to the host say what goes along it.
func trace(dial func(context.Context) (jsonrpc.Transport, error)) func(context.Context) (jsonrpc.Transport, error) {
	return func(ctx context.Context) (jsonrpc.Transport, error) {
		t, err := dial(ctx)
		if err != nil {
			debugf("the host can't be reached: %v", err)
			return nil, err
		}
		debugf("connected")
		return &traced{Transport: t, asked: map[string]asked{}}, nil
	}
}
