package api

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

// StreamQuery selects a part of a stream.
type StreamQuery struct {
	After  string `json:"after,omitempty" flag:"after" doc:"Begin behind this event, as Last-Event-ID does, or with what comes next: now"`
	Follow bool   `json:"follow,omitempty" flag:"follow" doc:"Go on until the task is over"`
	Format string `json:"format,omitempty" enum:"parts,ui" doc:"parts, the default, or ui: the AI SDK's UI message stream, of the turn that began last"`
}

const (
	// batch is how many events are read at once.
	batch = 256
	// writeTime is how long writing to a reader may take.
	writeTime = 30 * time.Second
	// keptText bounds the memory that is kept for the next batch, in bytes.
	keptText = 8 << 10
)

// Heartbeat is the time without events after which a reader is sent a sign of life.
var Heartbeat = 15 * time.Second

// Events sends server-sent events to one reader, until writing takes longer than writeTime.
type Events struct {
	To  io.Writer
	Out *http.ResponseController
}

// Say writes text and flushes it.
func (e *Events) Say(text []byte) error {
	e.Out.SetWriteDeadline(time.Now().Add(writeTime)) //nolint:errcheck // then it is not bounded
	if _, err := e.To.Write(text); err != nil {
		return err
	}
	return e.Out.Flush()
}

// Run calls write at once and with all news, until write reports over or an error, ctx ends or ended
// is closed. quiet says that there was no news for the time of Heartbeat.
func (e *Events) Run(ctx context.Context, ended <-chan struct{}, news func() <-chan struct{}, write func(quiet bool) (over bool, err error)) {
	beat := time.NewTimer(Heartbeat)
	defer beat.Stop()
	err, quiet := e.Say(nil), false // sends the header, so that the reader sees the stream begin
	for err == nil {
		changed := news()
		var over bool
		if over, err = write(quiet); err != nil || over {
			return
		}
		beat.Reset(Heartbeat)
		quiet = false
		select {
		case <-changed:
		case <-beat.C:
			quiet, err = true, e.Say([]byte(": here\n\n"))
		case <-ctx.Done():
			return
		case <-ended:
			return
		}
	}
}

// Begin returns the event after which a reader begins, from a query or a Last-Event-ID; end is the
// stream's last event. resume says that the reader named an event.
func (q StreamQuery) Begin(lastID string, end int64) (at int64, resume bool, err error) {
	from := cmp.Or(q.After, lastID)
	switch at, err = strconv.ParseInt(from, 10, 64); {
	case from == "":
		return 0, false, nil
	case from == "now":
		return end, false, nil
	case err != nil || at < 0:
		return 0, false, Errorf(http.StatusUnprocessableEntity, "%q is no id of an event of this stream", clip(from))
	case at > end:
		return 0, false, Errorf(http.StatusUnprocessableEntity, "the stream has no event %d: its last is %d", at, end)
	}
	return at, true, nil
}

// reader sends a task's stream to one caller. What it has not sent is only in the store, so a slow
// reader delays nobody and uses no memory.
type reader struct {
	r *Request
	Events
	task   string
	at     int64 // the last event that was written
	resume bool  // the caller named the event to begin after
	told   bool  // something was sent
	last   string
	follow bool
	text   []byte // the text of a batch, reused
	ui     *ui    // nil sends parts as they are
}

func newReader(r *Request, id string) *reader {
	return &reader{r: r, Events: Events{r, http.NewResponseController(r.W)}, task: id}
}

func streamTask(r *Request, in StreamQuery) (none, error) {
	t, err := r.task(access.Read)
	if err != nil {
		return none{}, err
	}
	rd := newReader(r, t.ID)
	rd.follow = in.Follow
	last := r.Header.Get("Last-Event-ID")
	if in.Format == "ui" && in.After+last == "" {
		_, err = rd.beginTurn(r.Context())
	} else {
		rd.at, rd.resume, err = in.Begin(last, r.Tasks.Store.StreamEnd(t.ID))
		if in.Format == "ui" {
			rd.ui = newUI()
			rd.ui.begun = rd.resume
		}
	}
	if err != nil {
		return none{}, err
	}
	rd.stream()
	return none{}, nil
}

// stream writes until nothing more will come.
func (d *reader) stream() {
	d.r.W.Header().Set("Cache-Control", "no-store")
	d.r.W.Header().Set("X-Accel-Buffering", "no")
	if d.ui != nil {
		d.r.W.Header().Set("X-Vercel-AI-UI-Message-Stream", "v1")
	}
	d.Run(d.r.Context(), d.r.Tasks.Ended(), func() <-chan struct{} { return d.r.Tasks.News(d.task) }, func(bool) (bool, error) { return d.write() })
}

// write writes everything that the reader lacks. over says that nothing more will come. That can be so
// after the end of a turn, and when the news is no part.
func (d *reader) write() (over bool, err error) {
	fresh := false
	for {
		some, err := d.batch()
		if err != nil {
			return false, err
		}
		fresh = fresh || some
		if some {
			continue
		}
		if d.ui != nil {
			return d.message()
		}
		if fresh && d.last != task.PartFinish {
			return false, nil
		}
		t, rest, err := d.state()
		if err != nil {
			return d.done() // the task is deleted
		}
		// What was stored before state was called is sent first.
		if some, err := d.batch(); err != nil || some {
			if err != nil {
				return false, err
			}
			continue
		}
		if t.Status.Final() && rest || rest && !d.follow && d.ended() {
			return d.done()
		}
		return false, nil
	}
}

// batch writes the next events, if there are any.
func (d *reader) batch() (some bool, err error) {
	events, first, err := d.r.Tasks.Store.Stream(d.r.Context(), d.task, d.at, batch)
	if err != nil || len(events) == 0 {
		return false, err
	}
	d.text = d.text[:0]
	if first > d.at+1 && (d.resume || d.told) && d.ui == nil {
		d.text = fmt.Appendf(d.text, "id: %d\ndata: {\"type\":\"error\",\"error\":\"%d events are not kept any more; the task's messages have what was said\"}\n\n", first-1, first-1-d.at)
	}
	for _, e := range events {
		d.at, d.told, d.last = e.Seq, true, e.Type
		if d.ui != nil {
			if d.text, err = d.ui.append(d.text, e); err != nil {
				return false, err
			}
			continue
		}
		d.text = append(strconv.AppendInt(append(d.text, "id: "...), e.Seq, 10), "\ndata: "...)
		d.text = append(append(d.text, e.Data...), "\n\n"...)
	}
	if err := d.Say(d.text); err != nil {
		return false, err
	}
	if cap(d.text) > keptText {
		d.text = nil
	}
	return true, nil
}

// message ends a UI message at the end of its turn, when the turn waits for a person, or when nothing
// more will come.
func (d *reader) message() (over bool, err error) {
	switch t, rest, err := d.state(); {
	case err == nil && !d.ui.over && len(d.ui.asks) > 0:
		if d.text, err = appendChunks(d.text[:0], d.ui.waits()); err == nil {
			err = d.Say(d.text)
		}
		if err != nil {
			return false, err
		}
	case err == nil && !d.ui.over && !(t.Status.Final() && rest):
		return false, nil
	}
	return d.done()
}

// state returns the task. Call it before reading the stream, which then has everything that was stored
// with the end of a turn.
func (d *reader) state() (store.Task, bool, error) {
	t, err := d.r.Tasks.Store.Tasks.Find(d.r.Context(), d.task)
	if err == nil && t.ID != d.task {
		err = store.NotFound
	}
	if err != nil {
		return t, false, err
	}
	rest, err := d.r.Tasks.AtRest(d.r.Context(), t)
	return t, rest, err
}

// ended reports whether a turn that the reader was sent has ended, and no other has begun.
func (d *reader) ended() bool {
	if d.told {
		return d.last == task.PartFinish
	}
	return d.resume && d.at > 0
}

func (d *reader) done() (bool, error) { return true, d.Say([]byte("data: [DONE]\n\n")) }
