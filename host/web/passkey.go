package web

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
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
// page's; an error that it was answered.
func here(w http.ResponseWriter, r *http.Request) (rp, origin string, ok bool) {
	rp, err := passkey.Host(r.Host)
	origin = "http://" + r.Host
	if r.TLS != nil {
		origin = "https://" + r.Host
	}
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusConflict)
	case r.Header.Get("Origin") != origin:
		http.Error(w, "only the page uses passkeys", http.StatusForbidden)
	default:
		ok = true
	}
	return rp, origin, ok
}

// adds is the token of a browser that may add a passkey: where passkeys confirm what is
// allowed, one that has some confirms the next by them.
func (s *Server) adds(w http.ResponseWriter, c front.Caller) (token string, ok bool) {
	token, ok = browser(w, c)
	if ok && s.passkeys.Of(token) && !s.Proved(token, true) {
		http.Error(w, "a passkey has to confirm this first", http.StatusForbidden)
		return token, false
	}
	return token, ok
}

// browser is the token of a page's request; a guest is none.
func browser(w http.ResponseWriter, c front.Caller) (token string, ok bool) {
	token, ok = auth.TokenOf(c.Principal)
	if ok = ok && len(c.Scopes) > 0; !ok {
		http.Error(w, "only a browser that has been let in has passkeys", http.StatusForbidden)
	}
	return token, ok
}

// newPasskey asks a browser that was let in for a passkey.
func (s *Server) newPasskey(w http.ResponseWriter, r *http.Request, c front.Caller) {
	rp, _, ok := here(w, r)
	if !ok {
		return
	}
	if token, ok := s.adds(w, c); ok {
		write(w, s.passkeys.New(rp, token, "tandemux on "+rp))
	}
}

// addPasskey takes it.
func (s *Server) addPasskey(w http.ResponseWriter, r *http.Request, c front.Caller) {
	rp, origin, ok := here(w, r)
	if !ok {
		return
	}
	token, ok := s.adds(w, c)
	if !ok {
		return
	}
	var in passkey.Response
	err := read(r, &in)
	if err == nil {
		err = s.passkeys.Add(rp, origin, token, in)
	}
	if err != nil {
		http.Error(w, "add the passkey: "+err.Error(), http.StatusBadRequest)
		return
	}
	s.log.Info("a passkey was added", "token", token)
	write(w, struct{}{})
}

// askPasskey asks anybody for a passkey: to let them in, or to prove that they are there.
func (s *Server) askPasskey(w http.ResponseWriter, r *http.Request, _ front.Caller) {
	if rp, _, ok := here(w, r); ok {
		write(w, s.passkeys.Ask(rp))
	}
}

// used gives the passkey of a request; none was answered.
func (s *Server) used(w http.ResponseWriter, r *http.Request, c front.Caller) (k passkey.Key, ok bool) {
	rp, origin, ok := here(w, r)
	if !ok {
		return k, false
	}
	var in passkey.Response
	err := read(r, &in)
	if err == nil {
		k, err = s.passkeys.Check(rp, origin, in)
	}
	if err != nil {
		c.Fail(w, r, "wrong passkey of a browser", "the passkey: "+err.Error())
	}
	return k, err == nil
}

// prove notes that a browser's person is there.
func (s *Server) prove(w http.ResponseWriter, r *http.Request, c front.Caller) {
	token, ok := browser(w, c)
	if !ok {
		return
	}
	k, ok := s.used(w, r, c)
	if !ok {
		return
	}
	if !slices.Contains(k.Tokens, token) {
		http.Error(w, "this passkey is not this browser's: add one here", http.StatusForbidden)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proved == nil {
		s.proved = map[string]time.Time{}
	}
	for t, until := range s.proved {
		if time.Now().After(until) {
			delete(s.proved, t)
		}
	}
	s.proved[token] = time.Now().Add(provedFor)
	write(w, map[string]int64{"until": s.proved[token].UnixMilli()})
}

// signIn lets a browser in by a passkey, with what the token may that registered it, as long
// as that is valid.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request, c front.Caller) {
	k, ok := s.used(w, r, c)
	if !ok {
		return
	}
	cl, err := s.service(r.Context())
	if err != nil {
		refused(w, err)
		return
	}
	defer cl.Close()
	var list ahp.TokenListResult
	if err := cl.Call(r.Context(), ahp.MethodTokenList, ahp.SubscribeParams{Channel: ahp.RootURI}, &list); err != nil {
		refused(w, err)
		return
	}
	now := time.Now().UnixMilli()
	at := slices.IndexFunc(list.Items, func(t ahp.TokenInfo) bool { return t.ID == k.Tokens[0] && (t.Expires == 0 || t.Expires > now) })
	if at < 0 {
		s.prunePasskeys(list.Items)
		c.Fail(w, r, "a passkey of a token that is none any more", "What this passkey stood for was removed, or is over: `tandemux web` prints a new link.")
		return
	}
	of := list.Items[at]
	var token ahp.TokenNewResult
	if err := cl.Call(r.Context(), ahp.MethodTokenNew, ahp.TokenNewParams{Channel: ahp.RootURI, Name: of.Name, Scopes: of.Scopes, Expires: of.Expires}, &token); err != nil {
		refused(w, err)
		return
	}
	if err := s.passkeys.Got(k.ID, token.ID); err != nil {
		s.log.Warn("a browser that came by a passkey can't prove by it who is there", "token", token.ID, "err", err)
	}
	s.mu.Lock()
	s.noted(token.ID)
	s.mu.Unlock()
	s.let(w, r, front.PageCookie(r), token, false)
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
func (s *Server) listPasskeys(w http.ResponseWriter, _ *http.Request, c front.Caller) {
	if !operates(w, c) {
		return
	}
	all := Passkeys{Items: []Passkey{}}
	for _, k := range s.passkeys.All() {
		all.Items = append(all.Items, Passkey{base64.RawURLEncoding.EncodeToString(k.ID), k.RP, k.Tokens})
	}
	write(w, all)
}

// removePasskey ends a passkey, and whom it let in.
func (s *Server) removePasskey(w http.ResponseWriter, r *http.Request, c front.Caller) {
	if !operates(w, c) {
		return
	}
	var in struct {
		ID string `json:"id"`
	}
	err := read(r, &in)
	var id []byte
	if err == nil {
		id, err = base64.RawURLEncoding.DecodeString(in.ID)
	}
	if err != nil {
		http.Error(w, "remove a passkey: "+err.Error(), http.StatusBadRequest)
		return
	}
	cl, err := s.connect(r.Context(), c)
	if err != nil {
		refused(w, err)
		return
	}
	defer cl.Close()
	k, err := s.passkeys.Remove(id)
	if err != nil {
		refused(w, err)
		return
	}
	s.log.Info("a passkey was removed", "token", k.Tokens[0])
	ended := 0
	for _, token := range k.Tokens[1:] {
		switch e := cl.Call(r.Context(), ahp.MethodTokenRevoke, ahp.TokenRevokeParams{Channel: ahp.RootURI, ID: token}, nil); {
		case e == nil:
			ended++
		case ahp.CodeOf(e) != ahp.CodeNotFound:
			err = cmp.Or(err, e)
		}
	}
	if err != nil {
		refused(w, fmt.Errorf("the passkey is gone, but not all whom it let in: %w", err))
		return
	}
	write(w, map[string]int{"ended": ended})
}
