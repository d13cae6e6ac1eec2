package directory

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"tandemux/hub/server"
)

func open(t *testing.T) (*server.Bus, *Directory) {
	t.Helper()
	b, err := server.Start(t.Context(), server.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	d, err := Open(t.Context(), b, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return b, d
}

// connect is a host's connection.
func connect(t *testing.T, b *server.Bus, host string) *nats.Conn {
	t.Helper()
	c, err := b.Invite(host, 0, Grant(host))
	if err != nil {
		t.Fatal(err)
	}
	return dial(t, b, host, c)
}

// dial connects with a credential. The two seconds that the library would wait are for who tries
// again, as `tandemux join` does.
func dial(t *testing.T, b *server.Bus, host string, c server.Credential) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect("nats://"+b.Addr(), nats.UserCredentialBytes([]byte(c.Text)), nats.CustomInboxPrefix(server.InboxOf(host)), nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	began := time.Now()
	for !ok() {
		if time.Since(began) > 20*time.Second {
			t.Fatalf("not reached: %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestPresence: a host is here from the first word on; one that says that it goes is away at
// once, one that vanishes within five seconds; what it is stays known.
func TestPresence(t *testing.T) {
	t.Parallel()
	b, d := open(t)
	here := func() bool { e, _ := d.Host("build"); return e.Present }
	nc := connect(t, b, "build")
	ctx, cancel := context.WithCancel(t.Context())
	a := NewAnnouncer(nc, "build")
	var run sync.WaitGroup
	run.Go(func() { a.Run(ctx) }) //nolint:errcheck // it gives nil
	a.Set(&Host{Version: "1", Terms: []Reference{{URI: "ahp-terminal:/a", Title: "vim"}}})
	eventually(t, "it is here", here)
	stopped := time.Now()
	clock := func(now func() time.Time) { d.mu.Lock(); d.now = now; d.mu.Unlock() }
	clock(func() time.Time { return stopped })
	a.Set(nil)
	eventually(t, "it went, with no time gone by", func() bool { return !here() })
	clock(time.Now)
	a.Set(&Host{Version: "2"})
	eventually(t, "it is here again", func() bool { e, _ := d.Host("build"); return e.Present && e.Version == "2" })
	nc.Close() // no word more, as of who was killed
	eventually(t, "it vanished", func() bool { return !here() })
	if AwayTime > 5*time.Second {
		t.Errorf("one that vanishes is away after %v", AwayTime)
	}
	cancel()
	run.Wait()
	if e, ok := d.Host("build"); !ok || e.Version != "2" || e.Seen.IsZero() {
		t.Errorf("what is known of it: %+v", e)
	}
}

// TestNameTaken: of two that announce themselves under one name the second is told to take
// another, and the first stays what the fleet knows.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	b, d := open(t)
	known := func(version string) func() bool {
		return func() bool { e, _ := d.Host("build"); return e.Present && e.Version == version }
	}
	first := NewAnnouncer(connect(t, b, "build"), "build")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- first.Run(ctx) }()
	first.Set(&Host{Version: "1"})
	eventually(t, "the first is here", known("1"))
	began := time.Now()
	eventually(t, "the first has been here for a while", func() bool { return time.Since(began) > AwayTime })
	second := NewAnnouncer(connect(t, b, "build"), "build")
	second.Set(&Host{Version: "2"})
	short, over := context.WithTimeout(ctx, 20*time.Second)
	defer over()
	if err := second.Run(short); err == nil || !strings.Contains(err.Error(), "hub invite NAME") {
		t.Errorf("the second: %v", err)
	}
	eventually(t, "the first is what is known", known("1"))
	select {
	case err := <-ended:
		t.Errorf("the first has ended: %v", err)
	default:
	}
}

// TestSpeaksForItself: a host says nothing of another, takes labels that it was not given in
// vain, and can't have its words do anything to who reads them.
func TestSpeaksForItself(t *testing.T) {
	t.Parallel()
	b, d := open(t)
	if err := d.Invited(t.Context(), Invite{Host: "build", User: "U", Labels: []string{"gpu"}}); err != nil {
		t.Fatal(err)
	}
	nc := connect(t, b, "build")
	say := func(host string, v any) {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if err := nc.Publish(prefix+hostsBucket+"."+host, text); err != nil {
			t.Fatal(err)
		}
	}
	say("other", Host{Version: "forged"})
	many := make([]Reference, 10_000)
	for i := range many {
		many[i] = Reference{URI: fmt.Sprint("ahp-terminal:/", i)}
	}
	say("build", "no host")
	say("build", Host{Name: "other", Version: "1\x1b[2J", Labels: []string{"prod"}, Agents: []string{"claude", "a b\x1b"}, CPUs: -1, Terms: []Reference{{Title: strings.Repeat("ä", 1000) + "\x1b]52;c;x\a"}}})
	eventually(t, "it is known", func() bool { _, ok := d.Host("build"); return ok })
	e, _ := d.Host("build")
	if e.Name != "build" || strings.ContainsRune(e.Version, 27) || fmt.Sprint(e.Labels) != "[gpu]" || fmt.Sprint(e.Agents) != "[claude]" || e.CPUs != 0 || len(e.Terms[0].Title) > maxText {
		t.Errorf("it is %+v", e)
	}
	if _, ok := d.Host("other"); ok {
		t.Error("a host said something of another")
	}
	text, err := write(Host{Terms: many})
	if err != nil {
		t.Fatal(err)
	}
	h, err := read("build", text)
	if err != nil || len(h.Terms) != MaxListed || h.More != len(many)-MaxListed {
		t.Errorf("of many terminals %d are listed, and %d more: %v", len(h.Terms), h.More, err)
	}
}

// FuzzRead: what a host writes is bounded and clean, and can be written again.
func FuzzRead(f *testing.F) {
	f.Add("build", []byte(`{"version":"1","terminals":[{"uri":"ahp-terminal:/a","title":"vim"}],"labels":["gpu"]}`))
	f.Add("build", []byte(`{"cpus":-1,"agents":["a\u001b"]}`))
	f.Add("a.b", []byte(`[]`))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		h, err := read(name, text)
		if err != nil {
			t.Skip()
		}
		for _, s := range []string{h.Version, h.System} {
			if strings.ContainsRune(s, 27) || len(s) > maxWords {
				t.Fatalf("%q", s)
			}
		}
		if _, err := write(h); err != nil || len(h.Terms) > MaxListed || len(h.Labels) > maxWords {
			t.Fatalf("%+v: %v", h, err)
		}
	})
}
