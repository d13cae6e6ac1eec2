package auth

import (
	"bytes"
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

	"tandemux/ahp"
	"tandemux/internal/statefile"
)

// tokenPrefix makes tokens recognisable for programs that look for leaked secrets.
const tokenPrefix = "tandemux_"

// longestNap bounds the expiry timer, because the clock may be set and timers stop while a machine
// sleeps. The timer only runs while a token will expire.
const longestNap = time.Minute

// Token is a stored access token, without the secret.
type Token struct {
	ahp.TokenInfo
	// Process is the keeper's id of the process in Terminal, so that a later terminal with the same
	// URI is not reached.
	Process string `json:"process,omitempty"`
	Hash    string `json:"hash"` // SHA-256 of the secret, hex
}

func (t *Token) expired(now time.Time) bool { return t.Expires > 0 && now.UnixMilli() >= t.Expires }

// usable returns the token's scopes, without those that a token for one terminal may not have,
// whatever the file says.
func (t *Token) usable() []string {
	if t.Terminal == "" {
		return slices.Clone(t.Scopes)
	}
	return slices.DeleteFunc(slices.Clone(t.Scopes), func(s string) bool { return !slices.Contains(boundScopes, s) })
}

// Tokens has the tokens, and stores them in a file (mode 0600, in State). Its methods may be called
// from any goroutine.
type Tokens struct {
	path string
	now  func() time.Time

	mu     sync.Mutex
	ended  func() // the function of OnExpiry
	broken error  // why the file can't be read; no token is valid then
	list   []Token
	saved  time.Time // when LastUsed was last written
	timer  *time.Timer
	closed bool
}

// OpenTokens reads the tokens of a state directory. If the file can't be read or parsed, there are no
// tokens, none can be made, and nothing is written until the file has been repaired or removed.
func OpenTokens(dir string, now func() time.Time) *Tokens {
	s := &Tokens{path: filepath.Join(dir, "tokens.json"), now: now}
	s.list, s.broken = readTokens(s.path)
	s.arm()
	return s
}

// OnExpiry sets a function that is called, in its own goroutine and without any lock, when a token may
// have expired.
func (s *Tokens) OnExpiry(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = f
}

// Trouble returns why no token is valid, or nil.
func (s *Tokens) Trouble() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// mend reads the file again if it could not be read before. The caller holds mu and acts for somebody
// who manages tokens.
func (s *Tokens) mend() error {
	if s.broken == nil {
		return nil
	}
	if s.list, s.broken = readTokens(s.path); s.broken != nil {
		return ahp.Internal("%v", s.broken)
	}
	s.arm()
	return nil
}

// Create makes a token with 256 random bits. The secret is only in the result. process is the process
// in the terminal that the token is bound to, if any. Expired tokens are removed if there are too
// many.
func (s *Tokens) Create(p ahp.TokenNewParams, process string) (ahp.TokenNewResult, error) {
	if !isTokenName(p.Name) {
		return ahp.TokenNewResult{}, ahp.InvalidParams("make a token: name: use 1 to %d bytes of printable characters", maxTokenName)
	}
	if p.Expires != 0 && p.Expires <= s.now().UnixMilli() {
		return ahp.TokenNewResult{}, ahp.InvalidParams("make a token: expires: %s is over", time.UnixMilli(p.Expires).UTC().Format(time.RFC3339))
	}
	if p.Share && (p.Terminal == "" || p.Expires == 0) {
		return ahp.TokenNewResult{}, ahp.InvalidParams("make a token: share: a guest's token is for one terminal, and ends: give terminal and expires")
	}
	scopes, err := checkScopes(p.Scopes, p.Terminal != "")
	if err != nil {
		return ahp.TokenNewResult{}, ahp.InvalidParams("make a token: %v", err)
	}
	return s.create(Token{Process: process, TokenInfo: ahp.TokenInfo{Name: p.Name, Scopes: scopes, Terminal: p.Terminal, Expires: p.Expires, Share: p.Share}})
}

// create stores a token like t, and sets its id, date and hash.
func (s *Tokens) create(t Token) (ahp.TokenNewResult, error) {
	var secret [32]byte
	var id [4]byte
	rand.Read(secret[:]) //nolint:errcheck // never fails
	rand.Read(id[:])     //nolint:errcheck // never fails
	r := ahp.TokenNewResult{
		ID:     hex.EncodeToString(id[:]),
		Token:  tokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:]),
		Scopes: t.Scopes, Terminal: t.Terminal, Expires: t.Expires,
	}
	t.ID, t.Hash, t.Created = r.ID, Hash(r.Token), s.now().UnixMilli()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mend(); err != nil {
		return ahp.TokenNewResult{}, err
	}
	before := s.list
	s.list = append(slices.Clone(before), t)
	if len(s.list) > maxTokens {
		now := s.now()
		s.list = slices.DeleteFunc(s.list, func(t Token) bool { return t.expired(now) })
	}
	var err error
	if len(s.list) > maxTokens {
		err = ahp.Conflict("make a token: there are %d already: revoke some first", maxTokens)
	} else {
		err = s.save()
	}
	if err != nil {
		s.list = before
		return ahp.TokenNewResult{}, err
	}
	s.arm()
	return r, nil
}

// Check returns the valid token with a secret, or nil. It compares with every token, in constant time,
// so its duration reveals nothing. The reason is only for the log, not for the caller without a valid
// token.
func (s *Tokens) Check(secret string) (found *Token, reason string) {
	want := []byte(Hash(secret))
	s.mu.Lock()
	defer s.mu.Unlock()
	at := -1
	for i := range s.list {
		if subtle.ConstantTimeCompare([]byte(s.list[i].Hash), want) == 1 {
			at = i
		}
	}
	switch {
	case secret == "":
		return nil, "no token"
	case s.broken != nil:
		return nil, "the file of tokens cannot be read"
	case at < 0:
		return nil, "unknown token"
	}
	t := &s.list[at]
	now := s.now()
	if t.expired(now) {
		return nil, "expired token " + t.ID
	}
	t.LastUsed = now.UnixMilli()
	if now.Sub(s.saved) > time.Minute {
		// If the time of last use can't be saved, the token is still valid.
		_ = s.save()
	}
	valid := *t
	valid.Scopes = t.usable()
	return &valid, ""
}

// Valid reports whether a token exists and has not expired.
func (s *Tokens) Valid(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	return slices.ContainsFunc(s.list, func(t Token) bool { return t.ID == id && !t.expired(now) })
}

// List returns the tokens, including expired ones, oldest first.
func (s *Tokens) List() ([]ahp.TokenInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mend(); err != nil {
		return nil, err
	}
	list := make([]ahp.TokenInfo, 0, len(s.list))
	for _, t := range s.list {
		list = append(list, t.TokenInfo)
	}
	return list, nil
}

// Revoke removes a token. If the file can't be written, the token is still revoked until this process
// ends.
func (s *Tokens) Revoke(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mend(); err != nil {
		return err
	}
	i := slices.IndexFunc(s.list, func(t Token) bool { return t.ID == id })
	if i < 0 {
		return ahp.NotFound("revoke token: there is no token %q: `tandemux token ls` lists them", id)
	}
	s.list = slices.Delete(s.list, i, i+1)
	s.arm()
	return s.save()
}

// EndShares removes the guests' tokens for a terminal, as Revoke removes one.
func (s *Tokens) EndShares(terminal ahp.URI) (ended []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mend(); err != nil {
		return nil, err
	}
	s.list = slices.DeleteFunc(s.list, func(t Token) bool {
		if !t.Share || t.Terminal != terminal {
			return false
		}
		ended = append(ended, t.ID)
		return true
	})
	if len(ended) == 0 {
		return nil, nil
	}
	s.arm()
	return ended, s.save()
}

// Shares returns the guests' tokens that are valid.
func (s *Tokens) Shares() (all []Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for _, t := range s.list {
		if t.Share && !t.expired(now) {
			all = append(all, t)
		}
	}
	return all
}

// arm sets the timer to the next expiry, or stops it if no token will expire. The caller holds mu, or
// nobody else has the Tokens yet.
func (s *Tokens) arm() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	now := s.now()
	next := int64(0)
	for _, t := range s.list {
		if t.Expires > 0 && !t.expired(now) && (next == 0 || t.Expires < next) {
			next = t.Expires
		}
	}
	if next == 0 || s.closed {
		return
	}
	s.timer = time.AfterFunc(min(time.UnixMilli(next).Sub(now), longestNap), s.ring)
}

func (s *Tokens) ring() {
	s.mu.Lock()
	closed, ended := s.closed, s.ended
	s.arm()
	s.mu.Unlock()
	if !closed && ended != nil {
		ended()
	}
}

// Close stops the timer and saves times of last use.
func (s *Tokens) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.arm()
	if slices.ContainsFunc(s.list, func(t Token) bool { return t.LastUsed > s.saved.UnixMilli() }) {
		_ = s.save() // at worst times of last use are lost
	}
}

// Name returns a token's name, as long as List has the token, or "".
func (s *Tokens) Name(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.list {
		if s.list[i].ID == id {
			return s.list[i].Name
		}
	}
	return ""
}

// Hash returns what is stored of a secret.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

const (
	// tokenFileVersion is the version that save writes. Version 1 was a plain list, without expiry and
	// binding. A program that knows only that one refuses the file, instead of using a bound or
	// expired token as an unrestricted one.
	tokenFileVersion = 2
	// maxTokenFile is more than maxTokens need, in bytes.
	maxTokenFile = 8 << 20
)

type tokenFile struct {
	Version int     `json:"version"`
	Tokens  []Token `json:"tokens"`
}

// readTokens reads the file of tokens, which need not exist. The error says what to do.
func readTokens(path string) ([]Token, error) {
	text, err := statefile.Read(path, maxTokenFile)
	if os.IsNotExist(err) {
		return nil, nil
	}
	var list []Token
	if err == nil {
		list, err = decodeTokens(text)
	}
	if err != nil {
		return nil, fmt.Errorf("read the tokens in %s: %w: no token is valid until the file is repaired or moved away; `tandemux token ls` then reads it again", path, err)
	}
	return list, nil
}

func decodeTokens(text []byte) ([]Token, error) {
	var file tokenFile
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		if err := json.Unmarshal(text, &file.Tokens); err != nil {
			return nil, err
		}
	} else {
		if err := json.Unmarshal(text, &file); err != nil {
			return nil, err
		}
		if file.Version != tokenFileVersion {
			return nil, fmt.Errorf("it has version %d and this program knows %d", file.Version, tokenFileVersion)
		}
	}
	if len(file.Tokens) > maxTokens {
		return nil, fmt.Errorf("it has more than %d tokens", maxTokens)
	}
	for i, t := range file.Tokens {
		if sum, err := hex.DecodeString(t.Hash); err != nil || len(sum) != 32 || t.ID == "" {
			return nil, fmt.Errorf("token %d of %d has no id or no SHA-256", i+1, len(file.Tokens))
		}
		if t.Expires < 0 || t.Terminal != "" && t.Process == "" {
			return nil, fmt.Errorf("token %s has an expiry or a terminal that makes no sense", shown(t.ID))
		}
		if j := slices.IndexFunc(file.Tokens, func(o Token) bool { return o.ID == t.ID }); j != i {
			return nil, fmt.Errorf("two tokens have the id %q", shown(t.ID))
		}
	}
	return file.Tokens, nil
}

// save writes the file, unless it could not be read. The caller holds mu.
func (s *Tokens) save() error {
	if s.broken != nil {
		return ahp.Internal("%v", s.broken)
	}
	text, err := json.MarshalIndent(tokenFile{tokenFileVersion, s.list}, "", "\t")
	if err == nil {
		err = statefile.Write(s.path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the tokens to %s: %w", s.path, err)
	}
	s.saved = s.now()
	return nil
}
