package people

import (
	"net/http"
	"net/url"
)

// browser returns the session of the request's cookie. It refuses a command line's.
func (d *Desk) browser(r *http.Request) (s session, err error) {
	c, err := r.Cookie(d.cookieName(sessionCookie))
	if err != nil {
		return s, errSession
	}
	s, err = d.find(r.Context(), c.Value)
	if err == nil && s.Line {
		err = errSession
	}
	return s, err
}

// offerToken asks a person whether to make a command line's token, after they have signed in.
func (d *Desk) offerToken(w http.ResponseWriter, r *http.Request) {
	s, err := d.browser(r)
	if err != nil {
		http.Redirect(w, r, "/auth/login?to="+url.QueryEscape("/auth/token"), http.StatusFound)
		return
	}
	page(w, http.StatusOK, view{Title: "Sign in on a command line", Text: "It gets a token, with which it acts as " + s.Name + ". Give it to no page and no person.", Make: true})
}

// makeToken makes a command line's token, and shows it once.
func (d *Desk) makeToken(w http.ResponseWriter, r *http.Request) {
	s, err := d.browser(r)
	if err != nil {
		page(w, http.StatusForbidden, view{Title: "Not signed in", Text: "A token is made in a browser that has signed in.", Link: "/auth/login?to=/auth/token", Word: "Sign in"})
		return
	}
	secret, err := d.begin(r.Context(), session{Name: s.Name, Groups: s.Groups, Line: true})
	if err != nil {
		d.log.Error("make a command line's token", "err", err)
		page(w, http.StatusServiceUnavailable, view{Title: "Not made", Text: "The hub can't keep the session now. Try again later."})
		return
	}
	page(w, http.StatusOK, view{Title: "Signed in", Text: "Paste this where the command line asks for it. It is shown once.", Code: secret})
}
