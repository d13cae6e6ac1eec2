package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandemux/host/task"
	"tandemux/host/task/access"
)

// defaultBody bounds a body where its route says nothing, in bytes.
const defaultBody = 1 << 20

// bodyTime is how long a body may take that is decoded as a whole.
const bodyTime = 30 * time.Second

// Request is a request to one route.
type Request struct {
	*http.Request
	// W is for handlers that write by themselves and return Streamed.
	W http.ResponseWriter
	// Who asks.
	Who access.Principal
	// Tasks is the service; it is open.
	Tasks *task.Service

	route *Route
	path  map[string]string
}

// Part is a segment of the path, by its name in the route, unescaped.
func (r *Request) Part(name string) string {
	v, ok := r.path[name]
	if !ok {
		panic("api: " + r.route.Name + " has no segment " + name)
	}
	return v
}

// Text is a parameter of the query, or a header that the route declares.
func (r *Request) Text(name string) string {
	i := slices.IndexFunc(r.route.Params, func(p Param) bool { return p.Name == name })
	switch {
	case i < 0:
		panic("api: " + r.route.Name + " declares no parameter " + name)
	case r.route.Params[i].Header:
		return r.Header.Get(name)
	}
	return r.URL.Query().Get(name)
}

// Has reports whether a parameter was given.
func (r *Request) Has(name string) bool { return r.URL.Query().Has(name) }

// Int is a parameter that is a number; check has seen that it is one in its range.
func (r *Request) Int(name string, otherwise int64) int64 {
	if text := r.Text(name); text != "" {
		otherwise, _ = strconv.ParseInt(text, 10, 64)
	}
	return otherwise
}

// Bool is a parameter that is true or false.
func (r *Request) Bool(name string) bool {
	v, _ := strconv.ParseBool(r.Text(name))
	return v
}

// Time is a parameter that is a time: RFC 3339, or a duration before now.
func (r *Request) Time(name string) time.Time {
	t, _ := parseTime(r.Text(name))
	return t
}

func parseTime(text string) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return time.Now().Add(-d), nil
	}
	return time.Parse(time.RFC3339, text)
}

// fits says what is wrong with a parameter's text.
func (p *Param) fits(text string) error {
	if text == "" {
		return nil
	}
	wrong, want := false, ""
	switch {
	case len(p.Enum) > 0:
		wrong, want = !slices.Contains(p.Enum, text), fmt.Sprintf("%s is %q: want %s", p.Name, clip(text), strings.Join(p.Enum, ", "))
	case p.Kind == "integer" && p.Most != 0:
		n, err := strconv.ParseInt(text, 10, 64)
		wrong, want = err != nil || n < p.Least || n > p.Most, fmt.Sprintf("%s: want a number from %d to %d", p.Name, p.Least, p.Most)
	case p.Kind == "boolean":
		_, err := strconv.ParseBool(text)
		wrong, want = err != nil, p.Name+": want true or false"
	case p.Kind == timeKind:
		_, err := parseTime(text)
		wrong, want = err != nil, p.Name+": want a time such as 2026-01-02T15:04:05Z, or how long ago, such as 10m"
	}
	if wrong {
		return Errorf(http.StatusUnprocessableEntity, "%s", want)
	}
	return nil
}

// Limit is the parameter limit of paged lists.
func (r *Request) Limit() int { return int(r.Int("limit", 100)) }

// limited is the body, bounded as the route says. One that is longer fails with
// 413.
func (r *Request) limited() io.ReadCloser {
	most := r.route.BodyLimit
	if most == 0 {
		most = defaultBody
	}
	return http.MaxBytesReader(r.W, r.Request.Body, most)
}

// Stream is a body of bytes, bounded as the route says.
func (r *Request) Stream() io.Reader { return tooLarge{r.limited()} }

type tooLarge struct{ io.Reader }

func (t tooLarge) Read(b []byte) (int, error) {
	n, err := t.Reader.Read(b)
	return n, bodyError(err)
}

// decoded makes a handler of one that wants the body as a value.
func decoded[T any](handle func(*Request, T) (any, error)) func(*Request) (any, error) {
	return func(r *Request) (any, error) {
		var in T
		if err := r.decode(&in); err != nil {
			return nil, err
		}
		return handle(r, in)
	}
}

// decode reads the body as the JSON that the route declares. Nothing at all counts
// as {}.
func (r *Request) decode(v any) error {
	http.NewResponseController(r.W).SetReadDeadline(time.Now().Add(bodyTime)) //nolint:errcheck // then it is not bounded
	text, err := io.ReadAll(r.limited())
	if err != nil {
		return bodyError(err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	} else if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return Errorf(http.StatusUnsupportedMediaType, "the body's Content-Type is %q: want application/json", clip(r.Header.Get("Content-Type")))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return decodeError(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Errorf(http.StatusBadRequest, "the body goes on after its JSON value")
	}
	return nil
}

func bodyError(err error) error {
	var long *http.MaxBytesError
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return err
	case errors.As(err, &long):
		return Errorf(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", long.Limit)
	}
	return Errorf(http.StatusBadRequest, "read the body: %v", err)
}

// decodeError tells text that is no JSON (400) from JSON that does not fit (422).
func decodeError(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF):
		return Errorf(http.StatusBadRequest, "the body is not JSON: %v", err)
	case errors.As(err, &kind):
		return Errorf(http.StatusUnprocessableEntity, "%s: want %s, not %s", clip(kind.Field), kind.Type, kind.Value)
	}
	return Errorf(http.StatusUnprocessableEntity, "%s", clip(strings.TrimPrefix(err.Error(), "json: ")))
}

// check refuses parameters that the route does not know, and such that must be
// there and are not.
func (r *Request) check() error {
	query := r.URL.Query()
	known := map[string]*Param{}
	for i := range r.route.Params {
		p := &r.route.Params[i]
		known[p.Name] = p
		given := query.Has(p.Name)
		if p.Header {
			given = len(r.Header.Values(p.Name)) > 0
		}
		if p.Required && !given {
			return Errorf(http.StatusUnprocessableEntity, "%s is missing", p.Name)
		}
	}
	for name, values := range query {
		p := known[name]
		switch {
		case name == "tkn": // the host's token
		case p == nil || p.Header:
			return Errorf(http.StatusUnprocessableEntity, "no parameter is named %q", clip(name))
		case len(values) > 1:
			return Errorf(http.StatusUnprocessableEntity, "%s is given more than once", name)
		}
		if p == nil {
			continue
		}
		if err := p.fits(values[0]); err != nil {
			return err
		}
	}
	return nil
}

// clip bounds what is quoted in an error.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > 200 {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:200], ""), len(s))
	}
	return s
}
