package directory

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"tandemux/host/auth"
	"tandemux/hub/front"
	"tandemux/hub/server"
)

// Admission has what the directory's routes need to let hosts in.
type Admission struct {
	Bus *server.Bus
	// Grants return what every host may do, one for each package of the hub.
	Grants []func(host string) server.Grant
	// URL is where hosts join. Fingerprint is that of the certificate there, "" if the hub does not
	// use its own.
	URL, Fingerprint string
}

// Wanted describes the credential that is asked for.
type Wanted struct {
	Labels []string `json:"labels,omitempty"`
	Life   int64    `json:"seconds,omitempty"` // 0: it does not expire
}

// Given is a new credential, in the form in which the host keeps it.
type Given struct {
	Credential string `json:"credential"`
}

// Prefixes of the lines that stand before NATS's own part of a credential.
const (
	urlLine = "# url "
	pinLine = "# fingerprint "
)

// invite makes a credential for a host.
func (d *Directory) invite(ctx context.Context, a Admission, host, by string, w Wanted) (Given, error) {
	if err := CheckName(host); err != nil {
		return Given{}, err
	}
	if len(w.Labels) > maxWords {
		return Given{}, fmt.Errorf("%d labels, at most %d are kept", len(w.Labels), maxWords)
	}
	for _, l := range w.Labels {
		if err := CheckLabel(l); err != nil {
			return Given{}, err
		}
	}
	var grants []server.Grant
	for _, g := range a.Grants {
		grants = append(grants, g(host))
	}
	life := time.Duration(w.Life) * time.Second
	c, err := a.Bus.Invite(host, life, grants...)
	if err != nil {
		return Given{}, err
	}
	now := time.Now().Truncate(time.Second)
	i := Invite{Host: host, User: c.User, Labels: w.Labels, By: by, Made: now}
	if life > 0 {
		i.Expires = now.Add(life)
	}
	if err := d.Invited(ctx, i); err != nil {
		return Given{}, err
	}
	text := "# tandemux host " + host + "\n"
	if a.URL != "" {
		text += urlLine + a.URL + "\n"
	}
	if a.Fingerprint != "" {
		text += pinLine + a.Fingerprint + "\n"
	}
	return Given{text + c.Text}, nil
}

// ReadCredential returns the URL and the fingerprint that a credential names; "" if it has none.
func ReadCredential(text string) (url, fingerprint string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rest, is := strings.CutPrefix(line, urlLine); is {
			url = rest
		} else if rest, is := strings.CutPrefix(line, pinLine); is {
			fingerprint = rest
		}
	}
	return url, fingerprint
}

// remove revokes a host's credentials and removes it from the directory.
func (d *Directory) remove(ctx context.Context, a Admission, host string) error {
	_, known := d.Host(host)
	users := d.Users(host)
	if !known && len(users) == 0 {
		return fmt.Errorf("no host of the fleet is called %q: `tandemux hub ls` lists them", host)
	}
	var err error
	for _, user := range users {
		err = errors.Join(err, a.Bus.Revoke(user))
	}
	if err != nil {
		return err
	}
	return d.Remove(ctx, host)
}

// Routes returns the directory's HTTP routes.
func (d *Directory) Routes(a Admission) []front.Route {
	return []front.Route{
		{Pattern: "GET /api/v1/hosts", Scope: auth.ScopeRead, Serve: front.Does(func(*http.Request) ([]Entry, error) { return d.Hosts(), nil })},
		{Pattern: "POST /api/v1/hosts/{name}/credentials", Does: "host invite", Scope: auth.ScopeAdmin, Serve: front.Takes(func(r *http.Request, by front.Person, in Wanted) (Given, error) {
			return d.invite(r.Context(), a, r.PathValue("name"), by.Name, in)
		})},
		{Pattern: "DELETE /api/v1/hosts/{name}", Does: "host revoke", Scope: auth.ScopeAdmin, Serve: front.Does(func(r *http.Request) (struct{}, error) {
			return struct{}{}, d.remove(r.Context(), a, r.PathValue("name"))
		})},
	}
}
