package client

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/internal/jsonrpc"
)

// skimmer notes what it is given.
type skimmer struct {
	nobody
	got   chan string
	empty bool // there is nothing yet of what is asked for
}

func (s *skimmer) Snapshot(sn ahp.Snapshot) { s.note("state", sn) }
func (s *skimmer) Skims(uri ahp.URI) bool   { return uri == t1 }
func (s *skimmer) Begins(ahp.URI) bool      { return s.empty }
func (s *skimmer) Begun(sn ahp.Snapshot)    { s.note("begun", sn) }
func (s *skimmer) Skimmed(sn ahp.Snapshot)  { s.note("screen", sn) }

func (s *skimmer) Data(_ ahp.URI, data []byte, seq int64) {
	if len(data) < 10 {
		s.got <- fmt.Sprintf("%s %d", data, seq)
	}
}

func (s *skimmer) note(what string, sn ahp.Snapshot) {
	if sn.Resource != ahp.RootURI {
		s.got <- fmt.Sprintf("%s %s %d", what, sn.State, sn.FromSeq)
	}
}

// TestFlood: a flood is one from its first 512 KiB on, whatever came before, and a program that
// prints more slowly never is.
func TestFlood(t *testing.T) {
	t.Parallel()
	var f flood
	now := time.Unix(1, 0)
	for range 100 { // 4 MB a second
		now = now.Add(20 * time.Millisecond)
		if f.add(80<<10, now) {
			t.Fatal("4 MB a second are a flood")
		}
	}
	now = now.Add(time.Second)
	for n := 64 << 10; n <= floodBytes; n += 64 << 10 {
		now = now.Add(time.Millisecond)
		if got, want := f.add(64<<10, now), n == floodBytes; got != want {
			t.Fatalf("at %d bytes it is a flood: %v, want %v", n, got, want)
		}
	}
}

// TestSkim: a terminal that floods is skimmed, once; screens take the place of its output
// in the order of the numbers until the last one, and a connection that is lost between
// leaves no hole: the state is asked for.
func TestSkim(t *testing.T) {
	s := &skimmer{got: make(chan string, 100)}
	script, p, c, _ := start(t, Options{Sink: s, Reconnect: true, Wants: Wants{Print: s, Skim: s}})
	want := func(all ...string) {
		t.Helper()
		for _, w := range all {
			if got := <-s.got; got != w {
				t.Fatalf("got %q, want %q", got, w)
			}
		}
	}
	subscribed := make(chan error, 1)
	go func() { subscribed <- c.Subscribe(t.Context(), t1) }()
	p.reply(p.expect(ahp.MethodSubscribe, `{"channel":"`+t1+`"}`), `{"snapshot":{"resource":"`+t1+`","state":{},"fromSeq":10}}`)
	if err := <-subscribed; err != nil {
		t.Fatal(err)
	}
	want("state {} 10")
	seq := 10
	flood := func() {
		for len(p.in) == 0 { // however slow the machine is
			seq++
			p.action(t1, seq, `{"type":"terminal/data","data":"`+strings.Repeat("x", 64<<10)+`"}`, "")
		}
	}
	screen := func(from int, last bool) {
		t.Helper()
		s := ahp.Skimmed{Snapshot: ahp.Snapshot{Resource: t1, State: json.RawMessage(`{"rows":1}`), FromSeq: int64(from)}, Last: last}
		if err := p.conn.Notify(ahp.NoteSkimmed, s); err != nil {
			t.Fatal(err)
		}
	}
	flood()
	p.reply(p.expect(ahp.MethodSkim, `{"channel":"`+t1+`"}`), `null`)
	screen(seq, false)
	screen(seq-1, false) // which is older
	p.action(t1, seq+1, `{"type":"terminal/data","data":"bell"}`, "")
	screen(seq+10, true)
	screen(seq+11, false) // which was not asked for
	p.action(t1, seq+5, `{"type":"terminal/data","data":"known"}`, "")
	p.action(t1, seq+12, `{"type":"terminal/data","data":"new"}`, "")
	want(fmt.Sprint(`screen {"rows":1} `, seq), fmt.Sprint("bell ", seq+1), fmt.Sprint(`screen {"rows":1} `, seq+10), fmt.Sprint("new ", seq+12))
	seq += 12
	flood()
	p.reply(p.expect(ahp.MethodSkim, `{"channel":"`+t1+`"}`), `null`)
	screen(seq, false)
	want(fmt.Sprint(`screen {"rows":1} `, seq))
	p.conn.Close(1001, "")
	p = script.accept()
	p.reply(p.expect(ahp.MethodReconnect, fmt.Sprintf(`{"channel":"ahp-root://","clientId":"%s","lastSeenServerSeq":%d,"subscriptions":["ahp-root://"],"_meta":{"tandemux/continues":true}}`, c.ClientID(), seq)), `{"type":"replay","actions":[],"missing":[]}`)
	p.reply(p.expect(ahp.MethodSubscribe, `{"channel":"`+t1+`"}`), fmt.Sprintf(`{"snapshot":{"resource":"%s","state":{"cols":1},"fromSeq":%d}}`, t1, seq+100))
	want(fmt.Sprintf(`state {"cols":1} %d`, seq+100))
}

// TestSkimBehindState: a state that was asked for ends the skimming when it comes, so a
// flood that comes before it is not skimmed yet: what the host would then leave out, the
// screens in its place would be ignored for. Behind it, it is.
func TestSkimBehindState(t *testing.T) {
	s := &skimmer{got: make(chan string, 100)}
	_, p, c, _ := start(t, Options{Sink: s, Wants: Wants{Print: s, Skim: s}})
	seq := 10
	subscribed := make(chan error, 1)
	subscribe := func(during func()) {
		t.Helper()
		go func() { subscribed <- c.Subscribe(t.Context(), t1) }()
		id := p.expect(ahp.MethodSubscribe, `{"channel":"`+t1+`"}`)
		during()
		p.reply(id, fmt.Sprintf(`{"snapshot":{"resource":"%s","state":{},"fromSeq":%d}}`, t1, seq))
		if err := <-subscribed; err != nil {
			t.Fatal(err)
		}
		if got, want := <-s.got, fmt.Sprint("state {} ", seq); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	data := func() {
		seq++
		p.action(t1, seq, `{"type":"terminal/data","data":"`+strings.Repeat("x", 64<<10)+`"}`, "")
	}
	subscribe(func() {})
	subscribe(func() {
		for range 50 {
			data()
		}
	})
	if len(p.in) > 0 {
		t.Error("a flood before a state is to be skimmed")
	}
	for len(p.in) == 0 {
		data()
	}
	p.reply(p.expect(ahp.MethodSkim, `{"channel":"`+t1+`"}`), `null`)
	if err := p.conn.Notify(ahp.NoteSkimmed, ahp.Skimmed{Snapshot: ahp.Snapshot{Resource: t1, State: json.RawMessage(`{}`), FromSeq: int64(seq)}}); err != nil {
		t.Fatal(err)
	}
	if got, want := <-s.got, fmt.Sprint("screen {} ", seq); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestBegun: of terminals of which there is nothing yet the screens come first, and the
// whole of each behind the last of these, but for one that was left meanwhile.
func TestBegun(t *testing.T) {
	s := &skimmer{got: make(chan string, 100), empty: true}
	_, p, c, _ := start(t, Options{Sink: s, Wants: Wants{Print: s, Skim: s}})
	want := func(w string) {
		t.Helper()
		if got := <-s.got; got != w {
			t.Fatalf("got %q, want %q", got, w)
		}
	}
	const t3 = "ahp-terminal:/t3"
	state := func(uri string, seq int) string {
		return fmt.Sprintf(`{"snapshot":{"resource":%q,"state":{},"fromSeq":%d}}`, uri, seq)
	}
	subscribed := make(chan error, 3)
	uris := []string{t1, t2, t3}
	var asked []*jsonrpc.Request
	for _, uri := range uris {
		go func() { subscribed <- c.Subscribe(t.Context(), uri) }()
		asked = append(asked, p.expect(ahp.MethodSubscribe, `{"channel":"`+uri+`","_meta":{"tandemux/within":0}}`))
	}
	s.empty = false
	for i, req := range asked {
		p.reply(req, state(uris[i], 10+i))
		want(fmt.Sprintf("begun {} %d", 10+i))
		if err := <-subscribed; err != nil {
			t.Fatal(err)
		}
		if i == 1 { // while that of the third is on its way
			c.Unsubscribe(t2)
			p.expect(ahp.MethodUnsubscribe, `{"channel":"`+t2+`"}`)
		}
	}
	for _, uri := range []string{t1, t3} {
		p.reply(p.expect(ahp.MethodSubscribe, `{"channel":"`+uri+`"}`), state(uri, 20))
		want("state {} 20")
	}
}
