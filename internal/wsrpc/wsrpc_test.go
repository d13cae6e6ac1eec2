package wsrpc

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tandemux/internal/jsonrpc"
)

// listener is a server that hands out accepted transports.
type listener struct {
	target   Target
	accepted chan jsonrpc.Transport
	seen     chan *http.Request

	mu sync.Mutex // one connection at a time, so that ends match
}

// listen serves on a unix socket or on TCP.
func listen(t testing.TB, network string, o Options) *listener {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		dir, err := os.MkdirTemp("", "wsrpc")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		address = filepath.Join(dir, "s")
	}
	ln, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{accepted: make(chan jsonrpc.Transport, 64), seen: make(chan *http.Request, 1024)}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.seen <- r
		if r.Header.Get("Authorization") == "Bearer wrong" {
			http.Error(w, "this token is not known", http.StatusForbidden)
			return
		}
		tr, err := Accept(w, r, o)
		if err != nil {
			return
		}
		l.accepted <- tr
	})}
	go srv.Serve(ln)
	t.Cleanup(func() { srv.Close() })
	l.target.URL = "ws://" + ln.Addr().String() + "/ahp?x=1"
	if network == "unix" {
		l.target.URL = "unix://" + address
	}
	return l
}

func (l *listener) connect(t testing.TB) (a, b jsonrpc.Transport) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	a, err := Dial(ctx, l.target)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case b = <-l.accepted:
	case <-ctx.Done():
		t.Fatal("nothing was accepted")
	}
	t.Cleanup(func() { // Each waits for the other's consent.
		go a.Close(1000, "")
		b.Close(1000, "")
	})
	return a, b
}

func TestPrograms(t *testing.T) {
	t.Run("pipe", func(t *testing.T) {
		runPrograms(t, func(*testing.T) (a, b jsonrpc.Transport) { return jsonrpc.Pipe(8) })
	})
	for _, network := range []string{"unix", "tcp"} {
		t.Run(network, func(t *testing.T) {
			l := listen(t, network, Options{ReadLimit: ClientReadLimit})
			runPrograms(t, func(t *testing.T) (a, b jsonrpc.Transport) { return l.connect(t) })
		})
	}
}

func TestTokenAndPath(t *testing.T) {
	l := listen(t, "tcp", Options{})
	l.target.Token = "secret"
	l.connect(t)
	r := <-l.seen
	if got := r.Header.Get("Authorization"); got != "Bearer secret" {
		t.Errorf("Authorization is %q", got)
	}
	if r.URL.Path != "/ahp" || r.URL.RawQuery != "x=1" {
		t.Errorf("asked for %s", r.URL)
	}
	if r.Header.Get("Origin") != "" || r.Header.Get("Sec-WebSocket-Protocol") != "" || r.Header.Get("Sec-WebSocket-Extensions") != "" {
		t.Errorf("headers are %v", r.Header)
	}
}

func TestDialErrors(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	l := listen(t, "tcp", Options{})
	l.target.Token = "wrong"
	_, err := Dial(ctx, l.target)
	var se *StatusError
	if !errors.As(err, &se) || se.Code != http.StatusForbidden || se.Body != "this token is not known" {
		t.Errorf("a refusal is %v", err)
	}
	if strings.Contains(err.Error(), "wrong") {
		t.Errorf("%v shows the token", err)
	}

	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, l.target.URL, http.StatusFound)
		}
	}))
	defer plain.Close()
	dir := t.TempDir()
	none, stale, file := filepath.Join(dir, "none"), filepath.Join(dir, "stale"), filepath.Join(dir, "file")
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	ln.Close()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ws := "ws" + strings.TrimPrefix(plain.URL, "http")
	for _, tt := range []struct {
		url  string
		is   error // or nil
		text string
	}{
		{"unix://" + none, syscall.ENOENT, "no such file"},
		{"unix://" + stale, syscall.ECONNREFUSED, "refused"},
		{"unix://" + file, syscall.ECONNREFUSED, "refused"},
		{"unix:relative", nil, "unix:///path"},
		{"unix://host/path", nil, "unix:///path"},
		{"http://localhost/", nil, `scheme "http"`},
		{"ws:///x", nil, "no host"},
		{"ws://%zz/?tkn=hidden", nil, "not a URL"},
		{ws + "/?tkn=hidden", nil, "200 OK"},
		{ws + "/moved?tkn=hidden", nil, "302 Found"},
		{"ws://127.0.0.1:1/?tkn=hidden", syscall.ECONNREFUSED, "refused"},
	} {
		_, err := Dial(ctx, Target{URL: tt.url})
		if err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.text) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("Dial(%s): %v", tt.url, err)
		}
	}
	canceled, stop := context.WithCancel(ctx)
	stop()
	if _, err := Dial(canceled, Target{URL: "unix://" + none}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled dial: %v", err)
	}
}

func TestAcceptRefusesPlainRequests(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := Accept(w, r, Options{}); err == nil {
			t.Error("a plain request was accepted")
		}
	}))
	defer srv.Close()
	resp, err := http.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("answered %s", resp.Status)
	}
}

func TestReadLimit(t *testing.T) {
	l := listen(t, "unix", Options{ReadLimit: 1000})
	a, b := l.connect(t)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := a.Write(ctx, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if msg, err := b.Read(ctx); err != nil || len(msg) != 1000 {
		t.Fatalf("%d bytes, %v", len(msg), err)
	}
	if err := a.Write(ctx, make([]byte, 1001)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Read(ctx); err == nil {
		t.Fatal("a message above the limit was read")
	}
	var ce *jsonrpc.CloseError
	if _, err := a.Read(ctx); !errors.As(err, &ce) || ce.Code != 1009 {
		t.Errorf("the sender sees %v", err)
	}
}

// TestReadEndsWithItsContext: also where nothing was read yet, and where all was.
func TestReadEndsWithItsContext(t *testing.T) {
	for _, before := range []int{0, 1} {
		a, b := listen(t, "unix", Options{}).connect(t)
		ctx, cancel := context.WithCancel(t.Context())
		for range before {
			if err := a.Write(ctx, []byte("x")); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Read(ctx); err != nil {
				t.Fatal(err)
			}
		}
		ended := make(chan error, 1)
		go func() { _, err := b.Read(ctx); ended <- err }()
		cancel()
		select {
		case err := <-ended:
			if err == nil {
				t.Error("it read something")
			}
		case <-time.After(20 * time.Second):
			t.Fatal("it reads on")
		}
	}
}

func TestCloseDoesNotWaitLong(t *testing.T) {
	l := listen(t, "unix", Options{})
	a, _ := l.connect(t) // The other end never reads.
	start := time.Now()
	a.Close(1000, strings.Repeat("long ", 100))
	if d := time.Since(start); d > 10*closeWait {
		t.Errorf("Close took %v", d)
	}
	if err := a.Write(context.Background(), []byte("x")); err == nil {
		t.Error("a closed connection was written to")
	}
}

func TestALostPeerIsAnError(t *testing.T) {
	l := listen(t, "tcp", Options{})
	a, b := l.connect(t)
	a.(*transport).wire.Close()
	var ce *jsonrpc.CloseError
	if _, err := b.Read(context.Background()); err == nil || errors.As(err, &ce) {
		t.Errorf("got %v", err)
	}
}

// counted counts system calls that write.
type counted struct {
	net.Conn
	writes int
}

func (c *counted) Write(p []byte) (int, error) {
	c.writes++
	return c.Conn.Write(p)
}

// TestOneWriteEach counts the writes to the socket.
func TestOneWriteEach(t *testing.T) {
	for _, side := range []string{"client", "host"} {
		t.Run(side, func(t *testing.T) {
			l := listen(t, "unix", Options{})
			a, b := l.connect(t)
			if side == "host" {
				a, b = b, a
			}
			w := a.(*transport).wire
			n := &counted{Conn: w.Conn}
			w.Conn = n
			ctx := context.Background()
			ended := make(chan int, 1)
			go func() {
				total := 0
				for {
					msg, err := b.Read(ctx)
					if err != nil || string(msg) == "end" {
						ended <- total
						return
					}
					total += len(msg)
				}
			}()
			sent := 0
			for _, size := range []int{1, 100, 5000, 30000, corkBytes - 100} {
				n.writes = 0
				if err := a.Write(ctx, make([]byte, size)); err != nil {
					t.Fatal(err)
				}
				want := 1
				if side == "host" && size >= apartBytes {
					want = 2 // of a socket it is one writev
				}
				if sent += size; n.writes != want {
					t.Errorf("a message of %d bytes took %d writes", size, n.writes)
				}
			}
			n.writes = 0
			for i := range 100 {
				if err := a.(jsonrpc.DirectWriter).WriteMore(make([]byte, 200), i < 99); err != nil {
					t.Fatal(err)
				}
				sent += 200
			}
			if n.writes != 1 {
				t.Errorf("100 messages in a row took %d writes", n.writes)
			}
			if err := a.(jsonrpc.DirectWriter).WriteMore(make([]byte, 10), true); err != nil {
				t.Fatal(err)
			}
			if err := a.(jsonrpc.DirectWriter).WriteMore(nil, false); err != nil {
				t.Fatal(err)
			}
			if err := a.Write(ctx, make([]byte, 3<<20)); err != nil {
				t.Fatal(err)
			}
			sent += 10 + 3<<20
			if err := a.Write(ctx, []byte("end")); err != nil {
				t.Fatal(err)
			}
			if got := <-ended; got != sent {
				t.Errorf("%d bytes arrived of %d", got, sent)
			}
		})
	}
}

// BenchmarkRoundTrip is a small request's way there and back through jsonrpc.
func BenchmarkRoundTrip(b *testing.B) {
	for _, network := range []string{"unix", "tcp"} {
		b.Run(network, func(b *testing.B) {
			client, server := conns(b, network, jsonrpc.Handler(func(_ context.Context, _ *jsonrpc.Conn, req *jsonrpc.Request) (any, error) {
				return req.Params, nil
			}), nil)
			_ = server
			b.ReportAllocs()
			for b.Loop() {
				if err := client.Call(context.Background(), "echo", []string{"x"}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStream is bulk data in one direction, in 32 KiB messages.
func BenchmarkStream(b *testing.B) {
	msg := []byte(`{"jsonrpc":"2.0","method":"action","params":{"data":"` + strings.Repeat("0123456789abcdef", 2<<10) + `"}}`)
	for _, network := range []string{"unix", "tcp"} {
		b.Run(network, func(b *testing.B) {
			got := make(chan struct{}, 1<<20)
			_, server := conns(b, network, nil, func([]byte) bool {
				got <- struct{}{}
				return true
			})
			b.SetBytes(int64(len(msg)))
			b.ReportAllocs()
			sent := 0
			for b.Loop() {
				for server.Send(msg) != nil {
					<-server.Drained()
				}
				sent++
			}
			for range sent {
				<-got
			}
		})
	}
}

func conns(b *testing.B, network string, h jsonrpc.Handler, raw func([]byte) bool) (client, server *jsonrpc.Conn) {
	l := listen(b, network, Options{})
	x, y := l.connect(b)
	client = jsonrpc.New(x, nil, jsonrpc.Options{Raw: raw})
	server = jsonrpc.New(y, h, jsonrpc.Options{MaxQueueBytes: 1 << 20})
	go client.Run(context.Background())
	go server.Run(context.Background())
	b.Cleanup(func() {
		client.Close(1000, "")
		server.Close(1000, "")
		<-client.Done()
		<-server.Done()
	})
	return client, server
}
