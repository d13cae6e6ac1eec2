package carry

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"

	"tandemux/hub/directory"
	"tandemux/hub/front"
	"tandemux/internal/pace"
	"tandemux/internal/wsrpc"
)

// comeTime is how long a host may take to listen that is here.
const comeTime = 2 * time.Second

// Bridge is the hub's side: WebSockets of clients.
type Bridge struct {
	NATS *nats.Conn
	// Find is the directory's.
	Find func(name string) (directory.Entry, bool)
	// Note is told who was let in by a host; nil: nobody is.
	Note func(p front.Person, host string, r *http.Request)
	Log  *slog.Logger
}

// Route is the path of a host's.
func (b *Bridge) Route() front.Route {
	// Who asks is the host's to find out.
	return front.Route{Pattern: "GET /hosts/{name}/ahp", Open: true, Serve: b.serve}
}

func (b *Bridge) serve(w http.ResponseWriter, r *http.Request) {
	token := front.Bearer(r)
	if token == "" {
		front.Fail(w, r, "no token of a host")
		return
	}
	who, err := front.Asker(r)
	if err != nil {
		front.Fail(w, r, "beside a host's token: "+err.Error())
		return
	}
	name := r.PathValue("name")
	e, ok := b.Find(name)
	if !ok || !e.Present || !e.Carries {
		front.Refuse(w, http.StatusNotFound, "not_here", "no host of this name is here now that is reached through the hub")
		return
	}
	id := rand.Text()
	s := newStream(r.Context(), b.NATS, upSubject(name, id), wsrpc.ClientReadLimit)
	frames, sub, err := s.listen(downSubject(name, id))
	if err != nil {
		front.Refuse(w, http.StatusBadGateway, "no_way", "the hub can't reach its NATS")
		return
	}
	defer sub.Unsubscribe() //nolint:errcheck // it is over
	got, err := b.open(r.Context(), name, opening{id, token, who.Name})
	switch {
	case err != nil:
		b.Log.Info("a host does not answer who wants to be carried to it", "host", name, "err", err)
		front.Refuse(w, http.StatusGatewayTimeout, "no_answer", "the host does not answer")
		return
	case got.Status == http.StatusUnauthorized || got.Status == http.StatusTooManyRequests:
		front.Fail(w, r, "the host refuses the token")
		return
	case got.Status != http.StatusSwitchingProtocols:
		http.Error(w, cmp.Or(got.Text, http.StatusText(got.Status)), got.Status)
		return
	}
	if b.Note != nil {
		b.Note(who, name, r)
	}
	t, err := wsrpc.Accept(w, r, wsrpc.Options{})
	if err != nil {
		s.end(err)
		s.send(frame{kind: kindClose, data: []byte{3, 233}}) //nolint:errcheck // 1001; it is over
		return
	}
	err = s.run(t, frames)
	b.Log.Info("a carried connection ended", "host", name, "remote", r.RemoteAddr, "why", err)
}

// open has the host begin a stream.
func (b *Bridge) open(ctx context.Context, name string, o opening) (got opened, err error) {
	text, err := json.Marshal(o)
	if err != nil {
		return got, err
	}
	if len(text) > maxOpen {
		return opened{Status: http.StatusUnauthorized}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	m, err := b.NATS.RequestWithContext(ctx, openSubject(name), text)
	for until := time.Now().Add(comeTime); errors.Is(err, nats.ErrNoResponders) && time.Now().Before(until); {
		pace.Sleep(ctx, comeTime/20) // it has just come, or comes back from another node
		m, err = b.NATS.RequestWithContext(ctx, openSubject(name), text)
	}
	if err != nil {
		return got, err
	}
	if err = json.Unmarshal(m.Data, &got); err == nil && (got.Status < 101 || got.Status > 599 || len(got.Text) > maxAnswer) {
		err = errors.New("its answer makes no sense")
	}
	return got, err
}
