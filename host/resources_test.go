package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/resource"
	"tandemux/host"
	"tandemux/internal/soak"
)

// withHome makes the host serve a directory of its fixture's, which it gives.
func withHome(dir *string) func(*host.Config) {
	return func(c *host.Config) {
		*dir = filepath.Join(filepath.Dir(c.Runtime), "home")
		c.Roots = []string{*dir}
	}
}

// watch makes a watch and subscribes to it.
func (p *peer) watch(params resource.WatchParams) ahp.URI {
	p.t.Helper()
	uri := p.createWatch(params)
	p.subscribe(uri)
	return uri
}

func (p *peer) createWatch(params resource.WatchParams) ahp.URI {
	p.t.Helper()
	params.Channel = ahp.RootURI
	var r resource.WatchResult
	p.must(resource.MethodWatch, params, &r)
	return r.Channel
}

// sees waits until a watch tells of a change.
func (p *peer) sees(channel, file ahp.URI, how string) {
	p.t.Helper()
	p.envelope(how+" "+file, func(e ahp.Envelope) bool {
		a, ok := e.Action.(resource.WatchChanged)
		if ok && (len(a.Changes.Items) == 0 || e.Origin != nil) {
			p.t.Errorf("told %+v", e)
		}
		return ok && e.Channel == channel && slices.Contains(a.Changes.Items, resource.Change{URI: file, Type: how})
	})
}

// asks sends a request and does not wait for its answer: call would skip what a watch tells
// before that.
func (p *peer) asks(method string, params any) {
	p.t.Helper()
	p.lastID++
	p.send(map[string]any{"jsonrpc": "2.0", "id": p.lastID, "method": method, "params": params})
}

func at(uri ahp.URI) resource.Params { return resource.Params{Channel: ahp.RootURI, URI: uri} }

// TestWatches: a watch says what it watches and tells all who are subscribed, whatever AHP
// they speak, and nobody who may not read files. It goes with its last subscriber.
func TestWatches(t *testing.T) {
	t.Parallel()
	var home string
	w := start(t, withHome(&home))
	dir := "file://" + home
	a, b := w.connect("a"), w.connectTCP("b", w.token("terminal:read", "terminal:create").Token)
	a.initialize()
	b.must(ahp.MethodInitialize, ahp.InitializeParams{Channel: ahp.RootURI, ProtocolVersions: []string{"0.5.0"}, ClientID: "b"}, nil)
	p := resource.WatchParams{Params: at(dir), Recursive: true, Excludes: &resource.Patterns{Items: []string{"**/*.tmp"}}}
	uri := a.createWatch(p)
	if !strings.HasPrefix(uri, resource.WatchScheme+"/") || len(uri) < 40 {
		t.Errorf("the channel %s can be guessed", uri)
	}
	for _, peer := range []*peer{a, b} {
		var got, want any
		json.Unmarshal(peer.subscribe(uri).State, &got)
		json.Unmarshal([]byte(`{"root":"`+dir+`","recursive":true,"excludes":{"items":["**/*.tmp"]}}`), &want)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is given %v, want %v", peer.name, got, want)
		}
	}
	a.must(resource.MethodMkdir, at(dir+"/deep/er"), nil)
	a.asks(resource.MethodWrite, resource.WriteParams{Params: at(dir + "/deep/er/f"), Data: "x", Encoding: resource.UTF8})
	a.sees(uri, dir+"/deep/er/f", resource.Added)
	b.sees(uri, dir+"/deep/er/f", resource.Added)
	a.asks(resource.MethodDelete, resource.DeleteParams{Params: at(dir + "/deep"), Recursive: true})
	a.sees(uri, dir+"/deep", resource.Deleted)
	b.sees(uri, dir+"/deep", resource.Deleted)

	reader := w.connectTCP("reader", w.token("terminal:read").Token)
	reader.initialize()
	if err := reader.call(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: uri}, nil); ahp.CodeOf(err) != ahp.CodePermissionDenied || !strings.Contains(err.Error(), "terminal:create") {
		t.Errorf("a reader of terminals: %v", err)
	}
	a.dispatch(uri, 1, resource.WatchChanged{Changes: resource.Changes{Items: []resource.Change{{URI: dir, Type: resource.Added}}}})
	if e := a.echo(1); e.RejectionReason == "" {
		t.Error("a client tells of changes")
	}
	leaves := func(p *peer) {
		p.send(map[string]any{"jsonrpc": "2.0", "method": ahp.MethodUnsubscribe, "params": ahp.SubscribeParams{Channel: uri}})
		p.must(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
	}
	leaves(a)
	if err := os.WriteFile(filepath.Join(home, "g"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.sees(uri, dir+"/g", resource.Added) // it is somebody's yet
	leaves(b)
	gone := func(uri ahp.URI) error { return a.call(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: uri}, nil) }
	if err := gone(uri); ahp.CodeOf(err) != ahp.CodeNotFound {
		t.Errorf("a watch that nobody has: %v", err)
	}

	// One that had no subscriber, and one that had, go with a connection.
	ends := func(p *peer) { // who asks before the host knows subscribes, and then the watch stays
		const ended = `msg="connection ended"`
		before := w.log.count(ended)
		p.hangUp()
		w.until("the host knows that the connection has ended", func() bool { return w.log.count(ended) > before })
	}
	never, had := b.createWatch(p), b.watch(p)
	ends(b)
	if ahp.CodeOf(gone(had)) != ahp.CodeNotFound || ahp.CodeOf(gone(never)) != ahp.CodeNotFound {
		t.Error("the watches of a connection that ended are there")
	}
	back := w.connectTCP("b2", w.token("terminal:read", "terminal:create").Token)
	back.initialize()
	var r ahp.ReconnectResult
	last := back.watch(p)
	ends(back)
	if ahp.CodeOf(gone(last)) != ahp.CodeNotFound {
		t.Error("the watch is there")
	}
	again := w.connect("a2")
	again.must(ahp.MethodReconnect, map[string]any{
		"channel": ahp.RootURI, "clientId": "a", "lastSeenServerSeq": a.seq, "subscriptions": []ahp.URI{ahp.RootURI, uri},
	}, &r)
	if r.Type == ahp.ReconnectReplay && !slices.Contains(r.Missing, uri) {
		t.Errorf("who comes back to a watch is told %+v", r)
	}
}

// TestWatchLimits: those of a connection, of all, and of what is in one; each refusal says
// which it was and leaves no watch behind.
func TestWatchLimits(t *testing.T) {
	t.Parallel()
	var home string
	w := start(t, withHome(&home), func(c *host.Config) {
		c.Limits.Watches, c.Limits.WatchesAll, c.Limits.WatchedDirs = 2, 3, 500
	})
	p := resource.WatchParams{Params: at("file://" + home)}
	for i := range soak.Size(t, soak.Short(600, 2000), 20000) {
		if err := os.MkdirAll(filepath.Join(home, "many", fmt.Sprint(i/200), fmt.Sprint(i%200)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	a, b := w.connect("a"), w.connect("b")
	a.initialize()
	b.initialize()
	refused := func(p *peer, what resource.WatchParams, words string) {
		t.Helper()
		err := p.call(resource.MethodWatch, what, nil)
		if ahp.CodeOf(err) != ahp.CodeConflict || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	deep := p
	deep.Recursive = true
	for range 5 {
		refused(a, deep, "500 directories")
	}
	first := a.watch(p)
	a.watch(p)
	refused(a, p, "this connection has 2")
	b.watch(p)
	refused(b, p, "there are 3")
	a.send(map[string]any{"jsonrpc": "2.0", "method": ahp.MethodUnsubscribe, "params": ahp.SubscribeParams{Channel: first}})
	a.watch(p)
}

// TestStalledWatcher: a client that takes nothing delays nobody, and is closed as others are.
func TestStalledWatcher(t *testing.T) {
	soak.Long(t, "files are written until a queue is full")
	t.Parallel()
	var home string
	w := start(t, withHome(&home), func(c *host.Config) { c.Limits.QueueBytes, c.Limits.LagBytes = 1<<20, 64<<10 })
	w.buffer = 4
	stalled, live := w.connect("stalled"), w.connect("live")
	stalled.initialize()
	live.initialize()
	p := resource.WatchParams{Params: at("file://" + home)}
	stalled.watch(p)
	uri := live.watch(p)
	stalled.stall()
	for i := 0; w.log.count("viewer too slow") == 0; i++ {
		name := strings.Repeat("x", 200) + fmt.Sprint(i)
		if err := os.WriteFile(filepath.Join(home, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 {
			live.sees(uri, "file://"+filepath.Join(home, name), resource.Added)
		}
		if i > 100000 {
			t.Fatal("it is told more and more")
		}
	}
	stalled.resume()
	for {
		if _, _, err := stalled.next(); errors.Is(err, errEnded) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	live.asks(resource.MethodWrite, resource.WriteParams{Params: at("file://" + home + "/last"), Encoding: resource.UTF8})
	live.sees(uri, "file://"+home+"/last", resource.Added)
}

// TestFilesOnRecord: who changed which file, and who was refused, is on record; what was
// written is not.
func TestFilesOnRecord(t *testing.T) {
	t.Parallel()
	var home string
	w := start(t, withHome(&home))
	token, less := w.token("terminal:create", "files:write"), w.token("terminal:create", "admin")
	a, b := w.connectTCP("a", token.Token), w.connectTCP("b", less.Token)
	a.initialize()
	b.initialize()
	dir := "file://" + home
	write := resource.WriteParams{Params: at(dir + "/f"), Data: "a secret text", Encoding: resource.UTF8}
	a.must(resource.MethodWrite, write, nil)
	a.must(resource.MethodMkdir, at(dir+"/d"), nil)
	move := resource.TransferParams{Channel: ahp.RootURI, Source: dir + "/f", Destination: dir + "/d/f"}
	a.must(resource.MethodMove, move, nil)
	move.Source, move.Destination = move.Destination, move.Source
	a.must(resource.MethodCopy, move, nil)
	a.must(resource.MethodDelete, resource.DeleteParams{Params: at(dir + "/f")}, nil)
	if err := b.call(resource.MethodWrite, write, nil); ahp.CodeOf(err) != ahp.CodePermissionDenied {
		t.Errorf("without the scope: %v", err)
	}
	write.URI = "file:///etc/passwd"
	if err := a.call(resource.MethodWrite, write, nil); ahp.CodeOf(err) != ahp.CodePermissionDenied {
		t.Errorf("outside: %v", err)
	}
	type line struct{ Msg, Principal, Client, URI, To, Refused string }
	who, other := "token:"+token.ID, "token:"+less.ID
	want := []line{
		{"resourceWrite", who, "a", dir + "/f", "", ""},
		{"resourceMkdir", who, "a", dir + "/d", "", ""},
		{"resourceMove", who, "a", dir + "/f", dir + "/d/f", ""},
		{"resourceCopy", who, "a", dir + "/d/f", dir + "/f", ""},
		{"resourceDelete", who, "a", dir + "/f", "", ""},
		{"resourceWrite", other, "b", "", "", `resourceWrite: this token lacks the scope "files:write": ask the host's owner for one that has it`},
		{"resourceWrite", who, "a", "", "", `files: "file:///etc/passwd" is not below a directory that this host serves`},
	}
	text := w.audit()
	for raw := range strings.Lines(text) {
		var got line
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Fatal(err)
		}
		if len(want) > 0 && got == want[0] {
			want = want[1:]
		}
	}
	if len(want) > 0 || strings.Contains(text, "secret") || w.log.count("secret") > 0 {
		t.Errorf("not on record: %+v\n%s", want, text)
	}
}

// TestOwnFilesStay: nobody changes the host's own files by requests.
func TestOwnFilesStay(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) { c.Roots = []string{filepath.Dir(c.Runtime)} })
	a := w.connect("a")
	a.initialize()
	for _, name := range []string{"state/tokens.json", "state", "run/x"} {
		err := a.call(resource.MethodWrite, resource.WriteParams{Params: at("file://" + w.dir + "/" + name), Encoding: resource.UTF8}, nil)
		if ahp.CodeOf(err) != ahp.CodePermissionDenied || !strings.Contains(err.Error(), "of this host's own") {
			t.Errorf("%s: %v", name, err)
		}
		err = a.call(resource.MethodRequest, resource.RequestParams{Params: at("file://" + w.dir + "/" + name), Write: true}, nil)
		if ahp.CodeOf(err) != ahp.CodePermissionDenied {
			t.Errorf("leave to write %s: %v", name, err)
		}
	}
}
