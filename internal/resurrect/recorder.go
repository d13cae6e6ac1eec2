package resurrect

import (
	"context"
	"crypto/sha256"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/internal/client"
	"tandemux/internal/pace"
	"tandemux/internal/plaintext"
	"tandemux/internal/statefile"
)

const (
	// A terminal is saved once it has printed nothing for quiet. One that never
	// stops printing is saved anyway when least has passed since the last time,
	// which is also the shortest time between two writes.
	quiet = 3 * time.Second
	least = time.Minute
)

// What failures are about, for people.
const (
	aboutLayouts = "layouts would not come back after a restart of the machine"
	aboutHistory = "what terminals show would not come back after a restart of the machine"
)

// HistoryOptions say whether what terminals show is kept, and how much in all, in bytes.
type HistoryOptions struct {
	On    bool
	Limit int64
}

// SetHistory says whether the text of terminals is saved; until it is called, it is
// not. Turning it off removes what was saved. Any goroutine may call it.
func (k *Saver) SetHistory(p HistoryOptions) {
	k.mu.Lock()
	k.history = p
	var err error
	if !p.On && !k.stopped {
		err = ForgetHistories(k.dir)
	}
	k.mu.Unlock()
	k.tell(err)
	k.changed()
}

// tell reports the first of several failures to keep histories, and nil when it
// works again. It is not called with mu, which Stop takes.
func (k *Saver) tell(err error) {
	k.telling.Lock()
	defer k.telling.Unlock()
	if failed := err != nil; failed != k.failed {
		k.failed = failed
		k.report(aboutHistory, err)
	}
}

type recorder struct {
	k      *Saver
	c      *client.Client
	uri    ahp.URI
	cancel context.CancelFunc
	done   chan struct{} // closed when it writes no more by itself

	mu   sync.Mutex // guards the following, and is held while it writes
	last [sha256.Size]byte
}

// assign gives each terminal that a layout shows a recorder, and removes the files
// of the others. It is for Run.
func (k *Saver) assign(ctx context.Context, c *client.Client) {
	wanted := map[ahp.URI]bool{}
	root, ok := k.Root()
	if !ok {
		return
	}
	for _, t := range root.Terminals {
		if t.Meta != nil && len(t.Meta.Layouts) > 0 && len(wanted) < maxTerminals {
			wanted[t.Resource] = true
		}
	}
	k.mu.Lock()
	on := k.history.On && !k.stopped
	if !on {
		clear(wanted)
	}
	for uri, s := range k.recorders {
		over := !wanted[uri]
		select {
		case <-s.done:
			over = true
		default:
		}
		if over {
			s.cancel()
			delete(k.recorders, uri)
		}
	}
	for uri := range wanted {
		if k.recorders[uri] == nil {
			k.recorders[uri] = k.begin(ctx, c, uri)
		}
	}
	var err error
	if on && (k.wanted == nil || !maps.Equal(wanted, k.wanted)) {
		err = keepOnly(k.dir, wanted)
	}
	k.wanted = wanted
	k.mu.Unlock()
	if err != nil {
		k.tell(err)
	}
}

// begin makes a recorder. The caller holds mu.
func (k *Saver) begin(ctx context.Context, c *client.Client, uri ahp.URI) *recorder {
	s := &recorder{k: k, c: c, uri: uri, done: make(chan struct{})}
	if text, err := statefile.Read(filepath.Join(k.dir, historyDir, historyName(uri)), maxHistory); err == nil { // else it is written anew
		s.last = sha256.Sum256(text)
	}
	ctx, s.cancel = context.WithCancel(ctx)
	k.work.Go(func() {
		defer close(s.done)
		s.follow(ctx)
	})
	return s
}

// follow writes the terminal down after it has printed, until ctx or it ends.
// Nothing is asked of the host while it prints nothing.
func (s *recorder) follow(ctx context.Context) {
	for {
		var m ahp.Mark
		if !s.await(ctx, ahp.WaitParams{Until: ahp.WaitIdle, IdleMs: quiet.Milliseconds(), TimeoutMs: least.Milliseconds()}) ||
			s.c.Call(ctx, ahp.MethodMark, ahp.MarkParams{Channel: s.uri}, &m) != nil {
			return
		}
		s.save(ctx)
		if !pace.Sleep(ctx, least) {
			return
		}
		if !s.await(ctx, ahp.WaitParams{Until: ahp.WaitOutput, From: &m}) {
			return
		}
	}
}

// await reports whether the terminal is still there when a wait is over.
func (s *recorder) await(ctx context.Context, p ahp.WaitParams) bool {
	var r ahp.WaitResult
	p.Channel = s.uri
	return s.c.Call(ctx, ahp.MethodWait, p, &r) == nil && r.Reason != ahp.WaitGone
}

// save writes what the terminal shows, if that is not what was written last.
func (s *recorder) save(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var got ahp.ReadResult
	if s.c.Call(ctx, ahp.MethodRead, ahp.ReadParams{Channel: s.uri, What: ahp.ReadHistory}, &got) != nil {
		return // it has gone, or the host ends
	}
	text := plaintext.Tail(got.Text, maxHistory)
	sum := sha256.Sum256([]byte(text))
	if sum == s.last {
		return
	}
	wrote, err := s.k.put(s.uri, text)
	if wrote {
		s.last = sum
	}
	if wrote || err != nil {
		s.k.tell(err)
	}
}

// put writes a terminal's file, unless nothing is to be written.
func (k *Saver) put(uri ahp.URI, text string) (wrote bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped || !k.history.On {
		return false, nil
	}
	err = writeHistory(k.dir, uri, text, k.history.Limit)
	return err == nil, err
}

// SaveHistories saves at once whatever has changed, before the host ends.
func (k *Saver) SaveHistories(ctx context.Context) {
	k.mu.Lock()
	all := maps.Clone(k.recorders)
	k.mu.Unlock()
	for _, s := range all {
		s.save(ctx)
	}
}

func (k *Saver) release() {
	k.mu.Lock()
	for _, s := range k.recorders {
		s.cancel()
	}
	clear(k.recorders)
	k.mu.Unlock()
	k.work.Wait()
}
