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

// Options are what a Registry needs besides its store.
type Options struct {
	// Dir is the state directory, where versions' files are kept.
	Dir string
	Log *slog.Logger // nil discards
	Now func() time.Time
	// Getenv is the host's environment, from which definitions may name variables;
	// nil: os.Getenv.
	Getenv func(string) string
	// Configured gives the definition of an agent of the configuration, or says why there
	// is none; nil: none.
	Configured func(name string) (Definition, error)
}

// Registry is the rules over one store.
type Registry struct {
	store *store.Store
	o     Options
	dir   string // of versions' files
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

// Refuse makes the error of a decision about something that is named by ref: what
// is hidden is not there. It is nil when it was allowed.
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

// may is the error of finding something, or of a decision about it.
func may(err error, who access.Principal, verb access.Verb, kind access.Kind, id, what, ref string) error {
	if err != nil {
		return err
	}
	return Refuse(access.May(who, verb, kind, id), verb, what, ref)
}

// operate refuses everybody but the operator.
func operate(who access.Principal, what string) error {
	if who.Kind == access.Operator {
		return nil
	}
	return store.Errorf(store.Forbidden, "only the operator may %s", what)
}

// seen keeps what a principal may see.
func seen[T any](who access.Principal, kind access.Kind, all []T, id func(T) string) []T {
	kept := all[:0]
	for _, v := range all {
		if access.May(who, access.Discover, kind, id(v)) == access.Allowed {
			kept = append(kept, v)
		}
	}
	return kept
}
