package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/nats-io/nats.go/jetstream"

	"tandemux/hub/files"
	"tandemux/hub/lease"
	"tandemux/internal/fault"
)

const (
	tasksBucket    = "tandemux_tasks"
	eventsBucket   = "tandemux_events"
	settingsBucket = "tandemux_settings"
)

const (
	// MaxContent bounds an event, and a task's Spec, in bytes.
	MaxContent = 256 << 10
	// maxParts is how many messages with parts are kept of each task; the oldest are removed.
	maxParts = 50_000
)

// Kinds of errors.
var (
	NotFound = fault.New(http.StatusNotFound, "there is no such task")
	Invalid  = fault.New(http.StatusUnprocessableEntity, "that can't be")
	Full     = fault.New(http.StatusInsufficientStorage, "there is no room for it")
	Away     = fault.New(http.StatusServiceUnavailable, "the host does not answer")
)

// open makes the buckets and streams that are missing.
func (q *Queue) open(ctx context.Context) (err error) {
	js := q.o.JS
	bucket := func(name string, direct bool) (kv jetstream.KeyValue) {
		if err != nil {
			return nil
		}
		// This does what js.CreateKeyValue does, except for AllowDirect: with it a lagging replica
		// could answer, and a lease would seem lost.
		c := jetstream.StreamConfig{
			Name: "KV_" + name, Subjects: []string{"$KV." + name + ".>"}, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, Storage: jetstream.FileStorage,
			Replicas: q.o.Replicas, AllowRollup: true, DenyDelete: true, AllowDirect: direct, MaxMsgSize: -1,
		}
		if _, err = js.CreateOrUpdateStream(ctx, c); err == nil {
			kv, err = js.KeyValue(ctx, name)
		}
		return kv
	}
	q.tasks, q.events, q.settings = bucket(tasksBucket, false), bucket(eventsBucket, true), bucket(settingsBucket, false)
	if err != nil {
		return err
	}
	q.parts, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: Stream, Subjects: []string{Subjects + "*"}, Storage: jetstream.FileStorage, Replicas: q.o.Replicas,
		MaxMsgsPerSubject: maxParts, Discard: jetstream.DiscardOld, Compression: jetstream.S2Compression,
	})
	if err != nil {
		return err
	}
	q.files.Store, err = files.Open(ctx, js, q.o.Replicas)
	return err
}

// moved reports whether a write failed because the revision had changed.
func moved(err error) bool {
	api, is := errors.AsType[*jetstream.APIError](err)
	return is && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

func (q *Queue) Get(ctx context.Context, id string) (r lease.Record, revision uint64, err error) {
	e, err := q.tasks.Get(ctx, id)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return r, 0, NotFound.Errorf("there is no task %q", id)
	case err != nil:
		return r, 0, fmt.Errorf("read the task %s: %w", id, err)
	}
	if err := json.Unmarshal(e.Value(), &r); err != nil {
		return r, 0, fmt.Errorf("read the task %s: %w", id, err)
	}
	return r, e.Revision(), nil
}

func (q *Queue) Put(ctx context.Context, id string, r lease.Record, revision uint64) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the task %s: %w", id, err)
	}
	now, err := q.tasks.Update(ctx, id, text, revision)
	switch {
	case err == nil:
		q.see(id, now, text)
		return nil
	case moved(err):
		return lease.ErrMoved
	}
	return fmt.Errorf("write the task %s: %w", id, err)
}

// change applies op to a record, and does what follows from the change.
func (q *Queue) change(ctx context.Context, id string, op lease.Op) (lease.Record, error) {
	t, _ := q.Task(id)
	before, kept := t.Record, t.Note().Kept
	r, err := lease.Change(ctx, q, id, op)
	if err != nil {
		return r, err
	}
	if op.Verb == lease.Lose || op.Verb == lease.Cancel {
		q.told(ctx, id, before, r)
	}
	if op.Verb == lease.Lose || op.Verb == lease.Finish {
		// Delete the results that no record names any more: the lost lease's, or the one before.
		t.Record = r
		for _, by := range []uint64{kept, before.Lease} {
			if by == 0 || by == t.Note().Kept {
				continue
			}
			if err := q.files.Delete(ctx, resultName(id, by)); err != nil && q.ctx.Err() == nil {
				q.o.Log.Warn("delete a result", "task", id, "err", err)
			}
		}
	}
	return r, nil
}

// set writes a setting; a nil value removes it.
func (q *Queue) set(ctx context.Context, key string, v any) (err error) {
	if v == nil {
		err = q.settings.Delete(ctx, key)
	} else {
		text, failed := json.Marshal(v)
		if failed != nil {
			return failed
		}
		_, err = q.settings.Put(ctx, key, text)
	}
	if err != nil {
		return fmt.Errorf("store the setting %s: %w", key, err)
	}
	return nil
}
