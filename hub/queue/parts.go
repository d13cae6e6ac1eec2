package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"tandemux/hub/lease"
)

// Stream is the stream of parts, for those who follow the parts of all tasks. Each message is a Batch;
// its subject is Subjects followed by the task's id.
const (
	Stream   = "tandemux_parts"
	Subjects = "parts."
)

// Batch is one message of the stream: some parts of a task. First is the id of its first part; a
// task's ids begin with 1 and have no gaps.
type Batch struct {
	First int64             `json:"first"`
	Parts []json.RawMessage `json:"parts"`
	// Lease is the lease under which a host sent the parts, 0 for the hub's own. Local is the number
	// of the last part in the host's own stream.
	Lease uint64 `json:"lease,omitempty"`
	Local int64  `json:"local,omitempty"`
}

// end describes the last message that is stored of a task's stream.
type end struct {
	sequence uint64 // of the message
	id       int64  // of the last part
	lease    uint64
	local    int64
}

// endOf returns the end of a task's stream.
func (q *Queue) endOf(ctx context.Context, id string) (end, error) {
	q.mu.Lock()
	e, known := q.ends[id]
	q.mu.Unlock()
	if known {
		return e, nil
	}
	_, e, err := q.newest(ctx, id)
	return e, err
}

// newest reads the last message of a task's stream, and so its end.
func (q *Queue) newest(ctx context.Context, id string) (Batch, end, error) {
	m, err := q.parts.GetLastMsgForSubject(ctx, Subjects+id)
	b, sequence, err := batchOf(id, m, err)
	if err != nil || sequence == 0 {
		return b, end{}, err
	}
	e := end{sequence, b.First + int64(len(b.Parts)) - 1, b.Lease, b.Local}
	q.noteEnd(id, e)
	return b, e, nil
}

// noteEnd notes the end of a task's stream and wakes its readers.
func (q *Queue) noteEnd(id string, e end) {
	q.mu.Lock()
	defer q.mu.Unlock()
	k := q.known[id]
	if k == nil || q.ends[id].sequence >= e.sequence {
		return
	}
	q.ends[id] = e
	q.changed(k)
}

// append stores the parts that a host sends, without those that are stored already.
func (q *Queue) append(ctx context.Context, host string, p Parts) (Reply, error) {
	for {
		if _, err := q.held(ctx, host, p.Held); err != nil {
			return Reply{}, err
		}
		e, err := q.endOf(ctx, p.ID)
		if err != nil {
			return Reply{}, err
		}
		if e.lease != p.Lease {
			e.local = 0
		}
		last := p.First + int64(len(p.Parts)) - 1
		if len(p.Parts) == 0 || last <= e.local {
			return Reply{Last: e.local}, nil
		}
		fresh := p.Parts[max(0, e.local+1-p.First):]
		err = q.store(ctx, p.ID, e, Batch{Parts: fresh, Lease: p.Lease, Local: last})
		if err == nil {
			return Reply{Last: last}, nil
		}
		if !errors.Is(err, lease.ErrMoved) {
			return Reply{}, err
		}
	}
}

// store appends a batch to a stream that still ends with e; else it returns lease.ErrMoved.
func (q *Queue) store(ctx context.Context, id string, e end, b Batch) error {
	b.First = e.id + 1
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	ack, err := q.o.JS.Publish(ctx, Subjects+id, text, jetstream.WithExpectLastSequencePerSubject(e.sequence))
	if err != nil {
		q.mu.Lock()
		delete(q.ends, id)
		q.mu.Unlock()
		if moved(err) {
			return lease.ErrMoved
		}
		return fmt.Errorf("store what %s did: %w", id, err)
	}
	q.noteEnd(id, end{ack.Sequence, b.First + int64(len(b.Parts)) - 1, b.Lease, b.Local})
	return nil
}

// part is a part that the hub itself writes.
type part struct {
	Type         string            `json:"type"`
	ID           string            `json:"id,omitempty"`
	Error        string            `json:"error,omitempty"`
	FinishReason string            `json:"finishReason,omitempty"`
	Metadata     map[string]string `json:"metadata,omitempty"`
}

// told writes the end of a turn that ended without word from its host.
func (q *Queue) told(ctx context.Context, id string, before, after lease.Record) {
	if before.State != lease.Begun || len(before.Work) == 0 {
		return
	}
	if e, ended := after.Ended(before.Work[0]); ended {
		if err := q.Conclude(ctx, id, e); err != nil {
			q.o.Log.Warn("write down how a task's turn ended", "task", id, "err", err)
		}
	}
}

// Conclude writes the end of a task's last work, once. It may be called again after a hub noted the
// end in the record and stopped before it wrote it here.
func (q *Queue) Conclude(ctx context.Context, id string, ended lease.End) error {
	say := []part{{Type: "error", Error: ended.Reason}, {Type: "finish", FinishReason: "error", Metadata: map[string]string{"eventId": ended.Work, "outcome": ended.Outcome, "reason": ended.Reason}}}
	if ended.Reason == "" {
		say = say[1:]
	}
	var parts []json.RawMessage
	for _, p := range say {
		text, err := json.Marshal(p)
		if err != nil {
			return err
		}
		parts = append(parts, text)
	}
	for {
		b, e, err := q.newest(ctx, id)
		if n := len(b.Parts); err != nil || n > 0 && b.Lease == 0 && slices.Equal(b.Parts[n-1], parts[len(parts)-1]) {
			return err
		}
		if err := q.store(ctx, id, e, Batch{Parts: parts}); !errors.Is(err, lease.ErrMoved) {
			return err
		}
	}
}

// followParts follows what other hubs of the fleet store.
func (q *Queue) followParts() error {
	c, err := q.o.JS.OrderedConsumer(q.ctx, Stream, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverNewPolicy, HeadersOnly: true})
	if err != nil {
		return err
	}
	w, err := c.Consume(func(m jetstream.Msg) {
		at, err := m.Metadata()
		if err != nil {
			return
		}
		id := strings.TrimPrefix(m.Subject(), Subjects)
		q.mu.Lock()
		defer q.mu.Unlock()
		if k := q.known[id]; k != nil && q.ends[id].sequence < at.Sequence.Stream {
			delete(q.ends, id)
			q.changed(k)
		}
	})
	if err == nil {
		context.AfterFunc(q.ctx, w.Stop)
	}
	return err
}

// End returns the id of a task's last stored part.
func (q *Queue) End(ctx context.Context, id string) (int64, error) {
	e, err := q.endOf(ctx, id)
	return e.id, err
}

// Read returns a task's next parts after an id, none if there are none yet. at is the place in the
// stream from which to look, 0 if unknown; next is the one for the next call.
func (q *Queue) Read(ctx context.Context, id string, after int64, at uint64) (b Batch, next uint64, err error) {
	e, err := q.endOf(ctx, id)
	if err != nil || e.id <= after {
		return b, at, err
	}
	if at == 0 && after > 0 {
		if at, err = q.find(ctx, id, after, e); err != nil {
			return b, at, err
		}
	}
	for {
		var sequence uint64
		if b, sequence, err = q.message(ctx, id, max(at, 1)); err != nil || sequence == 0 {
			return b, at, err
		}
		at = sequence + 1
		if skip := after + 1 - b.First; skip < int64(len(b.Parts)) {
			if skip > 0 {
				b.Parts, b.First = b.Parts[skip:], after+1
			}
			return b, at, nil
		}
	}
}

// message returns a task's first message at or after a place in the stream; sequence is 0 if there is
// none.
func (q *Queue) message(ctx context.Context, id string, at uint64) (b Batch, sequence uint64, err error) {
	m, err := q.parts.GetMsg(ctx, at, jetstream.WithGetMsgSubject(Subjects+id))
	return batchOf(id, m, err)
}

// batchOf decodes the message that a request returned; sequence is 0 if there is none.
func batchOf(id string, m *jetstream.RawStreamMsg, err error) (b Batch, sequence uint64, _ error) {
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return b, 0, nil
	}
	if err == nil {
		err = json.Unmarshal(m.Data, &b)
	}
	if err != nil {
		return b, 0, fmt.Errorf("read the stream of %s: %w", id, err)
	}
	return b, m.Sequence, nil
}

// find returns, by binary search, a place in the stream from which Read finds what comes after an id.
func (q *Queue) find(ctx context.Context, id string, after int64, e end) (uint64, error) {
	low, high := uint64(1), e.sequence+1
	for high-low > 1 {
		mid := low + (high-low)/2
		b, sequence, err := q.message(ctx, id, mid)
		switch {
		case err != nil:
			return 0, err
		case sequence == 0 || b.First > after+1:
			high = mid
		default:
			low = min(sequence, high-1)
		}
	}
	return low, nil
}
