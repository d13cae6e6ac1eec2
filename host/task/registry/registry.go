package registry

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

// Options has what a Registry needs besides its store.
type Options struct {
	// Dir is the state directory, which has the versions' files.
	Dir string
	Log *slog.Logger // nil discards
	Now func() time.Time
	// Getenv reads the host's environment, whose variables definitions may name; nil means os.Getenv.
	Getenv func(string) string
	// Configured returns the definition of an agent in the configuration, or an error that says why
	// there is none; nil means there are none.
	Configured func(name string) (Definition, error)
}

// Registry has the rules about the records of one store.
type Registry struct {
	store *store.Store
	o     Options
	dir   string // the directory of versions' files
	files sync.RWMutex
	keys  keyring
	news  News
}

func New(ctx context.Context, s *store.Store, o Options) (*Registry, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Configured == nil {
		o.Configured = func(name string) (Definition, error) {
			return Definition{}, fmt.Errorf("there is no agent %.60q", name)
		}
	}
	r := &Registry{store: s, o: o, dir: filepath.Join(o.Dir, "versions")}
	if err := r.keys.load(ctx, s); err != nil {
		return nil, fmt.Errorf("read the API keys: %w", err)
	}
	return r, nil
}

// Refuse returns the error for a decision about ref, or nil if it is Allowed. Hidden gives NotFound.
func Refuse(d access.Decision, verb access.Verb, what, ref string) error {
	switch d {
	case access.Allowed:
		return nil
	case access.Denied:
		return store.Errorf(store.Forbidden, "you may see the %s %.60q, but have no right to %s it", what, ref, verb)
	default:
		return store.Errorf(store.NotFound, "there is no %s %.60q", what, ref)
	}
}

// may returns err, or the error of access.May.
func may(err error, who access.Principal, verb access.Verb, kind access.Kind, id, what, ref string) error {
	if err != nil {
		return err
	}
	return Refuse(access.May(who, verb, kind, id), verb, what, ref)
}

// operate returns an error unless who is the operator.
func operate(who access.Principal, what string) error {
	if who.Kind == access.Operator {
		return nil
	}
	return store.Errorf(store.Forbidden, "only the operator may %s", what)
}

// seen returns the elements that who may see.
func seen[T any](who access.Principal, kind access.Kind, all []T, id func(T) string) []T {
	kept := all[:0]
	for _, v := range all {
		if access.May(who, access.Discover, kind, id(v)) == access.Allowed {
			kept = append(kept, v)
		}
	}
	return kept
}
