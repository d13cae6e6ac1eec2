package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTokens keeps, finds, forgets; the file is private and holds no secret.
func TestTokens(t *testing.T) {
	dir := t.TempDir()
	s, err := openTokens(dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.create("a", []string{scopeRead})
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.create("b", allScopes)
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
	s, err = openTokens(dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := s.check(a.Token)
	if !ok || p.id != "token:"+a.ID || p.operates() || !p.may(scopeRead) || p.may(scopeInput) {
		t.Errorf("a's principal is %+v, %v", p, ok)
	}
	if p, ok := s.check(b.Token); !ok || !p.operates() || p.human {
		t.Errorf("b's principal is %+v, %v", p, ok)
	}
	for _, wrong := range []string{"", tokenPrefix, a.Token + "x", a.Token[:len(a.Token)-1], a.ID, hash(a.Token)} {
		if _, ok := s.check(wrong); ok {
			t.Errorf("%q was taken", wrong)
		}
	}
	if err := s.revoke(a.ID); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.check(a.Token); ok || s.valid(a.ID) {
		t.Error("a is valid after its end")
	}
	if err := s.revoke(a.ID); err == nil {
		t.Error("a token was revoked twice")
	}
	if _, err := checkScopes([]string{"terminal:read", "everything"}); err == nil {
		t.Error("an unknown scope was taken")
	}
}
