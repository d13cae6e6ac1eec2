package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	hostapi "tandemux/host/task/api"

	"tandemux/host/task"
	"tandemux/hub/lease"
	"tandemux/hub/queue"
)

// heartbeat is how long a reader hears nothing before it is told that the stream lives.
var heartbeat = 15 * time.Second

// writeTime is how long a reader may take nothing.
const writeTime = 30 * time.Second

const done = "data: [DONE]\n\n"

// reader is a reader of a task's stream. Nothing waits for it in memory.
type reader struct {
	r      *request
	out    *http.ResponseController
	id     string
	after  int64  // the last part that it has
	at     uint64 // where the next is in the store; 0: not known
	follow bool
	resume bool
	last   string // the type of the last part that it was told
}

func streamTask(r *request, t queue.Task) (_ any, err error) {
	q := r.URL.Query()
	d := &reader{r: r, out: http.NewResponseController(r.w), id: t.Spec.ID}
	if text := q.Get("follow"); text != "" {
		if d.follow, err = strconv.ParseBool(text); err != nil {
			return nil, hostapi.Errorf(http.StatusUnprocessableEntity, "follow is true or false")
		}
	}
	if f := q.Get("format"); f != "" && f != "parts" {
		return nil, hostapi.Errorf(http.StatusUnprocessableEntity, "a hub streams parts only: ask the host for %.20q", f)
	}
	end, err := r.q.End(r.Context(), d.id)
	if err != nil {
		return nil, err
	}
	switch from := cmp.Or(q.Get("after"), r.Header.Get("Last-Event-ID")); from {
	case "":
	case "now":
		d.after = end
	default:
		if d.after, err = strconv.ParseInt(from, 10, 64); err != nil || d.after < 0 || d.after > end {
			return nil, hostapi.Errorf(http.StatusUnprocessableEntity, "the stream has no part %.30q: its last is %d", from, end)
		}
		d.resume = true
	}
	h := r.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	d.run()
	return written{}, nil
}

// run writes what there is and what comes.
func (d *reader) run() {
	beat := time.NewTimer(heartbeat)
	defer beat.Stop()
	if d.say(nil) != nil {
		return
	}
	for {
		news := d.r.q.News(d.id)
		t, known := d.r.q.Task(d.id) // before what was stored: how it ended is stored first
		over, err := d.write()
		if err != nil {
			return
		}
		rests := !known || t.Record.State.Final() || t.Record.State == lease.Idle
		if over && rests && (!known || t.Record.State.Final() || !d.follow && d.ended(t)) {
			d.say([]byte(done)) //nolint:errcheck // the reader is gone
			return
		}
		beat.Reset(heartbeat)
		select {
		case <-news:
		case <-beat.C:
			if over && rests && !d.follow && len(t.Record.Ends) > 0 {
				d.say(untold(t.Record.Ends[len(t.Record.Ends)-1])) //nolint:errcheck // the reader is gone
				return
			}
			if d.say([]byte(": here\n\n")) != nil {
				return
			}
		case <-d.r.Context().Done():
			return
		}
	}
}

// untold ends the stream of a turn whose end the hub noted, but was stopped before it
// told it.
func untold(e lease.End) []byte {
	text, _ := json.Marshal(map[string]string{"type": task.PartError, "error": strings.TrimSuffix(fmt.Sprintf("the turn's last parts were not written down; it is noted as %q: %s", e.Outcome, e.Reason), ": ")})
	return []byte("data: " + string(text) + "\n\n" + done)
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
		if err := d.say(text); err != nil {
			return false, err
		}
	}
}

func (d *reader) say(text []byte) error {
	d.out.SetWriteDeadline(time.Now().Add(writeTime)) //nolint:errcheck // then it is not bounded
	if _, err := d.r.w.Write(text); err != nil {
		return err
	}
	return d.out.Flush()
}
