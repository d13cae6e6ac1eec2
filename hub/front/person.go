package front

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"tandemux/host/auth"
)

// Person is who a request comes from: somebody, or a program that has a token.
type Person struct {
	// Name is who did it, on every record: "operator", a token's name, or an address.
	Name string
	// Groups are those of an identity provider.
	Groups []string
	// Scopes are those of host/auth.
	Scopes []string
	// Ended is closed when who they are is so no more: a token was revoked. Their requests
	// end then. nil: never.
	Ended <-chan struct{}
	// Local is set for the hub's own user, on its unix socket.
	Local bool
}

// Operator is the hub's own user, on its unix socket.
var Operator = Person{Name: "operator", Scopes: auth.AllScopes, Local: true}

// May reports whether a person has a scope, as tokens of hosts have it.
func (p Person) May(scope string) bool { return (&auth.Principal{Scopes: p.Scopes}).May(scope) }

type personKey struct{}

// Of is the person whose context it is; ok is false on an open route.
func Of(ctx context.Context) (p Person, ok bool) {
	p, ok = ctx.Value(personKey{}).(Person)
	return p, ok
}

// ErrNobody is given by an Authenticator for a request without a credential of its kind:
// the next one is asked.
var ErrNobody = errors.New("no credential")

// Authenticator says whose a request is. Any error but ErrNobody refuses it; its text is
// for the log, and who asks is told nothing of it.
type Authenticator func(r *http.Request) (Person, error)

// Route is what answers a path.
type Route struct {
	// Pattern is http.ServeMux's: "GET /api/v1/tasks", "/api/v1/" for all below it.
	Pattern string
	// Does is what it is called in the audit, such as "token new"; "" for what changes nothing.
	Does string
	// Scope is what a caller must have; with none the handler authorises each verb.
	Scope string
	// Open lets anybody in, without a Person: sign-in, health, and what is authenticated
	// elsewhere. Host and Origin are checked all the same.
	Open bool
	// Body bounds a request's body in bytes, DefaultBody where it is 0.
	Body int64
	// Serve answers.
	Serve http.HandlerFunc
}

// Allowed is p's right to a scope as an error for people, nil if it has it.
func (p Person) Allowed(scope string) error {
	if slices.Contains(auth.AllScopes, scope) && p.May(scope) {
		return nil
	}
	return errors.New("this needs the scope " + scope + ", which " + p.Name + " does not have")
}
