package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"tandemux/host/listen"
	"tandemux/internal/pace"
)

// Options of an embedded server.
type Options struct {
	// Dir is the hub's state directory, this node's own.
	Dir string
	// Listen is where hosts join; beyond loopback with TLS, of Certificate or of the
	// directory's own.
	Listen      string
	Certificate *listen.Certificate
	// Node is this one's name in a cluster, Cluster where the others reach it, and Routes
	// where it reaches them (HOST:PORT). Without Cluster the server is alone.
	Node, Cluster string
	Routes        []string
	Log           *slog.Logger
}

// Bus is the hub's way to its NATS.
type Bus struct {
	*nats.Conn
	JS jetstream.JetStream
	// Replicas is how many nodes keep what is stored.
	Replicas int

	embedded *server.Server
	resolver *server.DirAccResolver
	system   *nats.Conn // of the system account
	id       *identity
	issuer   *issuer
	claims   sync.Mutex // held while the account's claims are changed
}

const (
	startTime   = 30 * time.Second
	tryTime     = 5 * time.Second
	pingTime    = 20 * time.Second
	maxNodes    = 3
	maxJoined   = 20_000
	authSeconds = 10
)

// Start runs the embedded server and connects to it.
func Start(ctx context.Context, o Options) (*Bus, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("start the hub's NATS: %w", err)
	}
	id, err := openIdentity(o.Dir)
	if err != nil {
		return nil, err
	}
	b := &Bus{id: id, Replicas: 1}
	opts, err := b.options(o)
	if err != nil {
		return nil, fmt.Errorf("start the hub's NATS: %w", err)
	}
	if b.embedded, err = server.NewServer(opts); err != nil {
		return nil, fmt.Errorf("start the hub's NATS: %w", err)
	}
	b.embedded.SetLoggerV2(&logger{o.Log}, false, false, false)
	b.embedded.Start()
	if err := b.connect(ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("start the hub's NATS: %w", err)
	}
	return b, nil
}

func (b *Bus) options(o Options) (*server.Options, error) {
	operator, err := jwt.DecodeOperatorClaims(b.id.Operator)
	if err != nil {
		return nil, err
	}
	if b.resolver, err = server.NewDirAccResolver(filepath.Join(o.Dir, "accounts"), 0, 0, server.NoDelete); err != nil {
		return nil, err
	}
	for _, t := range []tenant{b.id.System, b.id.Fleet} {
		// One that was changed since is newer, and stays.
		if old, err := b.resolver.LoadAcc(t.ID); err == nil && old != "" {
			continue
		}
		if err := b.resolver.Store(t.ID, t.JWT); err != nil {
			return nil, err
		}
	}
	opts := &server.Options{
		ServerName: o.Node, NoSigs: true, NoLog: true,
		MaxConn: maxJoined, MaxPayload: maxHostPayload, PingInterval: pingTime, AuthTimeout: authSeconds,
		JetStream: true, StoreDir: filepath.Join(o.Dir, "jetstream"),
		SyncAlways:       o.Cluster == "", // alone, what was acknowledged is on the disk
		TrustedOperators: []*jwt.OperatorClaims{operator}, SystemAccount: b.id.System.ID, AccountResolver: b.resolver,
	}
	if opts.Host, opts.Port, err = split(o.Listen); err != nil {
		return nil, err
	}
	secure := func(addr string) (*tls.Config, error) {
		other, err := listen.OtherMachines(addr)
		if err != nil || !other {
			return nil, err
		}
		if o.Certificate == nil {
			if o.Certificate, err = listen.SelfSigned(o.Dir, o.Log); err != nil {
				return nil, err
			}
		}
		return o.Certificate.Config(), nil
	}
	if opts.TLSConfig, err = secure(o.Listen); err != nil {
		return nil, err
	}
	if opts.TLSConfig != nil {
		opts.TLS, opts.TLSTimeout = true, authSeconds
	}
	if o.Cluster == "" {
		return opts, nil
	}
	return opts, b.cluster(opts, o, secure)
}

// cluster makes the server one of several.
func (b *Bus) cluster(opts *server.Options, o Options, secure func(string) (*tls.Config, error)) (err error) {
	if o.Node == "" {
		return errors.New("a node of a cluster needs a name of its own (--node)")
	}
	b.Replicas = maxNodes
	c := &opts.Cluster
	c.Name, c.Username, c.Password = "tandemux", "node", b.id.Route
	if c.Host, c.Port, err = split(o.Cluster); err != nil {
		return err
	}
	if c.TLSConfig, err = secure(o.Cluster); err != nil {
		return err
	}
	if c.TLSConfig != nil {
		c.TLSTimeout = authSeconds
		amongNodes(c.TLSConfig)
	}
	for _, r := range o.Routes {
		opts.Routes = append(opts.Routes, &url.URL{Scheme: "nats", User: url.UserPassword(c.Username, c.Password), Host: r})
	}
	return nil
}

// amongNodes has nodes know each other by their certificate, on both sides: the one that
// they share, or of the machine's authorities.
func amongNodes(c *tls.Config) {
	own := c.GetCertificate
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return own(nil) }
	c.ClientAuth = tls.RequireAnyClientCert
	c.InsecureSkipVerify = true //nolint:gosec // VerifyConnection does it
	c.VerifyConnection = func(s tls.ConnectionState) error {
		mine, err := own(nil)
		if err != nil {
			return err
		}
		if len(s.PeerCertificates) > 0 && bytes.Equal(s.PeerCertificates[0].Raw, mine.Certificate[0]) {
			return nil
		}
		if len(s.PeerCertificates) == 0 {
			return errors.New("a node of the cluster shows no certificate")
		}
		between := x509.NewCertPool()
		for _, c := range s.PeerCertificates[1:] {
			between.AddCert(c)
		}
		_, err = s.PeerCertificates[0].Verify(x509.VerifyOptions{Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
		return err
	}
}

func split(addr string) (host string, port int, err error) {
	h, p, err := net.SplitHostPort(addr)
	if err == nil {
		port, err = strconv.Atoi(p)
	}
	if err != nil {
		return "", 0, fmt.Errorf("%q is no address and port such as 127.0.0.1:4222", addr)
	}
	port = cmp.Or(port, server.RANDOM_PORT)
	return h, port, nil
}

// connect waits for the server, and makes the hub's own connections inside the process.
func (b *Bus) connect(ctx context.Context) error {
	if !b.embedded.ReadyForConnections(startTime) {
		return errors.New("it does not listen: the log says why; is the port taken?")
	}
	fleet, err := nkeys.FromSeed([]byte(b.id.Fleet.Seed))
	if err != nil {
		return err
	}
	b.issuer = &issuer{fleet, b.id.Fleet.ID}
	system, err := nkeys.FromSeed([]byte(b.id.System.Seed))
	if err != nil {
		return err
	}
	if b.system, err = b.join(&issuer{system, b.id.System.ID}, "hub-system"); err != nil {
		return err
	}
	if b.Conn, err = b.join(b.issuer, "hub"); err != nil {
		return err
	}
	return b.ready(ctx)
}

func (b *Bus) join(i *issuer, name string) (*nats.Conn, error) {
	c, err := i.issue(name, 0)
	if err != nil {
		return nil, err
	}
	user, err := c.options()
	if err != nil {
		return nil, err
	}
	return nats.Connect("", nats.InProcessServer(b.embedded), user, nats.Name(name), nats.MaxReconnects(-1))
}

// ready waits until JetStream answers: in a cluster, until there is a leader.
func (b *Bus) ready(ctx context.Context) (err error) {
	if b.JS, err = jetstream.New(b.Conn); err != nil {
		return err
	}
	if err = b.Again(ctx, func(ctx context.Context) error { _, err := b.JS.AccountInfo(ctx); return err }); err != nil {
		return fmt.Errorf("JetStream does not answer: %w", err)
	}
	return nil
}

// Again does something until it does not fail for want of other nodes: for startTime, or in
// a cluster, whose other nodes are started by hand, as long as ctx. What it is given ends
// with each attempt, and the first ones soon: nodes that make the same at once get no answer.
func (b *Bus) Again(ctx context.Context, do func(context.Context) error) error {
	if b.Replicas == 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, startTime)
		defer cancel()
	}
	for long := tryTime / 8; ; long = min(2*long, tryTime) {
		short, done := context.WithTimeout(ctx, long)
		err := do(short)
		done()
		if err == nil || ctx.Err() != nil || !passing(err) {
			return err
		}
		if !pace.Sleep(ctx, 200*time.Millisecond) {
			return err
		}
	}
}

// passing reports whether an error is that there are not enough nodes, or no leader yet.
func passing(err error) bool {
	if api, is := errors.AsType[*jetstream.APIError](err); is {
		return api.Code >= 500 || api.ErrorCode == noPeers
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrNoResponders) ||
		errors.Is(err, jetstream.ErrNoStreamResponse)
}

// noPeers is JetStream's code for fewer nodes than replicas.
const noPeers = 10005

// Given is a NATS that somebody else runs.
type Given struct {
	URL string
	// Credentials is a .creds file, SigningKey one with the seed of a key that the account
	// signs with; without it credentials of hosts are made there.
	Credentials, SigningKey string
	Replicas                int
}

// leastServer is the oldest version that has all that is used.
const leastServer = "2.10"

// Dial connects to a given NATS.
func Dial(ctx context.Context, g Given) (*Bus, error) {
	b := &Bus{Replicas: max(1, g.Replicas)}
	opts := []nats.Option{nats.Name("hub"), nats.MaxReconnects(-1), nats.PingInterval(pingTime)}
	if g.Credentials != "" {
		opts = append(opts, nats.UserCredentials(g.Credentials))
	}
	var err error
	if b.Conn, err = nats.Connect(g.URL, opts...); err != nil {
		return nil, fmt.Errorf("connect to the NATS at %s: %w", g.URL, err)
	}
	if err = b.given(ctx, g); err != nil {
		b.Close()
		return nil, fmt.Errorf("use the NATS at %s: %w", g.URL, err)
	}
	return b, nil
}

func (b *Bus) given(ctx context.Context, g Given) error {
	if v := b.ConnectedServerVersion(); !newer(v, leastServer) {
		return fmt.Errorf("it is version %s, and %s is needed at least", v, leastServer)
	}
	if g.SigningKey != "" {
		seed, err := os.ReadFile(g.SigningKey)
		if err != nil {
			return err
		}
		key, err := nkeys.FromSeed([]byte(strings.TrimSpace(string(seed))))
		if err != nil {
			return fmt.Errorf("%s is no seed of a key: %w", g.SigningKey, err)
		}
		text, err := os.ReadFile(g.Credentials)
		if err != nil {
			return err
		}
		user, err := nkeys.ParseDecoratedJWT(text)
		if err != nil {
			return fmt.Errorf("%s: %w", g.Credentials, err)
		}
		c, err := jwt.DecodeUserClaims(user)
		if err != nil {
			return fmt.Errorf("%s: %w", g.Credentials, err)
		}
		account := c.Issuer
		if c.IssuerAccount != "" {
			account = c.IssuerAccount
		}
		b.issuer = &issuer{key, account}
	}
	return b.ready(ctx)
}

func newer(version, least string) bool {
	number := func(s string) (n int) {
		for i, part := range append(strings.SplitN(s, ".", 3), "", "")[:2] {
			v, _ := strconv.Atoi(part) //nolint:errcheck // else 0
			n += v << (16 * (1 - i))
		}
		return n
	}
	return number(version) >= number(least)
}

// Addr is where hosts join the embedded server, "" where there is none.
func (b *Bus) Addr() string {
	if b.embedded == nil {
		return ""
	}
	return b.embedded.Addr().String()
}

// Close ends the hub's connections, and the embedded server.
func (b *Bus) Close() {
	for _, c := range []*nats.Conn{b.Conn, b.system} {
		if c != nil {
			c.Close()
		}
	}
	if b.embedded != nil {
		b.embedded.Shutdown()
		b.embedded.WaitForShutdown()
	}
	if b.resolver != nil {
		b.resolver.Close()
	}
}

// logger writes what NATS says of itself to the hub's log.
type logger struct{ log *slog.Logger }

func (l *logger) say(level slog.Level, format string, v []any) {
	l.log.Log(context.Background(), level, "nats: "+fmt.Sprintf(format, v...))
}

func (l *logger) Noticef(format string, v ...any) { l.say(slog.LevelDebug, format, v) }

func (l *logger) Warnf(format string, v ...any) {
	if !strings.HasSuffix(format, "DO NOT USE IN PRODUCTION!") { // it does not know of amongNodes
		l.say(slog.LevelWarn, format, v)
	}
}

func (l *logger) Errorf(format string, v ...any) { l.say(slog.LevelError, format, v) }
func (l *logger) Fatalf(format string, v ...any) { l.say(slog.LevelError, format, v) }
func (l *logger) Debugf(string, ...any)          {}
func (l *logger) Tracef(string, ...any)          {}

// Bucket opens a bucket of the key-value store, and makes it where there is none, with the
// replicas that the hub has. Where got is not nil it is called with all that is in it before
// Bucket returns, and then with what changes, by one goroutine, until ctx ends.
func (b *Bus) Bucket(ctx context.Context, c jetstream.KeyValueConfig, got func(jetstream.KeyValueEntry)) (jetstream.KeyValue, error) {
	c.Replicas, c.History = b.Replicas, max(1, c.History)
	var kv jetstream.KeyValue
	err := b.Again(ctx, func(ctx context.Context) (err error) { kv, err = b.JS.CreateOrUpdateKeyValue(ctx, c); return err })
	if err == nil && got != nil {
		err = Follow(ctx, kv, got)
	}
	if err != nil {
		return nil, fmt.Errorf("open the bucket %s: %w", c.Bucket, err)
	}
	return kv, nil
}

// Follow calls got with all that is in a bucket, and then, by a goroutine of its own, with
// what changes, until ctx ends.
func Follow(ctx context.Context, kv jetstream.KeyValue, got func(jetstream.KeyValueEntry)) error {
	w, err := kv.WatchAll(ctx)
	if err != nil {
		return err
	}
	for e := range w.Updates() {
		if e == nil { // that was all
			go func() {
				for e := range w.Updates() {
					if e != nil {
						got(e)
					}
				}
			}()
			return nil
		}
		got(e)
	}
	return errors.New("it can't be watched")
}
