package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"tandemux/host/workspace/travel"
	"tandemux/hub/lease"
	"tandemux/hub/queue"
	"tandemux/internal/apiclient"
	"tandemux/internal/pace"
)

// turn carries out one lease that the host has. It implements lease.Hub and lease.Work.
type turn struct {
	w   *Worker
	key lease.Held
	// began is when the hub was first asked to let the work begin.
	began   time.Duration
	resumed bool // an earlier process may have begun it
	// note is what the hub is told about the task on this host.
	note queue.Note
}

// Bounds of a message to the hub: parts, their bytes, and the bytes of a task's state.
const (
	batch      = 200
	batchBytes = 400 << 10
	maxPresent = 64 << 10
)

func (t *turn) Ask(ctx context.Context, id string, op lease.Op) (lease.Record, error) {
	if op.Verb == lease.Begin || op.Verb == lease.Finish {
		var err error
		if op.Note, err = json.Marshal(t.note); err != nil {
			return lease.Record{}, err
		}
	}
	var sent time.Duration // when the request that the hub takes as a sign of life was sent
	if op.Verb == lease.Begin {
		if t.began == 0 {
			t.began = clock() // a repeated request is no new sign of life to the hub
		}
		sent = t.began
	}
	if op.Verb == lease.Finish || op.Verb == lease.Redo { // the work has ended: the hub is told even if the lease may be over
		ctx = t.w.ctx
	}
	r, err := t.w.ask(ctx, "ask", queue.Ask{ID: id, Op: op})
	if err != nil || r.Record == nil {
		return lease.Record{}, err
	}
	if r.Record.State.Held() {
		t.w.mu.Lock()
		t.w.holder.Has(id, *r.Record, sent)
		t.w.mu.Unlock()
	}
	return *r.Record, nil
}

func (t *turn) Pause(ctx context.Context, tries int) error {
	pace.Sleep(ctx, time.Duration(min(tries+1, 20))*250*time.Millisecond)
	return ctx.Err()
}

// local sets the note, and so the name of the task on the host, from the record.
func (t *turn) local(r lease.Record) {
	if len(r.Note) > 0 {
		json.Unmarshal(r.Note, &t.note) //nolint:errcheck // an unreadable note is an empty one
	}
	if begins := queue.Local(t.key.ID, strconv.FormatUint(t.key.Lease, 10)); r.Home == "" && t.note.Local != begins {
		t.note = queue.Note{Local: begins}
	}
}

func (t *turn) path(more string) string { return "/tasks/" + url.PathEscape(t.note.Local) + more }

// do sends a request to the host, and repeats it while the host is away, as it may be restarting.
func (t *turn) do(ctx context.Context, method, path, once string, body, into any) error {
	r := apiclient.Request{Method: method, Path: path, Body: body, Header: http.Header{}}
	if once != "" {
		r.Header.Set("Idempotency-Key", once)
	}
	for tries := 0; ; tries++ {
		err := t.w.o.API.Do(ctx, r, into)
		if err == nil || ctx.Err() != nil || settled(err) || tries > 60 {
			return err
		}
		if err := t.Pause(ctx, tries); err != nil {
			return err
		}
	}
}

// Prepare implements lease.Work: it makes the task on the host unless it exists.
func (t *turn) Prepare(ctx context.Context, _ string, r lease.Record) error {
	t.local(r)
	var s queue.Spec
	if err := json.Unmarshal(r.Task, &s); err != nil {
		return fmt.Errorf("%w: %w", lease.ErrRefused, err)
	}
	if r.Home != "" {
		err := t.do(ctx, http.MethodGet, t.path(""), "", nil, nil)
		if apiclient.Status(err) == http.StatusNotFound {
			return fmt.Errorf("%w: the task is not on the host %s any more", lease.ErrRefused, r.Home)
		}
		return err
	}
	body := map[string]json.RawMessage{}
	err := json.Unmarshal(s.New, &body)
	if err != nil {
		return fmt.Errorf("%w: %w", lease.ErrRefused, err)
	}
	if body["name"], err = json.Marshal(t.note.Local); err != nil {
		return err
	}
	if s.Files != nil {
		words, err := t.unpack(ctx, *s.Files)
		if err != nil {
			return err
		}
		if body["workspace"], err = json.Marshal(words); err != nil {
			return err
		}
	}
	body["lent"] = json.RawMessage("true")
	// Ask even if the task exists: it may be only half made, and vanish with its host's process.
	err = t.do(ctx, http.MethodPost, "/tasks", t.note.Local, body, nil)
	if apiclient.Status(err) == http.StatusConflict && t.do(ctx, http.MethodGet, t.path(""), "", nil, nil) == nil {
		return nil // a host that died in between has made it
	}
	if settled(err) {
		travel.Remove(t.w.dirOf(t.note.Local))            //nolint:errcheck // if it fails, sweepFiles does it
		if apiclient.Status(err) == http.StatusNotFound { // the agent is missing, which another host may have
			t.w.mu.Lock()
			t.w.listed = time.Time{}
			t.w.mu.Unlock()
			return err
		}
		return fmt.Errorf("%w: %s", lease.ErrRefused, err.Error())
	}
	return err
}

// localPart has the fields of a stream's part that matter here.
type localPart struct {
	Type     string `json:"type"`
	ID       string `json:"id"`
	Metadata struct {
		EventID string `json:"eventId"`
		Outcome string `json:"outcome"`
		Reason  string `json:"reason"`
	} `json:"metadata"`
}

// errOver ends a stream once the turn has ended.
var errOver = errors.New("the turn has ended")

// Run implements lease.Work: it sends the event once and tells the hub what the turn does.
func (t *turn) Run(ctx context.Context, id string, r lease.Record) (lease.End, error) {
	t.local(r)
	work := r.Work[0]
	t.w.mu.Lock()
	may := t.w.holder.May(t.key, clock())
	t.w.mu.Unlock()
	if !may {
		return lease.End{}, errors.New("the lease may be over")
	}
	event, err := t.send(ctx, work)
	if settled(err) {
		if t.resumed && r.Policy == lease.Again { // the previous process had given it up
			return lease.End{Outcome: lease.OutcomeLost}, nil
		}
		return lease.End{Outcome: "failed", Reason: "the host refuses it: " + err.Error()}, nil
	}
	if err != nil {
		return lease.End{}, err
	}
	end, err := t.follow(ctx, id, r, event)
	if err == nil {
		var s queue.Spec
		if json.Unmarshal(r.Task, &s) == nil && s.Files != nil && (r.Policy != lease.Again || end.Outcome != lease.OutcomeLost) {
			t.home(ctx, *s.Files)
		}
		t.present(ctx)
	}
	return end, err
}

// send sends the event to the task on the host and returns the event's id there.
func (t *turn) send(ctx context.Context, work string) (string, error) {
	reply, err := lease.Insist(ctx, t, func() (queue.Reply, error) { return t.w.ask(ctx, "event", queue.Wanted{Held: t.key, Event: work}) })
	if err != nil {
		return "", err
	}
	var e struct {
		ID string `json:"id"`
	}
	once := fmt.Sprint(work, "-", t.key.Lease) // work that the same host does again is another event there
	err = t.do(ctx, http.MethodPost, t.path("/events"), once, map[string]json.RawMessage{"content": reply.Body}, &e)
	return e.ID, err
}

// follow tells the hub what the turn of an event does, until the turn has ended. It does not tell the
// end of an interrupted turn that is to be done again.
func (t *turn) follow(ctx context.Context, id string, r lease.Record, event string) (end lease.End, err error) {
	work := r.Work[0]
	var told int64
	if told, err = t.tell(ctx, 0, nil); err != nil {
		return end, err
	}
	stream, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := pipe{t: t, ctx: stream, cancel: cancel, told: told, event: []byte(event), work: []byte(work)}
	defer p.stop()
	query := url.Values{"follow": {"true"}}
	// Read from the last turn's end, also what the hub has already: this turn's end may be among it,
	// and the record does not have it yet.
	if t.note.Last > 0 {
		query.Set("after", strconv.FormatInt(t.note.Last, 10))
	}
	ours, fault := false, ""
	err = t.w.o.API.Stream(stream, apiclient.Request{Method: http.MethodGet, Path: t.path("/stream"), Query: query}, func(e apiclient.Event) error {
		var part localPart
		if err := json.Unmarshal([]byte(e.Data), &part); err != nil {
			return fmt.Errorf("read the host's stream: %w", err)
		}
		if part.Type == "start" {
			ours = part.ID == event
		}
		if !ours {
			return nil
		}
		at, err := strconv.ParseInt(e.ID, 10, 64)
		if err != nil {
			return fmt.Errorf("read the host's stream: %w", err)
		}
		again := r.Policy == lease.Again && part.Type == "finish" && part.Metadata.Outcome == lease.OutcomeLost
		if fault != "" && !again {
			if err := p.add(at-1, []byte(fault), true); err != nil {
				return err
			}
		}
		if fault = ""; r.Policy == lease.Again && part.Type == "error" {
			fault = e.Data // held back until the next part tells whether the turn is done again
			return nil
		}
		if !again {
			text := []byte(e.Data)
			if part.Type == "question-end" {
				text = t.w.by(t.note.Local, part.ID, text)
			}
			if err := p.add(at, text, part.Type != "text-delta"); err != nil {
				return err
			}
		}
		switch part.Type {
		case "question", "question-end":
			t.present(ctx)
			return t.say(ctx, id)
		case "finish":
			end.Outcome, end.Reason, t.note.Last = part.Metadata.Outcome, part.Metadata.Reason, at
			return errOver
		}
		return nil
	})
	if errors.Is(err, errOver) {
		return end, nil
	}
	if cause := context.Cause(stream); cause != nil {
		return end, cause
	}
	if err == nil { // the task is over, and no end of the turn was told
		return lease.End{Outcome: "failed", Reason: "the task was stopped on its host"}, nil
	}
	return end, err
}

// gather is how long small parts wait for others before they go to the hub.
const gather = 100 * time.Millisecond

// pipe gathers parts before they go to the hub.
type pipe struct {
	t           *turn
	ctx         context.Context
	cancel      context.CancelCauseFunc // ends the stream that the parts come from
	event, work []byte

	mu    sync.Mutex
	told  int64
	first int64
	parts []json.RawMessage
	size  int
	timer *time.Timer
}

// add takes a part. It sends all parts that wait at once if now is set or they are many, else soon.
func (p *pipe) add(at int64, text []byte, now bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at <= p.told {
		return nil
	}
	if len(p.parts) == 0 {
		p.first = at
	}
	// The fleet knows the event by another name, which replaces the host's wherever the part has it.
	text = bytes.ReplaceAll(text, append(append([]byte{'"'}, p.event...), '"'), append(append([]byte{'"'}, p.work...), '"'))
	p.parts, p.size = append(p.parts, text), p.size+len(text)
	if now || len(p.parts) >= batch || p.size >= batchBytes {
		return p.flush()
	}
	if p.timer == nil {
		p.timer = time.AfterFunc(gather, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.timer != nil {
				if err := p.flush(); err != nil {
					p.cancel(err)
				}
			}
		})
	}
	return nil
}

// flush sends the parts that wait. The caller holds mu.
func (p *pipe) flush() (err error) {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if len(p.parts) == 0 {
		return nil
	}
	if p.told, err = p.t.tell(p.ctx, p.first, p.parts); err == nil {
		p.parts, p.size = nil, 0
	}
	return err
}

func (p *pipe) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

// tell sends parts to the hub until it has them, and returns the number of the last that it has.
func (t *turn) tell(ctx context.Context, first int64, parts []json.RawMessage) (int64, error) {
	r, err := lease.Insist(ctx, t, func() (queue.Reply, error) {
		return t.w.ask(ctx, "parts", queue.Parts{Held: t.key, First: first, Parts: parts})
	})
	return r.Last, err
}

// present reads the task's state on the host into the note.
func (t *turn) present(ctx context.Context) {
	var now json.RawMessage
	if err := t.w.o.API.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: t.path("")}, &now); err == nil && len(now) <= maxPresent {
		t.note.Present = now
	}
}

// say tells the hub the note.
func (t *turn) say(ctx context.Context, id string) error {
	text, err := json.Marshal(t.note)
	if err != nil {
		return err
	}
	_, err = t.Ask(ctx, id, lease.Op{Verb: lease.Note, Host: t.w.o.Host, Lease: t.key.Lease, Note: text})
	if errors.Is(err, lease.Stale) {
		return err
	}
	return nil // the next note says it again
}

func (t *turn) Drop(_ string, r lease.Record) {
	if t.w.ctx.Err() != nil {
		return // this process ends; the next one goes on
	}
	t.local(r)
	if r.Home != "" { // only the turn is lost
		t.w.stop(t.note.Local, "/stop")
		return
	}
	t.w.stop(t.note.Local, "/cancel")
}
