package host_test

import (
	"strings"
	"testing"

	"tandemux/ahp"
)

// TestComingBackWhileStillHere: a client that thinks its connection lost comes back by
// reconnect while the old one still brings what it had sent, as through a slow tunnel.
// Nothing of that is typed behind what is typed from then on.
func TestComingBackWhileStillHere(t *testing.T) {
	t.Parallel()
	const uri = "ahp-terminal:/t"
	w := start(t)
	old, back := w.connect("c"), w.connect("c")
	old.initialize()
	old.create(uri, "sh", "-c", "stty raw -echo; echo ready; exec cat")
	old.output(uri, "ready")
	old.dispatch(uri, 1, ahp.TerminalInput{Data: "before "})
	old.echo(1)
	var r ahp.ReconnectResult
	back.must(ahp.MethodReconnect, map[string]any{"channel": ahp.RootURI, "clientId": "c", "lastSeenServerSeq": old.seq, "subscriptions": []ahp.URI{uri}}, &r)
	back.dispatch(uri, 1, ahp.TerminalInput{Data: "new "})
	back.echo(1)
	old.dispatch(uri, 2, ahp.TerminalInput{Data: "late "})
	if e := old.echo(2); !strings.Contains(e.RejectionReason, "came back on another connection") {
		t.Errorf("what the old connection brought was answered %+v", e)
	}
	back.dispatch(uri, 2, ahp.TerminalInput{Data: "end"})
	old.output(uri, "end") // it may go on watching
	if got := old.out[uri].String(); !strings.HasSuffix(got, "before new end") {
		t.Errorf("typed: %q", got)
	}
}
