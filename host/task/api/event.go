package api

import (
	"encoding/json"
	"net/http"

	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

var eventRoutes = []Route{
	{
		Method: http.MethodPost, Path: "/tasks/{task}/events", Name: "sendEvent", Tag: "events", Summary: "Send an event to a task.",
		Detail: "It begins a turn when those before it have ended.",
		Params: []Param{idempotencyParam}, Body: NewContent{}, BodyLimit: store.MaxContent + 4<<10, Result: store.Event{}, Status: http.StatusCreated,
		Errors: []int{http.StatusConflict, http.StatusRequestEntityTooLarge}, Handle: idempotent(decoded(sendEvent)),
	},
	{
		Method: http.MethodGet, Path: "/tasks/{task}/events", Name: "listEvents", Tag: "events", Summary: "List a task's events, oldest first.",
		Params: []Param{limitParam, cursorParam}, Result: Page[store.Event]{}, Handle: listEvents,
	},
	{
		Method: http.MethodGet, Path: "/events/{event}", Name: "getEvent", Tag: "events", Summary: "Get an event.",
		Result: store.Event{}, Handle: getEvent,
	},
	{
		Method: http.MethodPost, Path: "/tasks/{task}/messages", Name: "sendMessage", Tag: "messages", Summary: "Add a message to a task.",
		Detail: "This is what an agent says to who watches; to say something to the agent, send an event.",
		Params: []Param{idempotencyParam}, Body: NewContent{}, BodyLimit: store.MaxContent + 4<<10, Result: store.Message{}, Status: http.StatusCreated,
		Errors: []int{http.StatusConflict, http.StatusRequestEntityTooLarge}, Handle: idempotent(decoded(sendMessage)),
	},
	{
		Method: http.MethodGet, Path: "/tasks/{task}/messages", Name: "listMessages", Tag: "messages", Summary: "List a task's messages.",
		Params: []Param{
			{Name: "direction", Enum: []string{"newer", "older"}, Doc: "From the oldest on (newer, the default), or from the newest backwards (older); with a cursor from there"},
			limitParam, cursorParam,
		},
		Result: Page[store.Message]{}, Handle: listMessages,
	},
	{
		Method: http.MethodGet, Path: "/messages/{message}", Name: "getMessage", Tag: "messages", Summary: "Get a message.",
		Result: store.Message{}, Handle: getMessage,
	},
}

// NewContent is what is sent.
type NewContent struct {
	Content json.RawMessage `json:"content" doc:"A text, {\"type\":\"text\",\"text\":…}, {\"type\":\"data\",\"data\":…}, or a list of these"`
}

func (c NewContent) parts() ([]store.Part, error) { return task.ParseContent(c.Content) }

func sendEvent(r *Request, in NewContent) (any, error) {
	parts, err := in.parts()
	if err != nil {
		return nil, err
	}
	return r.Tasks.Send(r.Context(), r.Who, r.Part("task"), parts)
}

func listEvents(r *Request) (any, error) {
	t, p, err := r.taskPage()
	if err != nil {
		return nil, err
	}
	all, next, err := r.Tasks.Store.Events(r.Context(), t.ID, p)
	return Page[store.Event]{all, next}, err
}

// taskPage is the task of a request for a part of a list about it.
func (r *Request) taskPage() (store.Task, store.Page, error) {
	t, err := r.Tasks.Find(r.Context(), r.Who, access.Read, r.Part("task"))
	if err != nil {
		return t, store.Page{}, err
	}
	return t, r.paged(), nil
}

func getEvent(r *Request) (any, error) {
	e, err := r.Tasks.Store.Event(r.Context(), r.Part("event"))
	if err == nil {
		err = r.ofTask(e.TaskID, access.Read, "event", e.ID)
	}
	return e, err
}

// ofTask refuses what belongs to a task that the caller may not see.
func (r *Request) ofTask(id string, verb access.Verb, what, ref string) error {
	_, err := r.Tasks.Find(r.Context(), r.Who, verb, id)
	if status, _ := statusOf(err); err != nil && status == http.StatusNotFound {
		return Errorf(http.StatusNotFound, "there is no %s %q", what, clip(ref))
	}
	return err
}

func sendMessage(r *Request, in NewContent) (any, error) {
	parts, err := in.parts()
	if err != nil {
		return nil, err
	}
	return r.Tasks.Say(r.Context(), r.Who, r.Part("task"), parts)
}

func listMessages(r *Request) (any, error) {
	t, p, err := r.taskPage()
	if err != nil {
		return nil, err
	}
	all, next, err := r.Tasks.Store.Messages(r.Context(), t.ID, r.Text("direction") == "older", p)
	return Page[store.Message]{all, next}, err
}

func getMessage(r *Request) (any, error) {
	m, err := r.Tasks.Store.Message(r.Context(), r.Part("message"))
	if err == nil {
		err = r.ofTask(m.TaskID, access.Read, "message", m.ID)
	}
	return m, err
}
