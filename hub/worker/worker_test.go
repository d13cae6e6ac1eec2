package worker

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"tandemux/hub/queue"
	"tandemux/hub/server"
	"tandemux/internal/apiclient"
	"tandemux/internal/leak"
)

func TestMain(m *testing.M) {
	askTime = time.Hour
	leak.InMemory(m)
}

// TestEnds: a worker ends when it is told to, though the hub does not answer what it says.
func TestEnds(t *testing.T) {
	t.Parallel()
	bus, err := server.Start(t.Context(), server.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	beats := make(chan *nats.Msg, 1)
	if _, err := bus.Conn.ChanSubscribe(queue.Subject("beat", "one"), beats); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	host := apiclient.New(apiclient.Options{MaxRetries: -1, Dial: func(context.Context) (net.Conn, error) { return nil, errors.New("there is none") }})
	go func() {
		ended <- Run(ctx, Options{Host: "one", NATS: bus.Conn, API: host, Room: 1, Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	}()
	<-beats
	end()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it does not end")
	}
}
