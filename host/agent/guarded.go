package agent

import (
	"context"
	"fmt"
)

// What follows are calls of a provider that turn its panics into errors.

func guarded(err *error) {
	if r := recover(); r != nil {
		*err = &Error{Kind: KindCrashed, Message: fmt.Sprintf("the agent's provider failed: %v", r)}
	}
}

// Opened is what Open gave: a session, or why there is none.
type Opened struct {
	Session Session
	Err     error
}

// Open is Provider.Open.
func Open(ctx context.Context, p Provider, spec Spec) (o Opened) {
	defer guarded(&o.Err)
	o.Session, o.Err = p.Open(ctx, spec)
	if o.Err == nil && o.Session == nil {
		o.Err = &Error{Kind: KindStart, Message: "the agent's provider opened nothing"}
	}
	return o
}

// Prompt is Session.Prompt.
func Prompt(ctx context.Context, s Session, t Turn, sink Sink) (out Outcome, err error) {
	defer guarded(&err)
	return s.Prompt(ctx, t, sink)
}

// SetOption is Session.SetOption.
func SetOption(ctx context.Context, s Session, id, value string) (err error) {
	defer guarded(&err)
	return s.SetOption(ctx, id, value)
}

// Authenticate is Provider.Authenticate.
func Authenticate(ctx context.Context, p Provider, method string) (err error) {
	defer guarded(&err)
	return p.Authenticate(ctx, method)
}

// Probe asks a provider that can say it how to log in before a session was opened;
// others have told all that they know.
func Probe(ctx context.Context, p Provider) (i Info, err error) {
	defer guarded(&err)
	if can, ok := p.(interface {
		Probe(ctx context.Context) (Info, error)
	}); ok {
		return can.Probe(ctx)
	}
	return p.Info(), nil
}

// Close is Session.Close.
func Close(s Session) (err error) {
	defer guarded(&err)
	return s.Close()
}
