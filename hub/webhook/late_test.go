package webhook

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tandemux/host/hooks"
	"tandemux/hub/front"
	"tandemux/hub/queue"
)

// late is a bucket that does the first change and does not answer in time.
type late struct {
	jetstream.KeyValue
	answered bool
}

func (l *late) first(err error) error {
	if err == nil && !l.answered {
		l.answered = true
		return context.DeadlineExceeded
	}
	return err
}

func (l *late) Create(ctx context.Context, key string, value []byte, o ...jetstream.KVCreateOpt) (uint64, error) {
	n, err := l.KeyValue.Create(ctx, key, value, o...)
	return n, l.first(err)
}

func (l *late) Delete(ctx context.Context, key string, o ...jetstream.KVDeleteOpt) error {
	return l.first(l.KeyValue.Delete(ctx, key, o...))
}

// TestLate: a webhook is made, and removed, also where the store's first answer is late.
func TestLate(t *testing.T) {
	s := begin(t)
	hs, _ := s.node()
	kv := hs.kv
	hs.kv = &late{KeyValue: kv}
	made, err := hs.add(t.Context(), Wanted{Name: "a", URL: "http://127.0.0.1:1/x"}, front.Operator)
	if err != nil || made.Name != "a" {
		t.Errorf("it is made as %+v, %v", made, err)
	}
	if _, err := hs.add(t.Context(), Wanted{Name: "a", URL: "http://127.0.0.1:1/x"}, front.Operator); err == nil {
		t.Error("a second one of the name is made")
	}
	hs.kv = &late{KeyValue: kv}
	s.must(hs.remove(t.Context(), "a"))
	if err := hs.remove(t.Context(), "a"); err == nil {
		t.Error("one that is not there is removed")
	}
}

// following is a webhook for an address that nobody but the test follows.
func (s *hub) following(hs *Hooks, r *receiver) (webhook, jetstream.Consumer) {
	s.Helper()
	h := webhook{Wanted: Wanted{Name: "a", URL: r.URL + "/a"}, Key: hooks.NewKey(), ID: "whk_a", From: 1}
	r.keys["/a"] = h.Key
	text, err := json.Marshal(h)
	s.must(err)
	_, err = hs.kv.Put(s.Context(), h.Name, text)
	s.must(err)
	c, err := s.bus.JS.CreateOrUpdateConsumer(s.Context(), queue.Stream, jetstream.ConsumerConfig{
		Durable: consumerName(h.ID), AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackTime, MaxAckPending: 1, MaxDeliver: -1,
	})
	s.must(err)
	s.task("tsk_a", "ann")
	s.says("tsk_a", "start")
	return h, c
}

// deaf is a node that follows no record.
func (s *hub) deaf() *Hooks {
	s.Helper()
	kv, err := s.bus.JS.CreateKeyValue(s.Context(), jetstream.KeyValueConfig{Bucket: bucket})
	s.must(err)
	return &Hooks{o: Options{Bus: s.bus, Queue: s.queue, Log: s.logger()}, ctx: s.Context(), kv: kv, pauses: []time.Duration{time.Millisecond}}
}

// ends is a way to an address whose user ends as the answer comes.
type ends struct {
	http.RoundTripper
	end func()
}

func (e ends) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := e.RoundTripper.RoundTrip(r)
	e.end()
	return a, err
}

// TestAnswered: what was answered counts as delivered, though the hub ends at that moment.
func TestAnswered(t *testing.T) {
	s := begin(t)
	hs := s.deaf()
	good := receive(t, nil)
	h, c := s.following(hs, good)
	ctx, cancel := context.WithCancel(t.Context())
	key, err := hooks.ParseKey(h.Key)
	s.must(err)
	m, err := c.Next()
	s.must(err)
	client := &http.Client{Transport: ends{http.DefaultTransport, cancel}}
	s.must(hs.deliver(ctx, h, client, key, m))
	at, err := c.Info(t.Context())
	if s.must(err); at.AckFloor.Stream != 1 || good.parts() != "tsk_a:1" {
		t.Errorf("%d messages count as delivered of %q", at.AckFloor.Stream, good.parts())
	}
}
