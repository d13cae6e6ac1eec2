package apiclient

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// prefix is where the interface is.
	prefix = "/api/v1"
	// DefaultRetries is how often a request is sent again.
	DefaultRetries = 2
	// DefaultAway is Options.Away where nothing is said.
	DefaultAway = time.Minute
	// firstPause is the pause before the first retry; each is twice as long as the
	// one before. maxPause bounds what a host may ask for.
	firstPause = 200 * time.Millisecond
	maxPause   = 30 * time.Second
	// maxAnswer bounds an answer that is decoded, in bytes.
	maxAnswer = 64 << 20
)

type Options struct {
	// Dial opens a connection; nil: by the URL.
	Dial func(ctx context.Context) (net.Conn, error)
	// URL is the host's, such as "https://machine:7070"; with Dial it only names it.
	URL string
	// Token is the host's token or an API key; empty: none.
	Token string
	// MaxRetries is how often a request is sent again; less than 0: never; 0:
	// DefaultRetries.
	MaxRetries int
	// Away is for how long a stream that has begun waits for a host that can't be reached:
	// it died, and the next one is to be started, or the network is gone. 0: DefaultAway.
	Away time.Duration
	// Transport is what makes requests, for TLS that is checked in a way of its own;
	// nil: one of this client's own.
	Transport http.RoundTripper
	// Debug is told what is asked and answered, without what is in it; nil: nobody is.
	Debug func(format string, args ...any)
}

type Client struct {
	o    Options
	http *http.Client
}

// Error is an answer that is none.
type Error struct {
	StatusCode int    `json:"statusCode"`
	Code       string `json:"code"`
	Message    string `json:"message"`
	Output     string `json:"output"` // the end of what a check printed that failed
	// Conflicts are the files that both sides changed.
	Conflicts []string `json:"conflicts"`
}

func (e *Error) Error() string { return e.Message }

// ErrorCode is the host's word for it.
func (e *Error) ErrorCode() string { return e.Code }

// Status is that of an answer that is none, 0 of all other errors.
func Status(err error) int {
	if refused, is := errors.AsType[*Error](err); is {
		return refused.StatusCode
	}
	return 0
}

// New makes a client. Nothing is sent.
func New(o Options) *Client {
	switch {
	case o.MaxRetries == 0:
		o.MaxRetries = DefaultRetries
	case o.MaxRetries < 0:
		o.MaxRetries = 0
	}
	o.Away = cmp.Or(o.Away, DefaultAway)
	if o.Debug == nil {
		o.Debug = func(string, ...any) {}
	}
	o.URL = cmp.Or(o.URL, "http://localhost")
	o.URL = strings.TrimSuffix(o.URL, "/")
	rt := o.Transport
	if rt == nil {
		t := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 4, IdleConnTimeout: 3 * time.Second, DisableCompression: true}
		if o.Dial != nil {
			t.Proxy = nil
			t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return o.Dial(ctx) }
		}
		rt = t
	}
	return &Client{o: o, http: &http.Client{Transport: rt, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (c *Client) Close() { c.http.CloseIdleConnections() }

type Request struct {
	Method string
	// Path is below the interface's, such as "/tasks"; its segments are escaped. Beside
	// says that it is the host's own.
	Path   string
	Beside bool
	Query  url.Values
	// Body is sent as JSON; nil: none.
	Body any
	// Raw and Type are a body of bytes instead. It is read once: such a request is
	// not sent again once it was begun.
	Raw    io.Reader
	Type   string
	Header http.Header
}

// Do sends a request and decodes the answer into result, which may be nil.
func (c *Client) Do(ctx context.Context, r Request, result any) error {
	resp, err := c.Open(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("read the host's answer: %w", err)
	case len(text) > maxAnswer:
		return fmt.Errorf("read the host's answer: it is larger than %d bytes", maxAnswer)
	}
	if result != nil && len(bytes.TrimSpace(text)) > 0 {
		if err := json.Unmarshal(text, result); err != nil {
			return fmt.Errorf("read the host's answer: %w", err)
		}
	}
	return nil
}

// Open sends a request and gives the answer, whose body the caller closes, once it is
// one of success.
func (c *Client) Open(ctx context.Context, r Request) (*http.Response, error) {
	for name := range strings.SplitSeq(strings.TrimPrefix(r.Path, "/"), "/") {
		if name == "" || name == "." || name == ".." { // HTTP makes another path of it
			return nil, &Error{StatusCode: http.StatusNotFound, Code: "not_found", Message: fmt.Sprintf("%q is no name or id", name)}
		}
	}
	at, body, kind := c.o.URL+prefix+r.Path, r.Raw, r.Type
	if r.Beside {
		at = c.o.URL + r.Path
	}
	if len(r.Query) > 0 {
		at += "?" + r.Query.Encode()
	}
	if r.Body != nil {
		text, err := json.Marshal(r.Body)
		if err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		body, kind = bytes.NewReader(text), "application/json"
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, at, body)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	maps.Copy(req.Header, r.Header)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if c.o.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.Token)
	}
	if r.Method == http.MethodPost && req.Header.Get("Idempotency-Key") == "" {
		req.Header.Set("Idempotency-Key", rand.Text())
	}
	for try := 0; ; try++ {
		c.o.Debug("→ %s %s, %d bytes", r.Method, req.URL.RequestURI(), max(req.ContentLength, 0))
		began := time.Now()
		resp, err := c.http.Do(req)
		took := time.Since(began).Round(time.Millisecond)
		pause := firstPause << try
		switch wrapped, is := errors.AsType[*url.Error](err); {
		case is:
			err = fmt.Errorf("reach the host: %w", wrapped.Err) // the URL says nothing to people
		case resp.StatusCode < 300:
			c.o.Debug("← %s, %v", resp.Status, took)
			return resp, nil
		default:
			pause, err = pauseOf(resp, pause), failureOf(resp)
			resp.Body.Close()
			c.o.Debug("← %s, %v", resp.Status, took)
		}
		if err != nil {
			c.o.Debug("← %v", err)
		}
		if pause < 0 || try >= c.o.MaxRetries || r.Raw != nil || ctx.Err() != nil {
			return nil, err
		}
		select {
		case <-time.After(min(pause, maxPause)):
		case <-ctx.Done():
			return nil, err
		}
		if req.GetBody != nil {
			req.Body, _ = req.GetBody() //nolint:errcheck // bytes are there
		}
	}
}

// pauseOf is how long to wait before a request is sent again that had this answer:
// pause unless the host says otherwise, less than 0 for never.
func pauseOf(resp *http.Response, pause time.Duration) time.Duration {
	if code := resp.StatusCode; code != http.StatusRequestTimeout && code != http.StatusTooManyRequests && code < 500 || code == http.StatusInsufficientStorage {
		return -1
	}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	return pause
}

// failureOf is the error that an answer is.
func failureOf(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) //nolint:errcheck // the status says enough
	e := &Error{StatusCode: resp.StatusCode}
	if json.Unmarshal(text, e) != nil || e.Message == "" {
		e.Message = strings.TrimSpace(string(text))
		if e.Message == "" || len(e.Message) > 300 || strings.HasPrefix(e.Message, "<") {
			e.Message = "the host answered " + resp.Status
		}
	}
	e.StatusCode = resp.StatusCode
	return e
}
