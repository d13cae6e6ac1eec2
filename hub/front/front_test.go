package front

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"tandemux/host/auth"
)

// serve runs a front on a loopback port.
func serve(t *testing.T, c Config) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- New(c).Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String()
}

// known are people by their tokens.
func known(people map[string]Person) Authenticator {
	return func(r *http.Request) (Person, error) {
		secret := Bearer(r)
		if secret == "" {
			return Person{}, ErrNobody
		}
		if p, is := people[secret]; is {
			return p, nil
		}
		return Person{}, errors.New("unknown token")
	}
}

// TestRoutes: who asks is known, has the scope, comes from no other page, and says no more
// than is read.
func TestRoutes(t *testing.T) {
	t.Parallel()
	told := func(w http.ResponseWriter, r *http.Request) {
		p, _ := Of(r.Context())
		body, err := io.ReadAll(r.Body)
		if err != nil {
			Refuse(w, http.StatusRequestEntityTooLarge, "too_large", err.Error())
			return
		}
		io.WriteString(w, p.Name+" "+string(body)) //nolint:errcheck // the client notices
	}
	addr := serve(t, Config{
		Now: time.Now,
		Authenticators: []Authenticator{
			func(*http.Request) (Person, error) { return Person{}, ErrNobody },
			known(map[string]Person{
				"reader": {Name: "ann", Scopes: []string{auth.ScopeRead}},
				"admin":  {Name: "bob", Scopes: []string{auth.ScopeAdmin}},
			}),
		},
		Routes: []Route{
			{Pattern: "GET /open", Open: true, Serve: told},
			{Pattern: "POST /read", Scope: auth.ScopeRead, Body: 8, Serve: told},
			{Pattern: "POST /approve", Scope: auth.ScopeApprove, Serve: told},
			{Pattern: "GET /panic", Serve: func(http.ResponseWriter, *http.Request) { panic("a mistake") }},
		},
	})
	for _, c := range []struct {
		ask, token, body, header string
		status                   int
		says                     string
	}{
		{"GET /open", "", "", "", 200, ""},
		{"GET /open", "", "", "Origin: https://evil.example", 403, "origin"},
		{"GET /open", "", "", "Host: evil.example", 403, "Host"},
		{"GET /open", "", "", "Origin: http://" + addr, 200, ""},
		{"POST /read", "", "", "", 401, "token"},
		{"POST /read", "wrong", "", "", 401, "token"},
		{"POST /read", "reader", "12345678", "", 200, "ann 12345678"},
		{"POST /read", "reader", "123456789", "", 413, "too large"},
		{"POST /approve", "reader", "", "", 403, "scope approve, which ann"},
		{"POST /approve", "admin", "x", "", 200, "bob x"},
		{"GET /read", "reader", "", "", 405, `"message":"this is a hub, which has its hosts and their tasks: it does not answer GET /read"`},
		{"GET /nothing", "admin", "", "", 404, `"message":"this is a hub, which has its hosts and their tasks: it does not answer GET /nothing"`},
	} {
		method, path, _ := strings.Cut(c.ask, " ")
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		if c.token != "" {
			req.Header.Set("Authorization", "Bearer "+c.token)
		}
		if name, value, is := strings.Cut(c.header, ": "); is {
			req.Header.Set(name, value)
			if name == "Host" {
				req.Host = value
			}
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != c.status || !strings.Contains(string(text), c.says) {
			t.Errorf("%s with %q and %q: %d %s, want %d with %q", c.ask, c.token, c.header, resp.StatusCode, text, c.status, c.says)
		}
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/panic", nil)
	req.Header.Set("Authorization", "Bearer admin")
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
		t.Errorf("a panic answers %d", resp.StatusCode)
	}
}

// TestGuesses: whoever guesses is made to wait, and a right token is let in all the same.
func TestGuesses(t *testing.T) {
	t.Parallel()
	addr := serve(t, Config{
		Authenticators: []Authenticator{known(map[string]Person{"right": {Name: "ann"}})},
		Routes:         []Route{{Pattern: "GET /", Serve: func(http.ResponseWriter, *http.Request) {}}},
	})
	ask := func(token string) int {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/", nil)
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	last := 0
	for range 20 {
		last = ask("guess")
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the 20th guess is answered with %d", last)
	}
	if got := ask("right"); got != http.StatusOK {
		t.Errorf("a right token is answered with %d", got)
	}
}

// TestShare: one takes no more than its share, and what is given back can be taken.
func TestShare(t *testing.T) {
	s := newShare[string](3, 2)
	for i, c := range []struct {
		who  string
		want bool
	}{{"a", true}, {"a", true}, {"a", false}, {"b", true}, {"b", false}} {
		if got := s.take(c.who); got != c.want {
			t.Errorf("%d: %s got %v", i, c.who, got)
		}
	}
	s.give("a")
	if !s.take("b") || s.take("a") {
		t.Error("what was given back went wrong")
	}
}
