package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"tandemux/host/front"
	"tandemux/host/workspace/travel"
	"tandemux/hub/queue"
	"tandemux/internal/apiclient"
	"tandemux/internal/pace"
)

// stop ends a task on the host that the fleet no longer has there: for good (/cancel), or only its
// turn (/stop). A host that does not answer is asked again, as the agent may still run.
func (w *Worker) stop(local, how string) {
	for w.ctx.Err() == nil { // else the next process does it
		ctx, done := context.WithTimeout(w.ctx, askTime)
		err := w.o.API.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: "/tasks/" + url.PathEscape(local) + how}, nil)
		done()
		if err == nil || settled(err) {
			return // it is over or was never made
		}
		w.o.Log.Warn("stop a task that the hub has given to others", "task", local, "err", err)
		pace.Sleep(w.ctx, checkTime)
	}
}

// settled reports whether err is a refusal by the host, which another attempt would not change.
func settled(err error) bool { status := apiclient.Status(err); return status != 0 && status < 500 }

// sweep lists the fleet's tasks on the host that are not over. It does so until a beat has told them
// to the hub: this process does not know what became of them before it began.
func (w *Worker) sweep() []string {
	w.mu.Lock()
	swept := w.swept
	w.mu.Unlock()
	if swept {
		return nil
	}
	ctx, done := context.WithTimeout(w.ctx, askTime)
	defer done()
	all := []string{}
	for cursor := ""; ; {
		var page struct {
			Data []struct {
				Name string `json:"name"`
			} `json:"data"`
			Next string `json:"next"`
		}
		q := url.Values{"status": {"CREATING,PENDING,IDLE,RUNNING,WAITING"}, "limit": {"1000"}, "cursor": {cursor}}
		if err := w.o.API.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: "/tasks", Query: q}, &page); err != nil {
			w.o.Log.Warn("list the host's tasks", "err", err)
			return nil
		}
		for _, t := range page.Data {
			if strings.HasPrefix(t.Name, queue.LocalPrefix) && len(all) < 1000 {
				all = append(all, t.Name)
			}
		}
		if cursor = page.Next; cursor == "" {
			return all
		}
	}
}

// answer returns a handler that answers a request of the hub.
func (w *Worker) answer(with func(text []byte) queue.Reply) nats.MsgHandler {
	return func(m *nats.Msg) {
		w.all.Go(func() {
			text, err := json.Marshal(with(m.Data))
			if err == nil {
				err = m.Respond(text)
			}
			if err != nil {
				w.o.Log.Warn("answer the hub", "err", err)
			}
		})
	}
}

// refuse returns an error for the hub.
func refuse(status int, text string) queue.Reply {
	return queue.Reply{Status: status, Text: text}
}

// maxAnswered bounds the answers whose question has not ended yet.
const maxAnswered = 1000

// answers notes who answers a question, before the host gets the answer; "" takes the note back after
// a refusal.
func (w *Worker) answers(c queue.Call, who string) {
	var a struct {
		Question string `json:"question_id"`
	}
	if c.Path != "/answers" || json.Unmarshal(c.Body, &a) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case who == "":
		delete(w.answered, c.Task+" "+a.Question)
	case len(w.answered) < maxAnswered:
		w.answered[c.Task+" "+a.Question] = who
	}
}

// by adds to the part that ends a question who answered it, if that is known.
func (w *Worker) by(task, question string, part []byte) []byte {
	w.mu.Lock()
	who := w.answered[task+" "+question]
	delete(w.answered, task+" "+question)
	w.mu.Unlock()
	name, err := json.Marshal(who)
	if err != nil || who == "" {
		return part
	}
	return slices.Concat(bytes.TrimSuffix(part, []byte("}")), []byte(`,"by":`), name, []byte("}"))
}

// call passes a request of the hub to the host's interface, for a task of the fleet.
func (w *Worker) call(text []byte) queue.Reply {
	var c queue.Call
	switch err := json.Unmarshal(text, &c); {
	case err != nil:
		return refuse(http.StatusBadRequest, "the hub's request can't be read")
	case !strings.HasPrefix(c.Task, queue.LocalPrefix) || !queue.Relayed(c.Method, c.Path):
		return refuse(http.StatusForbidden, "the hub may not ask for this")
	}
	query, err := url.ParseQuery(c.Query)
	if err != nil {
		return refuse(http.StatusBadRequest, "the query can't be read")
	}
	r := apiclient.Request{Method: c.Method, Path: "/tasks/" + url.PathEscape(c.Task) + c.Path, Query: query, Header: http.Header{}}
	if c.Person != "" {
		r.Header.Set(front.PersonHeader, c.Person)
	}
	if len(c.Body) > 0 {
		r.Raw, r.Type = bytes.NewReader(c.Body), c.Type
	}
	ctx, done := context.WithTimeout(w.ctx, askTime-time.Second)
	defer done()
	w.answers(c, c.Person)
	resp, err := w.o.API.Open(ctx, r)
	if err != nil {
		w.answers(c, "")
	}
	if refused, is := errors.AsType[*apiclient.Error](err); is {
		return refuse(refused.StatusCode, refused.Message)
	}
	if err != nil {
		return refuse(http.StatusServiceUnavailable, "the host does not answer: "+err.Error())
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, queue.MaxCall+1))
	switch {
	case err != nil:
		return refuse(http.StatusServiceUnavailable, "read the host's answer: "+err.Error())
	case len(body) > queue.MaxCall:
		return refuse(http.StatusRequestEntityTooLarge, "the answer is too long to go through a hub: ask the host itself")
	}
	if c.Method == http.MethodDelete {
		if err := travel.Remove(w.dirOf(c.Task)); err != nil {
			w.o.Log.Warn("remove what a task was made of", "err", err)
		}
	}
	return queue.Reply{Status: resp.StatusCode, Type: resp.Header.Get("Content-Type"), Body: body}
}
