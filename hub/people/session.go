package people

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tandemux/host/auth"
	"tandemux/hub/front"
)

// tokenPrefix makes sessions of command lines easy to find for programs that look for
// leaked secrets.
const tokenPrefix = "tandemuxhub_"

// session is a person's sign-in.
type session struct {
	Name   string    `json:"name"`
	Groups []string  `json:"groups,omitempty"`
	Began  time.Time `json:"began"`
	Until  time.Time `json:"until"`
	// Line says that a command line has it, in place of a browser.
	Line bool `json:"line,omitempty"`
}

func newSecret() string {
	var b [32]byte
	rand.Read(b[:]) //nolint:errcheck // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// begin stores a session and returns its secret, of which only the hash is stored.
func (d *Desk) begin(ctx context.Context, s session) (secret string, err error) {
	s.Began = d.now()
	s.Until = s.Began.Add(d.c.life())
	if secret = newSecret(); s.Line {
		secret = tokenPrefix + secret
	}
	text, err := json.Marshal(s)
	if err == nil {
		_, err = d.sessions.Put(ctx, auth.Hash(secret), text)
	}
	if err != nil {
		return "", fmt.Errorf("keep the session: %w", err)
	}
	return secret, nil
}

var errSession = errors.New("the session is over, or there was none")

func (d *Desk) find(ctx context.Context, secret string) (session, error) {
	var s session
	e, err := d.sessions.Get(ctx, auth.Hash(secret))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return s, errSession
	}
	if err == nil {
		err = json.Unmarshal(e.Value(), &s)
	}
	if err == nil && !d.now().Before(s.Until) {
		err = errSession
	}
	return s, err
}

// end ends a session at once.
func (d *Desk) end(ctx context.Context, secret string) error {
	return d.sessions.Purge(ctx, auth.Hash(secret))
}

// cookieName is the session's; the browser gives one of this prefix to nobody else, and
// takes it from nobody else.
func (d *Desk) cookieName(what string) string {
	if d.secure() {
		return "__Host-" + what
	}
	return what
}

func (d *Desk) secure() bool { return strings.HasPrefix(d.c.URL, "https:") }

const (
	sessionCookie = "tandemux-hub"
	signInCookie  = "tandemux-hub-sign-in"
)

// cookie sets a cookie that scripts can't read. Life 0 removes it.
func (d *Desk) cookie(w http.ResponseWriter, name, value string, life time.Duration) {
	c := &http.Cookie{
		Name: d.cookieName(name), Value: value, Path: "/", MaxAge: int(life / time.Second),
		HttpOnly: true, Secure: d.secure(), SameSite: http.SameSiteLaxMode,
	}
	if life == 0 {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// secretOf is the secret that a request has: a command line's, or a browser's.
func (d *Desk) secretOf(r *http.Request) string {
	if secret := front.Bearer(r); secret != "" {
		if strings.HasPrefix(secret, tokenPrefix) {
			return secret
		}
		return "" // another kind of token
	}
	if c, err := r.Cookie(d.cookieName(sessionCookie)); err == nil {
		return c.Value
	}
	return ""
}

// Authenticate is a front.Authenticator.
func (d *Desk) Authenticate(r *http.Request) (front.Person, error) {
	secret := d.secretOf(r)
	if secret == "" {
		return front.Person{}, front.ErrNobody
	}
	s, err := d.find(r.Context(), secret)
	if err != nil {
		return front.Person{}, err
	}
	if s.Line != strings.HasPrefix(secret, tokenPrefix) { // a browser's does not work elsewhere
		return front.Person{}, errSession
	}
	return front.Person{Name: s.Name, Groups: s.Groups, Scopes: d.c.Scopes(s.Name, s.Groups)}, nil
}
