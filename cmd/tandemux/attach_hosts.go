package main

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"tandemux/internal/client"
	"tandemux/internal/endpoint"
	"tandemux/internal/hosts"
	"tandemux/internal/pace"
	"tandemux/ui/link"
)

const (
	// firstPause and lastPause are between attempts to reach a host that was not there when
	// the interface began; once it was, its client tries.
	firstPause = time.Second
	lastPause  = time.Minute
	// partTime bounds taking leave of them.
	partTime = 200 * time.Millisecond
)

// other is the connection to another host, which may not be there yet. Its methods may be
// called from any goroutine.
type other struct {
	*link.RemoteSink // takes what the host says, but for how the connection stands
	host             hosts.Host
	end              context.CancelFunc
	now              chan struct{} // holds one when the next attempt is wanted at once

	mu    sync.Mutex
	ready *hostAdapter // nil while there has been no connection
	up    bool
}

// others are the connections to the hosts that have names. It belongs to the interface's
// event loop.
type others struct {
	own   endpoint.Endpoint
	sink  *link.Sink
	as    string // this client's id at its own host
	log   *slog.Logger
	ctx   context.Context
	end   context.CancelFunc
	conns []*other
	done  sync.WaitGroup
}

func newOthers(ctx context.Context, own endpoint.Endpoint, sink *link.Sink, as string, log *slog.Logger) *others {
	os := &others{own: own, sink: sink, as: as, log: log}
	os.ctx, os.end = context.WithCancel(ctx)
	return os
}

// list reads which hosts have names. It connects to those that are new, in the background,
// and takes leave of those that have none any more or another address.
func (os *others) list() (far []link.Far) {
	if !os.own.Own() {
		return nil // one host was asked for
	}
	list, err := hosts.Read(os.own.Dirs.Config)
	if err != nil {
		os.log.Warn("the list of hosts stays as it was", "err", err)
		list = nil
		for _, o := range os.conns {
			list = append(list, o.host)
		}
	}
	list = slices.DeleteFunc(list, func(h hosts.Host) bool { return h.Hub }) // which have no terminals
	os.conns = slices.DeleteFunc(os.conns, func(o *other) bool {
		if slices.Contains(list, o.host) {
			return false
		}
		o.end()
		return true
	})
	for _, h := range list {
		i := slices.IndexFunc(os.conns, func(o *other) bool { return o.host == h })
		if i < 0 {
			i = len(os.conns)
			o := &other{RemoteSink: os.sink.Of(h.Name), host: h, now: make(chan struct{}, 1)}
			var ctx context.Context
			ctx, o.end = context.WithCancel(os.ctx)
			os.conns = append(os.conns, o)
			os.done.Go(func() { o.run(ctx, os.own, h, os.as, os.log.With("host", h.Name)) })
		}
		o := os.conns[i]
		far = append(far, link.Far{Name: h.Name, Address: h.URL + " " + h.TokenFile, Host: o.there, Person: o.person, Retry: o.retry})
	}
	return far
}

func (os *others) close() {
	os.end()
	closed := make(chan struct{})
	go func() {
		os.done.Wait()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(partTime): // one that says nothing learns it from its socket
	}
}

// run connects, again and again until it is there, and holds the connection until ctx ends.
func (o *other) run(ctx context.Context, own endpoint.Endpoint, h hosts.Host, as string, log *slog.Logger) {
	since, pause := time.Now(), firstPause
	for {
		c, p, err := o.connect(ctx, own, h, as, log)
		if err == nil {
			o.mu.Lock()
			o.ready = &hostAdapter{c, p, o.Agents}
			o.mu.Unlock()
			o.Status(client.Connected, nil) // again, now that requests go through
			select {
			case <-ctx.Done():
			case <-c.Done(): // the host was stopped, and may be started again
			}
			c.Close() //nolint:errcheck // gone already is fine
			if ctx.Err() != nil {
				return
			}
			o.mu.Lock()
			o.ready, o.up = nil, false
			o.mu.Unlock()
			since, pause, err = time.Now(), firstPause, c.Err()
		}
		if ctx.Err() != nil {
			return
		}
		log.Info("another host is not reached", "err", err)
		o.RemoteSink.Retrying(link.Retry{Since: since, Next: time.Now().Add(pause), Err: err})
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		case <-o.now:
		}
		pause = min(2*pause, lastPause)
	}
}

func (o *other) connect(ctx context.Context, own endpoint.Endpoint, h hosts.Host, as string, log *slog.Logger) (*client.Client, endpoint.Endpoint, error) {
	p, err := endpoint.Named(own.Dirs, h)
	if err != nil {
		return nil, p, err
	}
	p = p.Quiet()
	// No Serve: another host gives this interface no commands.
	c, err := endpoint.Connect(ctx, p, endpoint.Options{
		Reconnect: true, Names: true, ID: as, Sink: o, Wants: client.Wants{Print: o, Listen: o, Observe: o, Skim: o}, Kind: endpoint.KindInterface, Log: log,
	})
	return c, p, err
}

// Status implements client.Sink. Before there is somebody to ask, a connection is none.
func (o *other) Status(s client.Status, err error) {
	o.mu.Lock()
	o.up = s == client.Connected && o.ready != nil
	tell := o.ready != nil
	o.mu.Unlock()
	if tell {
		o.RemoteSink.Status(links[s], err)
	}
}

// Retrying implements client.Observer.
func (o *other) Retrying(r client.Retry) { o.RemoteSink.Retrying(link.Retry(r)) }

// there gives the connection while it is up, and else one that says that it is away.
func (o *other) there() link.Host {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.up:
		return *o.ready
	case o.ready != nil: // it follows no more than it has to when it is back
		return link.Nowhere{Err: link.ErrAway, Left: o.ready.Unsubscribe}
	}
	return link.Nowhere{Err: link.ErrAway}
}

// person is whom the host takes this person for.
func (o *other) person() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ready == nil {
		return ""
	}
	return o.ready.Principal()
}

func (o *other) retry() {
	o.mu.Lock()
	h := o.ready
	o.mu.Unlock()
	if h != nil {
		h.Retry()
		return
	}
	pace.Wake(o.now)
}
