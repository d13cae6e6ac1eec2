package apiclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// TestRetries: what is sent again, how often and after how long; what creates
// something has one key however often it is sent (U66, U99, U100).
func TestRetries(t *testing.T) {
	for _, tt := range []struct {
		status, retries, want int
		after                 string
	}{
		{http.StatusRequestTimeout, 0, 1 + DefaultRetries, ""},
		{http.StatusTooManyRequests, 1, 2, "1"},
		{http.StatusInternalServerError, 0, 1 + DefaultRetries, ""},
		{http.StatusServiceUnavailable, -1, 1, ""},
		{http.StatusInsufficientStorage, 0, 1, ""},
		{http.StatusUnprocessableEntity, 0, 1, ""},
		{http.StatusNotFound, 0, 1, ""},
	} {
		t.Run(fmt.Sprint(tt.status), func(t *testing.T) {
			var times []time.Time
			keys := map[string]bool{}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				times = append(times, time.Now())
				keys[r.Header.Get("Idempotency-Key")] = true
				if r.Header.Get("Authorization") != "Bearer secret" || r.URL.Path != "/api/v1/tasks" {
					t.Errorf("%s %v", r.URL, r.Header)
				}
				if tt.after != "" {
					w.Header().Set("Retry-After", tt.after)
				}
				w.WriteHeader(tt.status)
				fmt.Fprintf(w, `{"statusCode":%d,"code":"word","message":"a sentence"}`, tt.status)
			}))
			defer s.Close()
			c := New(Options{URL: s.URL, Token: "secret", MaxRetries: tt.retries})
			defer c.Close()
			err := c.Do(context.Background(), Request{Method: http.MethodPost, Path: "/tasks", Body: map[string]any{}}, nil)
			var failed *Error
			if !errors.As(err, &failed) || failed.StatusCode != tt.status || failed.Code != "word" || failed.Error() != "a sentence" {
				t.Errorf("it failed with %v", err)
			}
			if len(times) != tt.want || len(keys) != 1 || keys[""] {
				t.Errorf("it was sent %d times with the keys %v, want %d", len(times), keys, tt.want)
			}
			if tt.after != "" && times[1].Sub(times[0]) < time.Second {
				t.Errorf("it was sent again after %v", times[1].Sub(times[0]))
			}
		})
	}
}

// TestStream: a stream that is cut off goes on behind what was received; its end is
// [DONE] and nothing else (U47).
func TestStream(t *testing.T) {
	const all = 20
	cuts := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := 0
		fmt.Sscan(r.Header.Get("Last-Event-ID"), &from) //nolint:errcheck // the beginning
		fmt.Fprint(w, ": a comment\n\n")
		for n := from + 1; n <= all; n++ {
			fmt.Fprintf(w, "id: %d\ndata: {\"n\":\ndata: %d}\n\n", n, n)
			if n%7 == 0 && n > from+1 {
				cuts++
				return
			}
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	defer s.Close()
	c := New(Options{URL: s.URL})
	defer c.Close()
	var got []string
	err := c.Stream(context.Background(), Request{Method: http.MethodGet, Path: "/tasks/x/stream"}, func(e Event) error {
		got = append(got, e.ID+e.Data)
		return nil
	})
	if err != nil || len(got) != all || cuts != 2 {
		t.Fatalf("%d events, %d cuts, %v", len(got), cuts, err)
	}
	for i, text := range got {
		if want := fmt.Sprintf("%d{\"n\":\n%d}", i+1, i+1); text != want {
			t.Errorf("event %d is %q, want %q", i, text, want)
		}
	}
	stop := errors.New("enough")
	if err := c.Stream(context.Background(), Request{Method: http.MethodGet, Path: "/x"}, func(Event) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("it went on: %v", err)
	}
}

// TestStreamOfHostThatWasAway: a stream that has begun goes on with the host that comes
// after the one that died, and a host that was never there is told of at once.
func TestStreamOfHostThatWasAway(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	serve := func(handle http.HandlerFunc) *httptest.Server {
		ln, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewUnstartedServer(handle)
		s.Listener.Close()
		s.Listener = ln
		s.Start()
		return s
	}
	failed := 0
	died := make(chan struct{})
	var once sync.Once
	c := New(Options{MaxRetries: -1, Dial: func(ctx context.Context) (net.Conn, error) {
		n, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err != nil {
			if failed++; failed == 5 {
				once.Do(func() { close(died) })
			}
		}
		return n, err
	}})
	defer c.Close()
	if err := c.Stream(t.Context(), Request{Method: http.MethodGet, Path: "/x"}, nil); err == nil || failed != 1 {
		t.Fatalf("nobody was ever there: %v after %d attempts", err, failed)
	}
	first := serve(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "id: 1\ndata: 1\n\n")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	next := make(chan *httptest.Server, 1)
	go func() {
		<-died
		next <- serve(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "id: 2\ndata: %q\n\ndata: [DONE]\n\n", r.Header.Get("Last-Event-ID"))
		})
	}()
	var got []string
	err := c.Stream(t.Context(), Request{Method: http.MethodGet, Path: "/x"}, func(e Event) error {
		if got = append(got, e.Data); len(got) == 1 {
			go first.Close()
		}
		return nil
	})
	if err != nil || strings.Join(got, " ") != `1 "1"` {
		t.Fatalf("%v: %v", got, err)
	}
	(<-next).Close()
}

// TestOdd: hosts that are none, or say nothing of use.
func TestOdd(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/moved":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case "/api/v1/page":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, strings.Repeat("<html>", 200))
		case "/api/v1/text":
			fmt.Fprint(w, "no JSON")
		}
	}))
	c := New(Options{URL: s.URL, MaxRetries: -1})
	for path, want := range map[string]string{
		"/moved": "302", "/page": "404", "/text": "invalid character",
		"/tasks/": `"" is no name or id`, "/tasks//stop": `"" is no name or id`, "/tasks/..": `".." is no name or id`,
	} {
		var into map[string]any
		if err := c.Do(context.Background(), Request{Method: http.MethodGet, Path: path}, &into); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	c.Close()
	s.Close()
	if err := c.Do(context.Background(), Request{Method: http.MethodGet, Path: "/x"}, nil); err == nil || strings.Contains(err.Error(), "http://") {
		t.Errorf("nobody there: %v", err)
	}
}
