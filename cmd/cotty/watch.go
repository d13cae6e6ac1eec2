package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"cotty/ahp"
	"cotty/internal/client"
)

func newWatchCommand() *cobra.Command {
	var snapshots bool
	cmd := &cobra.Command{
		Use:   "watch [ID...]",
		Short: "Stream what happens as JSON lines",
		Long: `Stream actions as JSON lines, one {"channel", "action", "serverSeq", …} each,
until interrupted or until the host is stopped: those of the terminals named, or of
the list of terminals and of every terminal, new ones too.`,
		ValidArgsFunction: completeTerminal,
		RunE: did(func(cmd *cobra.Command, args []string) error {
			p, err := placeOf(cmd)
			if err != nil {
				return err
			}
			w := &watcher{mirror: client.NewMirror(0), enc: lineEncoder(cmd.OutOrStdout()), snapshots: snapshots, changed: make(chan struct{}, 1), closed: make(chan struct{})}
			c, err := connect(cmd.Context(), p, how{sink: w, reconnect: true, kind: "watch"})
			if err != nil {
				return err
			}
			defer c.Close()
			return w.follow(cmd.Context(), &session{c, w.mirror, p}, args)
		}),
	}
	cmd.Flags().BoolVar(&snapshots, "snapshots", false, `also print the states it starts from, as {"resource", "state", "fromSeq"}`)
	return cmd
}

// watcher is the sink that prints. The mirror tells it which terminals exist.
type watcher struct {
	mirror    *client.Mirror
	snapshots bool
	changed   chan struct{} // the list of terminals may have changed
	closed    chan struct{}

	mu  sync.Mutex // guards the following
	enc *json.Encoder
	all bool // also print the root channel
	err error
}

func lineEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

func (w *watcher) print(channel ahp.URI, v any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || channel == ahp.RootURI && !w.all {
		return
	}
	if w.err = w.enc.Encode(v); w.err != nil {
		w.wake() // the reader of our output went away
	}
}

func (w *watcher) wake() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// Snapshot implements client.Sink.
func (w *watcher) Snapshot(s ahp.Snapshot) {
	if s.Resource == ahp.RootURI {
		w.mirror.Snapshot(s)
	}
	if w.snapshots {
		w.print(s.Resource, s)
	}
}

// Action implements client.Sink.
func (w *watcher) Action(e ahp.Envelope) {
	if e.Channel == ahp.RootURI {
		w.mirror.Action(e)
		w.wake()
	}
	w.print(e.Channel, e)
}

// Gone implements client.Sink.
func (w *watcher) Gone(ahp.URI) {}

// Status implements client.Sink.
func (w *watcher) Status(s client.Status, _ error) {
	if s == client.Closed {
		close(w.closed)
	}
}

// follow subscribes to what is named, or to everything as it appears.
func (w *watcher) follow(ctx context.Context, s *session, ids []string) error {
	seen := map[ahp.URI]bool{}
	for _, id := range ids {
		t, err := s.terminal(id)
		if err != nil {
			return err
		}
		if !seen[t.Resource] {
			seen[t.Resource] = true
			if err := s.Subscribe(ctx, t.Resource); err != nil {
				return err
			}
		}
	}
	w.mu.Lock()
	w.all = len(ids) == 0
	w.mu.Unlock()
	for {
		if len(ids) == 0 {
			for _, t := range s.terminals() {
				if seen[t.Resource] {
					continue
				}
				seen[t.Resource] = true
				// A terminal that is gone again by now is no failure.
				if err := s.Subscribe(ctx, t.Resource); err != nil && !isNotFound(err) {
					return err
				}
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.closed:
			return errors.New("the host closed the connection")
		case <-w.changed:
		}
		w.mu.Lock()
		err := w.err
		w.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

func isNotFound(err error) bool {
	var e *ahp.Error
	return errors.As(err, &e) && e.Code == ahp.CodeNotFound
}
