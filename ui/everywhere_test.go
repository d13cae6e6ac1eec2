package ui_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	ahpfind "tandemux/ahp/find"
	"tandemux/ui"
)

// finder is a host that knows what ran and what shows everywhere.
type finder struct {
	*Host
	past  []ahpfind.Command
	asked []ahpfind.HistoryParams
	hits  ahpfind.SearchResult
	slow  bool // a search goes on until it is given up
	ended int  // searches that were
}

func (f *finder) Call(ctx context.Context, method string, params, result any) error {
	switch p := params.(type) {
	case ahpfind.HistoryParams:
		f.asked = append(f.asked, p)
		got := ahpfind.HistoryResult{}
		for _, c := range f.past {
			if (!p.Failed || c.ExitCode != nil && *c.ExitCode != 0) && (p.Cwd == "" || c.Cwd == p.Cwd) {
				got.Items = append(got.Items, c)
			}
		}
		*result.(*ahpfind.HistoryResult) = got
	case ahpfind.SearchParams:
		if f.slow {
			<-ctx.Done()
			f.ended++
			return ctx.Err()
		}
		*result.(*ahpfind.SearchResult) = f.hits
	default:
		return f.Host.Call(ctx, method, params, result)
	}
	return nil
}

// everywhere starts an interface on such a host.
func everywhere(t *testing.T, w, h int) (*UI, *finder) {
	t.Helper()
	f := &finder{}
	at := epoch
	ran := func(line, dir string, code int, ago, took time.Duration) {
		c := ahpfind.Command{Terminal: "ahp-terminal:/gone12", ID: "c1", CommandLine: line, Timestamp: at.Add(-ago).UnixMilli(), Cwd: "file://" + dir}
		ms := took.Milliseconds()
		if took >= 0 {
			c.ExitCode, c.DurationMs = &code, &ms
		}
		f.past = append(f.past, c)
	}
	ran("make test", "/home/ann/src/app", 2, time.Minute, 83*time.Second)
	ran("ls -l", "/home/ann", 0, time.Hour, 10*time.Millisecond)
	ran("ssh build", "/home/ann", 0, 30*time.Hour, -1)
	ran("for f in *; do\n  cat $f\ndone", "/tmp", 0, 400*24*time.Hour, time.Second)
	u := New(t, Options{W: w, H: h, Host: func(h *Host) { f.Host, h.Program = h, silent }, Config: func(c *ui.Config) { c.Host = f }})
	return u, f
}

// TestHistory: a command that ran anywhere is typed at the prompt, run, copied, and found by
// words, directory and failure.
func TestHistory(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		u, _ := everywhere(t, size[0], size[1])
		u.Press("ctrl+space I")
		u.Golden(fmt.Sprint("history-", size[0]))
	}
	u, f := everywhere(t, 80, 24)
	past := f.past
	sh := u.Host.Terminal("sh1")
	u.Press("ctrl+space I")
	u.Type("test")
	u.Press("enter")
	if sh.Typed() != "make test" {
		t.Errorf("typed %q", sh.Typed())
	}
	u.Press("ctrl+space I", "down", "alt+enter")
	if sh.Typed() != "make testls -l\r" {
		t.Errorf("ran %q", sh.Typed())
	}
	u.Press("ctrl+space I", "down", "down", "alt+y")
	if copied(t, u) != "ssh build" {
		t.Errorf("copied %q", copied(t, u))
	}
	u.Press("ctrl+space I", "alt+f")
	u.Shows("History, failed", "make test")
	u.Hides("ssh build")
	u.Press("alt+f", "alt+d")
	u.Shows("History in ~", "ssh build")
	u.Hides("make test")
	if last := f.asked[len(f.asked)-1]; last.Failed || last.Cwd != "file:///home/ann" {
		t.Errorf("asked for %+v", last)
	}
	f.past = nil
	u.Press("alt+f")
	u.Shows("History, failed in ~", "none of those that are kept")
	u.Press("esc", "ctrl+space I")
	u.Shows("none is kept yet: command-history, shell-integration in config.toml")
	u.Press("esc")
	f.past = past

	// Where something runs, or somebody else types, nothing is inserted.
	sh.Begin("sleep 1000")
	u.Press("ctrl+space I", "enter")
	u.Shows("not inserted: \"sleep 1000\" runs in this pane")
	sh.End(0, 10)
	sh.Claim(ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/1", ToolCallID: "make"})
	u.WaitIdle()
	before := sh.Typed()
	u.Press("ctrl+space I", "enter")
	u.Press("ctrl+space I", "alt+enter")
	if sh.Typed() != before {
		t.Errorf("typed %q", sh.Typed())
	}
}

// TestSearchAll: lines of all terminals, and the way to one of a terminal that shows in
// another tab, at the line, whatever its size becomes.
func TestSearchAll(t *testing.T) {
	u, f := everywhere(t, 80, 24)
	sh := u.Host.Terminal("sh1")
	sh.Print(numbers(30) + "an Error: " + strings.Repeat("long ", 20) + "\r\n" + numbers(60))
	u.Press("ctrl+space c")
	two := u.Host.Terminal("sh2")
	two.Print("no error here\r\n")
	f.hits.Items = []ahpfind.SearchHit{
		{Terminal: sh.URI, Line: 62, Text: "an Error: " + strings.TrimSpace(strings.Repeat("long ", 20)), Before: []string{"line 30"}, After: []string{"line 1"}},
		{Terminal: two.URI, Line: 1, Text: "no error here"},
	}
	u.Press("ctrl+space ctrl+f")
	u.Type("error")
	u.Press("enter")
	u.Golden("search-all")
	u.Press("enter")
	u.Golden("search-all-there")
	u.Resize(60, 30)
	u.WaitIdle()
	u.Shows("an Error: long")
	u.Press("q", "ctrl+space ctrl+f")
	f.hits.Items = nil
	u.Type("never")
	u.Press("enter")
	u.Shows(`"never" is in no terminal`)
}

// TestSearchStops: a search of all terminals can be stopped, and is told so; what is typed
// meanwhile goes nowhere, and afterwards into the pane.
func TestSearchStops(t *testing.T) {
	u, f := everywhere(t, 80, 24)
	sh := u.Host.Terminal("sh1")
	f.slow = true
	u.Press("ctrl+space ctrl+f")
	u.Type("error")
	u.Host.Hold()
	u.Press("enter")
	u.Type("x")
	u.Shows(`searching all terminals for "error"`, "esc stop")
	if f.ended != 0 || sh.Typed() != "" {
		t.Errorf("%d searches ended, %q was typed", f.ended, sh.Typed())
	}
	u.Press("esc")
	u.Host.Let()
	u.Hides("searching", "search all terminals")
	u.Type("y")
	if u.WaitIdle(); f.ended != 1 || sh.Typed() != "y" {
		t.Errorf("%d searches ended, %q was typed", f.ended, sh.Typed())
	}
	f.slow, f.hits.Items = false, []ahpfind.SearchHit{{Terminal: sh.URI, Line: 1, Text: "an error"}}
	u.Press("ctrl+space ctrl+f", "enter")
	u.Shows("1 line with", "an error")
}
