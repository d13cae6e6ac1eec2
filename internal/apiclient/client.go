package apiclient

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	// firstPause is the pause before the first retry; each is twice as long as the
	// one before. maxPause bounds what a host may ask for.
	firstPause = 200 * time.Millisecond
	maxPause   = 30 * time.Second
	// maxAnswer bounds an answer that is decoded, in bytes.
	maxAnswer = 64 << 20
)

// Options configures New.
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
	// Transport is what makes requests, for TLS that is checked in a way of its own;
	// nil: one of this client's own.
	Transport http.RoundTripper
}

// Client calls a host.
type Client struct {
	o    Options
	http *http.Client
}

// Error is an answer that is none.
type Error struct {
	StatusCode int    `json:"statusCode"`
	Code       string `json:"code"`
	Message    string `json:"message"`
}

// Error is the host's words.
func (e *Error) Error() string { return e.Message }

// New makes a client. Nothing is sent.
func New(o Options) *Client {
	switch {
	case o.MaxRetries == 0:
		o.MaxRetries = DefaultRetries
	case o.MaxRetries < 0:
		o.MaxRetries = 0
	}
	if o.URL == "" {
		o.URL = "http://localhost"
	}
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

// Close lets idle connections go.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Request is what is sent.
type Request struct {
	Method string
	// Path is below the interface's, such as "/tasks"; its segments are escaped.
	Path  string
	Query url.Values
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
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = json.Marshal(r.Body); err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
	}
	header := r.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if r.Method == http.MethodPost && header.Get("Idempotency-Key") == "" {
		header.Set("Idempotency-Key", rand.Text())
	}
	for try := 0; ; try++ {
		resp, pause, err := c.try(ctx, r, body, header)
		if err == nil {
			return resp, nil
		}
		if pause < 0 || try >= c.o.MaxRetries || r.Raw != nil || ctx.Err() != nil {
			return nil, err
		}
		if pause == 0 {
			pause = firstPause << try
		}
		timer := time.NewTimer(min(pause, maxPause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		}
	}
}

// try sends a request once. pause is how long to wait before it is sent again: 0 for
// as the client likes, less for never.
func (c *Client) try(ctx context.Context, r Request, body []byte, header http.Header) (*http.Response, time.Duration, error) {
	at := c.o.URL + prefix + r.Path
	if len(r.Query) > 0 {
		at += "?" + r.Query.Encode()
	}
	reader := r.Raw
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, at, reader)
	if err != nil {
		return nil, -1, fmt.Errorf("write the request: %w", err)
	}
	req.Header = header
	switch {
	case body != nil:
		req.Header.Set("Content-Type", "application/json")
	case r.Type != "":
		req.Header.Set("Content-Type", r.Type)
	}
	if c.o.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.Token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // the URL says nothing to people
		}
		return nil, 0, fmt.Errorf("reach the host: %w", err)
	}
	if resp.StatusCode < 300 {
		return resp, 0, nil
	}
	defer resp.Body.Close()
	return nil, pauseOf(resp), failureOf(resp)
}

// pauseOf is how long to wait before a request is sent again that had this answer.
func pauseOf(resp *http.Response) time.Duration {
	if code := resp.StatusCode; code != http.StatusRequestTimeout && code != http.StatusTooManyRequests && code < 500 || code == http.StatusInsufficientStorage {
		return -1
	}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	return 0
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
