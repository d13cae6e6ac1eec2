package ptyws

import (
	"context"
	"encoding/json"
	"strings"

	"golang.org/x/sys/unix"

	"tandemux/ahp"
	"tandemux/host/pool"
	"tandemux/internal/client"
)

// event tells of a terminal (T34).
type event struct {
	Type     string        `json:"type"` // "terminal"
	Event    string        `json:"event"`
	Terminal pool.Terminal `json:"terminal"`
	Output   string        `json:"output,omitempty"`
}

// Events of a terminal.
const (
	eventCreated  = "created"
	eventPromoted = "promoted"
	eventClosed   = "closed"
	eventOutput   = "output"
)

// Snapshot, Action, Gone and Status are the socket as a client.Sink.
func (s *socket) Snapshot(snap ahp.Snapshot) {
	if snap.Resource == ahp.RootURI {
		var root ahp.RootState
		if json.Unmarshal(snap.State, &root) == nil {
			s.compare(root.Terminals)
		}
		return
	}
	var state ahp.TerminalState
	if json.Unmarshal(snap.State, &state) != nil {
		return
	}
	id := s.attachedAs(snap.Resource)
	if id == "" {
		return
	}
	var b strings.Builder
	for _, p := range state.Content {
		b.WriteString(p.Text())
	}
	s.send(reply{Type: typeAttached, ID: id, History: new(pool.History(b.String()))})
	if state.Lifecycle.Exited() {
		s.exited(snap.Resource, id, state.Lifecycle.ExitCode)
	}
}

// Action tells of output and ends.
func (s *socket) Action(e ahp.Envelope) {
	if e.RejectionReason != "" {
		return // who asked is answered
	}
	switch a := e.Action.(type) {
	case ahp.RootTerminalsChanged:
		s.compare(a.Terminals)
	case ahp.TerminalData:
		if id := s.attachedAs(e.Channel); id != "" {
			s.send(reply{Type: typeOutput, ID: id, Data: &a.Data})
		} else if t, ok := s.follows(e.Channel); ok {
			s.send(event{"terminal", eventOutput, t, a.Data})
		}
	case ahp.TerminalExited:
		if id := s.attachedAs(e.Channel); id != "" {
			s.exited(e.Channel, id, a.ExitCode)
		}
	}
}

// Gone is for reconnects, which a socket's connection does not do.
func (s *socket) Gone(ahp.URI) {}

// Status of the connection is followed elsewhere.
func (s *socket) Status(client.Status, error) {}

func (s *socket) attachedAs(uri ahp.URI) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attached[uri]
}

func (s *socket) follows(uri ahp.URI) (pool.Terminal, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[uri], s.followed[uri]
}

// exited says how a process ended. AHP has no code where a signal ended it; the
// list names the signal, and this is not the goroutine that may ask for it.
func (s *socket) exited(uri ahp.URI, id string, code *int) {
	if code != nil {
		s.send(reply{Type: typeExit, ID: id, ExitCode: code})
		return
	}
	s.mu.Lock()
	s.ending[uri] = nil
	s.mu.Unlock()
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), callTime)
		defer cancel()
		end := 128
		all, err := terminals(ctx, s.c)
		if t := pool.Find(all, uri); err == nil && t != nil && t.Meta != nil {
			end += int(unix.SignalNum(t.Meta.Signal)) // docs/contributing/decisions.md §5
		}
		s.send(reply{Type: typeExit, ID: id, ExitCode: &end})
		s.mu.Lock()
		closed := s.ending[uri]
		delete(s.ending, uri)
		s.mu.Unlock()
		if closed != nil {
			s.send(*closed)
		}
	}()
}

// compare tells what has changed since the last list (T34): which terminals are
// new, which an agent gave to a person, and which have ended.
func (s *socket) compare(list []ahp.TerminalInfo) {
	now := map[ahp.URI]pool.Terminal{}
	for i := range list {
		if !list[i].Lifecycle.Exited() {
			now[list[i].Resource] = pool.Describe(&list[i])
		}
	}
	s.mu.Lock()
	before := s.known
	s.known = now
	var events []event
	var follow, gone []ahp.URI
	for uri, t := range now {
		was, ok := before[uri]
		switch {
		case before != nil && !ok:
			events = append(events, event{"terminal", eventCreated, t, ""})
		case ok && was.Owner == pool.Agent && t.Owner == pool.User:
			events = append(events, event{"terminal", eventPromoted, t, ""})
		}
		if s.output && t.Owner == pool.Agent && s.attached[uri] == "" && !s.followed[uri] && len(s.followed) < maxAttached {
			s.followed[uri] = true
			follow = append(follow, uri)
		}
	}
	for uri, t := range before {
		if _, ok := now[uri]; !ok {
			closed := event{"terminal", eventClosed, t, ""}
			if _, ending := s.ending[uri]; ending { // T36: pty:exit comes first
				s.ending[uri] = &closed
			} else {
				events = append(events, closed)
			}
			gone = append(gone, uri)
		}
	}
	for _, uri := range gone {
		delete(s.followed, uri)
	}
	s.mu.Unlock()
	for _, e := range events {
		s.send(e)
	}
	if len(follow) > 0 {
		go s.follow(follow)
	}
}

// follow subscribes to agents' terminals for the sake of their output.
func (s *socket) follow(uris []ahp.URI) {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	for _, uri := range uris {
		if s.c.Subscribe(ctx, uri) != nil { // gone already
			s.mu.Lock()
			delete(s.followed, uri)
			s.mu.Unlock()
		}
	}
}
