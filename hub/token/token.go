package token

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tandemux/host/auth"
	"tandemux/hub/front"
	"tandemux/hub/server"
	"tandemux/internal/hosts"
)

const (
	bucket = "tandemux_tokens"
	// secretPrefix makes tokens easy to find for programs that look for leaked secrets.
	secretPrefix = "tandemux_hub_"
	maxTokens    = 10_000
)

// Token is one that was made, without its secret.
type Token struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Scopes  []string  `json:"scopes"`
	By      string    `json:"by"` // who made it
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
}

// kept is a token that is valid.
type kept struct {
	Token
	key   string
	ended chan struct{}
	timer *time.Timer // of its expiry
}

type Store struct {
	bus *server.Bus
	kv  jetstream.KeyValue

	mu  sync.Mutex
	all map[string]*kept // by key
}

// Open makes the bucket where there is none, and follows it until ctx ends.
func Open(ctx context.Context, b *server.Bus) (*Store, error) {
	s := &Store{bus: b, all: map[string]*kept{}}
	var err error
	if s.kv, err = b.Bucket(ctx, jetstream.KeyValueConfig{Bucket: bucket, MaxValueSize: 8 << 10}, s.changed); err != nil {
		return nil, fmt.Errorf("open the hub's tokens: %w", err)
	}
	return s, nil
}

func (s *Store) changed(e jetstream.KeyValueEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.all[e.Key()]; old != nil {
		s.drop(old)
	}
	k := &kept{key: e.Key(), ended: make(chan struct{})}
	if e.Operation() != jetstream.KeyValuePut || json.Unmarshal(e.Value(), &k.Token) != nil {
		return
	}
	if !k.Expires.IsZero() {
		k.timer = time.AfterFunc(time.Until(k.Expires), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.all[k.key] == k {
				s.drop(k)
			}
		})
	}
	s.all[k.key] = k
}

// drop ends a token. The caller holds mu.
func (s *Store) drop(k *kept) {
	delete(s.all, k.key)
	close(k.ended)
	if k.timer != nil {
		k.timer.Stop()
	}
}

// Authenticate is the front's: who has a token.
func (s *Store) Authenticate(r *http.Request) (front.Person, error) {
	secret := front.Bearer(r)
	if len(secret) < len(secretPrefix) || secret[:len(secretPrefix)] != secretPrefix {
		return front.Person{}, front.ErrNobody
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// The map's time tells of the hash, which says nothing of the secret.
	k := s.all[auth.Hash(secret)]
	if k == nil || !k.Expires.IsZero() && time.Now().After(k.Expires) {
		return front.Person{}, errors.New("unknown, revoked or expired token")
	}
	return front.Person{Name: "token:" + k.Name, Scopes: slices.Clone(k.Scopes), Ended: k.ended}, nil
}

// made is the answer to who makes a token.
type made struct {
	Token
	Secret string `json:"token"`
}

// wanted is what is asked for.
type wanted struct {
	Name   string   `json:"name"`
	Scopes []string `json:"scopes"`
	Life   int64    `json:"seconds"` // 0: no end
}

func (s *Store) create(ctx context.Context, w wanted, by string) (made, error) {
	if err := hosts.CheckName(w.Name); err != nil {
		return made{}, fmt.Errorf("%q is no name for a token: use letters, digits, dots, dashes and underscores", w.Name)
	}
	for _, scope := range w.Scopes {
		if !slices.Contains(auth.AllScopes, scope) {
			return made{}, fmt.Errorf("%q is no scope: there are %v", scope, auth.AllScopes)
		}
	}
	s.mu.Lock()
	n := len(s.all)
	s.mu.Unlock()
	if n >= maxTokens {
		return made{}, fmt.Errorf("there are %d tokens already: revoke some first", n)
	}
	var secret [32]byte
	var id [4]byte
	rand.Read(secret[:]) //nolint:errcheck // never fails
	rand.Read(id[:])     //nolint:errcheck // never fails
	now := time.Now().Truncate(time.Second)
	m := made{Token{ID: hex.EncodeToString(id[:]), Name: w.Name, Scopes: w.Scopes, By: by, Created: now}, secretPrefix + base64.RawURLEncoding.EncodeToString(secret[:])}
	if len(m.Scopes) == 0 {
		m.Scopes = slices.DeleteFunc(slices.Clone(auth.AllScopes), func(s string) bool { return s == auth.ScopeWrite || s == auth.ScopeAdmin })
	}
	if w.Life > 0 {
		m.Expires = now.Add(time.Duration(w.Life) * time.Second)
	}
	text, err := json.Marshal(m.Token)
	if err == nil {
		err = s.bus.Again(ctx, func(ctx context.Context) error { _, err := s.kv.Put(ctx, auth.Hash(m.Secret), text); return err })
	}
	if err != nil {
		return made{}, fmt.Errorf("make a token: %w", err)
	}
	return m, nil
}

func (s *Store) list() []Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []Token{}
	for _, k := range s.all {
		all = append(all, k.Token)
	}
	slices.SortFunc(all, func(a, b Token) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return all
}

// errNone is the error of a token that is not there.
var errNone = errors.New("there is no such token: `tandemux hub token ls` lists them")

func (s *Store) revoke(ctx context.Context, id string) error {
	key := ""
	s.mu.Lock()
	for _, k := range s.all {
		if k.ID == id {
			key = k.key
		}
	}
	s.mu.Unlock()
	if key == "" {
		return errNone
	}
	if err := s.bus.Again(ctx, func(ctx context.Context) error { return s.kv.Purge(ctx, key) }); err != nil {
		return fmt.Errorf("revoke a token: %w", err)
	}
	return nil
}

// Routes are the front's, for who administers the hub.
func (s *Store) Routes() []front.Route {
	return []front.Route{
		{Pattern: "GET /api/v1/tokens", Scope: auth.ScopeAdmin, Serve: front.Does(func(*http.Request) ([]Token, error) { return s.list(), nil })},
		{Pattern: "POST /api/v1/tokens", Does: "token new", Scope: auth.ScopeAdmin, Serve: front.Takes(func(r *http.Request, by front.Person, in wanted) (made, error) {
			front.On(r.Context(), in.Name)
			return s.create(r.Context(), in, by.Name)
		})},
		{Pattern: "DELETE /api/v1/tokens/{id}", Does: "token revoke", Scope: auth.ScopeAdmin, Serve: front.Does(func(r *http.Request) (struct{}, error) {
			return struct{}{}, s.revoke(r.Context(), r.PathValue("id"))
		})},
	}
}
