package host_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/palette"
	"tandemux/host"
	"tandemux/host/front"
	"tandemux/internal/wsrpc"
)

// TestPanicInConnection: a panic while a message is handled, with the sequencing
// lock held, ends that connection; everybody else goes on.
func TestPanicInConnection(t *testing.T) {
	t.Parallel()
	var h atomic.Pointer[host.Host]
	w := start(t, func(c *host.Config) {
		c.Interface = func(bool) (i palette.Interface, err error) {
			host.Panic(h.Load())
			return i, err
		}
	})
	h.Store(w.host)
	good, bad := w.connect("good"), w.connect("bad")
	good.initialize(ahp.RootURI)
	bad.initialize(ahp.RootURI)
	const uri = "ahp-terminal:/1"
	good.create(uri, "cat")
	bad.call(palette.MethodInterface, ahp.SubscribeParams{Channel: ahp.RootURI}, nil) //nolint:errcheck // any answer, or none
	for {
		if _, _, err := bad.next(); err != nil {
			break
		}
	}
	good.dispatch(uri, 1, ahp.TerminalInput{Data: "still here\n"})
	good.output(uri, "still here")
	w.connect("bad").initialize(ahp.RootURI)
	if log := w.log.String(); !strings.Contains(log, "panic") || !strings.Contains(log, "conn.go") {
		t.Errorf("the log has no stack:\n%s", log)
	}
}

// TestPanicInTerminal: what panics when one terminal's output is applied costs
// that; another terminal, its own program and all connections go on.
func TestPanicInTerminal(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.connect("p")
	p.initialize(ahp.RootURI)
	const one, two = "ahp-terminal:/1", "ahp-terminal:/2"
	p.create(one, "cat")
	p.create(two, "cat")
	host.PanicAtOutput(w.host, one)
	p.dispatch(one, 1, ahp.TerminalInput{Data: "first\n"})
	w.until("it has panicked", func() bool { return w.log.count("host's test panics") > 0 })
	p.dispatch(two, 2, ahp.TerminalInput{Data: "other\n"})
	p.output(two, "other")
	p.dispatch(one, 3, ahp.TerminalInput{Data: "second\n"})
	p.output(one, "second")
}

// TestPanicInFront: a door that panics answers nothing to its own request.
func TestPanicInFront(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) {
		c.Doors = []front.Door{{
			Paths: map[string][]string{"/broken": {http.MethodGet}},
			Serve: func(http.ResponseWriter, *http.Request, front.Caller) { panic("the door fell") },
		}}
	})
	token := w.token()
	req, err := http.NewRequest(http.MethodGet, "http://"+w.tcp.Addr().String()+"/broken", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token.Token)
	if r, err := http.DefaultTransport.RoundTrip(req); err == nil {
		t.Errorf("answered with %s", r.Status)
		r.Body.Close()
	}
	if w.log.count("the door fell") != 1 {
		t.Error("the log says nothing")
	}
	p, err := w.try("p", wsrpc.Target{URL: "ws://" + w.tcp.Addr().String() + "/ahp", Token: token.Token})
	if err != nil {
		t.Fatal(err)
	}
	p.initialize(ahp.RootURI)
}
