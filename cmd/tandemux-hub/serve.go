package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/spf13/cobra"

	"tandemux/host/auth"
	"tandemux/host/listen"
	"tandemux/hub/audit"
	"tandemux/hub/carry"
	"tandemux/hub/directory"
	"tandemux/hub/front"
	"tandemux/hub/queue"
	"tandemux/hub/server"
	"tandemux/hub/token"
	"tandemux/internal/cli"
	"tandemux/internal/daemon"
	"tandemux/internal/local"
)

// socketName is the hub's unix socket in the runtime directory.
const socketName = "hub.sock"

// serveOptions are the flags of `tandemux hub serve`.
type serveOptions struct {
	Listen      string   `flag:"listen" value:"ADDR" doc:"Where people and programs reach the hub, with TLS beyond loopback"`
	NATS        string   `flag:"nats" value:"ADDR" doc:"Where hosts join, with TLS beyond loopback"`
	Names       []string `flag:"allow-host" value:"NAME" doc:"A further name that clients may know this machine by"`
	Cert        string   `flag:"tls-cert" value:"FILE" doc:"The certificate, in PEM (default: one that the hub makes)"`
	Key         string   `flag:"tls-key" value:"FILE" doc:"Its key"`
	Node        string   `flag:"node" value:"NAME" doc:"This node's name in a cluster of three"`
	Cluster     string   `flag:"cluster" value:"ADDR" doc:"Where the other nodes reach this one"`
	Routes      []string `flag:"route" value:"ADDR" doc:"Where another node is"`
	URL         string   `flag:"nats-url" value:"URL" doc:"Use the NATS there instead of one of the hub's own"`
	Credentials string   `flag:"nats-credentials" value:"FILE" doc:"The credentials for it"`
	SigningKey  string   `flag:"nats-signing-key" value:"FILE" doc:"The seed of a signing key of its account, for invite"`
	Replicas    int      `flag:"nats-replicas" value:"N" doc:"How many of its nodes keep what is stored"`
}

func newServeCommand() *cobra.Command {
	in := serveOptions{Listen: "127.0.0.1:7080", NATS: "127.0.0.1:4222", Replicas: 1}
	return cli.Command("serve", `Run the hub, in the foreground
It keeps what it knows in the state directory, and lets nobody in without a credential
of its own: tandemux hub invite makes one for a host, tandemux hub token one for people.

  tandemux hub serve
  tandemux hub serve --listen 0.0.0.0:7080 --nats 0.0.0.0:4222`, &in, func(cmd *cobra.Command, _ []string) error {
		return serve(cmd.Context(), local.FindDirs(), in, func(format string, args ...any) { fmt.Fprintf(cmd.OutOrStdout(), format+"\n", args...) })
	})
}

// hub is what the parts of `tandemux hub serve` share.
type hub struct {
	bus *server.Bus
	dir string
	log *slog.Logger
	// url is where hosts join, fingerprint the certificate there.
	url, fingerprint string
	directory        *directory.Directory
	urls             atomic.Pointer[[]string] // of the front, once it listens
	// audit notes who did what; names and origins are those by which browsers know the hub.
	audit          *audit.Log
	queue          *queue.Queue
	names, origins []string
}

// grants are what a joined host may do.
var grants = []func(host string) server.Grant{directory.Grant, carry.Grant, queue.Grant, audit.Grant}

// part is one of the hub's: what it adds to the front. Its work ends with ctx.
type part func(ctx context.Context, h *hub) ([]front.Authenticator, []front.Route, error)

// parts are all of them, in the order in which they begin.
var parts = []part{audits, signIn, tokens, hostsOf, tasks, webhooks}

func tokens(ctx context.Context, h *hub) ([]front.Authenticator, []front.Route, error) {
	s, err := token.Open(ctx, h.bus)
	if err != nil {
		return nil, nil, err
	}
	return []front.Authenticator{s.Authenticate}, s.Routes(), nil
}

func hostsOf(ctx context.Context, h *hub) (_ []front.Authenticator, routes []front.Route, err error) {
	if h.directory, err = directory.Open(ctx, h.bus, h.log); err != nil {
		return nil, nil, err
	}
	b := &carry.Bridge{NATS: h.bus.Conn, Find: h.directory.Host, Log: h.log, Note: func(p front.Person, host string, r *http.Request) {
		h.audit.Note(audit.Record{Who: p.Name, Groups: p.Groups, What: "connect", On: host, Outcome: "done", Remote: audit.Remote(r)})
	}}
	a := directory.Admission{Bus: h.bus, Grants: grants, URL: h.url, Fingerprint: h.fingerprint}
	return nil, append(h.directory.Routes(a), b.Route(), front.Route{Pattern: "GET /api/v1/hub", Scope: auth.ScopeRead, Serve: front.Does(h.status)}), nil
}

func serve(ctx context.Context, d local.Dirs, o serveOptions, say func(format string, args ...any)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	h := &hub{dir: filepath.Join(d.State, "hub"), log: log}
	// Two of NATS would write to the same files.
	if err := d.Make(); err != nil {
		return err
	}
	release, err := daemon.TakePlace(daemon.Place{File: filepath.Join(d.State, "hub.lock"), Key: "hub"}, log)
	if err != nil {
		return fmt.Errorf("a hub of this user is running already: %w", err)
	}
	defer release()
	cert, err := o.certificate(h.dir, log)
	if err != nil {
		return err
	}
	if h.bus, err = o.bus(ctx, h.dir, cert, log); err != nil {
		return err
	}
	defer h.bus.Close()
	h.url = o.joinURL(h.bus.Addr())
	if cert != nil && o.URL == "" {
		h.fingerprint = cert.Fingerprint()
	}
	c := front.Config{Hosts: o.Names, Log: log}
	c.Hostname, _ = os.Hostname() //nolint:errcheck // then it has no name
	for _, p := range parts {
		var who []front.Authenticator
		var routes []front.Route
		err := h.bus.Again(ctx, func(context.Context) (err error) { who, routes, err = p(ctx, h); return err })
		if err != nil {
			return err
		}
		c.Authenticators, c.Routes = append(c.Authenticators, who...), append(c.Routes, routes...)
	}
	c.Hosts, c.Origins = append(c.Hosts, h.names...), append(c.Origins, h.origins...)
	c.Audit = func(p front.Person, r *http.Request, d front.Deed) { h.audit.Note(audit.OfRequest(p, r, d)) }
	f := front.New(c)
	listeners, err := o.listeners(d, cert)
	if err != nil {
		return err
	}
	ended := make(chan error, len(listeners))
	for _, ln := range listeners {
		go func() { ended <- f.Serve(ctx, ln) }()
	}
	h.urls.Store(new(listen.Addresses(listeners[1:]).URLs))
	for _, u := range *h.urls.Load() {
		say("hub started; %s", u)
	}
	if h.fingerprint != "" {
		say("its certificate is %s", h.fingerprint)
	}
	say("hosts join at %s", h.url)
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return err
	}
}

// joinURL is what hosts are told to dial. Who listens everywhere is known by the first
// name that was allowed, or the machine's own.
func (o serveOptions) joinURL(addr string) string {
	if o.URL != "" {
		return o.URL
	}
	if other, err := listen.OtherMachines(addr); err != nil || !other {
		return "nats://" + addr
	}
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		name, _ := os.Hostname() //nolint:errcheck // then it is localhost
		host = cmp.Or(append(o.Names, name, "localhost")...)
	}
	return "tls://" + net.JoinHostPort(host, port)
}

// certificate is what the hub shows, nil where nothing needs one.
func (o serveOptions) certificate(dir string, log *slog.Logger) (*listen.Certificate, error) {
	if (o.Cert == "") != (o.Key == "") {
		return nil, cli.Usagef("--tls-cert and --tls-key go together")
	}
	if o.Cert != "" {
		return listen.LoadCertificate(o.Cert, o.Key, log)
	}
	need := false
	for _, addr := range []string{o.Listen, o.NATS} {
		other, err := listen.OtherMachines(addr)
		if err != nil {
			return nil, err
		}
		need = need || other
	}
	if !need {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the hub's directory: %w", err)
	}
	return listen.SelfSigned(dir, log)
}

func (o serveOptions) bus(ctx context.Context, dir string, cert *listen.Certificate, log *slog.Logger) (*server.Bus, error) {
	if o.URL != "" {
		return server.Dial(ctx, server.Given{URL: o.URL, Credentials: o.Credentials, SigningKey: o.SigningKey, Replicas: o.Replicas})
	}
	if o.Cluster == "" && len(o.Routes) > 0 {
		return nil, cli.Usagef("--route is for a node of a cluster: give --cluster, too")
	}
	return server.Start(ctx, server.Options{Dir: dir, Listen: o.NATS, Certificate: cert, Node: o.Node, Cluster: o.Cluster, Routes: o.Routes, Log: log})
}

// listeners are the unix socket and the one of TCP.
func (o serveOptions) listeners(d local.Dirs, cert *listen.Certificate) ([]net.Listener, error) {
	path, err := d.Socket(socketName)
	if err != nil {
		return nil, err
	}
	if c, err := net.Dial("unix", path); err == nil { // with another directory for its state
		c.Close()
		return nil, errors.New("a hub of this user is running already")
	}
	unix, err := daemon.Listen(path)
	if err != nil {
		return nil, err
	}
	other, err := listen.OtherMachines(o.Listen)
	if err != nil {
		return nil, err
	}
	var tcp net.Listener
	if other || o.Cert != "" {
		tcp, err = listen.TLS(o.Listen, cert)
	} else {
		tcp, err = listen.TCP(o.Listen, false)
	}
	if err != nil {
		unix.Close()
		return nil, err
	}
	return []net.Listener{unix, tcp}, nil
}
