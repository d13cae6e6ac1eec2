package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandemux/host/workspace"
	"tandemux/host/workspace/travel"
	"tandemux/hub/files"
	"tandemux/hub/lease"
	"tandemux/hub/queue"
	"tandemux/internal/apiclient"
	"tandemux/internal/fault"
)

// stallTime is how long keep waits for the hub to ask for another piece of a result.
const stallTime = 20 * time.Second

// dirOf returns the directory for the files of a task on the host.
func (w *Worker) dirOf(local string) string {
	return filepath.Join(w.o.Dir, queue.LocalPrefix+strings.ReplaceAll(strings.TrimPrefix(local, queue.LocalPrefix), "/", "_"))
}

// unpack fetches the files with which the task begins, and returns the workspace to make from them.
func (t *turn) unpack(ctx context.Context, l travel.Load) (string, error) {
	if err := l.Check(); err != nil {
		return "", fmt.Errorf("%w: %w", lease.ErrRefused, err)
	}
	if t.w.o.Dir == "" {
		return "", errors.New("this host takes no files")
	}
	if err := os.MkdirAll(t.w.o.Dir, 0o700); err != nil {
		return "", err
	}
	file := t.w.dirOf(t.note.Local) + ".load"
	defer os.Remove(file) //nolint:errcheck // if it fails, sweepFiles does it
	var failed error
	err := l.Receive(t.fetching(ctx, &failed), file)
	if failed != nil {
		return "", failed
	}
	words := ""
	if err == nil {
		words, err = l.Unpack(ctx, file, t.w.dirOf(t.note.Local))
	}
	if status := fault.Status(err); status != 0 && status != http.StatusInsufficientStorage { // a full disk is only this host's problem
		return "", fmt.Errorf("%w: %w", lease.ErrRefused, err)
	}
	return words, err
}

// fetching returns a reader of the task's files on the hub; failed gets the hub's error.
func (t *turn) fetching(ctx context.Context, failed *error) io.Reader {
	return &files.Pieces{Next: func(at uint64) ([]byte, uint64, error) {
		for tries := 0; ; tries++ {
			r, err := t.w.ask(ctx, "file", queue.Piece{Held: t.key, At: at})
			switch {
			case err == nil:
				return r.Body, r.Next, nil
			case errors.Is(err, lease.Stale):
				*failed = err
			case fault.Status(err) != 0 && fault.Status(err) < 500:
				*failed = fmt.Errorf("%w: %w", lease.ErrRefused, err)
			default:
				*failed = t.Pause(ctx, tries)
			}
			if *failed != nil {
				return nil, 0, *failed
			}
		}
	}}
}

// home sends the hub what the task has made of its files. An error is logged and noted in Unkept, and
// the previous result stays: the turn has ended all the same.
func (t *turn) home(ctx context.Context, l travel.Load) {
	if err := t.result(ctx, l); err != nil && ctx.Err() == nil {
		t.w.o.Log.Warn("send home what a task made", "task", t.key.ID, "err", err)
		text := err.Error()
		t.note.Unkept = strings.ToValidUTF8(text[:min(len(text), 500)], "")
	}
}

func (t *turn) result(ctx context.Context, l travel.Load) error {
	var at workspace.Info
	var done workspace.Committed
	if l.Kind == travel.Bundle {
		if err := t.do(ctx, http.MethodPost, t.path("/workspace/commit"), "", map[string]bool{"no_check": true, "running": true}, &done); err != nil {
			return fmt.Errorf("commit it: %w", err)
		}
	} else if err := t.do(ctx, http.MethodGet, t.path("/workspace"), "", nil, &at); err != nil {
		return err
	}
	file, err := os.CreateTemp(t.w.o.Dir, t.note.Local+".result-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // if it fails, sweepFiles does it
	defer file.Close()
	r, err := l.Result(ctx, t.w.dirOf(t.note.Local), done.Branch, at.Dir, file)
	if err != nil {
		return err
	}
	if old := t.note.Result; old != nil && (*old == r || r.Kind == travel.Bundle && old.Commit == r.Commit) {
		return nil
	}
	o := &offer{file: file}
	t.w.mu.Lock()
	t.w.offers[t.key] = o
	t.w.mu.Unlock()
	defer func() {
		t.w.mu.Lock()
		delete(t.w.offers, t.key)
		t.w.mu.Unlock()
		o.using.Lock()
		defer o.using.Unlock()
		o.file = nil
	}()
	for tries := 0; ; tries++ {
		err := t.keep(ctx, o, r)
		if err == nil {
			t.note.Result, t.note.Kept, t.note.Unkept = &r, t.key.Lease, ""
			return nil
		}
		if status := fault.Status(err); status != 0 && status != http.StatusServiceUnavailable || ctx.Err() != nil || tries > 60 {
			return err
		}
		if err := t.Pause(ctx, tries); err != nil {
			return err
		}
	}
}

// keep offers the hub a result, and waits as long as the hub asks for pieces of it.
func (t *turn) keep(ctx context.Context, o *offer, l travel.Load) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.asked.Store(int64(clock()))
	watch := time.NewTimer(stallTime)
	defer watch.Stop()
	type answer struct {
		r   queue.Reply
		err error
	}
	got := make(chan answer, 1)
	t.w.all.Go(func() {
		r, err := t.w.askWithin(ctx, "keep", queue.Keep{Held: t.key, Load: l})
		got <- answer{r, err}
	})
	for {
		select {
		case a := <-got:
			return a.err
		case <-watch.C:
			quiet := clock() - time.Duration(o.asked.Load())
			if quiet >= stallTime {
				return errors.New("the hub does not take it")
			}
			watch.Reset(stallTime - quiet)
		}
	}
}

// offer is a result whose pieces the hub may ask for.
type offer struct {
	using sync.Mutex
	file  *os.File
	asked atomic.Int64
}

// pieceOf answers the hub's request for a piece of a result.
func (w *Worker) pieceOf(text []byte) queue.Reply {
	var p queue.Piece
	if err := json.Unmarshal(text, &p); err != nil {
		return refuse(http.StatusBadRequest, "the hub's request can't be read")
	}
	w.mu.Lock()
	o := w.offers[p.Held]
	w.mu.Unlock()
	if o == nil {
		return refuse(http.StatusNotFound, "the host has no such files")
	}
	o.using.Lock()
	defer o.using.Unlock()
	o.asked.Store(int64(clock()))
	b := make([]byte, files.PieceSize)
	if o.file == nil {
		return refuse(http.StatusNotFound, "the host has no such files")
	}
	n, err := o.file.ReadAt(b, int64(p.At)) //nolint:gosec // there is nothing to read beyond the end
	if err != nil && !errors.Is(err, io.EOF) {
		return refuse(http.StatusServiceUnavailable, "read the files: "+err.Error())
	}
	return queue.Reply{Body: b[:n]}
}

// sweepFiles removes the files of tasks that the host no longer has.
func (w *Worker) sweepFiles() {
	list, err := os.ReadDir(w.o.Dir)
	if err != nil {
		return // there are no files
	}
	ctx, done := context.WithTimeout(w.ctx, askTime)
	defer done()
	for _, e := range list {
		local, _, _ := strings.Cut(e.Name(), ".")
		err := w.o.API.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: "/tasks/" + url.PathEscape(local)}, nil)
		if apiclient.Status(err) != http.StatusNotFound && e.Name() == local {
			continue
		}
		if err := travel.Remove(filepath.Join(w.o.Dir, e.Name())); err != nil {
			w.o.Log.Warn("remove what a task was made of", "err", err)
		}
	}
}
