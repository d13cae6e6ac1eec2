package host_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/find"
)

// TestSearch: the lines of all terminals that match, what has scrolled off too, and of those
// alone that the asker may read.
func TestSearch(t *testing.T) {
	t.Parallel()
	w := start(t)
	o := w.connect("o")
	o.initialize()
	const one, two = ahp.URI("ahp-terminal:/one"), ahp.URI("ahp-terminal:/two")
	o.create(one, "sh", "-c", `echo Needle in one; seq 1 100; printf '%0200d needle end\n' 0; echo ready; exec cat`)
	o.create(two, "sh", "-c", `i=0; while [ $i -lt 30 ]; do echo "needle $i (x"; i=$((i+1)); done; echo ready; exec cat`)
	for _, uri := range []ahp.URI{one, two} {
		o.must(ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: "ready", Past: true, TimeoutMs: 60_000}, &ahp.WaitResult{})
	}
	search := func(p *peer, params find.SearchParams) (r find.SearchResult) {
		t.Helper()
		params.Channel = ahp.RootURI
		p.must(find.MethodSearch, params, &r)
		return r
	}
	r := search(o, find.SearchParams{Pattern: "needle (in|end)", Context: 1})
	if len(r.Items) != 2 || r.Partial {
		t.Fatalf("found %s", asJSON(t, r))
	}
	// What was wrapped is one line; the newest comes first.
	if h := r.Items[0]; h.Terminal != one || h.Text != strings.Repeat("0", 200)+" needle end" || h.Line != 1 || strings.Join(h.Before, "") != "100" || strings.Join(h.After, "") != "ready" {
		t.Errorf("the newest is %s", asJSON(t, h))
	}
	if h := r.Items[1]; h.Text != "Needle in one" || h.Line != 102 {
		t.Errorf("the oldest is %s", asJSON(t, h))
	}
	if r = search(o, find.SearchParams{Pattern: "Needle"}); len(r.Items) != 1 {
		t.Errorf("with an upper case letter: %s", asJSON(t, r))
	}
	if r = search(o, find.SearchParams{Pattern: "(x"}); len(r.Items) != 30 || r.Items[0].Text != "needle 29 (x" {
		t.Errorf("a text that is no expression: %d", len(r.Items))
	}
	if r = search(o, find.SearchParams{Pattern: "needle", Limit: 5}); len(r.Items) != 5 || !r.Partial {
		t.Errorf("at most 5: %d, %v", len(r.Items), r.Partial)
	}
	for _, p := range []find.SearchParams{{}, {Pattern: strings.Repeat("x", 5000)}} {
		if err := o.call(find.MethodSearch, p, nil); err == nil {
			t.Errorf("%.10q is searched for", p.Pattern)
		}
	}
	var token ahp.TokenNewResult
	o.must(ahp.MethodTokenNew, ahp.TokenNewParams{Channel: ahp.RootURI, Name: "bound", Terminal: two}, &token)
	bound := w.connectTCP("bound", token.Token)
	bound.initialize()
	if r = search(bound, find.SearchParams{Pattern: "needle"}); len(r.Items) != 30 || r.Items[0].Terminal != two {
		t.Errorf("a token for one terminal finds %s", asJSON(t, r))
	}
}

// TestSearchIsCancelled: a connection goes on while a search of its own is under way, and
// ends one that it does not want any more.
func TestSearchIsCancelled(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.connect("one")
	p.initialize()
	const uri = ahp.URI("ahp-terminal:/much")
	p.create(uri, "sh", "-c", `yes $(printf '%0190d' 0) | head -9000; echo ready; exec cat`)
	p.must(ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitText, Pattern: "ready", Past: true, TimeoutMs: 60_000}, &ahp.WaitResult{})
	p.lastID++
	id := p.lastID
	p.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": find.MethodSearch, "params": find.SearchParams{
		Channel: ahp.RootURI, Pattern: strings.Repeat("(0*|x)*", 140) + "y", // Seconds of work.
	}})
	var early json.RawMessage
	p.lastID++
	p.send(map[string]any{"jsonrpc": "2.0", "id": p.lastID, "method": ahp.MethodPing, "params": ahp.SubscribeParams{Channel: ahp.RootURI}})
	for string(early) != fmt.Sprint(p.lastID) {
		_, m, err := p.next()
		if err != nil {
			t.Fatal(err)
		}
		if early = m.ID; string(early) == fmt.Sprint(id) {
			t.Fatal("the search kept the connection from another request")
		}
	}
	begun := time.Now()
	p.send(map[string]any{"jsonrpc": "2.0", "method": find.MethodCancel, "params": find.CancelParams{Channel: ahp.RootURI, ID: json.RawMessage(fmt.Sprint(id))}})
	if r := answered[find.SearchResult](p, id); !r.Partial {
		t.Errorf("all was searched: %s", asJSON(t, r))
	}
	t.Logf("ended %v after it was cancelled", time.Since(begun))
}
