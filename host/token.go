package host

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"cotty/ahp"
)

// tokenPrefix makes tokens easy to find for programs that look for leaked
// secrets.
const tokenPrefix = "cotty_"

// token is a stored access token: everything but the secret itself.
type token struct {
	ahp.TokenInfo
	Hash string `json:"hash"` // SHA-256 of the secret, hex
}

// tokenStore keeps the tokens, and the file that holds them (0600, State). Its
// methods may be called from any goroutine.
type tokenStore struct {
	path string
	now  func() time.Time

	mu    sync.Mutex
	list  []token
	saved time.Time // when LastUsed was last written
}

func openTokens(dir string, now func() time.Time) (*tokenStore, error) {
	s := &tokenStore{path: filepath.Join(dir, "tokens.json"), now: now}
	text, err := os.ReadFile(s.path)
	if os.IsNotExist(err) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s.list)
	}
	if err != nil {
		return nil, fmt.Errorf("read the tokens in %s: %w", s.path, err)
	}
	return s, nil
}

// save writes the file. The caller holds mu.
func (s *tokenStore) save() error {
	text, err := json.MarshalIndent(s.list, "", "\t")
	if err == nil {
		err = writeFile(s.path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the tokens to %s: %w", s.path, err)
	}
	s.saved = s.now()
	return nil
}

// create makes a token of 256 random bits; the secret is in the result and
// nowhere else.
func (s *tokenStore) create(name string, scopes []string) (ahp.TokenNewResult, error) {
	var secret [32]byte
	var id [4]byte
	rand.Read(secret[:]) //nolint:errcheck // never fails
	rand.Read(id[:])     //nolint:errcheck // never fails
	r := ahp.TokenNewResult{
		ID:    hex.EncodeToString(id[:]),
		Token: tokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:]),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) >= maxTokens {
		return ahp.TokenNewResult{}, ahp.Conflict("make a token: there are %d already: revoke some first", maxTokens)
	}
	s.list = append(s.list, token{
		TokenInfo: ahp.TokenInfo{ID: r.ID, Name: name, Scopes: scopes, Created: s.now().UnixMilli()},
		Hash:      hash(r.Token),
	})
	if err := s.save(); err != nil {
		s.list = s.list[:len(s.list)-1]
		return ahp.TokenNewResult{}, err
	}
	return r, nil
}

// check finds the principal of a secret. It looks at every token, in constant
// time each, so that its own time tells nothing.
func (s *tokenStore) check(secret string) (*principal, bool) {
	want := []byte(hash(secret))
	s.mu.Lock()
	defer s.mu.Unlock()
	found := -1
	for i := range s.list {
		if subtle.ConstantTimeCompare([]byte(s.list[i].Hash), want) == 1 {
			found = i
		}
	}
	if found < 0 {
		return nil, false
	}
	t := &s.list[found]
	t.LastUsed = s.now().UnixMilli()
	if s.now().Sub(s.saved) > time.Minute {
		// A lost date of last use is no reason to refuse.
		_ = s.save()
	}
	return &principal{id: "token:" + t.ID, token: t.ID, scopes: slices.Clone(t.Scopes)}, true
}

func (s *tokenStore) valid(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.list, func(t token) bool { return t.ID == id })
}

func (s *tokenStore) infos() []ahp.TokenInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]ahp.TokenInfo, 0, len(s.list))
	for _, t := range s.list {
		list = append(list, t.TokenInfo)
	}
	return list
}

func (s *tokenStore) revoke(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.list, func(t token) bool { return t.ID == id })
	if i < 0 {
		return ahp.NotFound("revoke token: there is no token %q", id)
	}
	s.list = slices.Delete(s.list, i, i+1)
	return s.save()
}

func (s *tokenStore) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.list, func(t token) bool { return t.LastUsed > s.saved.UnixMilli() }) {
		_ = s.save() // only dates of last use are lost
	}
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
