package task

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/internal/client"
	"tandemux/internal/pace"
)

// callTime bounds a request to the host.
const callTime = 30 * time.Second

// sink receives what the host says about tasks' sessions and chats, keeps their newest state, and
// wakes the runners. It never waits for a runner. It implements client.Sink.
type sink struct {
	s *Service

	mu      sync.Mutex // Protects following.
	watched map[ahp.URI]*live
}

func (k *sink) Snapshot(snap ahp.Snapshot) {
	if l := k.of(snap.Resource); l != nil {
		l.snapshot(snap)
	}
}

func (k *sink) Action(e ahp.Envelope) {
	if e.RejectionReason != "" {
		return
	}
	if _, ok := e.Action.(ahp.RootActiveSessionsChanged); ok {
		k.s.do(k.s.lookForSessions)
		return
	}
	if l := k.of(e.Channel); l != nil {
		// Reducers change no state they were given, so readers may keep what they saw.
		l.mu.Lock()
		switch e.Channel {
		case l.session:
			l.seen.session = ahp.ReduceSession(l.seen.session, e.Action)
		case chatOf(l.session):
			l.seen.chat = ahp.ReduceChat(l.seen.chat, e.Action)
		}
		l.mu.Unlock()
		l.poke()
	}
}

func (k *sink) Gone(uri ahp.URI) {
	if l := k.of(uri); l != nil {
		l.lose(uri)
	}
}

func (k *sink) Status(st client.Status, err error) {
	if st != client.Connected {
		k.s.Log.Info("the tasks' connection to the host", "status", st.String(), "err", err)
		return
	}
	k.s.do(k.s.lookForSessions)
}

func (k *sink) of(uri ahp.URI) *live {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.watched[uri]
}

func (k *sink) watch(uri ahp.URI, l *live) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l == nil {
		delete(k.watched, uri)
	} else {
		k.watched[uri] = l
	}
}

// do runs f in a goroutine, unless the service ends.
func (s *Service) do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.work.Go(f)
}

// host returns the connection to the host, and makes it at the first call.
func (s *Service) host(ctx context.Context) (*client.Client, error) {
	s.dialing.Lock()
	defer s.dialing.Unlock()
	if s.client != nil {
		return s.client, nil
	}
	c, err := client.Connect(ctx, client.Options{
		Dial: s.Dial, ClientID: "tandemux-tasks", Reconnect: true, MaxPause: 500 * time.Millisecond, Sink: s.sink, Log: s.Log,
		Info: ahp.Implementation{Name: "tandemux-tasks", Version: s.Version},
	})
	if err != nil {
		return nil, fmt.Errorf("reach the host: %w", err)
	}
	s.client = c
	return c, nil
}

func (s *Service) call(ctx context.Context, method string, params, result any) error {
	c, err := s.host(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return c.Call(ctx, method, params, result)
}

// lookForSessions finds tasks' sessions that somebody has ended, because AHP does not tell subscribers
// of a session that.
func (s *Service) lookForSessions() {
	there := map[ahp.URI]bool{}
	params := ahp.ListSessionsParams{Channel: ahp.RootURI}
	for {
		var got ahp.ListSessionsResult
		if err := s.call(s.ctx, ahp.MethodListSessions, params, &got); err != nil {
			return // the next change of the list or the connection tries again
		}
		for _, row := range got.Items {
			there[row.Resource] = true
		}
		if got.NextCursor == "" {
			break
		}
		params.Cursor = got.NextCursor
	}
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.live))
	s.mu.Unlock()
	for _, l := range all {
		if uri := l.watching(); uri != "" && !there[uri] {
			l.lose(uri)
		}
	}
}

// snapshot stores a snapshot of the task's session or chat.
func (l *live) snapshot(snap ahp.Snapshot) {
	l.mu.Lock()
	switch snap.Resource {
	case l.session:
		var v ahp.SessionState
		if json.Unmarshal(snap.State, &v) == nil {
			l.seen.session, l.seen.hasSession = v, true
		}
	case chatOf(l.session):
		var v ahp.ChatState
		if json.Unmarshal(snap.State, &v) == nil {
			l.seen.chat, l.seen.hasChat = v, true
		}
	}
	l.mu.Unlock()
	l.poke()
}

// lose notes that a session, or its chat, no longer exists.
func (l *live) lose(uri ahp.URI) {
	l.mu.Lock()
	if uri == l.session || uri == chatOf(l.session) {
		l.seen.lost = true
	}
	l.mu.Unlock()
	l.interrupt() // the host does not answer who waits on such a channel
}

func (l *live) watching() ahp.URI {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.seen.hasSession {
		return "" // it is being created
	}
	return l.session
}

func (l *live) poke() { pace.Wake(l.wake) }

// chatOf returns the URI of the chat of a task's session: both have the same id.
func chatOf(session ahp.URI) ahp.URI {
	if session == "" {
		return ""
	}
	return ahp.ChatScheme + session[len(ahp.SessionScheme):]
}
