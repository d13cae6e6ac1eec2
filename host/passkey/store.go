package passkey

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"tandemux/internal/statefile"
)

const sha256Hash = crypto.SHA256

// Bounds.
const (
	maxKeys       = 100
	maxID         = 1023 // bytes, as the standard says
	maxTokens     = 32   // of a passkey, the newest; the first stays
	maxChallenges = 64
	challengeTime = 2 * time.Minute
	maxFile       = 1 << 20
)

type Key struct {
	ID     bytes64 `json:"id"`
	Public []byte  `json:"public"` // SPKI
	RP     string  `json:"rp"`     // the page's host name
	User   bytes64 `json:"user"`
	Count  uint32  `json:"count,omitempty"`
	// Tokens are the ids of the one that registered it, which it stands and falls with, and
	// of those that were got by it.
	Tokens []string `json:"tokens"`
}

type Store struct {
	path string
	log  *slog.Logger
	now  func() time.Time

	mu    sync.Mutex
	keys  []Key
	given []challenge // oldest first
}

// challenge is a question that has been given out.
type challenge struct {
	text  []byte
	kind  string // of the answer
	token string // who registers, or empty
	user  bytes64
	until time.Time
}

// What browsers call the two ceremonies.
const (
	create = "webauthn.create"
	get    = "webauthn.get"
)

// Open reads the passkeys of a state directory.
func Open(state string, now func() time.Time, log *slog.Logger) *Store {
	s := &Store{path: filepath.Join(state, "passkeys.json"), log: log, now: now}
	if err := statefile.ReadJSON(s.path, maxFile, &s.keys); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.keys = nil
		log.Warn("no passkey lets anybody in", "err", err)
	}
	return s
}

// Host is the name that passkeys of a page at an address are for. IP addresses have none.
func Host(address string) (string, error) {
	host := address
	if h, _, err := net.SplitHostPort(address); err == nil {
		host = h
	}
	if host == "" || net.ParseIP(host) != nil || host[0] == '[' {
		return "", errors.New("passkeys are for names: open the page by the machine's name, or as localhost")
	}
	return host, nil
}

// Options are what the browser is asked: the JSON of the standard's options.
type Options map[string]any

// ask gives out a challenge. The caller holds mu.
func (s *Store) ask(kind, token string) challenge {
	c := challenge{text: make([]byte, 32), kind: kind, token: token, until: s.now().Add(challengeTime)}
	rand.Read(c.text) //nolint:errcheck // never fails
	if kind == create {
		c.user = make([]byte, 16)
		rand.Read(c.user) //nolint:errcheck // never fails
	}
	s.given = slices.DeleteFunc(s.given, func(o challenge) bool { return s.now().After(o.until) })
	if len(s.given) == maxChallenges {
		s.given = slices.Delete(s.given, 0, 1)
	}
	s.given = append(s.given, c)
	return c
}

// answered gives the challenge that a response names, which is good once.
func (s *Store) answered(r Response, kind, origin string) (c challenge, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var said struct {
		Challenge bytes64 `json:"challenge"`
	}
	json.Unmarshal(r.Client, &said) //nolint:errcheck // then it is none
	at := slices.IndexFunc(s.given, func(c challenge) bool { return c.kind == kind && bytes.Equal(c.text, said.Challenge) })
	if at < 0 || s.now().After(s.given[at].until) {
		return c, errors.New("this took more than two minutes, or was done already: try again")
	}
	c = s.given[at]
	s.given = slices.Delete(s.given, at, at+1)
	return c, r.client(kind, c.text, origin)
}

// New asks for a new passkey that stands for a token.
func (s *Store) New(rp, token, name string) Options {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.ask(create, token)
	had := []any{}
	for _, k := range s.keys {
		if k.RP == rp && k.Tokens[0] == token {
			had = append(had, map[string]any{"type": "public-key", "id": k.ID})
		}
	}
	kinds := []any{}
	for _, alg := range []int{-7, -8, -257} { // ES256, EdDSA, RS256
		kinds = append(kinds, map[string]any{"type": "public-key", "alg": alg})
	}
	return Options{
		"rp": map[string]any{"id": rp, "name": "tandemux"}, "user": map[string]any{"id": c.user, "name": name, "displayName": name},
		"challenge": bytes64(c.text), "pubKeyCredParams": kinds, "excludeCredentials": had, "timeout": challengeTime.Milliseconds(), "attestation": "none",
		"authenticatorSelection": map[string]any{"residentKey": "required", "requireResidentKey": true, "userVerification": "required"},
	}
}

// Add takes a new passkey of a token's.
func (s *Store) Add(rp, origin, token string, r Response) error {
	c, err := s.answered(r, create, origin)
	if err == nil && c.token != token {
		err = errors.New("another browser was asked")
	}
	var rest []byte
	var count uint32
	if err == nil {
		count, rest, err = r.authenticator(rp)
	}
	if err == nil {
		err = r.named(rest)
	}
	if err == nil {
		_, err = publicKey(r.Public)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case slices.ContainsFunc(s.keys, func(k Key) bool { return bytes.Equal(k.ID, r.ID) }):
		return errors.New("this passkey is known already")
	case len(s.keys) >= maxKeys:
		return fmt.Errorf("there are %d passkeys already", maxKeys)
	}
	return s.put(append(slices.Clone(s.keys), Key{ID: r.ID, Public: r.Public, RP: rp, User: c.user, Count: count, Tokens: []string{token}}))
}

// Ask asks for a passkey that there is.
func (s *Store) Ask(rp string) Options {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.ask(get, "")
	return Options{"challenge": bytes64(c.text), "rpId": rp, "userVerification": "required", "timeout": challengeTime.Milliseconds()}
}

// Check gives the passkey that was used.
func (s *Store) Check(rp, origin string, r Response) (Key, error) {
	if _, err := s.answered(r, get, origin); err != nil {
		return Key{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.keys, func(k Key) bool { return k.RP == rp && bytes.Equal(k.ID, r.ID) })
	if at < 0 {
		return Key{}, errors.New("this host does not know the passkey, or not any more")
	}
	k := s.keys[at]
	count, _, err := r.authenticator(rp)
	if err == nil {
		err = r.signed(k.Public)
	}
	switch {
	case err != nil:
		return Key{}, err
	case len(r.User) > 0 && !bytes.Equal(r.User, k.User):
		return Key{}, errors.New("the passkey is another's")
	case (count > 0 || k.Count > 0) && count <= k.Count:
		s.log.Warn("a passkey's counter went back: it may have been copied", "token", k.Tokens[0])
		return Key{}, errors.New("the passkey may have been copied: register another")
	case count != k.Count:
		all := slices.Clone(s.keys)
		all[at].Count = count
		if err := s.put(all); err != nil {
			return Key{}, err
		}
	}
	return k, nil
}

// Got notes a token that was got by a passkey.
func (s *Store) Got(id []byte, token string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.keys)
	for i, k := range all {
		if bytes.Equal(k.ID, id) {
			all[i].Tokens = append(slices.Clone(k.Tokens), token)
			if len(all[i].Tokens) > maxTokens {
				all[i].Tokens = slices.Delete(all[i].Tokens, 1, 2)
			}
		}
	}
	return s.put(all)
}

func (s *Store) Of(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.keys, func(k Key) bool { return slices.Contains(k.Tokens, token) })
}

// Prune forgets those whose first token is none any more.
func (s *Store) Prune(valid func(token string) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(s.keys), func(k Key) bool { return !valid(k.Tokens[0]) })
	if len(left) == len(s.keys) {
		return nil
	}
	return s.put(left)
}

func (s *Store) All() []Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.keys) // what they have is never changed in place
}

// Remove forgets a passkey, and gives it.
func (s *Store) Remove(id []byte) (Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.keys, func(k Key) bool { return bytes.Equal(k.ID, id) })
	if i < 0 {
		return Key{}, errors.New("there is no such passkey: `tandemux web --passkeys` lists them")
	}
	k := s.keys[i]
	return k, s.put(slices.Delete(slices.Clone(s.keys), i, i+1))
}

// put keeps passkeys. The caller holds mu.
func (s *Store) put(all []Key) error {
	if err := statefile.WriteJSON(s.path, all); err != nil {
		return err
	}
	s.keys = all
	return nil
}
