package token

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tandemux/host/auth"
	"tandemux/hub/front"
	"tandemux/hub/server"
)

// TestTokens: a token is who it was made for until it is revoked or has ended, which ends
// the requests that it has; every node knows it, and its secret is nowhere.
func TestTokens(t *testing.T) {
	t.Parallel()
	b, err := server.Start(t.Context(), server.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	s, err := Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	other, err := Open(t.Context(), b) // another node's
	if err != nil {
		t.Fatal(err)
	}
	who := func(s *Store, secret string) (front.Person, error) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if secret != "" {
			r.Header.Set("Authorization", "Bearer "+secret)
		}
		return s.Authenticate(r)
	}
	eventually := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("not reached: %s", what)
			}
		}
	}
	m, err := s.create(t.Context(), wanted{Name: "ci", Scopes: []string{auth.ScopeRead}}, "ann")
	if err != nil {
		t.Fatal(err)
	}
	eventually("both nodes know it", func() bool {
		p, err1 := who(s, m.Secret)
		_, err2 := who(other, m.Secret)
		return err1 == nil && err2 == nil && p.Name == "token:ci" && p.May(auth.ScopeRead) && !p.May(auth.ScopeApprove)
	})
	for _, wrong := range []string{"", "tandemux_x", m.Secret + "x", secretPrefix} {
		if p, err := who(s, wrong); err == nil {
			t.Errorf("%q is %+v", wrong, p)
		}
	}
	if text, err := json.Marshal(s.list()); err != nil || strings.Contains(string(text), m.Secret) || !strings.Contains(string(text), `"by":"ann"`) {
		t.Errorf("the list is %s, %v", text, err)
	}
	keys, err := s.kv.Keys(t.Context())
	if err != nil || len(keys) != 1 || strings.Contains(keys[0], m.Secret) {
		t.Errorf("the keys are %v, %v", keys, err)
	}
	p, _ := who(other, m.Secret)
	if err := s.revoke(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Ended:
	case <-time.After(20 * time.Second):
		t.Fatal("requests of a revoked token go on")
	}
	if _, err := who(other, m.Secret); err == nil {
		t.Error("a revoked token is valid")
	}
	short, err := s.create(t.Context(), wanted{Name: "short", Life: 1}, "ann")
	if err != nil {
		t.Fatal(err)
	}
	eventually("it ends", func() bool {
		_, err := who(s, short.Secret)
		return err != nil && time.Since(short.Created) > time.Second
	})
	for _, w := range []wanted{{Name: ""}, {Name: "a b"}, {Name: "x", Scopes: []string{"root"}}} {
		if _, err := s.create(t.Context(), w, "ann"); err == nil {
			t.Errorf("%+v was made", w)
		}
	}
}

// TestRoutes: only who administers the hub makes tokens.
func TestRoutes(t *testing.T) {
	t.Parallel()
	for _, r := range (&Store{}).Routes() {
		if r.Open || r.Scope != auth.ScopeAdmin {
			t.Errorf("%s is for %q", r.Pattern, r.Scope)
		}
	}
}
