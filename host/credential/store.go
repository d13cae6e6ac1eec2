package credential

import (
	"strings"
	"sync"
	"time"

	"tandemux/host/agent"
)

const (
	// maxToken bounds a token in bytes, maxHeld how many are kept.
	maxToken = 16 << 10
	maxHeld  = 1000
	// maxLife is for how many seconds one is kept at most.
	maxLife = 365 * 24 * 3600
)

// held names a token: whose, and for what.
type held struct{ principal, resource string }

type token struct {
	text string
	end  *time.Timer // nil: it does not end by itself
}

type Store struct {
	valid   func(principal string) bool
	expired func(principal string, r agent.Resource)

	mu     sync.Mutex
	tokens map[held]*token
}

// New makes a Store. Tokens count for as long as the principal that gave them is valid. It
// calls expired for each token that ends by itself, from a goroutine of its own.
func New(valid func(principal string) bool, expired func(principal string, r agent.Resource)) *Store {
	return &Store{valid: valid, expired: expired, tokens: map[held]*token{}}
}

// Unusable says why a text that is valid for some seconds can't be a token; empty if it
// can.
func Unusable(text string, life *float64) string {
	switch {
	case life != nil && *life <= 0:
		return "it has expired"
	case len(text) > maxToken:
		return "it is too long"
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "it has characters that no token has"
	}
	return ""
}

// Put keeps a principal's token for a resource, in place of an earlier one, for some
// seconds; nil: it is not known how long it is valid. It reports false when there are too
// many.
func (s *Store) Put(principal string, r agent.Resource, text string, life *float64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for old := range s.tokens {
		if !s.valid(old.principal) {
			s.drop(old)
		}
	}
	k := held{principal, r.URI}
	if s.tokens[k] == nil && len(s.tokens) >= maxHeld {
		return false
	}
	s.drop(k)
	t := &token{text: text}
	s.tokens[k] = t
	if life != nil {
		t.end = time.AfterFunc(time.Duration(min(*life, maxLife)*float64(time.Second)), func() {
			s.mu.Lock()
			ended := s.tokens[k] == t
			if ended {
				delete(s.tokens, k)
			}
			s.mu.Unlock()
			if ended {
				s.expired(principal, r)
			}
		})
	}
	return true
}

// Revoke forgets a principal's token for a resource, and reports whether there was one.
func (s *Store) Revoke(principal string, r agent.Resource) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drop(held{principal, r.URI})
}

func (s *Store) drop(k held) bool {
	t := s.tokens[k]
	if t != nil && t.end != nil {
		t.end.Stop()
	}
	delete(s.tokens, k)
	return t != nil
}

func (s *Store) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.tokens {
		s.drop(k)
	}
}

// Env is what an agent with a protected resource is started with for a principal; ok is
// false when it can't be started without a token that is not there.
func (s *Store) Env(principal string, r *agent.Resource) (env []agent.Var, ok bool) {
	if s == nil || r == nil {
		return nil, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tokens[held{principal, r.URI}]; t != nil && s.valid(principal) {
		return []agent.Var{{Name: r.Variable, Value: t.text}}, true
	}
	return nil, !r.Required
}
