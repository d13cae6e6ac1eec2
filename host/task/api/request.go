package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
	"tandemux/internal/fault"
	"tandemux/internal/plaintext"
)

// bodyTime is how long reading a whole body may take.
const bodyTime = 30 * time.Second

// Request is a request to one route.
type Request struct {
	*http.Request
	// W is for handlers that write the answer themselves.
	W http.ResponseWriter
	// Who makes the request.
	Who access.Principal
	// Tasks is the open service.
	Tasks *task.Service

	route  *Route
	status int  // the status of success
	wrote  bool // Write was called
}

// Write writes a part of an answer that is bytes.
func (r *Request) Write(b []byte) (int, error) {
	if !r.wrote {
		r.W.Header().Set("Content-Type", r.route.gives)
		r.W.Header().Set("X-Content-Type-Options", "nosniff") // no browser may interpret what an agent wrote
		r.wrote = true
	}
	return r.W.Write(b)
}

// ref returns the value of the path's first parameter.
func (r *Request) ref() string {
	_, name, _ := strings.Cut(r.route.Path, "{")
	name, _, _ = strings.Cut(name, "}")
	return r.PathValue(name)
}

// read fills in from the query or the body.
func (r *Request) read(in reflect.Value) error {
	query := r.URL.Query()
	query.Del("tkn") // the host's token
	if r.route.Asks() {
		return ReadQuery(in, query)
	}
	for name := range query {
		return unknown(name)
	}
	text, err := r.whole()
	if err != nil {
		return err
	}
	return Decode(text, r.Header.Get("Content-Type"), in.Addr().Interface())
}

func unknown(name string) error {
	return Errorf(http.StatusUnprocessableEntity, "no parameter is named %q", clip(name))
}

// ReadQuery fills a struct from parameters, and returns an error if it has no member for one.
func ReadQuery(in reflect.Value, query url.Values) error {
	for _, f := range reflect.VisibleFields(in.Type()) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		values, given := query[name]
		delete(query, name)
		into := in.FieldByIndex(f.Index)
		switch {
		case into.Kind() == reflect.Slice:
			into.Set(reflect.ValueOf(values)) // a list of strings
			continue
		case len(values) > 1:
			return Errorf(http.StatusUnprocessableEntity, "%s is given more than once", name)
		case !given && options == "":
			return Errorf(http.StatusUnprocessableEntity, "%s is missing", name)
		case !given || values[0] == "":
			continue
		}
		if err := setParam(into, f.Tag, values[0]); err != nil {
			return Errorf(http.StatusUnprocessableEntity, "%s: %v", name, err)
		}
	}
	for name := range query {
		return unknown(name)
	}
	return nil
}

func setParam(into reflect.Value, tag reflect.StructTag, text string) error {
	if u, ok := into.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch into.Kind() {
	case reflect.Bool:
		v, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("want true or false")
		}
		into.SetBool(v)
	case reflect.Int, reflect.Int64:
		least, most, _ := strings.Cut(tag.Get("range"), ",")
		from, _ := strconv.ParseInt(least, 10, 64)
		to, _ := strconv.ParseInt(most, 10, 64)
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < from || n > to {
			return fmt.Errorf("want a number from %d to %d", from, to)
		}
		into.SetInt(n)
	default:
		if enum := tag.Get("enum"); enum != "" && !slices.Contains(strings.Split(enum, ","), text) {
			return fmt.Errorf("want one of %s, not %q", enum, clip(text))
		}
		into.SetString(text)
	}
	return nil
}

// When is a time: RFC 3339, or a duration ago.
type When struct{ time.Time }

func (t *When) UnmarshalText(text []byte) error {
	if d, err := time.ParseDuration(string(text)); err == nil && d >= 0 {
		t.Time = time.Now().Add(-d)
		return nil
	}
	if t.Time.UnmarshalText(text) != nil {
		return errors.New("want a time such as 2026-01-02T15:04:05Z, or how long ago, such as 10m")
	}
	return nil
}

// stream returns a body of bytes. Reading beyond the route's limit fails with 413.
func (r *Request) stream() io.Reader {
	return Bounded{http.MaxBytesReader(r.W, r.Body, r.route.limit)}
}

// Bounded rewords the errors of an http.MaxBytesReader.
type Bounded struct{ io.Reader }

func (t Bounded) Read(b []byte) (int, error) {
	n, err := t.Reader.Read(b)
	switch long, is := errors.AsType[*http.MaxBytesError](err); {
	case is:
		err = Errorf(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", long.Limit)
	case err != nil && !errors.Is(err, io.EOF):
		err = Errorf(http.StatusBadRequest, "read the body: %v", err)
	}
	return n, err
}

// whole reads the body up to the route's limit.
func (r *Request) whole() ([]byte, error) {
	http.NewResponseController(r.W).SetReadDeadline(time.Now().Add(bodyTime)) //nolint:errcheck // without it there is no deadline
	return io.ReadAll(r.stream())
}

// Decode decodes a body with the Content-Type of as JSON. An empty body counts as {}.
func Decode(text []byte, of string, v any) error {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	} else if kind, _, err := mime.ParseMediaType(of); err != nil || kind != "application/json" {
		return Errorf(http.StatusUnsupportedMediaType, "the body's Content-Type is %q: want application/json", clip(of))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		// Text that is not JSON gives 400, JSON that does not fit gives 422.
		if _, is := errors.AsType[*json.SyntaxError](err); is || errors.Is(err, io.ErrUnexpectedEOF) {
			return Errorf(http.StatusBadRequest, "the body is not JSON: %v", err)
		}
		if kind, is := errors.AsType[*json.UnmarshalTypeError](err); is {
			return Errorf(http.StatusUnprocessableEntity, "%s: want %s, not %s", clip(cmp.Or(kind.Field, "the body")), inWords(kind.Type), inJSON(kind.Value))
		}
		return Errorf(http.StatusUnprocessableEntity, "%s", clip(strings.TrimPrefix(err.Error(), "json: ")))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Errorf(http.StatusBadRequest, "the body goes on after its JSON value")
	}
	return nil
}

// inWords names the JSON type for a Go type, in an error.
func inWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return inWords(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number"
}

// inJSON names the JSON type that encoding/json has found, in an error.
func inJSON(value string) string {
	kind, _, _ := strings.Cut(value, " ")
	return cmp.Or(map[string]string{"string": "a text", "bool": "true or false", "array": "a list", "object": "an object", "number": "a number"}[kind], clip(value))
}

// clip shortens what is quoted in an error.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return plaintext.Clip(s, 200, fmt.Sprintf("… (%d bytes)", len(s)))
}

// keyHeader is the header with the idempotency key of a request (U66).
const keyHeader = "Idempotency-Key"

// maxKey bounds an idempotency key, in bytes.
const maxKey = 255

// once handles a request only once for each key.
func (r *Request) once() (any, error) {
	key, who := r.Header.Get(keyHeader), r.Who.String()
	if len(key) > maxKey {
		return nil, Errorf(http.StatusUnprocessableEntity, "%s has %d bytes, more than %d", keyHeader, len(key), maxKey)
	}
	body, err := r.whole()
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s, ctx := r.Tasks.Store, r.Context()
	was, err := s.Reserve(ctx, who, key, sha256.Sum256(append([]byte(r.Method+" "+r.URL.RequestURI()+"\n"), body...)))
	if err != nil {
		return nil, err
	}
	if was != nil {
		r.W.Header().Set("Idempotency-Replayed", "true")
		r.status = was.Status
		return json.RawMessage(was.Body), nil
	}
	result, err := r.route.handle(r)
	ctx = context.WithoutCancel(ctx) // the caller may be gone, and repeat the request
	if err != nil {
		if forget := s.Abandon(ctx, who, key); forget != nil {
			err = forget
		}
		return nil, err
	}
	text, err := json.Marshal(result)
	if err == nil {
		err = s.Settle(ctx, who, key, store.Reply{Status: r.status, Body: text})
	}
	if errors.Is(err, store.TooLarge) { // the answer is too large to be stored
		err = s.Abandon(ctx, who, key)
	}
	return result, err
}

// Error is the body of an answer that reports an error (U100).
type Error struct {
	StatusCode int    `json:"statusCode" doc:"The answer's status"`
	Code       string `json:"code" doc:"What is wrong, in a word" enum:"bad_request,unauthorized,forbidden,not_found,method_not_allowed,conflict,precondition_failed,too_large,unsupported_media_type,validation,precondition_required,too_many_requests,internal,unavailable,insufficient_storage"`
	Message    string `json:"message" doc:"What was wrong and what to do, for people"`
	Output     string `json:"output,omitempty" doc:"The end of what a check printed that failed"`
	// Conflicts has at most 1000 files.
	Conflicts []string `json:"conflicts,omitempty" doc:"The files that both sides changed, of a merge or an update that was not done for that"`
}

// codes are the values of Error.Code that are not made from the status's text.
var codes = map[int]string{
	http.StatusRequestEntityTooLarge: "too_large",
	http.StatusUnprocessableEntity:   "validation",
	http.StatusInternalServerError:   "internal",
	http.StatusServiceUnavailable:    "unavailable",
}

func Errorf(status int, format string, args ...any) error {
	return fault.New(status, "").Errorf(format, args...)
}

// statusOf returns the status for an error; told says that the caller gets the error's text.
func statusOf(err error) (status int, told bool) {
	switch status := fault.Status(err); {
	case status >= 400:
		return status, true
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable, false
	}
	return http.StatusInternalServerError, false
}

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

// Refuse writes an error. The host also uses it for requests that it does not let in
// (front.Door.Refuse).
func Refuse(w http.ResponseWriter, status int, text string) {
	refuse(w, Error{StatusCode: status, Message: text})
}

func refuse(w http.ResponseWriter, e Error) {
	e.Code = cmp.Or(codes[e.StatusCode], strings.ToLower(strings.ReplaceAll(http.StatusText(e.StatusCode), " ", "_")))
	WriteJSON(w, e.StatusCode, e)
}

func WriteJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"statusCode":500,"code":"internal","message":"the answer could not be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(text, '\n')) //nolint:errcheck // the caller is gone
}
