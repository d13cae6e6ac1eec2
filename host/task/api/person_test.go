package api_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/internal/client"
)

// someone is a client of the host's like any other.
type someone struct {
	t *testing.T
	c *client.Client

	mu    sync.Mutex
	chats map[ahp.URI]ahp.ChatState
	news  chan struct{}
}

func (s *someone) Snapshot(snap ahp.Snapshot) {
	var v ahp.ChatState
	if json.Unmarshal(snap.State, &v) == nil {
		s.mu.Lock()
		s.chats[snap.Resource] = v
		s.mu.Unlock()
		s.poke()
	}
}

func (s *someone) Action(e ahp.Envelope) {
	s.mu.Lock()
	if v, ok := s.chats[e.Channel]; ok {
		s.chats[e.Channel] = ahp.ReduceChat(v, e.Action)
	}
	s.mu.Unlock()
	s.poke()
}

func (s *someone) Gone(ahp.URI)                {}
func (s *someone) Status(client.Status, error) {}

func (s *someone) poke() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

func person(t *testing.T, w *fixture) *someone {
	t.Helper()
	s := &someone{t: t, chats: map[ahp.URI]ahp.ChatState{}, news: make(chan struct{}, 1)}
	c, err := client.Connect(context.Background(), client.Options{Dial: w.host.Front().Service("person"), Sink: s})
	if err != nil {
		t.Fatal(err)
	}
	s.c = c
	t.Cleanup(func() { c.Close() })
	return s
}

func (s *someone) prompt(session ahp.URI, text string) {
	s.t.Helper()
	chat := ahp.ChatScheme + session[len(ahp.SessionScheme):]
	if err := s.c.Subscribe(context.Background(), chat); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.c.DispatchWait(context.Background(), chat, ahp.ChatTurnStarted{
		TurnID: "by-hand", Message: ahp.Message{Text: text, Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}},
	}); err != nil {
		s.t.Fatal(err)
	}
}

// approve waits for the next question and answers it with yes.
func (s *someone) approve(session ahp.URI) {
	s.t.Helper()
	chat := ahp.ChatScheme + session[len(ahp.SessionScheme):]
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		s.mu.Lock()
		turn := s.chats[chat].ActiveTurn
		s.mu.Unlock()
		if turn != nil {
			i := slices.IndexFunc(turn.ResponseParts, func(p ahp.ResponsePart) bool { return p.ToolCall != nil && p.ToolCall.Status == ahp.ToolPending })
			if i >= 0 {
				call := turn.ResponseParts[i].ToolCall
				if _, err := s.c.DispatchWait(context.Background(), chat, ahp.ChatToolCallConfirmed{
					TurnID: turn.ID, ToolCallID: call.ToolCallID, Approved: true, Confirmed: ahp.ConfirmedUserAction, SelectedOptionID: call.Options[0].ID,
				}); err != nil {
					s.t.Fatal(err)
				}
				return
			}
		}
		select {
		case <-s.news:
		case <-timer.C:
			s.t.Fatal("nobody asked")
		}
	}
}

// dispose ends a session as a person does.
func dispose(t *testing.T, w *fixture, session ahp.URI) {
	t.Helper()
	if err := person(t, w).c.Call(context.Background(), ahp.MethodDisposeSession, ahp.SubscribeParams{Channel: session}, nil); err != nil {
		t.Fatal(err)
	}
}
