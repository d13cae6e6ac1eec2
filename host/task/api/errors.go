package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"tandemux/host/workspace"
	"tandemux/internal/fault"
)

// Error is the body of an answer that is none (U100).
type Error struct {
	StatusCode int    `json:"statusCode" doc:"The answer's status"`
	Code       string `json:"code" doc:"What is wrong, in a word" enum:"bad_request,unauthorized,forbidden,not_found,method_not_allowed,conflict,precondition_failed,too_large,unsupported_media_type,validation,precondition_required,too_many_requests,internal,unavailable,insufficient_storage"`
	Message    string `json:"message" doc:"What was wrong and what to do, for people"`
	Output     string `json:"output,omitempty" doc:"The end of what a check printed that failed"`
	// Conflicts are at most 1000.
	Conflicts []string `json:"conflicts,omitempty" doc:"The files that both sides changed, of a merge or an update that was not done for that"`
}

// codes are the words of Error.Code that are not those of the status.
var codes = map[int]string{
	http.StatusRequestEntityTooLarge: "too_large",
	http.StatusUnprocessableEntity:   "validation",
	http.StatusInternalServerError:   "internal",
	http.StatusServiceUnavailable:    "unavailable",
}

// Errorf is an error that is answered with a status.
func Errorf(status int, format string, args ...any) error {
	return fault.New(status, "").Errorf(format, args...)
}

// statusOf is how an error is answered; told says that its text is for the caller.
func statusOf(err error) (status int, told bool) {
	switch status := fault.Status(err); {
	case status >= 400:
		return status, true
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable, false
	}
	return http.StatusInternalServerError, false
}

// fail writes an error.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, told := statusOf(err)
	text := err.Error()
	if !told {
		a.Log.Error("answer a request", "method", r.Method, "path", r.URL.Path, "err", err)
		text = "the host could not do that; its log says why"
	}
	e := Error{StatusCode: status, Message: text}
	var printed interface{ Output() string }
	if errors.As(err, &printed) {
		e.Output = printed.Output()
	}
	if both, is := errors.AsType[*workspace.Conflicts](err); is && !both.Dirty {
		e.Conflicts = both.Paths
	}
	refuse(w, e)
}

// Refuse writes an error, also to a request that is not let in (front.Door.Refuse).
func Refuse(w http.ResponseWriter, status int, text string) {
	refuse(w, Error{StatusCode: status, Message: text})
}

func refuse(w http.ResponseWriter, e Error) {
	e.Code = cmp.Or(codes[e.StatusCode], strings.ToLower(strings.ReplaceAll(http.StatusText(e.StatusCode), " ", "_")))
	WriteJSON(w, e.StatusCode, e)
}

// WriteJSON answers with a value.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"statusCode":500,"code":"internal","message":"the answer could not be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(text, '\n')) //nolint:errcheck // the caller is gone
}
