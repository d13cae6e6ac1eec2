package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Bucket opens a bucket of the key-value store, and makes it where there is none, with the
// replicas that the hub has. Where got is not nil it is called with all that is in it before
// Bucket returns, and then with what changes, by one goroutine, until ctx ends.
func (b *Bus) Bucket(ctx context.Context, c jetstream.KeyValueConfig, got func(jetstream.KeyValueEntry)) (jetstream.KeyValue, error) {
	c.Replicas, c.History = b.Replicas, max(1, c.History)
	var kv jetstream.KeyValue
	err := b.Again(ctx, func(ctx context.Context) (err error) { kv, err = b.JS.CreateOrUpdateKeyValue(ctx, c); return err })
	if err == nil && got != nil {
		err = follow(ctx, kv, got)
	}
	if err != nil {
		return nil, fmt.Errorf("open the bucket %s: %w", c.Bucket, err)
	}
	return kv, nil
}

func follow(ctx context.Context, kv jetstream.KeyValue, got func(jetstream.KeyValueEntry)) error {
	w, err := kv.WatchAll(ctx)
	if err != nil {
		return err
	}
	for e := range w.Updates() {
		if e == nil { // that was all
			go func() {
				for e := range w.Updates() {
					if e != nil {
						got(e)
					}
				}
			}()
			return nil
		}
		got(e)
	}
	return errors.New("it can't be watched")
}
