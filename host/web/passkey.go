package web

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/front"
	"tandemux/host/passkey"
	"tandemux/internal/client"
	"tandemux/internal/config/option"
)

// provedFor is how long a passkey's word holds.
const provedFor = time.Minute

// Settings are the page's.
type Settings struct {
	Prove   bool   // a passkey confirms what browsers allow
	Contact string // push.Options has it
}

// Options gives the options, which keep their values in s.
func (s *Settings) Options() []option.Option {
	return []option.Option{{
		Name: "approve-by-passkey", Value: &s.Prove,
		Doc: "In a browser, allowing what an agent asks for needs a passkey each time: docs/browser.md.",
	}, {
		Name: "push-contact", Value: &s.Contact,
		Doc: "Whom push services may write to about this host, such as `mailto:you@example.org`; empty names nobody.",
		Check: option.Faulty(func() error {
			u, err := url.Parse(s.Contact)
			switch {
			case s.Contact == "", err == nil && len(s.Contact) <= maxContact && (u.Scheme == "mailto" && strings.Contains(u.Opaque, "@") || u.Scheme == "https" && u.Host != ""):
				return nil
			}
			return fmt.Errorf("push-contact: %.64q is neither mailto: with an address nor an https: address", s.Contact)
		}),
	}}
}

// maxContact bounds push-contact: it is in the header of each message.
const maxContact = 256

// Prove has browsers confirm what they allow as long as it says so.
func (s *Server) Prove(is func() bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proves = is
}

// Proved reports whether the person behind a token, which a page brought or not, has used a
// passkey just now, or need not: nobody is asked to, or it is no browser's.
func (s *Server) Proved(token string, page bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proves == nil || !s.proves() || !page && !slices.Contains(s.kept.Tokens, token) {
		return true
	}
	return time.Now().Before(s.proved[token])
}

// here are the host name that passkeys are for and the page's origin, of a request of the
// page's.
func here(r *http.Request) (rp, origin string, err error) {
	origin = "http://" + r.Host
	if r.TLS != nil {
		origin = "https://" + r.Host
	}
	if rp, err = passkey.Host(r.Host); err != nil {
		return "", "", errConflict.Errorf("%w", err)
	}
	if r.Header.Get("Origin") != origin {
		return "", "", errForbidden.Errorf("only the page uses passkeys")
	}
	return rp, origin, nil
}

// adds is the token of a browser that may add a passkey: where passkeys confirm what is
// allowed, one that has some confirms the next by them.
func (s *Server) adds(c front.Caller) (token string, err error) {
	token, err = browser(c)
	if err == nil && s.passkeys.Of(token) && !s.Proved(token, true) {
		err = errForbidden.Errorf("a passkey has to confirm this first")
	}
	return token, err
}

// browser is the token of a page's request; a guest is none.
func browser(c front.Caller) (token string, err error) {
	token, ok := auth.TokenOf(c.Principal)
	if !ok || len(c.Scopes) == 0 {
		return "", errForbidden.Errorf("only a browser that has been let in has passkeys")
	}
	return token, nil
}

// newPasskey asks a browser that was let in for a passkey.
func (s *Server) newPasskey(_ http.ResponseWriter, r *http.Request, c front.Caller) (any, error) {
	rp, _, err := here(r)
	if err != nil {
		return nil, err
	}
	token, err := s.adds(c)
	if err != nil {
		return nil, err
	}
	return s.passkeys.New(rp, token, "tandemux on "+rp), nil
}

// addPasskey takes it.
func (s *Server) addPasskey(_ http.ResponseWriter, r *http.Request, c front.Caller) (any, error) {
	rp, origin, err := here(r)
	if err != nil {
		return nil, err
	}
	token, err := s.adds(c)
	if err != nil {
		return nil, err
	}
	var in passkey.Response
	if err = read(r, &in); err == nil {
		err = s.passkeys.Add(rp, origin, token, in)
	}
	if err != nil {
		return nil, errBad.Errorf("add the passkey: %w", err)
	}
	s.log.Info("a passkey was added", "token", token)
	return struct{}{}, nil
}

// askPasskey asks anybody for a passkey: to let them in, or to prove that they are there.
func (s *Server) askPasskey(_ http.ResponseWriter, r *http.Request, _ front.Caller) (any, error) {
	rp, _, err := here(r)
	if err != nil {
		return nil, err
	}
	return s.passkeys.Ask(rp), nil
}

func (s *Server) used(r *http.Request) (k passkey.Key, err error) {
	rp, origin, err := here(r)
	if err != nil {
		return k, err
	}
	var in passkey.Response
	if err = read(r, &in); err == nil {
		k, err = s.passkeys.Check(rp, origin, in)
	}
	if err != nil {
		return k, secretError{"wrong passkey of a browser", "the passkey: " + err.Error()}
	}
	return k, nil
}

// prove notes that a browser's person is there.
func (s *Server) prove(_ http.ResponseWriter, r *http.Request, c front.Caller) (any, error) {
	token, err := browser(c)
	if err != nil {
		return nil, err
	}
	k, err := s.used(r)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(k.Tokens, token) {
		return nil, errForbidden.Errorf("this passkey is not this browser's: add one here")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proved == nil {
		s.proved = map[string]time.Time{}
	}
	now := time.Now()
	maps.DeleteFunc(s.proved, func(_ string, until time.Time) bool { return now.After(until) })
	s.proved[token] = now.Add(provedFor)
	return map[string]int64{"until": s.proved[token].UnixMilli()}, nil
}

// signIn lets a browser in by a passkey, with what the token may that registered it, as long
// as that is valid.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request, _ front.Caller) (any, error) {
	k, err := s.used(r)
	if err != nil {
		return nil, err
	}
	cl, err := s.service(r.Context())
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	var list ahp.TokenListResult
	if err := cl.Call(r.Context(), ahp.MethodTokenList, ahp.SubscribeParams{Channel: ahp.RootURI}, &list); err != nil {
		return nil, err
	}
	now := time.Now().UnixMilli()
	at := slices.IndexFunc(list.Items, func(t ahp.TokenInfo) bool { return t.ID == k.Tokens[0] && (t.Expires == 0 || t.Expires > now) })
	if at < 0 {
		s.prunePasskeys(list.Items)
		return nil, secretError{"a passkey of a token that is none any more", "What this passkey stood for was removed, or is over: `tandemux web` prints a new link."}
	}
	of := list.Items[at]
	var token ahp.TokenNewResult
	if err := cl.Call(r.Context(), ahp.MethodTokenNew, ahp.TokenNewParams{Channel: ahp.RootURI, Name: of.Name, Scopes: of.Scopes, Expires: of.Expires}, &token); err != nil {
		return nil, err
	}
	if err := s.passkeys.Got(k.ID, token.ID); err != nil {
		s.log.Warn("a browser that came by a passkey can't prove by it who is there", "token", token.ID, "err", err)
	}
	s.mu.Lock()
	s.noted(token.ID)
	s.mu.Unlock()
	return s.let(w, r, front.PageCookie(r), token, false), nil
}

// service opens a connection of the page's own.
func (s *Server) service(ctx context.Context) (*client.Client, error) {
	s.mu.Lock()
	dial := s.dial
	s.mu.Unlock()
	if dial == nil {
		return nil, ahp.Conflict("the host is only starting: try again")
	}
	return client.Connect(ctx, client.Options{Dial: dial, ClientID: "tandemux-web", Info: ahp.Implementation{Name: "tandemux-web", Version: s.version}})
}

// prunePasskeys forgets those whose tokens are gone.
func (s *Server) prunePasskeys(tokens []ahp.TokenInfo) {
	err := s.passkeys.Prune(func(id string) bool {
		return slices.ContainsFunc(tokens, func(t ahp.TokenInfo) bool { return t.ID == id })
	})
	if err != nil {
		s.log.Warn("passkeys of removed tokens stay in the file; they let nobody in", "err", err)
	}
}

// Passkey is one that lets a browser in, as its host lists it.
type Passkey struct {
	ID     string   `json:"id"`
	Site   string   `json:"site"`   // the page's host name
	Tokens []string `json:"tokens"` // that of the browser that made it, and of those that it let in
}

// Passkeys answers GET /web/passkey.
type Passkeys struct {
	Items []Passkey `json:"items"` // never null
}

// listPasskeys tells the host's owner which there are.
func (s *Server) listPasskeys(http.ResponseWriter, *http.Request, front.Caller) (any, error) {
	all := Passkeys{Items: []Passkey{}}
	for _, k := range s.passkeys.All() {
		all.Items = append(all.Items, Passkey{base64.RawURLEncoding.EncodeToString(k.ID), k.RP, k.Tokens})
	}
	return all, nil
}

// removePasskey ends a passkey, and whom it let in.
func (s *Server) removePasskey(_ http.ResponseWriter, r *http.Request, c front.Caller) (any, error) {
	var in struct {
		ID string `json:"id"`
	}
	err := read(r, &in)
	var id []byte
	if err == nil {
		id, err = base64.RawURLEncoding.DecodeString(in.ID)
	}
	if err != nil {
		return nil, errBad.Errorf("remove a passkey: %w", err)
	}
	cl, err := s.connect(r.Context(), c)
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	k, err := s.passkeys.Remove(id)
	if err != nil {
		return nil, err
	}
	s.log.Info("a passkey was removed", "token", k.Tokens[0])
	ended, err := revoke(r.Context(), cl, k.Tokens[1:])
	if err != nil {
		return nil, fmt.Errorf("the passkey is gone, but not all whom it let in: %w", err)
	}
	return map[string]int{"ended": ended}, nil
}
