package changes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/changeset"
	"tandemux/host/audit"
	"tandemux/host/core"
	"tandemux/host/files"
	"tandemux/host/git"
	"tandemux/internal/fileuri"
)

// Options are what Changes need of the host.
type Options struct {
	Core  *core.Core
	Log   *slog.Logger
	Audit *audit.Log
	// Scratch is a directory for what is needed for a moment; it is made and emptied.
	Scratch string
	// Hostname is this machine's, which URIs of directories may name.
	Hostname string
	// Files are those that clients may read.
	Files *files.Server
	// Workspace, if not nil, gives the workspace that a directory is; nil for others. It
	// may take a while.
	Workspace func(dir string) (Tree, error)
	// Confined reports whether a session is in a sandbox: it has no changeset but of a
	// workspace, as what is in it may name any git directory.
	Confined func(tx core.Tx, session ahp.URI) bool
	// Reviewed and Review keep with a session what was reviewed.
	Reviewed func(tx core.Tx, session ahp.URI) map[string]string
	Review   func(tx core.Tx, session ahp.URI, marks map[string]string)
}

// Tree is files beside what they are compared with.
type Tree interface {
	// Top is the directory, absolute.
	Top() string
	// Diff says what differs.
	Diff(ctx context.Context) ([]git.FileDiff, error)
	// Blob gives an object of at most so many bytes.
	Blob(ctx context.Context, id string, most int) ([]byte, error)
	// Commit commits all that is not committed.
	Commit(ctx context.Context, message string) (commit string, err error)
}

// Home is a Tree with a place that its changes belong to.
type Home interface {
	Tree
	// Merge brings all of them there, or nothing, and says where that is.
	Merge(ctx context.Context, message string) (into string, err error)
}

// Bounds.
const (
	maxFiles   = 5000
	maxBytes   = 4 << 20 // of a state, about
	maxGits    = 2       // computations at once, of all changesets
	maxMessage = 64 << 10
	maxBlob    = 5 << 20

	diffTime      = time.Minute
	pause         = 300 * time.Millisecond // between two computations of a changeset
	operationTime = 2 * time.Minute
)

// Changes are the changesets of a host's sessions.
type Changes struct {
	Options
	ctx    context.Context // ends with the host
	cancel context.CancelFunc
	work   sync.WaitGroup
	gits   chan struct{}

	looking map[ahp.URI]bool // sessions that are being looked at; true: once more behind it
	sets    map[ahp.URI]*set // by channel
}

// New makes those of a host that has none, and removes what an earlier host that was
// killed has left in Scratch.
func New(o Options) *Changes {
	_ = os.RemoveAll(o.Scratch)
	cs := &Changes{Options: o, gits: make(chan struct{}, maxGits), looking: map[ahp.URI]bool{}, sets: map[ahp.URI]*set{}}
	cs.ctx, cs.cancel = context.WithCancel(context.Background())
	return cs
}

// Stop ends what is under way; Wait, without the lock, waits for that.
func (cs *Changes) Stop(core.Tx) { cs.cancel() }

// Wait waits for all that is under way. Stop comes before.
func (cs *Changes) Wait() {
	cs.work.Wait()
	_ = os.RemoveAll(cs.Scratch)
}

// aside does something without the lock, of which there are at most maxGits.
func (cs *Changes) aside(tx core.Tx, do func(ctx context.Context)) {
	if tx.Closing() {
		return
	}
	cs.work.Go(func() {
		select {
		case cs.gits <- struct{}{}:
		case <-cs.ctx.Done():
			return
		}
		defer func() { <-cs.gits }()
		do(cs.ctx)
	})
}

// tree finds the one that a directory is in, of a session in a sandbox or not; nil for
// none.
func (cs *Changes) tree(ctx context.Context, dir string, confined bool) (Tree, error) {
	if dir == "" {
		return nil, nil
	}
	if cs.Workspace != nil {
		if t, err := cs.Workspace(dir); t != nil || err != nil {
			return t, err
		}
	}
	if confined {
		return nil, nil
	}
	if err := os.MkdirAll(cs.Scratch, 0o700); err != nil {
		return nil, err
	}
	r, err := find(ctx, cs.Scratch, dir)
	if r == nil || err != nil {
		return nil, err
	}
	return r, nil
}

// channelOf is the channel of a session's changeset.
func channelOf(session ahp.URI) ahp.URI {
	sum := sha256.Sum256([]byte(session))
	return changeset.Scheme + "/" + hex.EncodeToString(sum[:12])
}

// stateOf is a session's, if the channel is one.
func stateOf(tx core.Tx, ch *core.Channel) (ahp.SessionState, bool) {
	if ch == nil {
		return ahp.SessionState{}, false
	}
	s, is := ch.Body.State(tx).(ahp.SessionState)
	return s, is
}

// directory is where a session works; "" where it says nothing of use.
func (cs *Changes) directory(s ahp.SessionState) string {
	if len(s.WorkingDirectories) == 0 {
		return ""
	}
	dir, ok := fileuri.Local(s.WorkingDirectories[0], cs.Hostname)
	if !ok {
		return ""
	}
	return filepath.Clean(dir)
}

// Watched is told that somebody looks at a channel: at a session, which then lists its
// changeset, or at a changeset, which then is as of now.
func (cs *Changes) Watched(tx core.Tx, ch *core.Channel) {
	if s, is := ch.Body.(*set); is {
		s.refresh(tx)
		return
	}
	if _, session := ch.Body.(interface{ Kind() string }); session {
		cs.look(tx, ch.URI)
	}
}

// Unwatched forgets what nobody looks at any more.
func (cs *Changes) Unwatched(tx core.Tx, channels ...*core.Channel) {
	for _, ch := range channels {
		if s, is := ch.Body.(*set); is && s.ch == ch && len(ch.Links()) == 0 && s.running == "" {
			tx.RemoveChannel(ch)
			delete(cs.sets, ch.URI)
		}
	}
}

// look lists a session's changeset, or ceases to.
func (cs *Changes) look(tx core.Tx, session ahp.URI) {
	state, is := stateOf(tx, tx.Channel(session))
	dir := cs.directory(state)
	if !is || dir == "" && state.Changesets == nil {
		return
	}
	if _, busy := cs.looking[session]; busy {
		cs.looking[session] = true // what is under way may have looked before the last change
		return
	}
	cs.looking[session] = false
	confined := cs.Confined(tx, session)
	cs.aside(tx, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, diffTime)
		defer cancel()
		t, err := cs.tree(ctx, dir, confined)
		if err != nil && (git.Git{}).There() { // else no session has changes
			cs.Log.Warn("look for changes of a session", "session", session, "err", err)
		}
		cs.Core.Do(func(tx core.Tx) {
			again := cs.looking[session]
			delete(cs.looking, session)
			if again {
				cs.look(tx, session)
			}
			ch := tx.Channel(session)
			if state, is := stateOf(tx, ch); is && err == nil && !tx.Closing() {
				cs.list(tx, ch, state, t)
			}
			for _, s := range cs.sets {
				if t != nil && s.top == t.Top() {
					s.refresh(tx)
				}
			}
		})
	})
}

// list tells a session's subscribers of its changeset, if that is news.
func (cs *Changes) list(tx core.Tx, ch *core.Channel, state ahp.SessionState, t Tree) {
	var rows []json.RawMessage
	if t != nil {
		row := changeset.Changeset{Template: channelOf(ch.URI), Capabilities: &changeset.Capabilities{Review: &struct{}{}}}
		row.Label, row.Kind = "Uncommitted Changes", changeset.KindUncommitted
		if _, is := t.(Home); is {
			row.Label, row.Kind = "Changes of the Workspace", changeset.KindBranch
		}
		b, err := ahp.Encode(ahp.V1, row)
		if err != nil {
			return
		}
		rows = []json.RawMessage{b}
	}
	if len(rows) != len(state.Changesets) || len(rows) > 0 && string(rows[0]) != string(state.Changesets[0]) {
		tx.Apply(ch, ahp.SessionChangesetsChanged{Changesets: rows}, nil)
	}
}

// Open gives the channel of a changeset that a session lists.
func (cs *Changes) Open(tx core.Tx, uri ahp.URI) (*core.Channel, error) {
	for ch := range tx.Channels() {
		if channelOf(ch.URI) != uri {
			continue
		}
		if state, is := stateOf(tx, ch); is && len(state.Changesets) > 0 {
			s := &set{all: cs, session: ch.URI, value: changeset.State{Status: changeset.Computing}}
			s.ch = tx.NewChannel(uri, s)
			cs.sets[uri] = s
			return s.ch, nil
		}
	}
	return nil, ahp.NotFound("subscribe to %q: no session has this changeset", uri)
}

// Worked is told that a tool call of a session has ended, or a turn, with which all
// changesets of the tree are as of now.
func (cs *Changes) Worked(tx core.Tx, session ahp.URI, turn bool) {
	if s := cs.sets[channelOf(session)]; s != nil {
		s.refresh(tx)
	}
	if ch := tx.Channel(session); turn && (len(cs.sets) > 0 || ch != nil && len(ch.Links()) > 0) {
		cs.look(tx, session)
	}
}

// Ended is told that a session is gone, and its changeset with it.
func (cs *Changes) Ended(tx core.Tx, session ahp.URI) {
	if s := cs.sets[channelOf(session)]; s != nil {
		tx.Apply(s.ch, changeset.Cleared{}, nil)
		tx.RemoveChannel(s.ch)
		delete(cs.sets, s.ch.URI)
	}
}
