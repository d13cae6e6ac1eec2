package join

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"tandemux/hub/directory"
	"tandemux/hub/server"
	"tandemux/internal/leak"
)

func TestMain(m *testing.M) {
	answerTime = time.Hour
	leak.InMemory(m)
}

// TestEnds: a host that joins ends when it is told to, also while the hub says nothing: at
// first, or since it has joined.
func TestEnds(t *testing.T) {
	t.Parallel()
	bus, err := server.Start(t.Context(), server.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	c, err := bus.Invite("one", 0, directory.Grant("one"))
	if err != nil {
		t.Fatal(err)
	}
	at := bus.Addr()
	run := func(at string, work ...Work) (end context.CancelFunc, ended chan error) {
		ctx, cancel := context.WithCancel(t.Context())
		ended = make(chan error, 1)
		go func() {
			ended <- Run(ctx, Options{
				URL: "nats://" + at, Credential: c.Text, Work: work, Log: slog.New(slog.DiscardHandler),
				Host: func(context.Context) (net.Conn, error) { return nil, errors.New("there is none") },
			})
		}()
		return cancel, ended
	}
	ends := func(what string, end context.CancelFunc, ended chan error) {
		t.Helper()
		end()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s it does not end", what)
		}
	}
	joined := make(chan struct{})
	end, ended := run(at, func(_ context.Context, j *Joined) error {
		err := j.NATS.FlushTimeout(30 * time.Second)
		close(joined)
		return err
	})
	<-joined
	bus.Close()
	ln, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	accept := func() {
		t.Helper()
		c, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
	accept()
	ends("where the hub says nothing any more", end, ended)
	end, ended = run(at)
	accept()
	ends("where the hub has said nothing", end, ended)
}
