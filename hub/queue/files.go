package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"tandemux/host/workspace/travel"
	"tandemux/hub/files"
	"tandemux/hub/lease"
)

// stored is the store of tasks' files. making serialises the creation of tasks that have some.
type stored struct {
	*files.Store
	making sync.Mutex
}

// The names of stored files are made from the task's id on the hub, never by a host.
func filesName(id string) string { return id + ".files" }

func resultName(id string, by uint64) string { return id + ".result." + strconv.FormatUint(by, 10) }

// keepTime bounds how long the transfer of a result may take.
const keepTime = 30 * time.Minute

// Room returns how many bytes a person's tasks may store, and how many of them are left.
func (q *Queue) Room(person string) (most, left int64) { return q.left(person, "") }

// left is Room, but does not count the task whose id is but.
func (q *Queue) left(person, but string) (most, left int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	most = q.limits.Bytes
	if most <= 0 {
		most = DefaultBytes
	}
	left = most
	for id, k := range q.known {
		if k.spec.Person != person || id == but {
			continue
		}
		if k.spec.Files != nil {
			left -= k.spec.Files.Size
		}
		t := Task{k.spec, k.record}
		if r := t.Note().Result; r != nil {
			left -= min(max(0, r.Size), travel.MaxSize)
		}
	}
	return most, max(0, left)
}

// room returns an error if size bytes are more than a person has left.
func (q *Queue) room(person string, size int64, but string) error {
	most, left := q.left(person, but)
	if size <= left {
		return nil
	}
	return Full.Errorf("the files of %s's tasks may take %s at the hub, of which %s are left, and these take %s: delete tasks (`tandemux task rm`), or have the hub's admin allow more (`tandemux hub limits --bytes SIZE`)", person, mebibytes(most), mebibytes(left), mebibytes(size))
}

func mebibytes(n int64) string { return strconv.FormatInt((n+1<<20-1)>>20, 10) + " MiB" }

// PutFiles stores the files with which a task begins. It fails once the task has been sent an event.
func (q *Queue) PutFiles(ctx context.Context, t Task, from io.Reader) error {
	if t.Spec.Files == nil {
		return Invalid.Errorf("the task %s was made without files", t.Spec.Name)
	}
	if len(t.Record.Work) > 0 || len(t.Record.Ends) > 0 {
		return lease.Stale.Errorf("the task %s has its files, and has begun", t.Spec.Name)
	}
	return q.files.Put(ctx, filesName(t.Spec.ID), *t.Spec.Files, from)
}

// Files reads the files with which a task began, or its result.
func (q *Queue) Files(ctx context.Context, t Task, result bool) (travel.Load, io.Reader, error) {
	l, name := t.Spec.Files, filesName(t.Spec.ID)
	if note := t.Note(); result {
		l, name = note.Result, resultName(t.Spec.ID, note.Kept)
	}
	if l == nil || l.Size == 0 {
		return travel.Load{}, nil, files.NotFound.Errorf("the task %s has no such files", t.Spec.Name)
	}
	r, err := q.files.Get(ctx, name)
	return *l, r, err
}

// piece returns to a lease's holder a piece of the files with which its task begins.
func (q *Queue) piece(ctx context.Context, host string, p Piece) (Reply, error) {
	if _, err := q.held(ctx, host, p.Held); err != nil {
		return Reply{}, err
	}
	b, next, err := q.files.Piece(ctx, filesName(p.ID), p.At)
	if errors.Is(err, files.NotFound) {
		err = Invalid.Errorf("%w", err) // the lease itself is not over
	}
	return Reply{Body: b, Next: next}, err
}

// keep stores the result that a lease's holder offers, and asks the holder for its pieces.
func (q *Queue) keep(ctx context.Context, host string, k Keep) (Reply, error) {
	if err := k.Load.Check(); err != nil {
		return Reply{}, err
	}
	if _, err := q.held(ctx, host, k.Held); err != nil {
		return Reply{}, err
	}
	t, known := q.Task(k.ID)
	switch {
	case !known || t.Spec.Files == nil || t.Spec.Files.Kind != k.Load.Kind:
		return Reply{}, Invalid.Errorf("the task has no files of this kind")
	case k.Load.Size == 0:
		return Reply{}, nil
	}
	was := cmp.Or(t.Note().Result, &travel.Load{}) // the new result replaces it, which frees its room
	if err := q.room(t.Spec.Person, k.Load.Size-was.Size, ""); err != nil {
		return Reply{}, err
	}
	name := resultName(k.ID, k.Lease)
	if err := q.files.Put(ctx, name, k.Load, q.taking(ctx, host, k.Held)); err != nil {
		return Reply{}, err
	}
	if _, err := q.held(ctx, host, k.Held); err != nil { // if the lease is over, nobody else would remove the result
		q.files.Delete(ctx, name) //nolint:errcheck // Sweep does it later
		return Reply{}, err
	}
	return Reply{}, nil
}

// taking returns a reader that asks a host for the pieces of a result.
func (q *Queue) taking(ctx context.Context, host string, of lease.Held) io.Reader {
	return &files.Pieces{Next: func(at uint64) ([]byte, uint64, error) {
		r, err := q.request(ctx, host, "take", "take the files of", Piece{Held: of, At: at})
		if err == nil && r.Status != 0 {
			err = Away.Errorf("take the files of the host %s: %s", host, r.Text)
		}
		return r.Body, at + uint64(len(r.Body)), err
	}}
}

// sweepFiles runs once and removes files that belong to no task, as left behind by processes that
// died.
func (q *Queue) sweepFiles() {
	err := q.files.Sweep(q.ctx, files.Youth, func(name string) bool {
		id, what, _ := strings.Cut(name, ".")
		t, known := q.Task(id)
		return known && (what == "files" || name == resultName(id, t.Note().Kept) || t.Record.State.Held())
	})
	if err != nil && q.ctx.Err() == nil {
		q.o.Log.Warn("remove files of tasks that are gone", "err", fmt.Errorf("sweep: %w", err))
	}
}
