package carry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"tandemux/internal/jsonrpc"
	"tandemux/internal/wsrpc"
)

const (
	// maxStreams are a host's at once, and openTime how long one may take to begin.
	maxStreams = 64
	openTime   = 10 * time.Second
	maxOpen    = 8 << 10
	maxID      = 64
	maxAnswer  = 300
)

// opening is the request that begins a stream.
type opening struct {
	ID    string `json:"id"`
	Token string `json:"token"`
	// Person is who that is to the hub, empty if it does not know.
	Person string `json:"person,omitempty"`
}

// opened is its answer: http.StatusSwitchingProtocols, or what the host says.
type opened struct {
	Status int    `json:"status"`
	Text   string `json:"text,omitempty"`
}

// Host carries what comes for a host.
type Host struct {
	Name string
	// Connect makes a connection to NATS for one stream, which does not reconnect.
	Connect func() (*nats.Conn, error)
	// Dial opens a connection to the host for who has a token, which the host checks.
	Dial func(ctx context.Context, token, person string) (jsonrpc.Transport, error)
	Log  *slog.Logger
}

// Serve carries what is asked for over nc until ctx ends.
func (h *Host) Serve(ctx context.Context, nc *nats.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	places := make(chan struct{}, maxStreams)
	asked := make(chan *nats.Msg, maxStreams)
	sub, err := nc.ChanSubscribe(openSubject(h.Name), asked)
	if err != nil {
		return fmt.Errorf("take carried connections: %w", err)
	}
	defer sub.Unsubscribe() //nolint:errcheck // it is over
	for {
		select {
		case <-ctx.Done():
			for range cap(places) { // until each stream has given its place back
				places <- struct{}{}
			}
			return nil
		case m := <-asked:
			select {
			case places <- struct{}{}:
				go func() {
					defer func() { <-places }()
					h.carry(ctx, m)
				}()
			default:
				answer(m, opened{http.StatusServiceUnavailable, "too many connections to this host are carried: close some"})
			}
		}
	}
}

func answer(m *nats.Msg, o opened) {
	text, err := json.Marshal(o)
	if err == nil {
		m.Respond(text) //nolint:errcheck // who asked waits in vain, and says so
	}
}

// carry begins a stream and carries it to its end.
func (h *Host) carry(ctx context.Context, m *nats.Msg) {
	var o opening
	if len(m.Data) > maxOpen || json.Unmarshal(m.Data, &o) != nil || o.ID == "" || len(o.ID) > maxID || strings.ContainsAny(o.ID, ".*> \t") {
		answer(m, opened{http.StatusBadRequest, "this is no request to carry a connection"})
		return
	}
	if o.Token == "" {
		answer(m, opened{http.StatusUnauthorized, "a valid token is needed: `tandemux token new` on that machine makes one"})
		return
	}
	start, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	t, err := h.Dial(start, o.Token, o.Person)
	if err != nil {
		refused := &wsrpc.StatusError{Code: http.StatusBadGateway, Body: "the host can't be reached on its machine"}
		errors.As(err, &refused)
		answer(m, opened{refused.Code, refused.Body})
		return
	}
	nc, err := h.Connect()
	if err != nil {
		t.Close(jsonrpc.CloseAway, "") //nolint:errcheck // nobody has it
		answer(m, opened{http.StatusBadGateway, "the host's machine makes no further connection to the hub"})
		return
	}
	defer nc.Close()
	s := newStream(ctx, nc, downSubject(h.Name, o.ID), wsrpc.HostReadLimit)
	nc.SetClosedHandler(func(*nats.Conn) { s.end(errors.New("the connection to the hub ended")) })
	frames, sub, err := s.listen(upSubject(h.Name, o.ID))
	if err == nil {
		err = nc.FlushTimeout(openTime)
	}
	if err != nil {
		t.Close(jsonrpc.CloseAway, "") //nolint:errcheck // nobody has it
		answer(m, opened{http.StatusBadGateway, "the host's machine can't be reached by the hub"})
		return
	}
	defer sub.Unsubscribe() //nolint:errcheck // it is over
	answer(m, opened{Status: http.StatusSwitchingProtocols})
	err = s.run(t, frames)
	nc.FlushTimeout(time.Second) //nolint:errcheck // it is over
	h.Log.Info("a carried connection ended", "why", err)
}
