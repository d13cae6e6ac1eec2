package people

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/nats-io/nats.go/jetstream"

	"tandemux/hub/front"
)

// Options are what a Desk is made of.
type Options struct {
	Config   Config
	JS       jetstream.JetStream
	Replicas int
	// Note is called for each sign-in, done or refused, and each sign-out.
	Note func(who, what, outcome string, r *http.Request)
	Log  *slog.Logger
	Now  func() time.Time
}

// Desk is where people sign in.
type Desk struct {
	c        Config
	note     func(who, what, outcome string, r *http.Request)
	log      *slog.Logger
	now      func() time.Time
	sessions jetstream.KeyValue
	seal     cipher.AEAD // of sign-ins under way
	client   *http.Client

	mu       sync.Mutex // Protects following.
	provider *oidc.Provider
}

const Bucket = "people-sessions"

// Open makes a Desk. The provider is asked when somebody signs in.
func Open(ctx context.Context, o Options) (*Desk, error) {
	d := &Desk{c: o.Config, note: o.Note, log: o.Log, now: o.Now, client: &http.Client{Timeout: 10 * time.Second, Transport: bounded{http.DefaultTransport}, CheckRedirect: stay}}
	if d.now == nil {
		d.now = time.Now
	}
	d.log = cmp.Or(d.log, slog.New(slog.DiscardHandler))
	if d.note == nil {
		d.note = func(string, string, string, *http.Request) {}
	}
	key := make([]byte, 32)
	rand.Read(key) //nolint:errcheck // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	if d.seal, err = cipher.NewGCMWithRandomNonce(block); err != nil {
		return nil, err
	}
	d.sessions, err = o.JS.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: Bucket, Description: "who has signed in", TTL: d.c.life(), History: 1, MaxValueSize: 64 << 10, MaxBytes: 64 << 20, Replicas: max(o.Replicas, 1),
	})
	if err != nil {
		return nil, fmt.Errorf("open the sessions of people: %w", err)
	}
	return d, nil
}

// stay refuses redirects: a provider's answers come from its own addresses.
func stay(*http.Request, []*http.Request) error {
	return errors.New("the provider answers with a redirect")
}

// maxAnswer bounds what a provider says, in bytes.
const maxAnswer = 1 << 20

// bounded limits the body of a response to maxAnswer bytes.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}

// Routes are the desk's on the hub's front.
func (d *Desk) Routes() []front.Route {
	return []front.Route{
		{Pattern: "GET /{$}", Open: true, Serve: d.home},
		{Pattern: "GET /auth/login", Open: true, Serve: d.login},
		{Pattern: "GET /auth/callback", Open: true, Serve: d.callback},
		{Pattern: "POST /auth/logout", Does: "sign out", Serve: d.logout},
		{Pattern: "GET /auth/me", Serve: d.me},
		{Pattern: "GET /auth/token", Open: true, Serve: d.offerToken},
		{Pattern: "POST /auth/token", Does: "sign in on a command line", Serve: d.makeToken},
	}
}
