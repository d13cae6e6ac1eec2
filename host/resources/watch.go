package resources

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/resource"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/requests"
)

// maxChanges bounds those of one action.
const maxChanges = 512

var errGone = ahp.Conflict("watch: the connection has ended")

// watching is the body of a watch's channel.
type watching struct {
	state resource.WatchState
	by    *core.Link // who made it; nil when that has ended
	life  context.Context
	end   context.CancelFunc
}

func (w *watching) Reduce(ahp.Action)    {}
func (w *watching) State(tx core.Tx) any { return w.state }
func (w *watching) Settle(tx core.Tx)    {}

// Refuses implements core.Guarded: who may not read files is not told of them.
func (w *watching) Refuses(p *auth.Principal) string { return p.Lacks(auth.ScopeCreate) }

// watch answers createResourceWatch.
func (o Options) watch(ctx context.Context, c *requests.Conn, p resource.WatchParams) (any, error) {
	return c.Aside(ctx, func(ctx context.Context) (any, error) {
		w := &watching{by: c.Link, state: resource.WatchState{Root: p.URI, Recursive: p.Recursive, Excludes: p.Excludes, Includes: p.Includes}}
		ch, err := o.open(ctx, w)
		if err != nil {
			return nil, err
		}
		seen, err := o.Files.Watch(ctx, p)
		tx := o.Core.Lock()
		defer tx.Unlock()
		switch {
		case err != nil:
			w.close(tx, ch)
			return nil, err
		case w.life.Err() != nil:
			seen.Close()
			return nil, errGone
		}
		go seen.Run(w.life, func(changes []resource.Change) { o.Core.Do(func(tx core.Tx) { tell(tx, ch, changes) }) })
		return resource.WatchResult{Channel: ch.URI}, nil
	})
}

// open makes the channel of a watch, if there is room for one more.
func (o Options) open(ctx context.Context, w *watching) (*core.Channel, error) {
	tx := o.Core.Lock()
	defer tx.Unlock()
	if ctx.Err() != nil { // The connection has ended: nobody would close it.
		return nil, errGone
	}
	mine, all := 0, 0
	for ch := range tx.Channels() {
		other, is := ch.Body.(*watching)
		switch {
		case !is:
			continue
		case other.by == nil && len(ch.Links()) == 0: // its last subscriber never came to be
			other.close(tx, ch)
			continue
		case other.by == w.by:
			mine++
		}
		all++
	}
	switch {
	case mine >= o.Limits.Watches:
		return nil, ahp.Conflict("watch: this connection has %d watches already, the most it may have: unsubscribe from some", mine)
	case all >= o.Limits.WatchesAll:
		return nil, ahp.Conflict("watch: there are %d watches already, the most this host keeps", all)
	}
	w.life, w.end = context.WithCancel(context.Background())
	return tx.NewChannel(resource.WatchScheme+"/"+strings.ToLower(rand.Text()), w), nil
}

func tell(tx core.Tx, ch *core.Channel, changes []resource.Change) {
	if len(ch.Links()) == 0 {
		return
	}
	for some := range slices.Chunk(changes, maxChanges) {
		tx.Apply(ch, resource.WatchChanged{Changes: resource.Changes{Items: some}}, nil)
	}
}

func (w *watching) close(tx core.Tx, ch *core.Channel) {
	w.end()
	tx.RemoveChannel(ch)
}

// Unwatched ends a watch whose last subscriber has left.
func Unwatched(tx core.Tx, ch *core.Channel) {
	if w, is := ch.Body.(*watching); is && len(ch.Links()) == 0 {
		w.close(tx, ch)
	}
}

// Ended ends the watches that nobody has any more when a connection is over, which was
// subscribed to some.
func Ended(tx core.Tx, l *core.Link, watched []*core.Channel) {
	for _, ch := range watched {
		Unwatched(tx, ch)
	}
	for ch := range tx.Channels() {
		if w, is := ch.Body.(*watching); is && w.by == l {
			w.by = nil
			Unwatched(tx, ch)
		}
	}
}
