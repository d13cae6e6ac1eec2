package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"tandemux/hub/lease"
	"tandemux/hub/queue"
	"tandemux/internal/apiclient"
	"tandemux/internal/fault"
	"tandemux/internal/pace"
)

// Options describe the host and the hub that it works for.
type Options struct {
	Host   string
	NATS   *nats.Conn
	API    *apiclient.Client // of the host
	Labels []string          // used where the credential grants none
	Room   int               // how many tasks it does at once
	Dir    string            // where the files of tasks that travel here are kept; "": it takes none
	Log    *slog.Logger
}

// askTime is how long an answer of the hub or the host is waited for.
var askTime = 10 * time.Second

const (
	checkTime = time.Second // between looks at the clock while work may have to be stopped
	agentTime = time.Minute // how old the list of agents may get
	firstBeat = 5 * time.Second
)

// Worker does the fleet's tasks on one host.
type Worker struct {
	o     Options
	beats chan struct{}
	ctx   context.Context
	all   sync.WaitGroup

	mu     sync.Mutex
	terms  lease.Terms
	holder *lease.Holder
	work   map[lease.Held]context.CancelFunc
	offers map[lease.Held]*offer
	gave   map[lease.Held]bool // leases that were given up because they might have been over
	agents []string
	listed time.Time
	swept  bool
	// answered has who answered which question, until the question's end was told.
	answered map[string]string
}

// Run works until ctx ends. Tasks that are under way go on; the next Run takes them up.
func Run(ctx context.Context, o Options) error {
	w := &Worker{
		o: o, beats: make(chan struct{}, 1), ctx: ctx,
		terms: lease.DefaultTerms, holder: lease.NewHolder(lease.DefaultTerms), work: map[lease.Held]context.CancelFunc{}, offers: map[lease.Held]*offer{},
		gave: map[lease.Held]bool{}, answered: map[string]string{},
	}
	for kind, answer := range map[string]nats.MsgHandler{"tell": w.told, "call": w.answer(w.call), "take": w.answer(w.pieceOf)} {
		s, err := o.NATS.Subscribe(queue.Subject(kind, o.Host), answer)
		if err != nil {
			return fmt.Errorf("take tasks: %w", err)
		}
		defer s.Unsubscribe() //nolint:errcheck // it ends either way
	}
	defer w.all.Wait()
	w.sweepFiles() // before any task is taken
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.beats:
		case <-timer.C:
		}
		said := make(chan error, 1)
		w.all.Go(func() { said <- w.beat() })
		for answered := false; !answered; {
			w.pause() // the beat may never be answered
			select {
			case err := <-said:
				if answered = true; err != nil && ctx.Err() == nil {
					o.Log.Warn("say what this host has", "err", err)
				}
			case <-time.After(checkTime):
			}
		}
		timer.Reset(w.pause())
	}
}

// pause stops work whose lease may be over, and returns how long to wait for the next beat.
func (w *Worker) pause() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	// Another host may have been given these tasks.
	now := clock()
	for _, key := range w.holder.All() {
		if !w.holder.May(key, now) {
			w.o.Log.Warn("the hub has not answered for too long: its task is stopped", "task", key.ID)
			w.gave[key] = true
			w.drop(key)
		}
	}
	for key := range w.work {
		if w.holder.Bounded(key) {
			return min(checkTime, w.terms.Beat())
		}
	}
	return min(firstBeat, w.terms.Beat())
}

// drop gives up a lease and stops its work. The caller holds mu.
func (w *Worker) drop(key lease.Held) {
	w.holder.Drop(key)
	if stop := w.work[key]; stop != nil {
		stop()
	}
}

func (w *Worker) soon() { pace.Wake(w.beats) }

// beat tells the hub what the host has, and acts on the answer.
func (w *Worker) beat() error {
	local := w.sweep()
	b := queue.Beat{Labels: w.o.Labels, Agents: w.listAgents(), Local: local}
	sent := clock()
	w.mu.Lock()
	b.Has, b.Room = w.holder.All(), w.o.Room-len(w.work)
	w.mu.Unlock()
	reply, err := w.ask(w.ctx, "beat", b)
	if err != nil {
		return err
	}
	if reply.Leases == nil {
		return errors.New("the hub's answer has no leases")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.terms != reply.Leases.Terms && reply.Leases.Terms.Beat() > 0 {
		w.terms = reply.Leases.Terms
		w.holder.SetTerms(w.terms)
	}
	for _, key := range reply.Leases.Over {
		w.drop(key)
	}
	for id, r := range reply.Leases.Yours {
		w.got(id, r, sent)
	}
	w.swept = w.swept || local != nil
	for _, name := range reply.Leases.Gone {
		w.all.Go(func() { w.stop(name, "/cancel") })
	}
	for _, name := range reply.Leases.Rest {
		w.all.Go(func() { w.stop(name, "/stop") })
	}
	return nil
}

// got takes up a lease that the host has, unless its work runs already. The caller holds mu.
func (w *Worker) got(id string, r lease.Record, sent time.Duration) {
	key := lease.Held{ID: id, Lease: r.Lease}
	if !w.gave[key] {
		w.holder.Has(id, r, sent)
	}
	if w.work[key] != nil || w.ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancel(w.ctx)
	w.work[key] = cancel
	if w.gave[key] { // its work was stopped
		w.all.Go(func() {
			_, err := w.ask(ctx, "ask", queue.Ask{ID: id, Op: lease.Op{Verb: lease.Redo, Lease: key.Lease}})
			if err != nil && ctx.Err() == nil {
				w.o.Log.Warn("give back a task that was stopped", "task", id, "err", err)
			}
			w.mu.Lock()
			delete(w.work, key)
			w.mu.Unlock()
			cancel()
		})
		return
	}
	w.all.Go(func() {
		t := &turn{w: w, key: key, resumed: r.State == lease.Begun}
		err := lease.Carry(ctx, t, t, w.o.Host, id, r)
		if err != nil && ctx.Err() == nil {
			w.o.Log.Warn("a task of the fleet", "task", id, "err", err)
		}
		w.mu.Lock()
		delete(w.work, key)
		w.holder.Drop(key)
		w.mu.Unlock()
		cancel()
		w.soon() // there is room
	})
}

// told handles a message of the hub: a new lease, or a request to beat.
func (w *Worker) told(m *nats.Msg) {
	var t queue.Tell
	if err := json.Unmarshal(m.Data, &t); err != nil {
		w.o.Log.Warn("the hub says what can't be read", "err", err)
		return
	}
	if t.Record == nil || t.Record.Host != w.o.Host || !t.Record.State.Held() {
		w.soon()
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.got(t.ID, *t.Record, 0)
}

// ask sends the hub a request and waits for the answer. What a worker has not told when it ends, the
// next one tells.
func (w *Worker) ask(ctx context.Context, kind string, v any) (r queue.Reply, err error) {
	ctx, done := context.WithTimeout(ctx, askTime)
	defer done()
	return w.askWithin(ctx, kind, v)
}

func (w *Worker) askWithin(ctx context.Context, kind string, v any) (r queue.Reply, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return r, err
	}
	m, err := w.o.NATS.RequestWithContext(ctx, queue.Subject(kind, w.o.Host), text)
	if err != nil {
		return r, fmt.Errorf("ask the hub: %w", err)
	}
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return r, fmt.Errorf("ask the hub: %w", err)
	}
	switch {
	case r.Status == http.StatusConflict || r.Status == http.StatusNotFound:
		return r, lease.Stale.Errorf("%s", r.Text)
	case r.Status != 0:
		return r, fault.New(r.Status, "").Errorf("%s", r.Text)
	}
	return r, nil
}

// listAgents returns the names of the agents that are deployed here.
func (w *Worker) listAgents() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.listed) < agentTime {
		return w.agents
	}
	var page struct {
		Data []struct {
			Name string `json:"name"`
		} `json:"data"`
	}
	ctx, done := context.WithTimeout(w.ctx, askTime)
	defer done()
	if err := w.o.API.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: "/agents"}, &page); err != nil {
		w.o.Log.Warn("list the host's agents", "err", err)
		return w.agents
	}
	w.agents, w.listed = nil, time.Now()
	for _, a := range page.Data {
		w.agents = append(w.agents, a.Name)
	}
	slices.Sort(w.agents)
	return w.agents
}
