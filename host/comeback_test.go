package host_test

import (
	"strings"
	"sync"
	"testing"

	"tandemux/ahp"
)

// TestComingBackWhileStillHere: a client that thinks its connection lost comes back by
// reconnect while the old one still brings what it had sent, as through a slow tunnel.
// Of that nothing is typed behind what is typed from then on.
func TestComingBackWhileStillHere(t *testing.T) {
	t.Parallel()
	const uri, most = "ahp-terminal:/t", 5000
	w := start(t)
	old, back := w.connect("c"), w.connect("c")
	old.initialize()
	old.create(uri, "sh", "-c", "stty raw -echo; echo ready; exec cat")
	old.output(uri, "ready")
	var sent sync.WaitGroup
	sent.Go(func() {
		for i := range most {
			old.dispatch(uri, int64(i+1), ahp.TerminalInput{Data: "o"})
		}
	})
	defer sent.Wait()
	old.echo(100)
	var r ahp.ReconnectResult
	back.must(ahp.MethodReconnect, map[string]any{"channel": ahp.RootURI, "clientId": "c", "lastSeenServerSeq": old.seq, "subscriptions": []ahp.URI{uri}}, &r)
	back.dispatch(uri, 1, ahp.TerminalInput{Data: "NEW"})
	back.echo(1)
	old.echo(most)
	back.dispatch(uri, 2, ahp.TerminalInput{Data: "END"})
	back.output(uri, "END")
	if _, late, _ := strings.Cut(back.out[uri].String(), "NEW"); late != "END" {
		t.Errorf("behind what was typed after coming back: %d bytes of what was typed before", strings.Count(late, "o"))
	}
}
