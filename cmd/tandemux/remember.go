package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"time"

	"tandemux/internal/client"
	"tandemux/internal/config"
	"tandemux/internal/endpoint"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/local"
	"tandemux/internal/resurrect"
)

// restoreTime bounds the bringing back of layouts; the host serves meanwhile.
const restoreTime = 20 * time.Second

// memory is what of a host outlives the machine: its layouts on disk, followed by
// a client of the host's own.
type memory struct {
	dirs local.Dirs
	id   string // of the client
	keep *resurrect.Saver
	warn func(about string, err error) // the host's, once there is one
	done chan struct{}
	c    *client.Client
}

func newMemory(d local.Dirs) *memory {
	m := &memory{dirs: d, id: endpoint.NewClientID("layouts"), done: make(chan struct{})}
	m.keep = resurrect.New(d.State, func(about string, err error) { m.warn(about, err) })
	return m
}

// ending is what a host does before it tells its clients that it ends, with code.
// What was stopped is not to come back.
func (m *memory) ending(code int) {
	m.keep.Stop()
	m.dirs.Ending(code)
	if code == jsonrpc.CloseDone {
		resurrect.Forget(m.dirs.State)          //nolint:errcheck // it would come back, once
		resurrect.ForgetHistories(m.dirs.State) //nolint:errcheck // as above
	}
}

// begin brings back, at a host that has no terminals, what was kept, and follows
// the host from then on. It returns when the layouts are there.
func (m *memory) begin(ctx context.Context, s *settings, log *slog.Logger) {
	m.keep.SetHistory(s.restart.History())
	p := endpoint.Endpoint{Dirs: m.dirs}
	c, err := endpoint.Connect(ctx, p, endpoint.Options{Sink: m.keep, ID: m.id})
	if err != nil {
		log.Warn("layouts are not kept on disk", "err", err)
		close(m.done)
		return
	}
	m.c = c
	kept, err := resurrect.Read(m.dirs.State)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("layouts of before can't be brought back", "err", err)
	}
	if root, _ := m.keep.Root(); len(root.Terminals) == 0 && len(kept.Layouts) > 0 {
		begun := time.Now()
		ctx, cancel := context.WithTimeout(ctx, restoreTime)
		past := ""
		if s.restart.HistoryOnDisk {
			past = m.dirs.State
		}
		err := resurrect.Restore(ctx, c, kept, s.restart.RestoreCommands, past)
		cancel()
		log.Info("brought layouts back", "layouts", len(kept.Layouts), "terminals", len(kept.Terminals), "saved", kept.Saved, "took", time.Since(begun), "err", err)
	}
	go func() {
		defer close(m.done)
		m.keep.Run(ctx, c)
	}()
}

// lastTime bounds what is written down of terminals when the host ends.
const lastTime = 3 * time.Second

// outlast gives a context that ends after ctx, when what terminals show is on
// disk. The caller calls the function when it is not needed any more.
func (m *memory) outlast(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unneeded := context.AfterFunc(ctx, func() {
		defer cancel()
		m.dirs.Ending(jsonrpc.CloseAway) // before nobody answers any more
		bounded, done := context.WithTimeout(longer, lastTime)
		defer done()
		m.keep.SaveHistories(bounded)
	})
	return longer, func() {
		unneeded()
		cancel()
	}
}

// follow takes the configuration's changes to the keeper of histories, and to changed,
// until ctx ends.
func (m *memory) follow(ctx context.Context, now func() *settings, changed func(last, s *settings), log *slog.Logger) {
	changes, err := config.Follow(ctx, m.dirs.Config, log)
	if err != nil {
		log.Warn("what is kept of terminals on disk changes only when the host starts", "err", err)
		return
	}
	last := &settings{}
	take := func() {
		s := now()
		if s.restart.History() != last.restart.History() {
			m.keep.SetHistory(s.restart.History())
		}
		changed(last, s)
		last = s
	}
	for take(); ; take() { // it may have changed since begin
		if _, more := <-changes; !more {
			return
		}
	}
}

// end waits until nothing is written any more.
func (m *memory) end() {
	if m.c != nil {
		m.c.Close()
	}
	<-m.done
}
