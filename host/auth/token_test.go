package auth

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandemux/ahp"
)

func newToken(name string, scopes ...string) Token {
	return Token{TokenInfo: ahp.TokenInfo{Name: name, Scopes: scopes}}
}

// TestTokens keeps, finds, forgets; the file is private and holds no secret.
func TestTokens(t *testing.T) {
	dir := t.TempDir()
	s := OpenTokens(dir, time.Now)
	a, err := s.create(newToken("a", ScopeRead))
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.create(newToken("b", AllScopes...))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Token) < len(tokenPrefix)+43 || a.Token == b.Token || a.ID == b.ID {
		t.Fatalf("tokens %d bytes, ids %s, %s", len(a.Token), a.ID, b.ID)
	}
	path := filepath.Join(dir, "tokens.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), strings.TrimPrefix(a.Token, tokenPrefix)) {
		t.Error("the file holds the secret")
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v", info.Mode())
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	s = OpenTokens(dir, time.Now)
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("the file was open to others and is %v", info.Mode())
	}
	p, reason := s.Check(a.Token)
	if p == nil || p.ID != a.ID || !slices.Equal(p.Scopes, []string{ScopeRead}) {
		t.Errorf("a's token is %+v, %q", p, reason)
	}
	if p, reason := s.Check(b.Token); p == nil || !slices.Equal(p.Scopes, AllScopes) {
		t.Errorf("b's token is %+v, %q", p, reason)
	}
	for _, wrong := range []string{"", tokenPrefix, a.Token + "x", a.Token[:len(a.Token)-1], a.ID, Hash(a.Token)} {
		if p, _ := s.Check(wrong); p != nil {
			t.Errorf("%q was taken", wrong)
		}
	}
	if err := s.Revoke(a.ID); err != nil {
		t.Fatal(err)
	}
	if p, _ := s.Check(a.Token); p != nil || s.Valid(a.ID) {
		t.Error("a is valid after its end")
	}
	if err := s.Revoke(a.ID); err == nil {
		t.Error("a token was revoked twice")
	}
	if _, err := checkScopes([]string{"terminal:read", "everything"}, false); err == nil {
		t.Error("an unknown scope was taken")
	}
	if _, err := checkScopes([]string{ScopeRead, ScopeAdmin}, true); err == nil {
		t.Error("a token for one terminal got admin")
	}
	if scopes, err := checkScopes(nil, true); err != nil || strings.Join(scopes, " ") != strings.Join(boundScopes, " ") {
		t.Errorf("a token for one terminal gets %v, %v", scopes, err)
	}
}

// TestTokenFiles: what an older program wrote is read, what makes no sense
// closes the host to tokens and stays as it is, until it is mended.
func TestTokenFiles(t *testing.T) {
	const secret = "tandemux_abc"
	old := fmt.Sprintf(`[{"id":"0a","name":"old","scopes":["terminal:read"],"created":1,"hash":%q}]`, Hash(secret))
	bound := fmt.Sprintf(`{"version":2,"tokens":[{"id":"0a","name":"b","scopes":["terminal:read","admin"],"terminal":"t:x","process":"p","created":1,"hash":%q}]}`, Hash(secret))
	for name, text := range map[string]string{"version 1": old, "version 2": bound} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "tokens.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := OpenTokens(dir, time.Now)
		p, reason := s.Check(secret)
		if p == nil || !slices.Equal(p.Scopes, []string{ScopeRead}) {
			t.Errorf("%s: %+v, %q", name, p, reason)
		}
		if _, err := s.create(newToken("new", ScopeRead)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s = OpenTokens(dir, time.Now); s.Trouble() != nil || len(s.list) != 2 {
			t.Errorf("%s: after adding one: %v, %d tokens", name, s.Trouble(), len(s.list))
		}
	}
	long, _ := json.Marshal(make([]Token, maxTokens+1))
	for name, text := range map[string]string{
		"half a file":   old[:len(old)/2],
		"not JSON":      "tokens!",
		"empty":         "",
		"a newer one":   `{"version":3,"tokens":[]}`,
		"no version":    `{"tokens":[]}`,
		"no hash":       `[{"id":"0a","scopes":["admin"]}]`,
		"a short hash":  `[{"id":"0a","scopes":["admin"],"hash":"00"}]`,
		"twice an id":   strings.Replace(old, "}]", "},"+old[1:], 1),
		"no process":    strings.Replace(bound, `"process":"p",`, "", 1),
		"too many":      string(long),
		"minus expires": strings.Replace(bound, `"created"`, `"expires":-1,"created"`, 1),
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "tokens.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := OpenTokens(dir, time.Now)
		if err := s.Trouble(); err == nil || !strings.Contains(err.Error(), "repaired or moved away") {
			t.Errorf("%s: %v", name, err)
		}
		if p, _ := s.Check(secret); p != nil {
			t.Errorf("%s: a token is valid", name)
		}
		if _, err := s.create(newToken("x", ScopeRead)); err == nil {
			t.Errorf("%s: a token was made", name)
		}
		if err := s.Revoke("0a"); err == nil {
			t.Errorf("%s: a token was revoked", name)
		}
		s.Close()
		if now, _ := os.ReadFile(path); string(now) != text {
			t.Errorf("%s: the file was changed", name)
		}
		os.Remove(path)
		if list, err := s.List(); err != nil || len(list) != 0 || s.Trouble() != nil {
			t.Errorf("%s: moved away: %v, %v", name, list, err)
		}
	}
	dir := t.TempDir()
	if err := os.Symlink("/dev/null", filepath.Join(dir, "tokens.json")); err != nil {
		t.Fatal(err)
	}
	if s := OpenTokens(dir, time.Now); s.Trouble() == nil {
		t.Error("a symbolic link was read")
	}
}

// TestTokensExpire: at that moment, by one timer, which there is only while a
// token will expire.
func TestTokensExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var count atomic.Int64
		rings := func() int64 { return count.Load() }
		s := OpenTokens(t.TempDir(), time.Now)
		s.OnExpiry(func() { count.Add(1) })
		forever, err := s.create(newToken("forever", ScopeRead))
		if err != nil {
			t.Fatal(err)
		}
		if s.timer != nil {
			t.Error("a timer runs though no token expires")
		}
		short := newToken("short", ScopeRead)
		short.Expires = time.Now().Add(20 * time.Second).UnixMilli()
		late := newToken("late", ScopeRead)
		late.Expires = time.Now().Add(10 * time.Minute).UnixMilli()
		a, err := s.create(short)
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.create(late)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(20*time.Second - time.Millisecond)
		synctest.Wait()
		if p, reason := s.Check(a.Token); p == nil || rings() != 0 {
			t.Errorf("a moment before: %q, %d rings", reason, rings())
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if p, reason := s.Check(a.Token); p != nil || !strings.Contains(reason, "expired") || s.Valid(a.ID) || rings() != 1 {
			t.Errorf("at the moment: %v, %q, %d rings", p, reason, rings())
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if s.Valid(b.ID) || s.timer != nil || rings() > 12 {
			t.Errorf("in the end: valid %v, timer %v, %d rings", s.Valid(b.ID), s.timer != nil, rings())
		}
		if p, _ := s.Check(forever.Token); p == nil {
			t.Error("a token without expiry ended")
		}
		if list, _ := s.List(); len(list) != 3 {
			t.Errorf("%d are listed, expired ones included", len(list))
		}
		// Expired ones make room.
		for i := 3; i < maxTokens; i++ {
			s.list = append(s.list, Token{TokenInfo: ahp.TokenInfo{ID: fmt.Sprint(i)}, Hash: Hash(fmt.Sprint(i))})
		}
		if _, err := s.create(newToken("one more", ScopeRead)); err != nil || s.Valid(a.ID) || len(s.list) != maxTokens-1 {
			t.Errorf("a full store: %v, %d tokens", err, len(s.list))
		}
		if _, err := s.create(newToken("the last", ScopeRead)); err != nil {
			t.Error(err)
		}
		if _, err := s.create(newToken("too many", ScopeRead)); err == nil {
			t.Error("a token too many was made")
		}
		// Closing stops the timer.
		s.list = s.list[:1]
		short.Expires = time.Now().Add(time.Second).UnixMilli()
		if _, err := s.create(short); err != nil {
			t.Fatal(err)
		}
		before := rings()
		s.Close()
		time.Sleep(time.Minute)
		synctest.Wait()
		if rings() != before {
			t.Error("a closed store rang")
		}
	})
}

func TestTokenNames(t *testing.T) {
	for name, want := range map[string]bool{
		"ci": true, "my phone": true, "Büro": true, "": false, strings.Repeat("x", maxTokenName+1): false,
		"a\nb": false, "a\x1b[31m": false, "a\u202eb": false, "a\u009bm": false, "\xff": false, "a\u200bb": false,
	} {
		if isTokenName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
