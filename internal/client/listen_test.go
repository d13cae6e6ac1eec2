package client

import (
	"encoding/json"
	"testing"

	"tandemux/ahp"
)

// listening notes notifications.
type listening struct {
	nobody
	notes chan string
}

func (l *listening) Note(method string, params json.RawMessage) { l.notes <- method + string(params) }

// TestListener: notifications beside actions reach a Listener; a request does not
// become one.
func TestListener(t *testing.T) {
	l := &listening{notes: make(chan string, 4)}
	_, p, _, _ := start(t, Options{Sink: l, Wants: Wants{Listen: l}})
	params := json.RawMessage(`{"channel":"ahp-root://","session":"ahp-session:/1"}`)
	if err := p.conn.Notify(ahp.NoteSessionRemoved, params); err != nil {
		t.Fatal(err)
	}
	if got := <-l.notes; got != `root/sessionRemoved{"channel":"ahp-root://","session":"ahp-session:/1"}` {
		t.Errorf("got %s", got)
	}
}
