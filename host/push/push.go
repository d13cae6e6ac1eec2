package push

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/host/hooks"
	"tandemux/internal/pace"
	"tandemux/internal/statefile"
)

// Bounds of subscriptions, and of what is sent.
const (
	maxSubscriptions = 100
	maxOfToken       = 4 // the oldest goes
	maxEndpoint      = 2 << 10
	maxFile          = 1 << 20
	maxWaiting       = 16
	sendTime         = 15 * time.Second
	keptFor          = 4 * time.Hour // by the service, for a browser that is away
)

// pauses are those between attempts.
var pauses = []time.Duration{time.Second, 10 * time.Second, time.Minute}

// Subscription is what a page's push service gave it.
type Subscription struct {
	Token    string `json:"token"` // the id of whose it is
	Endpoint string `json:"endpoint"`
	Page     string `json:"p256dh"`
	Auth     string `json:"auth"`
}

// Options are what a Pusher needs.
type Options struct {
	State string
	Log   *slog.Logger
	// Contact, if not nil, gives whom push services may write to about this host, mailto: or
	// https:; empty is nobody.
	Contact func() string
}

type Pusher struct {
	Options
	path     string
	client   *http.Client
	anywhere bool // a test's: the service is on loopback

	ctx   context.Context // until Close
	stop  context.CancelFunc
	begun sync.WaitGroup

	mu      sync.Mutex              // guards the rest
	valid   func(token string) bool // nil before Begin
	kept    kept
	key     *ecdsa.PrivateKey // nil before somebody subscribed
	waiting []string          // texts
	news    chan struct{}     // holds one when something waits
}

type kept struct {
	Key           []byte         `json:"key,omitempty"` // of the host, raw
	Subscriptions []Subscription `json:"subscriptions,omitempty"`
}

// Open reads the subscriptions of a state directory.
func Open(o Options) *Pusher {
	p := &Pusher{Options: o, path: filepath.Join(o.State, "push.json"), client: public(), news: make(chan struct{}, 1)}
	p.ctx, p.stop = context.WithCancel(context.Background())
	err := statefile.ReadJSON(p.path, maxFile, &p.kept)
	if err == nil && len(p.kept.Key) > 0 {
		p.key, err = ecdsa.ParseRawPrivateKey(elliptic.P256(), p.kept.Key)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.kept = kept{}
		o.Log.Warn("browsers are not told what waits until they subscribe again", "file", p.path, "err", err)
	}
	return p
}

// Begin begins to send; valid reports whether a token is.
func (p *Pusher) Begin(valid func(token string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.valid = valid
	p.begun.Go(func() { p.run(p.ctx) })
}

// Close ends sending, and waits for that.
func (p *Pusher) Close() {
	p.stop()
	p.begun.Wait()
}

// Key is the host's public key, which pages subscribe with.
func (p *Pusher) Key() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.key == nil {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return "", err
		}
		raw, err := key.Bytes()
		if err != nil {
			return "", err
		}
		p.kept.Key = raw
		if err := statefile.WriteJSON(p.path, p.kept); err != nil {
			return "", err
		}
		p.key = key
	}
	public, err := p.key.PublicKey.Bytes()
	return base64.RawURLEncoding.EncodeToString(public), err
}

// Subscribe notes a page's subscription; its endpoint is that page's alone.
func (p *Pusher) Subscribe(s Subscription) error {
	if err := checkEndpoint(s.Endpoint); err != nil && !p.anywhere {
		return err
	}
	if _, _, err := s.keys(); err != nil {
		return fmt.Errorf("its keys: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.valid == nil {
		return errors.New("the host is only starting: try again")
	}
	all := slices.DeleteFunc(slices.Clone(p.kept.Subscriptions), func(o Subscription) bool { return o.Endpoint == s.Endpoint || !p.valid(o.Token) })
	own := 0
	for _, o := range slices.Backward(all) {
		if o.Token == s.Token {
			own++
		}
	}
	if own >= maxOfToken {
		at := slices.IndexFunc(all, func(o Subscription) bool { return o.Token == s.Token })
		all = slices.Delete(all, at, at+1)
	}
	if len(all) >= maxSubscriptions {
		return fmt.Errorf("%d browsers are told what waits already", maxSubscriptions)
	}
	before := p.kept.Subscriptions
	p.kept.Subscriptions = append(all, s)
	if err := statefile.WriteJSON(p.path, p.kept); err != nil {
		p.kept.Subscriptions = before
		return err
	}
	return nil
}

func (p *Pusher) Unsubscribe(token string) error {
	return p.forget(func(s Subscription) bool { return s.Token == token })
}

// Prune forgets those of tokens that are not valid any more.
func (p *Pusher) Prune() {
	if err := p.forget(func(s Subscription) bool { return !p.valid(s.Token) }); err != nil {
		p.Log.Warn("subscriptions of removed tokens stay in the file; nothing is sent to them", "err", err)
	}
}

func (p *Pusher) forget(which func(Subscription) bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.valid == nil {
		return nil
	}
	n := len(p.kept.Subscriptions)
	p.kept.Subscriptions = slices.DeleteFunc(p.kept.Subscriptions, which)
	if len(p.kept.Subscriptions) == n {
		return nil
	}
	return statefile.WriteJSON(p.path, p.kept)
}

// Tell has a text sent to all that subscribed. What waits to be sent already is sent once.
func (p *Pusher) Tell(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if text == "" || len(p.kept.Subscriptions) == 0 || len(p.waiting) == maxWaiting || slices.Contains(p.waiting, text) {
		return
	}
	p.waiting = append(p.waiting, text)
	pace.Wake(p.news)
}

// run sends one text after the other, each to all at once.
func (p *Pusher) run(ctx context.Context) {
	for {
		select {
		case <-p.news:
		case <-ctx.Done():
			return
		}
		for text, to := p.take(); text != "" && ctx.Err() == nil; text, to = p.take() {
			var all sync.WaitGroup
			for _, s := range to {
				all.Go(func() { p.deliver(ctx, s, text) })
			}
			all.Wait()
		}
	}
}

// take takes the next text, and whom it is for.
func (p *Pusher) take() (text string, to []Subscription) {
	p.Prune()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		return "", nil
	}
	text = p.waiting[0]
	p.waiting = slices.Delete(p.waiting, 0, 1)
	return text, slices.Clone(p.kept.Subscriptions)
}

// errGone says that the service knows a subscription no more, errRefused that another
// attempt would change nothing.
var errGone, errRefused = errors.New("the subscription is gone"), errors.New("the push service refuses it")

// deliver sends a text to a page, some times at most.
func (p *Pusher) deliver(ctx context.Context, s Subscription, text string) {
	u, err := url.Parse(s.Endpoint)
	if err != nil {
		return
	}
	for i := 0; ; i++ {
		if err = p.send(ctx, s, u, text); err == nil || errors.Is(err, errGone) || errors.Is(err, errRefused) || i == len(pauses) {
			break
		}
		if !pace.Sleep(ctx, pauses[i]) {
			return
		}
	}
	if errors.Is(err, errGone) {
		err = p.forget(func(o Subscription) bool { return o.Endpoint == s.Endpoint })
	}
	if err != nil {
		p.Log.Warn("a browser was not told what waits", "token", s.Token, "service", u.Host, "err", err)
	}
}

func (p *Pusher) send(ctx context.Context, s Subscription, to *url.URL, text string) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	body, err := messageFor(s, []byte(text))
	if err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	p.mu.Lock()
	key := p.key
	p.mu.Unlock()
	if key == nil {
		return errGone // the file lost the key: no page subscribed with the next one
	}
	contact := nobody
	if p.Contact != nil {
		contact = cmp.Or(p.Contact(), nobody)
	}
	auth, err := authorization(key, to.Scheme+"://"+to.Host, contact, time.Now())
	if err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Endpoint, bytes.NewReader(body))
	if err != nil {
		return errGone
	}
	for k, v := range map[string]string{
		"Authorization": auth, "Content-Encoding": "aes128gcm", "Content-Type": "application/octet-stream",
		"TTL": fmt.Sprint(int(keptFor / time.Second)), "Urgency": "high",
	} {
		r.Header.Set(k, v)
	}
	a, err := p.client.Do(r)
	if err != nil {
		if failed, is := errors.AsType[*url.Error](err); is {
			err = failed.Err // the address is a secret
		}
		return err
	}
	a.Body.Close()
	switch {
	case a.StatusCode < 300:
		return nil
	case a.StatusCode == http.StatusNotFound, a.StatusCode == http.StatusGone:
		return errGone
	case a.StatusCode >= 500, a.StatusCode == http.StatusTooManyRequests:
		return fmt.Errorf("it answered %s", a.Status)
	}
	return fmt.Errorf("%w: it answered %s", errRefused, a.Status)
}

// Kinds are the events that browsers may be told of.
var Kinds = []string{hooks.Question, hooks.Attention, hooks.Command, hooks.Turn}

// long is what a command takes that somebody may have gone away from.
const long = 10 * time.Second

// Text is what browsers are told of an event, empty for nothing. It says nothing of what
// the event is about.
func Text(e hooks.Event) string {
	switch {
	case e.Event == hooks.Question:
		return "An agent waits for your answer."
	case e.Event == hooks.Turn && (e.Outcome == hooks.Failed || e.Outcome == hooks.Budget):
		return "An agent's turn has failed."
	case e.Status != nil && e.Status.State == ahp.StatusBlocked:
		return "A terminal waits for you."
	case e.Status != nil && e.Status.State == ahp.StatusError:
		return "A program has failed."
	case e.Command == nil || e.Command.DurationMs == nil || *e.Command.DurationMs < long.Milliseconds():
		return ""
	case e.Command.ExitCode != nil && *e.Command.ExitCode != 0:
		return "A long command has failed."
	}
	return "A long command has ended."
}

// checkEndpoint refuses an address that no push service has.
func checkEndpoint(text string) error {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxEndpoint:
		return fmt.Errorf("the endpoint has more than %d bytes", maxEndpoint)
	case err != nil, u.Scheme != "https", u.Hostname() == "", u.User != nil, u.Fragment != "":
		return errors.New("the endpoint is no https address of a push service")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && !hooks.IsPublic(ip) {
		return errors.New("the endpoint is an address of a private network")
	}
	return nil
}

// public is a client that reaches public addresses alone.
func public() *http.Client {
	c := hooks.Client(false)
	c.Timeout = sendTime
	return c
}
