package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host/listen"
	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/local"
	"tandemux/internal/wsrpc"
)

// how says what connect does beyond connecting.
type how struct {
	start     bool // start this user's host when none runs
	reconnect bool // go on with the next host when this one ends
	once      bool // of a command line's: do not reconnect
	sink      client.Sink
	kind      string         // part of the client id: "tui", "cli"
	id        string         // the client id, "" for a new one
	log       *slog.Logger   // of the connection; nil discards
	agent     *ahp.AgentMeta // nil unless it is for an agent
}

// connect reaches the host and shakes hands.
func connect(ctx context.Context, p place, h how) (*client.Client, error) {
	if p.own() {
		if err := p.dirs.Check(); err != nil {
			return nil, err
		}
	}
	if p.inTheClear() {
		fmt.Fprintf(os.Stderr, "tandemux: %s is not encrypted: whoever is on the way can read the token and what you type\n", p.url)
	}
	if p.ssh != nil {
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
	if h.reconnect && p.own() {
		dial = (&local.Reviver{Dirs: p.dirs, Connect: plain}).Dial
	}
	opts := client.Options{
		Dial: dial, ClientID: cmp.Or(h.id, newClientID(h.kind)), Reconnect: h.reconnect, Sink: h.sink, Log: h.log,
		Info: ahp.Implementation{Name: "tandemux", Version: version}, Agent: h.agent,
	}
	if h.kind != "tui" && h.kind != "mcp" { // those never give up
		opts.Absence = changeTime
	}
	p.pace(&opts)
	for until := time.Now().Add(changeTime); ; time.Sleep(changePause) {
		c, err := client.Connect(ctx, opts)
		if err == nil || !p.own() || !isPassing(err) || ctx.Err() != nil {
			return c, explain(p, err)
		}
		if err := p.dirs.CheckSocket(listen.SocketName); err != nil {
			return nil, err
		}
		if local.NobodyThere(err) {
			if !h.start && !p.dirs.HostDied() {
				return nil, p.dirs.NoHost(ctx)
			}
			// Not by the reviver, which would wait for the lock that we hold.
			serr := p.dirs.StartOnce(func() bool { return p.answers(ctx, plain) })
			if serr != nil && !isPassing(serr) {
				return nil, serr
			}
		}
		if time.Now().After(until) {
			return nil, explain(p, err)
		}
	}
}

const (
	// changeTime is for how long a host that ends before it has answered is followed
	// by another attempt, after changePause.
	changeTime  = callTimeout
	changePause = 10 * time.Millisecond
)

// isPassing reports whether an error of connecting says that hosts change just now:
// nobody is there, or one that ends.
func isPassing(err error) bool {
	if refused, is := errors.AsType[*wsrpc.StatusError](err); is {
		return refused.Code == http.StatusServiceUnavailable
	}
	if closed, is := errors.AsType[*jsonrpc.CloseError](err); is {
		return closed.Code == ahp.CloseRestart
	}
	return local.NobodyThere(err) || errors.Is(err, local.ErrKilled)
}

// pace says how a lost connection is tried again: this machine's own host often
// and cheaply, one that is elsewhere, which may be away for an hour, with longer
// pauses, and however it went. A network can swallow everything without a word.
func (p place) pace(o *client.Options) {
	if !p.elsewhere() {
		o.MaxPause = 500 * time.Millisecond
		return
	}
	o.MaxPause, o.Away, o.GiveUp = 30*time.Second, -1, 15*time.Second
	if p.ssh != nil {
		o.Patience = 30 * time.Second
	}
}

func (p place) answers(ctx context.Context, dial func(context.Context) (jsonrpc.Transport, error)) bool {
	t, err := dial(ctx)
	if err != nil {
		return false
	}
	t.Close(1000, "") //nolint:errcheck // only asked whether somebody is there
	return true
}

// explain says what an error of connecting means and what to do.
func explain(p place, err error) error {
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
	case !errors.As(err, &refused):
		if p.scheme == "wss" && (strings.Contains(err.Error(), "does not look like a TLS handshake") || strings.Contains(err.Error(), "HTTP response to HTTPS client")) {
			return fmt.Errorf("connect to %s: what answers there does not speak TLS: use ws:// if it is a host on this machine", at)
		}
		return fmt.Errorf("connect to %s: %w", at, err)
	case refused.Code == 400 && strings.Contains(refused.Body, "HTTPS"):
		return fmt.Errorf("connect to %s: the host speaks TLS: use wss://", at)
	case refused.Code == 403 && p.token == "":
		return fmt.Errorf("%s refuses the connection: put a token into %s or a --token-file (`tandemux token new` on that machine makes one)", at, tokenEnv)
	case refused.Code == 403 && strings.Contains(refused.Body, "token"):
		return fmt.Errorf("%s refuses the token in %s: it is wrong, revoked or expired (`tandemux token new` on that machine makes another)", at, p.tokenFrom)
	}
	return fmt.Errorf("connect to %s: %w", at, err)
}

// newClientID names this process to the host. It is no secret and no identity:
// who we are follows from how we connected.
func newClientID(kind string) string {
	return "tandemux-" + kind + "-" + strings.ToLower(rand.Text()[:12])
}

// session is a connected command: the client and what it mirrors.
type session struct {
	*client.Client
	mirror *client.Mirror
	place  place
}

const (
	// callTimeout bounds every request of the command line.
	callTimeout = 10 * time.Second
	// sshPatience bounds logging in by ssh.
	sshPatience = 2 * time.Minute
)

// withHost runs a command's work with a connection that ends with it.
func withHost(cmd *cobra.Command, start bool, work func(ctx context.Context, s *session) error) error {
	p, err := placeOf(cmd)
	if err != nil {
		return err
	}
	return p.with(cmd, start, work)
}

// with is withHost for a place that is known already.
func (p place) with(cmd *cobra.Command, start bool, work func(ctx context.Context, s *session) error) error {
	return p.as(cmd, how{start: start}, work)
}

// as is with for a connection of a certain kind.
func (p place) as(cmd *cobra.Command, h how, work func(ctx context.Context, s *session) error) error {
	m := client.NewMirror(0)
	h.sink, h.kind, h.reconnect = m, "cli", !h.once
	c, err := connect(cmd.Context(), p, h)
	if err != nil {
		return err
	}
	defer c.Close()
	return work(cmd.Context(), &session{c, m, p})
}

// me is the principal that the host takes us for.
func (s *session) me() string {
	if who := s.Principal(); who != "" || !s.place.own() {
		return who
	}
	return operatorPrincipal // an old host, which does not say
}

// call asks the host, or the one that follows it, within the command line's time
// limit.
func (s *session) call(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return s.Carry(ctx, method, params, result)
}

// dispatch sends an action, once and only once however hosts change, and waits for
// the host's word on it.
func (s *session) dispatch(ctx context.Context, channel ahp.URI, a ahp.Action) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := s.CarryDispatch(ctx, channel, a)
	return err
}

// terminals are those of the host, as of now.
func (s *session) terminals() []ahp.TerminalInfo {
	root, _ := s.mirror.Root()
	return root.Terminals
}

// terminal finds the terminal that an id of the command line means.
func (s *session) terminal(id string) (ahp.TerminalInfo, error) {
	return resolve(s.terminals(), id)
}
