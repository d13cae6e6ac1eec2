package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tandemux/host/hooks"
	"tandemux/hub/queue"
	"tandemux/internal/pace"
)

const (
	postTime  = 10 * time.Second
	ackTime   = 15 * time.Second // after which what a node had begun that died is told again
	storeTime = 10 * time.Second
	pullTime  = 10 * time.Minute
	beatTime  = 5 * time.Second // of the store; without two of them what was asked of it is asked again
)

// Event is the body of a POST.
type Event struct {
	Event string    `json:"event"` // "task"
	At    time.Time `json:"at"`
	Task  Task      `json:"task"`
	Parts []Part    `json:"parts"`
}

// Task says of which task the parts are.
type Task struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Person  string `json:"person"`
	Project string `json:"project,omitempty"`
}

// Part is one of a task's stream, with the id that it has there.
type Part struct {
	ID   int64           `json:"id"`
	Part json.RawMessage `json:"part"`
}

func consumerName(id string) string { return "webhook_" + id }

// run delivers what a webhook is to be told until ctx ends, whatever happens to the store.
func (hs *Hooks) run(ctx context.Context, h webhook) {
	client := hooks.Client(h.Inside)
	defer client.CloseIdleConnections()
	key, err := hooks.ParseKey(h.Key)
	if err != nil {
		hs.o.Log.Error("read a webhook", "webhook", h.Name, "err", err)
		return
	}
	for ctx.Err() == nil {
		if err := hs.follow(ctx, h, client, key); err != nil && ctx.Err() == nil {
			hs.o.Log.Warn("follow what tasks do", "webhook", h.Name, "err", err)
		}
		pace.Sleep(ctx, time.Second)
	}
}

func (hs *Hooks) follow(ctx context.Context, h webhook, client *http.Client, key []byte) error {
	short, done := context.WithTimeout(ctx, storeTime)
	c, err := hs.o.Bus.JS.Consumer(short, queue.Stream, consumerName(h.ID))
	if errors.Is(err, jetstream.ErrConsumerNotFound) { // else it is left as another node has made it
		c, err = hs.o.Bus.JS.CreateOrUpdateConsumer(short, queue.Stream, jetstream.ConsumerConfig{
			Durable: consumerName(h.ID), DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: h.From,
			AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackTime, MaxAckPending: 1, MaxDeliver: -1,
		})
	}
	done()
	if err != nil {
		return err
	}
	messages, err := c.Messages(jetstream.PullMaxMessages(1), jetstream.PullExpiry(pullTime), jetstream.PullHeartbeat(beatTime))
	if err != nil {
		return err
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Drain)() // what is on its way here is given back
	for {
		m, err := messages.Next()
		if err == nil {
			err = hs.deliver(ctx, h, client, key, m)
		}
		if err != nil {
			return err
		}
	}
}

// deliver tells one message, and its consumer how that went.
func (hs *Hooks) deliver(ctx context.Context, h webhook, client *http.Client, key []byte, m jetstream.Msg) error {
	at, err := m.Metadata()
	if err != nil {
		return err
	}
	id := strings.TrimPrefix(m.Subject(), queue.Subjects)
	body, err := hs.body(ctx, h, id, at.Timestamp, m.Data())
	if err != nil {
		return errors.Join(err, m.NakWithDelay(hs.pauses[0]))
	}
	if body != nil {
		limited, cancel := context.WithTimeout(ctx, postTime)
		err = hooks.Post(limited, client, h.URL, key, fmt.Sprintf("msg_%s_%d", h.ID, at.Sequence.Stream), body)
		if err != nil && ctx.Err() == nil && limited.Err() != nil {
			err = fmt.Errorf("it took longer than %v", postTime)
		}
		cancel()
	}
	about := []any{"webhook", h.Name, "task", id, "attempt", at.NumDelivered, "err", err}
	switch {
	case err != nil && ctx.Err() != nil: // another node, or the next hub, goes on with it
		return m.Nak()
	case hooks.Refused(err):
		hs.o.Log.Warn("an address refuses what a task did: it is left out", about...)
	case err != nil:
		hs.o.Log.Warn("a webhook failed: it is tried again", about...)
		return m.NakWithDelay(hs.pauses[min(int(at.NumDelivered), len(hs.pauses))-1]) //nolint:gosec // it counts from one
	}
	short, done := context.WithTimeout(context.WithoutCancel(ctx), storeTime) // what was answered counts, though the hub ends
	defer done()
	return m.DoubleAck(short)
}

// body is what a webhook is told of a message, nil for nothing.
func (hs *Hooks) body(ctx context.Context, h webhook, id string, at time.Time, data []byte) ([]byte, error) {
	var b queue.Batch
	if err := json.Unmarshal(data, &b); err != nil {
		hs.o.Log.Error("read what a task did", "task", id, "err", err)
		return nil, nil
	}
	short, done := context.WithTimeout(ctx, storeTime)
	defer done()
	s, err := hs.o.Queue.Spec(short, id)
	switch {
	case errors.Is(err, queue.NotFound): // it was deleted
		return nil, nil
	case err != nil:
		return nil, err
	}
	e := Event{Event: "task", At: at.UTC(), Task: Task{id, s.Name, s.Person, s.Project}}
	for i, p := range b.Parts {
		var kind struct {
			Type string `json:"type"`
		}
		if len(h.On) == 0 || json.Unmarshal(p, &kind) == nil && slices.Contains(h.On, kind.Type) {
			e.Parts = append(e.Parts, Part{b.First + int64(i), p})
		}
	}
	if len(e.Parts) == 0 {
		return nil, nil
	}
	return json.Marshal(e)
}
