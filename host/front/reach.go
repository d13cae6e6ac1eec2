package front

import (
	"context"
	"errors"
	"net"
	"slices"
)

// Reach is where a Front also listens as long as somebody says so. It is one
// goroutine's.
type Reach struct {
	f    *Front
	open func(addr string) (net.Listener, error)
	at   map[string]context.CancelFunc // by what was asked for
}

// Reach makes one that has no addresses yet; open listens on one.
func (f *Front) Reach(open func(addr string) (net.Listener, error)) *Reach {
	return &Reach{f: f, open: open, at: map[string]context.CancelFunc{}}
}

// Set listens on these addresses until ctx ends, or a later Set leaves them out;
// connections stay. The error names those that can't be had: they are tried again by the
// next Set.
func (r *Reach) Set(ctx context.Context, addresses []string) error {
	for addr, end := range r.at {
		if !slices.Contains(addresses, addr) {
			end()
			delete(r.at, addr)
		}
	}
	var failed error
	for _, addr := range addresses {
		if r.at[addr] != nil {
			continue
		}
		ln, err := r.open(addr)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		ctx, end := context.WithCancel(ctx)
		r.at[addr] = end
		r.f.Announce(TCP, ln)
		go r.f.Serve(ctx, ln, TCP) //nolint:errcheck // ends with ctx
	}
	return failed
}
