package apiclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// maxLine bounds a line of a stream, in bytes.
const maxLine = 4 << 20

// Event is one of a stream.
type Event struct {
	ID   string
	Data string // JSON
}

// ErrCut is returned when a stream ended before its end and could not be gone on
// with.
var ErrCut = errors.New("the stream was cut off")

// away reports whether a host can't be reached just now.
func away(err error) bool {
	refused, is := errors.AsType[*Error](err)
	return !is || refused.StatusCode == http.StatusServiceUnavailable || refused.StatusCode == http.StatusBadGateway
}

// Stream reads the server-sent events that a request is answered with until [DONE],
// and goes on behind the last one whenever the connection is lost, or its host: with the next
// one that answers within Options.Away. each is called for
// every event, in order, once; an error of it ends the stream.
func (c *Client) Stream(ctx context.Context, r Request, each func(Event) error) error {
	failed, after := 0, ""
	var heard time.Time // when the host was last there
	r.Header = http.Header{"Accept": {"text/event-stream"}}
	for {
		if after != "" {
			r.Header.Set("Last-Event-ID", after)
			r.Query.Del("after")
		}
		resp, err := c.Open(ctx, r)
		switch {
		case err != nil && !heard.IsZero() && away(err) && time.Since(heard) < c.o.Away && ctx.Err() == nil:
			select {
			case <-time.After(firstPause):
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		case err != nil:
			return err
		}
		before := after
		over, err := read(resp, func(e Event) error {
			if e.ID != "" {
				after = e.ID
			}
			return each(e)
		})
		resp.Body.Close()
		heard = time.Now()
		switch {
		case over || err != nil && !errors.Is(err, ErrCut):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if failed++; after != before {
			failed = 0
		}
		if failed > max(c.o.MaxRetries, 1)*5 {
			return err
		}
		select {
		case <-time.After(min(firstPause<<min(failed, 6), 5*time.Second)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// read hands on a stream's events; over: it has ended as it should.
func read(resp *http.Response, each func(Event) error) (over bool, err error) {
	in := bufio.NewScanner(resp.Body)
	in.Buffer(make([]byte, 0, 64<<10), maxLine)
	var e Event
	var data []string
	for in.Scan() {
		name, value, _ := strings.Cut(in.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case in.Text() == "":
			if len(data) > 0 {
				e.Data = strings.Join(data, "\n")
				if e.Data == "[DONE]" {
					return true, nil
				}
				if err := each(e); err != nil {
					return false, err
				}
			}
			e, data = Event{}, nil
		case name == "id":
			e.ID = value
		case name == "data":
			data = append(data, value)
		}
	}
	if err := in.Err(); err != nil {
		return false, fmt.Errorf("%w: %w", ErrCut, err)
	}
	return false, ErrCut
}
