package carry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"tandemux/hub/directory"
	"tandemux/hub/front"
	"tandemux/hub/server"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/leak"
	"tandemux/internal/soak"
	"tandemux/internal/wsrpc"
)

func TestMain(m *testing.M) { leak.InMemory(m) }

// way is a hub with one host, whose connections a test answers.
type way struct {
	url  string
	bus  *server.Bus
	host atomic.Pointer[net.Conn] // the connection to NATS of the stream
	here atomic.Bool
}

// open carries connections to answer, which is given the host's end of each.
func open(t *testing.T, dial func(ctx context.Context, token, person string) (jsonrpc.Transport, error)) *way {
	t.Helper()
	return openBy(t, func(addr string) string { return addr }, dial)
}

// openBy is open with another way from the host to the hub.
func openBy(t *testing.T, by func(addr string) string, dial func(ctx context.Context, token, person string) (jsonrpc.Transport, error)) *way {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	b, err := server.Start(ctx, server.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	w := &way{bus: b}
	w.here.Store(true)
	log := slog.New(slog.DiscardHandler)
	c, err := b.Invite("build", 0, Grant("build"))
	if err != nil {
		t.Fatal(err)
	}
	at := by(b.Addr())
	connect := func(o ...nats.Option) (*nats.Conn, error) {
		return nats.Connect("nats://"+at, append(o, nats.UserCredentialBytes([]byte(c.Text)), nats.CustomInboxPrefix(server.InboxOf("build")))...)
	}
	nc, err := connect()
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{Name: "build", Log: log, Dial: dial, Connect: func() (*nats.Conn, error) {
		return connect(nats.NoReconnect(), nats.SetCustomDialer(dialer(func(network, addr string) (net.Conn, error) {
			conn, err := net.Dial(network, addr)
			w.host.Store(&conn)
			return conn, err
		})))
	}}
	br := &Bridge{NATS: b.Conn, Log: log, Find: func(name string) (directory.Entry, bool) {
		return directory.Entry{Host: directory.Host{Name: name, Carries: true}, Present: w.here.Load()}, name == "build"
	}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	both.Go(func() {
		if err := h.Serve(ctx, nc); err != nil {
			t.Error(err)
		}
	})
	both.Go(func() {
		if err := front.New(front.Config{Routes: []front.Route{br.Route()}}).Serve(ctx, ln); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); both.Wait(); nc.Close(); b.Close() })
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	w.url = "ws://" + ln.Addr().String() + "/hosts/build/ahp"
	return w
}

type dialer func(network, addr string) (net.Conn, error)

func (d dialer) Dial(network, addr string) (net.Conn, error) { return d(network, addr) }

// echo is a host's end that says again what it hears.
func echo(context.Context, string, string) (jsonrpc.Transport, error) {
	near, far := jsonrpc.Pipe(4)
	go func() {
		for {
			msg, err := far.Read(context.Background())
			if err != nil {
				return
			}
			if bytes.Equal(msg, []byte("bye")) {
				far.Close(4001, "as you wish") //nolint:errcheck // a pipe
				return
			}
			if far.Write(context.Background(), msg) != nil {
				return
			}
		}
	}()
	return near, nil
}

func (w *way) dial(t *testing.T, token string) (jsonrpc.Transport, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return wsrpc.Dial(ctx, wsrpc.Target{URL: w.url, Token: token})
}

// TestMessages: messages of all sizes come back as they were, in order, and the host's last
// word is the client's.
func TestMessages(t *testing.T) {
	w := open(t, echo)
	c, err := w.dial(t, "token")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(1000, "") //nolint:errcheck // it is over
	sizes := []int{1, PartBytes - 1, PartBytes, PartBytes + 1, 3 * PartBytes, 1 << 20, 7 << 20, 2}
	for range 300 {
		sizes = append(sizes, 100)
	}
	var sent [][]byte
	for i, n := range sizes {
		sent = append(sent, []byte(strings.Repeat(string(rune('a'+i%26)), n)))
	}
	go func() {
		for _, m := range sent {
			if err := c.Write(t.Context(), m); err != nil {
				t.Error(err)
			}
		}
	}()
	for i, want := range sent {
		got, err := c.Read(t.Context())
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("message %d of %d bytes came back with %d: %v", i, len(want), len(got), err)
		}
	}
	if err := c.Write(t.Context(), []byte("bye")); err != nil {
		t.Fatal(err)
	}
	_, err = c.Read(t.Context())
	var closed *jsonrpc.CloseError
	if !errors.As(err, &closed) || closed.Code != 4001 || closed.Reason != "as you wish" {
		t.Errorf("the end is %v", err)
	}
}

// TestRefused: the host says who is let in, and its answer is the client's; without a token
// it is not even asked.
func TestRefused(t *testing.T) {
	var asked atomic.Int64
	w := open(t, func(ctx context.Context, token, _ string) (jsonrpc.Transport, error) {
		asked.Add(1)
		switch token {
		case "revoked":
			return nil, fmt.Errorf("dial: %w", &wsrpc.StatusError{Code: http.StatusUnauthorized, Body: "a valid token is needed"})
		case "busy":
			return nil, &wsrpc.StatusError{Code: http.StatusServiceUnavailable, Body: "too many connections: close some"}
		case "dead":
			return nil, errors.New("connection refused by /home/secret/path")
		}
		return echo(ctx, token, "")
	})
	for _, c := range []struct {
		token  string
		status int
		says   string
		asked  int64
	}{
		{"", 401, "token", 0},
		{"revoked", 401, "token", 1},
		{"busy", 503, "close some", 2},
		{"dead", 502, "can't be reached", 3},
	} {
		_, err := w.dial(t, c.token)
		var refused *wsrpc.StatusError
		if !errors.As(err, &refused) || refused.Code != c.status || !strings.Contains(refused.Body, c.says) || strings.Contains(refused.Body, "secret") {
			t.Errorf("%q: %v", c.token, err)
		}
		if n := asked.Load(); n != c.asked {
			t.Errorf("%q: the host was asked %d times", c.token, n)
		}
	}
	w.here.Store(false)
	if _, err := w.dial(t, "token"); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a host that is away: %v", err)
	}
}

// TestSlowReader: what a client doesn't take waits at the host; no more than the window and
// what sockets take is on the way, and other connections go on.
func TestSlowReader(t *testing.T) {
	var said atomic.Int64
	block := make([]byte, 16<<10)
	for i := range block {
		block[i] = 'x'
	}
	w := open(t, func(ctx context.Context, token, _ string) (jsonrpc.Transport, error) {
		if token == "other" {
			return echo(ctx, token, "")
		}
		near, far := jsonrpc.Pipe(0)
		go func() {
			for range 4096 { // 64 MiB
				if far.Write(context.Background(), block) != nil {
					return
				}
				said.Add(int64(len(block)))
			}
		}()
		return near, nil
	})
	slow, err := w.dial(t, "slow")
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close(1000, "") //nolint:errcheck // it is over
	other, err := w.dial(t, "other")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(1000, "") //nolint:errcheck // it is over
	var last int64 = -1
	for said.Load() != last { // until nothing moves any more
		last = said.Load()
		for range 20 {
			if err := other.Write(t.Context(), []byte("key")); err != nil {
				t.Fatal(err)
			}
			if got, err := other.Read(t.Context()); err != nil || string(got) != "key" {
				t.Fatalf("%q, %v", got, err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	// Loopback sockets take some MiB; the whole is 64.
	t.Logf("nobody reads, and %d KiB are on the way", last>>10)
	if last > 16<<20 {
		t.Errorf("%d MiB are on the way to who takes nothing", last>>20)
	}
	for got := int64(0); got < 64<<20; {
		msg, err := slow.Read(t.Context())
		if err != nil {
			t.Fatalf("after %d bytes: %v", got, err)
		}
		got += int64(len(msg))
	}
}

// TestCut: a stream whose way is lost ends at both sides, which says so.
func TestCut(t *testing.T) {
	soak.Long(t, "a host that is gone is silent for 15 seconds first")
	t.Parallel()
	ended := make(chan error, 1)
	w := open(t, func(context.Context, string, string) (jsonrpc.Transport, error) {
		near, far := jsonrpc.Pipe(4)
		go func() {
			_, err := far.Read(context.Background())
			ended <- err
		}()
		return near, nil
	})
	c, err := w.dial(t, "token")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(1000, "") //nolint:errcheck // it is over
	(*w.host.Load()).Close()
	var closed *jsonrpc.CloseError
	if err := <-ended; !errors.As(err, &closed) || closed.Code != jsonrpc.CloseAway {
		t.Errorf("the host's end is %v", err)
	}
	if _, err := c.Read(t.Context()); err == nil {
		t.Error("the client hears something")
	}
}

// TestLost: a frame that is lost, comes twice, is of no kind, too long or makes a message too
// long ends the stream.
func TestLost(t *testing.T) {
	far, near := jsonrpc.Pipe(16)
	defer near.Close(1000, "") //nolint:errcheck // a pipe
	w := open(t, echo)
	at := func() *stream {
		s := newStream(t.Context(), w.bus.Conn, "nowhere", 2*PartBytes)
		s.t, s.heard = far, time.NewTimer(time.Hour)
		return s
	}
	big := bytes.Repeat([]byte("x"), PartBytes)
	for _, c := range []struct {
		what   string
		frames []frame
	}{
		{"lost", []frame{{kindWhole, 0, []byte("a")}, {kindWhole, 2, []byte("b")}}},
		{"twice", []frame{{kindWhole, 0, []byte("a")}, {kindWhole, 0, []byte("a")}}},
		{"no kind", []frame{{'!', 0, []byte("a")}}},
		{"too long", []frame{{kindWhole, 0, append(big, 'x')}}},
		{"a long message", []frame{{kindPart, 0, big}, {kindPart, 1, big}, {kindWhole, 2, []byte("x")}}},
		{"more taken than sent", []frame{{kindTaken, 0, []byte{0, 0, 0, 0, 0, 0, 0, 1}}}},
		{"too much at once", slices.Collect(func(yield func(frame) bool) {
			for i := range uint32(Window/frameCost + 1) {
				if !yield(frame{kindWhole, i, nil}) {
					return
				}
			}
		})},
		{"short", []frame{{kindTaken, 0, []byte{1}}}},
		{"no reason", []frame{{kindClose, 0, nil}}},
	} {
		s := at()
		var err error
		for i, f := range c.frames {
			err = s.sort(&nats.Msg{Data: f.append(nil)})
			for err == nil && len(s.data) > 0 && len(c.frames) < 9 {
				err = s.give(<-s.data)
			}
			if err != nil && i < len(c.frames)-1 {
				t.Errorf("%s: frame %d: %v", c.what, i, err)
			}
		}
		if err == nil {
			t.Errorf("%s: the stream goes on", c.what)
		}
	}
}

// FuzzFrames: whatever comes, frames that are read can be written, and no message is longer
// than its bound.
func FuzzFrames(f *testing.F) {
	f.Add(frame{kindWhole, 0, []byte("{}")}.append(nil))
	f.Add(frame{kindPart, 1, []byte("{")}.append(nil))
	f.Add(frame{kindTaken, 2, make([]byte, 8)}.append(nil))
	f.Add(frame{kindClose, 3, []byte{3, 233, 'x'}}.append(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := parseFrame(b)
		if err != nil {
			t.Skip()
		}
		if again := got.append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%q became %q", b, again)
		}
		j := joiner{limit: 64}
		for range 4 {
			if msg, err := j.add(got); err == nil && len(msg) > 64 {
				t.Fatalf("a message of %d bytes", len(msg))
			}
		}
	})
}
