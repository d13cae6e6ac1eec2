package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"

	hostapi "tandemux/host/task/api"

	"tandemux/host/task"
	"tandemux/hub/lease"
	"tandemux/hub/queue"
)

const done = "data: [DONE]\n\n"

// reader is a reader of a task's stream. Nothing waits for it in memory.
type reader struct {
	r *request
	hostapi.Events
	id     string
	after  int64  // the last part that it has
	at     uint64 // where the next is in the store; 0: not known
	follow bool
	resume bool
	last   string // the type of the last part that it was told
}

func streamTask(r *request, t queue.Task) (_ any, err error) {
	var in hostapi.StreamQuery
	if err := r.query(&in); err != nil {
		return nil, err
	}
	if in.Format == "ui" {
		return nil, hostapi.Errorf(http.StatusUnprocessableEntity, "a hub streams parts only: ask the host for %s", in.Format)
	}
	d := &reader{r: r, Events: hostapi.Events{To: r.w, Out: http.NewResponseController(r.w)}, id: t.Spec.ID, follow: in.Follow}
	end, err := r.q.End(r.Context(), d.id)
	if err == nil {
		d.after, d.resume, err = in.Begin(r.Header.Get("Last-Event-ID"), end)
	}
	if err != nil {
		return nil, err
	}
	h := r.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	d.Run(r.Context(), nil, func() <-chan struct{} { return r.q.News(d.id) }, d.tell)
	return written{}, nil
}

// tell writes what there is, and the end where nothing more will come.
func (d *reader) tell(quiet bool) (over bool, err error) {
	t, known := d.r.q.Task(d.id) // before what was stored: how it ended is stored first
	if over, err = d.write(); err != nil || !over {
		return false, err
	}
	idle := t.Record.State == lease.Idle
	switch final := !known || t.Record.State.Final(); {
	case final, idle && !d.follow && d.ended(t):
		return true, d.Say([]byte(done))
	case quiet && idle && !d.ended(t) && len(t.Record.Ends) > 0: // the hub that noted it was stopped before it told
		return false, d.r.q.Conclude(d.r.Context(), d.id, t.Record.Ends[len(t.Record.Ends)-1])
	}
	return false, nil
}

// ended reports whether a turn has ended that the reader knows of.
func (d *reader) ended(t queue.Task) bool {
	if d.last != "" {
		return d.last == task.PartFinish
	}
	return d.resume && d.after > 0 || len(t.Record.Ends) > 0
}

// write writes all that is stored; over: nothing was left.
func (d *reader) write() (over bool, err error) {
	for {
		b, next, err := d.r.q.Read(d.r.Context(), d.id, d.after, d.at)
		if err != nil || len(b.Parts) == 0 {
			return err == nil, err
		}
		var last struct {
			Type string `json:"type"`
		}
		json.Unmarshal(b.Parts[len(b.Parts)-1], &last) //nolint:errcheck // then it has none
		if t, known := d.r.q.Task(d.id); known && last.Type == task.PartFinish && t.Record.Lease == b.Lease && t.Record.State.Held() {
			return false, nil // its host is about to say how the turn ended
		}
		d.at = next
		var text []byte
		if b.First > d.after+1 && (d.resume || d.last != "") {
			text = append(strconv.AppendInt([]byte("id: "), b.First-1, 10), "\ndata: {\"type\":\"error\",\"error\":\"some parts are not kept any more\"}\n\n"...)
		}
		for i, p := range b.Parts {
			d.after = b.First + int64(i)
			text = append(strconv.AppendInt(append(text, "id: "...), d.after, 10), "\ndata: "...)
			text = append(append(text, p...), "\n\n"...)
		}
		d.last = cmp.Or(last.Type, "part")
		if err := d.Say(text); err != nil {
			return false, err
		}
	}
}
