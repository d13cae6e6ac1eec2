package api

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

var streamRoutes = []Route{{
	Method: http.MethodGet, Path: "/tasks/{task}/stream", Name: "streamTask", Tag: taskTag, Summary: "Stream what a task does, as server-sent events.",
	Detail: "Each event's data is a part, its id a number; Last-Event-ID resumes behind that. The stream ends with [DONE] once a turn has ended and nothing is to be done, or with follow once the task is over. " +
		"Without Last-Event-ID it begins with the oldest part that is kept; an idle task that nothing was ever sent to waits for the first event.",
	Params: []Param{
		{Name: "Last-Event-ID", Header: true, Doc: "The id of the last event that was received"},
		{Name: "after", Kind: "integer", Doc: "The same, as a parameter; \"now\" begins with what comes next"},
		{Name: "follow", Kind: "boolean", Doc: "Go on until the task is over"},
	},
	Result: Raw{"text/event-stream"}, Handle: streamTask,
}}

const (
	// batch is how many events are read at once.
	batch = 256
	// heartbeat is how long a reader hears nothing before it is told that the
	// stream lives.
	heartbeat = 15 * time.Second
	// writeTime is how long a reader may take nothing.
	writeTime = 30 * time.Second
	// keptText is how much of a batch's memory is kept for the next, in bytes.
	keptText = 8 << 10
)

// reader is a reader of a task's stream. What it has not been told yet is in the
// store alone: however slow it is, it holds up nobody and nothing waits for it in
// memory.
type reader struct {
	r      *Request
	out    *http.ResponseController
	task   string
	at     int64 // the last event that was written
	resume bool  // it said where it was
	told   bool  // it was told something
	last   string
	follow bool
	text   []byte // of a batch, reused
}

func streamTask(r *Request) (any, error) {
	t, err := r.Tasks.Find(r.Context(), r.Who, access.Read, r.Part("task"))
	if err != nil {
		return nil, err
	}
	rd := &reader{r: r, out: http.NewResponseController(r.W), task: t.ID, follow: r.Bool("follow")}
	if err := rd.begin(); err != nil {
		return nil, err
	}
	h := r.W.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	r.W.WriteHeader(http.StatusOK)
	rd.run()
	return Streamed, nil
}

// begin finds where the reader is.
func (d *reader) begin() error {
	from := d.r.Text("Last-Event-ID")
	if d.r.Has("after") {
		from = d.r.Text("after")
	}
	switch {
	case from == "":
		return nil
	case from == "now" && d.r.Has("after"):
		d.at = d.r.Tasks.Store.StreamEnd(d.task)
		return nil
	}
	n, err := strconv.ParseInt(from, 10, 64)
	if err != nil || n < 0 {
		return Errorf(http.StatusUnprocessableEntity, "%q is no id of an event of this stream", clip(from))
	}
	if end := d.r.Tasks.Store.StreamEnd(d.task); n > end {
		return Errorf(http.StatusUnprocessableEntity, "the stream has no event %d: its last is %d", n, end)
	}
	d.at, d.resume = n, true
	return nil
}

// run writes what there is and what comes.
func (d *reader) run() {
	news := d.r.Tasks.Listen(d.task)
	defer news.Close()
	beat := time.NewTimer(heartbeat)
	defer beat.Stop()
	if d.flush() != nil { // the header, so that the reader knows
		return
	}
	for {
		rung := news.News()
		over, err := d.write()
		if err != nil || over {
			return
		}
		beat.Reset(heartbeat)
		select {
		case <-rung:
		case <-beat.C:
			if d.say([]byte(": here\n\n")) != nil || d.flush() != nil {
				return
			}
		case <-d.r.Context().Done():
			return
		case <-d.r.Tasks.Ended():
			return
		}
	}
}

// write writes all that the reader lacks. over: nothing more will come. Whether that
// is so is asked when it may be: after the end of a turn, and when the news is no part.
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
		if fresh && d.last != task.PartFinish {
			return false, nil
		}
		t, rest, err := d.state()
		if err != nil {
			return d.done() // the task is deleted
		}
		// What was written down before the state was asked for is told first.
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
	events, first, err := d.r.Tasks.Stream(d.r.Context(), d.task, d.at, batch)
	if err != nil || len(events) == 0 {
		return false, err
	}
	d.text = d.text[:0]
	if first > d.at+1 && (d.resume || d.told) {
		d.text = fmt.Appendf(d.text, "id: %d\ndata: {\"type\":\"error\",\"error\":\"%d events are not kept any more; the task's messages have what was said\"}\n\n", first-1, first-1-d.at)
	}
	for _, e := range events {
		d.text = append(strconv.AppendInt(append(d.text, "id: "...), e.Seq, 10), "\ndata: "...)
		d.text = append(append(d.text, e.Data...), "\n\n"...)
		d.at, d.told, d.last = e.Seq, true, e.Type
	}
	if err := d.say(d.text); err != nil {
		return false, err
	}
	if cap(d.text) > keptText {
		d.text = nil
	}
	return true, d.flush()
}

// state is the task's, as it was before the stream is read: what is written down
// together with the end of a turn is in the stream then.
func (d *reader) state() (store.Task, bool, error) {
	t, err := d.r.Tasks.Store.Task(d.r.Context(), d.task)
	if err == nil && t.ID != d.task {
		err = store.ErrNotFound
	}
	if err != nil {
		return t, false, err
	}
	rest, err := d.r.Tasks.AtRest(d.r.Context(), t)
	return t, rest, err
}

// ended reports whether a turn has ended that the reader knows of, and no other has
// begun: either it was told so now, or it had been told all before.
func (d *reader) ended() bool {
	if d.told {
		return d.last == task.PartFinish
	}
	return d.resume && d.at > 0
}

func (d *reader) done() (bool, error) {
	err := d.say([]byte("data: [DONE]\n\n"))
	if err == nil {
		err = d.flush()
	}
	return true, err
}

func (d *reader) say(text []byte) error {
	d.out.SetWriteDeadline(time.Now().Add(writeTime)) //nolint:errcheck // then it is not bounded
	_, err := d.r.W.Write(text)
	return err
}

func (d *reader) flush() error { return d.out.Flush() }
