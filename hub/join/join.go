package join

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"golang.org/x/sync/errgroup"

	"tandemux/ahp"
	"tandemux/host/front"
	"tandemux/hub/carry"
	"tandemux/hub/directory"
	"tandemux/hub/server"
	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/pace"
	"tandemux/internal/wsrpc"
)

// Options say which host joins what.
type Options struct {
	// URL is the hub's NATS, "" for the one that the credential names.
	URL string
	// Credential is the text of one, as `tandemux hub invite` prints it.
	Credential string
	// Host connects to the host's unix socket.
	Host func(context.Context) (net.Conn, error)
	// Revive, if not nil, starts the host where it does not run.
	Revive  func(context.Context) error
	Labels  []string // where the credential gives none
	Room    int      // tasks at once
	Carries bool
	Version string
	Log     *slog.Logger
	// Work runs beside, with what joined; it ends with its context.
	Work []Work
}

// Joined is a host that has joined.
type Joined struct {
	Name string
	NATS *nats.Conn
	Options
}

// Work is what else a joined host does.
type Work func(ctx context.Context, j *Joined) error

const (
	pingTime   = 3 * time.Second
	pings      = 2
	firstPause = 200 * time.Millisecond
	aliveTime  = 15 * time.Second
	giveUpTime = 4 * time.Second
	listPause  = time.Second
)

// answerTime is how long it may take to connect to a hub, and that to say the first word.
var answerTime = 2 * time.Second

// errCredential ends a join whose credential is not let in any more.
var errCredential = errors.New("the hub refuses the credential: it was revoked or has ended; `tandemux hub invite` makes another")

// Run joins until ctx ends. An error says that it can't, now or any more.
func Run(ctx context.Context, o Options) error {
	if strings.TrimSpace(o.Credential) == "" {
		return errors.New("join: the credential is empty: `tandemux hub invite NAME` on the hub's machine prints one")
	}
	at, pin := directory.ReadCredential(o.Credential)
	if o.URL = cmp.Or(o.URL, at); o.URL == "" {
		return errors.New("join: the credential names no hub: give its address, such as tls://house:4222")
	}
	name, opts, err := dialOptions(o.URL, o.Credential, pin)
	if err != nil {
		return fmt.Errorf("join %s: %w", o.URL, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	first := make(chan struct{})
	var once sync.Once
	opts = slices.Clip(append(opts, nats.SkipHostLookup(), nats.SetCustomDialer(dialer{ctx}), nats.Timeout(answerTime)))
	nc, err := nats.Connect(o.URL, append(opts,
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(firstPause), nats.ReconnectJitter(firstPause, time.Second),
		nats.PingInterval(pingTime), nats.MaxPingsOutstanding(pings),
		nats.ConnectHandler(func(*nats.Conn) { once.Do(func() { close(first) }); o.Log.Info("joined", "hub", o.URL) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { o.Log.Warn("the way to the hub is lost", "err", err) }),
		nats.ReconnectHandler(func(c *nats.Conn) { o.Log.Info("joined again", "hub", c.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) {
			o.Log.Warn("the hub refuses something", "err", err)
		}),
		nats.ClosedHandler(func(c *nats.Conn) { cancel(errCredential) }),
	)...)
	if err != nil {
		return fmt.Errorf("join %s: %w", o.URL, err)
	}
	defer nc.Close()
	j := &Joined{Name: name, NATS: nc, Options: o}
	var all errgroup.Group
	run := func(w Work) {
		all.Go(func() error {
			err := w(ctx, j)
			if err != nil {
				cancel(err)
			}
			return err
		})
	}
	run(announce)
	if o.Carries {
		run(func(ctx context.Context, j *Joined) error {
			h := &carry.Host{Name: name, Log: o.Log, Dial: j.dialAs, Connect: func() (*nats.Conn, error) {
				return nats.Connect(nc.ConnectedUrl(), append(opts, nats.NoReconnect(), nats.PingInterval(pingTime), nats.MaxPingsOutstanding(pings))...)
			}}
			return h.Serve(ctx, nc)
		})
	}
	for _, w := range o.Work {
		run(w)
	}
	<-ctx.Done()
	err = all.Wait()
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	return err
}

// dialOptions are those of a connection with a credential, and whose it is.
func dialOptions(at, credential, pin string) (name string, opts []nats.Option, err error) {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" {
		return "", nil, errors.New("the address is tls://MACHINE:PORT, or nats:// on this machine")
	}
	if u.User != nil {
		return "", nil, errors.New("a secret in an address can be read by others: the credential says who this is")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	loopback := u.Hostname() == "localhost" || err == nil && ip.Unmap().IsLoopback()
	if u.Scheme == "nats" && !loopback {
		return "", nil, errors.New("it would not be encrypted: use tls://")
	}
	text := []byte(credential)
	user, err := nkeys.ParseDecoratedJWT(text)
	if err != nil {
		return "", nil, fmt.Errorf("read the credential: %w: it is what `tandemux hub invite` prints", err)
	}
	claims, err := jwt.DecodeUserClaims(user)
	if err != nil {
		return "", nil, fmt.Errorf("read the credential: %w", err)
	}
	if err := directory.CheckName(claims.Name); err != nil {
		return "", nil, fmt.Errorf("read the credential: %w", err)
	}
	pair, err := nkeys.ParseDecoratedNKey(text)
	if err != nil {
		return "", nil, fmt.Errorf("read the credential: %w", err)
	}
	seed, err := pair.Seed()
	if err != nil {
		return "", nil, fmt.Errorf("read the credential: %w", err)
	}
	opts = []nats.Option{nats.UserJWTAndSeed(user, string(seed)), nats.Name(claims.Name), nats.CustomInboxPrefix(server.InboxOf(claims.Name))}
	if u.Scheme == "tls" {
		opts = append(opts, nats.Secure(wsrpc.ClientTLS(u.Hostname(), pin)))
	}
	return claims.Name, opts, nil
}

// dialer connects to the hub until ctx ends: NATS's own waits, and all that ask for something
// with it.
type dialer struct{ ctx context.Context }

// Dial implements nats.CustomDialer.
func (d dialer) Dial(network, at string) (net.Conn, error) {
	ctx, done := context.WithTimeout(d.ctx, answerTime)
	defer done()
	c, err := (&net.Dialer{}).DialContext(ctx, network, at)
	if err != nil {
		return nil, err
	}
	return &dialed{c, context.AfterFunc(d.ctx, func() { c.Close() })}, nil
}

// dialed is a connection that ends with its dialer's until heard is called: nobody says
// goodbye to who has said nothing.
type dialed struct {
	net.Conn
	heard func() bool
}

func (c *dialed) Close() error {
	c.heard()
	return c.Conn.Close()
}

func (c *dialed) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.heard()
	}
	return n, err
}

// dialAs connects to the host for who has a token; person is who the hub says that is.
func (j *Joined) dialAs(ctx context.Context, token, person string) (jsonrpc.Transport, error) {
	t := wsrpc.Target{URL: "ws://localhost" + front.TokenPath, Token: token, Dial: j.Host}
	if person != "" {
		t.Header = http.Header{front.PersonHeader: {person}}
	}
	return wsrpc.Dial(ctx, t)
}

// announce tells the hub what the host is, as it changes.
func announce(ctx context.Context, j *Joined) error {
	a := directory.NewAnnouncer(j.NATS, j.Name)
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return a.Run(ctx) })
	both.Go(func() error { j.watch(ctx, a); return nil })
	return both.Wait()
}

// watched is the state of the host as a client's Sink.
type watched struct {
	*client.Mirror
	up atomic.Bool
}

// Status implements client.Sink.
func (w *watched) Status(s client.Status, err error) {
	w.up.Store(s == client.Connected)
	w.Mirror.Status(s, err)
}

// watch follows the host, and has said what it is.
func (j *Joined) watch(ctx context.Context, a *directory.Announcer) {
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, 5*time.Second) {
		w := &watched{Mirror: client.NewMirror(1)}
		w.up.Store(true)
		c, err := client.Connect(ctx, client.Options{
			Dial: func(ctx context.Context) (jsonrpc.Transport, error) {
				return wsrpc.Dial(ctx, wsrpc.Target{URL: "ws://localhost/ahp", Dial: j.Host})
			},
			Info: ahp.Implementation{Name: "tandemux-hub", Version: j.Version}, Sink: w, Reconnect: true,
			MaxPause: time.Second, Alive: aliveTime, GiveUp: giveUpTime, Log: j.Log,
		})
		if err == nil {
			pause = firstPause
			j.follow(ctx, c, w, a)
			c.Close()
			a.Set(nil)
			continue
		}
		j.Log.Info("the host does not answer", "err", err)
		j.revive(ctx)
		pace.Sleep(ctx, pause)
	}
}

// revive starts the host where it does not run.
func (j *Joined) revive(ctx context.Context) {
	if j.Revive == nil {
		return
	}
	if err := j.Revive(ctx); err != nil && ctx.Err() == nil {
		j.Log.Warn("the host can't be started", "err", err)
	}
}

// follow says what the host is until it is gone for good.
func (j *Joined) follow(ctx context.Context, c *client.Client, w *watched, a *directory.Announcer) {
	for {
		changed := w.Changed()
		if root, ok := w.Root(); ok && w.up.Load() {
			h := j.describe(root)
			short, cancel := context.WithTimeout(ctx, giveUpTime)
			var page ahp.ListSessionsResult
			err := c.Call(short, ahp.MethodListSessions, ahp.ListSessionsParams{Channel: ahp.RootURI}, &page)
			cancel()
			if err == nil {
				for _, s := range page.Items {
					h.Sessions = append(h.Sessions, directory.Reference{URI: s.Resource, Title: s.Title})
				}
			}
			a.Set(&h)
		}
		var again <-chan time.Time
		if !w.up.Load() {
			a.Set(nil)
			j.revive(ctx)
			again = time.After(listPause)
		}
		select {
		case <-changed:
		case <-again:
		case <-c.Done():
			return
		case <-ctx.Done():
			return
		}
		if w.up.Load() { // else it is told at once
			if !pace.Sleep(ctx, listPause) {
				return
			}
		}
	}
}

// describe is what the host is, without its sessions.
func (j *Joined) describe(root ahp.RootState) directory.Host {
	h := directory.Host{
		Name: j.Name, Version: j.Version, Labels: j.Labels, System: runtime.GOOS + "/" + runtime.GOARCH,
		CPUs: runtime.NumCPU(), Memory: memory(), Room: j.Room, Carries: j.Carries,
	}
	for _, a := range root.Agents {
		h.Agents = append(h.Agents, a.Provider)
	}
	for _, t := range root.Terminals {
		h.Terms = append(h.Terms, directory.Reference{URI: t.Resource, Title: t.Title, State: string(t.Claim.Kind)})
	}
	return h
}

// memory is what the machine has, in bytes; 0 where it does not say so.
func memory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		if rest, is := strings.CutPrefix(in.Text(), "MemTotal:"); is {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64) //nolint:errcheck // else 0
			return n << 10
		}
	}
	return 0
}
