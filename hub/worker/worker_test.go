package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"tandemux/hub/lease"
	"tandemux/hub/queue"
	"tandemux/hub/server"
	"tandemux/internal/apiclient"
	"tandemux/internal/leak"
	"tandemux/internal/pace"
)

func TestMain(m *testing.M) {
	askTime = time.Hour
	leak.InMemory(m)
}

// TestStops: work that another host may be given after a while is stopped before that, also
// while the hub takes what it does and does not answer.
func TestStops(t *testing.T) {
	t.Parallel()
	bus, err := server.Start(t.Context(), server.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	const id = "tsk_a"
	local := queue.Local(id, "1")
	r := lease.Record{State: lease.Begun, Policy: lease.Again, Host: "one", Lease: 1, Work: []string{"evt_a"}, Task: []byte("{}"), Note: []byte(`{"local":"` + local + `"}`)}
	var silent atomic.Bool
	for kind, reply := range map[string]queue.Reply{
		"beat":  {Leases: &queue.Leases{Terms: lease.Terms{Claimed: time.Second, Begun: time.Second}, Yours: map[string]lease.Record{id: r}}},
		"event": {Body: []byte(`"x"`)},
		"parts": {},
	} {
		if _, err := bus.Conn.Subscribe(queue.Subject(kind, "one"), func(m *nats.Msg) {
			var p queue.Parts
			if kind == "parts" && json.Unmarshal(m.Data, &p) == nil && len(p.Parts) > 0 {
				silent.Store(true)
			}
			if text, err := json.Marshal(reply); err == nil && !silent.Load() {
				m.Respond(text) //nolint:errcheck // then it is asked again
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	stopped := make(chan struct{}, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":[]}`) })
	mux.HandleFunc("POST /api/v1/tasks/"+local+"/events", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"id":"evt_1"}`) })
	mux.HandleFunc("POST /api/v1/tasks/"+local+"/cancel", func(http.ResponseWriter, *http.Request) { pace.Wake(stopped) })
	mux.HandleFunc("GET /api/v1/tasks/"+local+"/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: 1\ndata: {\"type\":\"start\",\"id\":\"evt_1\"}\n\n")
		http.NewResponseController(w).Flush() //nolint:errcheck // the worker is gone, then
		<-r.Context().Done()
	})
	host := httptest.NewServer(mux)
	t.Cleanup(func() { host.CloseClientConnections(); host.Close() })
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	client := apiclient.New(apiclient.Options{URL: host.URL})
	go func() {
		ended <- Run(ctx, Options{Host: "one", NATS: bus.Conn, API: client, Room: 1, Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	}()
	select {
	case <-stopped:
	case <-time.After(30 * time.Second):
		t.Error("its work is not stopped")
	}
	end()
	<-ended
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
