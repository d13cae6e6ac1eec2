package people

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"tandemux/hub/front"
)

const (
	// signInTime is how long a person may take at their provider.
	signInTime = 10 * time.Minute
	// skew is how far the provider's clock may be off.
	skew = time.Minute
)

// underway is a sign-in of one browser, in a cookie that only the hub can read.
type underway struct {
	State, Nonce, Verifier, To string
	Until                      time.Time
}

// local is where to go after signing in: a path of the hub's own, and nothing else.
func local(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
		strings.ContainsFunc(to, func(r rune) bool { return r == '\\' || r <= ' ' || r == 0x7f }) || len(to) > 2048 {
		return "/"
	}
	return to
}

// ask gives the provider, which is looked up once.
func (d *Desk) ask(ctx context.Context) (*oidc.Provider, *oauth2.Config, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.provider == nil {
		// Its keys are fetched later, too, so it outlives the request.
		p, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), d.client), d.c.Issuer)
		if err != nil {
			return nil, nil, fmt.Errorf("ask the provider %s who it is: %w", d.c.Issuer, err)
		}
		d.provider = p
	}
	return d.provider, &oauth2.Config{
		ClientID: d.c.ClientID, ClientSecret: d.c.secret, Endpoint: d.provider.Endpoint(), RedirectURL: d.c.URL + "/auth/callback",
		Scopes: append([]string{oidc.ScopeOpenID, "email", "profile"}, d.c.Ask...),
	}, nil
}

// login sends a browser to the provider.
func (d *Desk) login(w http.ResponseWriter, r *http.Request) {
	_, o, err := d.ask(r.Context())
	if err != nil {
		d.refuse(w, r, http.StatusBadGateway, "The identity provider can't be reached. Try again later.", err)
		return
	}
	s := underway{State: newSecret(), Nonce: newSecret(), Verifier: oauth2.GenerateVerifier(), To: local(r.FormValue("to")), Until: d.now().Add(signInTime)}
	sealed, err := d.sealSignIn(s)
	if err != nil {
		d.refuse(w, r, http.StatusInternalServerError, "That went wrong.", err)
		return
	}
	d.cookie(w, signInCookie, sealed, signInTime)
	http.Redirect(w, r, o.AuthCodeURL(s.State, oidc.Nonce(s.Nonce), oauth2.S256ChallengeOption(s.Verifier)), http.StatusFound)
}

// sealSignIn makes the cookie's text of a sign-in.
func (d *Desk) sealSignIn(s underway) (string, error) {
	text, err := json.Marshal(s)
	return base64.RawURLEncoding.EncodeToString(d.seal.Seal(nil, nil, text, []byte(signInCookie))), err
}

// begun is the sign-in that a browser has under way.
func (d *Desk) begun(r *http.Request) (s underway, err error) {
	c, err := r.Cookie(d.cookieName(signInCookie))
	if err != nil {
		return s, errors.New("this browser has begun no sign-in")
	}
	sealed, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err == nil {
		sealed, err = d.seal.Open(nil, nil, sealed, []byte(signInCookie))
	}
	if err == nil {
		err = json.Unmarshal(sealed, &s)
	}
	switch {
	case err != nil:
		return s, errors.New("the sign-in was begun with another hub, or with this one before it was started anew")
	case !d.now().Before(s.Until):
		return s, errors.New("the sign-in took too long")
	case subtle.ConstantTimeCompare([]byte(s.State), []byte(r.FormValue("state"))) != 1:
		return s, errors.New("the answer is for another sign-in")
	}
	return s, nil
}

// callback is where the provider sends a browser back to.
func (d *Desk) callback(w http.ResponseWriter, r *http.Request) {
	s, err := d.begun(r)
	d.cookie(w, signInCookie, "", 0) // it is for one answer
	if err != nil {
		d.refuse(w, r, http.StatusBadRequest, "Sign in again: "+err.Error()+".", err)
		return
	}
	if said := r.FormValue("error"); said != "" {
		d.refuse(w, r, http.StatusForbidden, "The identity provider refused.", fmt.Errorf("the provider says %.200q: %.500q", said, r.FormValue("error_description")))
		return
	}
	if iss := r.FormValue("iss"); iss != "" && iss != d.c.Issuer {
		d.refuse(w, r, http.StatusForbidden, "Another identity provider answered than was asked.", fmt.Errorf("the answer is of the issuer %.200q", iss))
		return
	}
	who, err := d.exchange(r.Context(), r.FormValue("code"), s)
	if err != nil {
		d.refuse(w, r, http.StatusForbidden, "What the identity provider says can't be trusted. The hub's log has the reason.", err)
		return
	}
	if old := d.secretOf(r); old != "" && !strings.HasPrefix(old, tokenPrefix) {
		d.end(r.Context(), old) //nolint:errcheck // it ends by itself
	}
	secret, err := d.begin(r.Context(), who)
	if err != nil {
		d.refuse(w, r, http.StatusServiceUnavailable, "The hub can't keep the session now. Try again later.", err)
		return
	}
	d.note(who.Name, "sign in", "done", r)
	d.cookie(w, sessionCookie, secret, d.c.life())
	http.Redirect(w, r, s.To, http.StatusSeeOther)
}

// exchange has the provider say who a code is of.
func (d *Desk) exchange(ctx context.Context, code string, s underway) (who session, err error) {
	p, o, err := d.ask(ctx)
	if err != nil {
		return who, err
	}
	if code == "" || len(code) > 4096 {
		return who, errors.New("the answer has no code")
	}
	ctx = oidc.ClientContext(ctx, d.client)
	token, err := o.Exchange(ctx, code, oauth2.VerifierOption(s.Verifier))
	if err != nil {
		if e, is := errors.AsType[*oauth2.RetrieveError](err); is { // its text has the whole answer
			return who, fmt.Errorf("the provider does not take the code: %d %.200q", e.Response.StatusCode, e.ErrorCode)
		}
		return who, fmt.Errorf("exchange the code: %w", err)
	}
	raw, _ := token.Extra("id_token").(string)
	subject, claims, err := d.verify(ctx, p, raw, s.Nonce, token.AccessToken)
	if err != nil {
		return who, err
	}
	if p.UserInfoEndpoint() != "" && (claims[d.c.NameClaim] == nil || claims[d.c.GroupsClaim] == nil) {
		more, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err != nil {
			return who, fmt.Errorf("ask the provider about the person: %w", err)
		}
		var told map[string]any
		if err := more.Claims(&told); err != nil || more.Subject != subject {
			return who, fmt.Errorf("the provider tells of another person (%w)", err)
		}
		for name, v := range told {
			if _, signed := claims[name]; !signed {
				claims[name] = v
			}
		}
	}
	who.Name, who.Groups, err = d.c.identity(subject, claims)
	return who, err
}

// verify checks an ID token: whose it is, for whom, when, and for which sign-in.
func (d *Desk) verify(ctx context.Context, p *oidc.Provider, raw, nonce, access string) (subject string, claims map[string]any, err error) {
	now := d.now()
	id, err := p.VerifierContext(oidc.ClientContext(ctx, d.client), &oidc.Config{ClientID: d.c.ClientID, Now: func() time.Time { return now.Add(-skew) }}).Verify(ctx, raw)
	if err != nil {
		return "", nil, fmt.Errorf("the ID token: %w", err)
	}
	if err := id.Claims(&claims); err != nil {
		return "", nil, fmt.Errorf("the ID token: %w", err)
	}
	azp, has := claims["azp"].(string)
	switch {
	case subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(nonce)) != 1:
		err = errors.New("it is for another sign-in (nonce)")
	case id.Subject == "":
		err = errors.New("it is of nobody (sub)")
	case id.IssuedAt.After(now.Add(skew)):
		err = fmt.Errorf("it is from the future, %s: one of the clocks is wrong", id.IssuedAt.UTC().Format(time.RFC3339))
	case has && azp != d.c.ClientID || !has && len(slices.Compact(slices.Clone(id.Audience))) > 1:
		err = errors.New("it was made for another program (azp)")
	case id.AccessTokenHash != "":
		err = id.VerifyAccessToken(access)
	}
	if err != nil {
		return "", nil, fmt.Errorf("the ID token: %w", err)
	}
	return id.Subject, claims, nil
}

// logout ends the session of who asks.
func (d *Desk) logout(w http.ResponseWriter, r *http.Request) {
	if secret := d.secretOf(r); secret != "" {
		if err := d.end(r.Context(), secret); err != nil {
			front.Refuse(w, http.StatusServiceUnavailable, "unavailable", "the hub can't end the session now")
			return
		}
		p, _ := front.Of(r.Context())
		d.note(p.Name, "sign out", "done", r)
	}
	d.cookie(w, sessionCookie, "", 0)
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		page(w, http.StatusOK, view{Title: "Signed out", Text: "Your session with the hub is over.", Link: "/auth/login", Word: "Sign in"})
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// home is what a browser sees first: who it is, or the provider.
func (d *Desk) home(w http.ResponseWriter, r *http.Request) {
	s, err := d.browser(r)
	if err != nil {
		http.Redirect(w, r, "/auth/login", http.StatusFound)
		return
	}
	may := strings.Join(d.c.Scopes(s.Name, s.Groups), ", ")
	may = cmp.Or(may, "nothing yet: the hub's administrator gives scopes to you or to one of your groups")
	page(w, http.StatusOK, view{
		Title: "tandemux hub", Text: "You are signed in as " + s.Name + ". You may: " + may + ".", Out: true,
		Link: "/auth/token", Word: "Sign in on a command line",
	})
}

// Me is what somebody is told of themselves.
type Me struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups,omitempty" doc:"Those that the identity provider told"`
	Scopes []string `json:"scopes" doc:"What they may do"`
}

func (d *Desk) me(w http.ResponseWriter, r *http.Request) {
	p, _ := front.Of(r.Context())
	front.Answer(w, Me{p.Name, p.Groups, append([]string{}, p.Scopes...)}, nil)
}

// refuse shows a browser that it is not signed in. Why is for the log, which has no code
// and no token.
func (d *Desk) refuse(w http.ResponseWriter, r *http.Request, status int, text string, why error) {
	d.log.Warn("refuse a sign-in", "remote", r.RemoteAddr, "reason", why.Error())
	d.note("", "sign in", "refused", r)
	page(w, status, view{Title: "Not signed in", Text: text, Link: "/auth/login", Word: "Sign in"})
}

// view is what a page shows.
type view struct {
	Title, Text, Link, Word, Code string
	Make, Out                     bool // it has a button that makes a token; one to sign out
}

const (
	pageHead = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>TITLE - tandemux hub</title>
<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem}
code{display:block;margin:1rem 0;overflow-wrap:anywhere}button,input{font:inherit;padding:.5rem 1rem;margin:0 .5rem .5rem 0}</style>
<h1>TITLE</h1><p>TEXT</p>
`
	pageCode = `<code>CODE</code>
`
	pageMake = `<form method="post" action="/auth/token"><button>Make a token</button></form>
`
	pageOut = `<form method="post" action="/auth/logout"><button>Sign out</button></form>
`
	pageLink = `<p><a href="LINK">WORD</a></p>
`
)

// page answers with one of the hub's pages, which have no scripts and load nothing.
func page(w http.ResponseWriter, status int, v view) {
	parts := pageHead
	if v.Code != "" {
		parts += pageCode
	}
	if v.Make {
		parts += pageMake
	}
	if v.Out {
		parts += pageOut
	}
	if v.Link != "" {
		parts += pageLink
	}
	of := []string{"TITLE", v.Title, "TEXT", v.Text, "CODE", v.Code, "LINK", v.Link, "WORD", v.Word}
	for i := 1; i < len(of); i += 2 {
		of[i] = html.EscapeString(of[i])
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	io.WriteString(w, strings.NewReplacer(of...).Replace(parts)) //nolint:errcheck // who asked is gone
}
