package api

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"tandemux/host/workspace/travel"
	"tandemux/hub/queue"
)

// stallTime is for how long who sends or takes files may do nothing.
const stallTime = time.Minute

// Room is how much of files may be sent.
type Room struct {
	// Most is of one task's, All of all of the person's tasks, and Left of these.
	Most int64 `json:"most"`
	All  int64 `json:"all"`
	Left int64 `json:"left"`
}

func getRoom(r *request) (any, error) {
	n := Room{Most: travel.MaxSize}
	n.All, n.Left = r.q.Room(r.who.Name)
	return n, nil
}

// Travelled is what a task began with, and what it has made of that by its last turn.
type Travelled struct {
	ID     string       `json:"id"`
	Name   string       `json:"name"`
	Files  travel.Load  `json:"files"`
	Result *travel.Load `json:"result,omitempty"`
	// Unkept is why what the last turn made is not in the result.
	Unkept string `json:"unkept,omitempty"`
}

func getTravelled(r *request, t queue.Task) (any, error) {
	if t.Spec.Files == nil {
		return nil, queue.NotFound.Errorf("the task %s was made without files", t.Spec.Name)
	}
	return Travelled{t.Spec.ID, t.Spec.Name, *t.Spec.Files, t.Note().Result, t.Note().Unkept}, nil
}

// putFiles takes what a task begins with.
func putFiles(r *request, t queue.Task) (any, error) {
	d := &delayed{out: http.NewResponseController(r.w), body: r.Body, w: r.w}
	return struct{}{}, r.q.PutFiles(r.Context(), t, d)
}

// getFiles sends what a task began with, or its result.
func getFiles(result bool) func(*request, queue.Task) (any, error) {
	return func(r *request, t queue.Task) (any, error) {
		l, from, err := r.q.Files(r.Context(), t, result)
		if err != nil {
			return nil, err
		}
		r.w.Header().Set("Content-Type", "application/octet-stream")
		r.w.Header().Set("Content-Length", strconv.FormatInt(l.Size, 10))
		r.w.WriteHeader(http.StatusOK)
		if _, err := io.Copy(&delayed{out: http.NewResponseController(r.w), w: r.w}, l.Reader(from)); err != nil {
			panic(http.ErrAbortHandler) // who takes it sees that it is not whole
		}
		return written{}, nil
	}
}

// delayed reads a request's body, or writes an answer, as long as the other side goes on.
type delayed struct {
	out  *http.ResponseController
	body io.Reader
	w    io.Writer
}

func (d *delayed) Read(b []byte) (int, error) {
	d.out.SetReadDeadline(time.Now().Add(stallTime)) //nolint:errcheck // then it is not bounded
	n, err := d.body.Read(b)
	if err != nil {
		d.out.SetReadDeadline(time.Time{}) //nolint:errcheck // as above
	}
	return n, err
}

func (d *delayed) Write(b []byte) (int, error) {
	d.out.SetWriteDeadline(time.Now().Add(stallTime)) //nolint:errcheck // then it is not bounded
	return d.w.Write(b)
}
