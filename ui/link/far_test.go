package link

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/find"
	"tandemux/ahp/hosted"
	"tandemux/ui/loop"
	"tandemux/ui/tasks"
)

// named is a host that notes what it is asked for.
type named struct {
	Host
	name string
	down bool
	got  []string
}

func (n *named) note(what string) error {
	if n.down {
		return ErrAway
	}
	n.got = append(n.got, what)
	return nil
}

func (n *named) uri(there ahp.URI) ahp.URI {
	if n.name == "own" {
		return there
	}
	return hosted.At(n.name, there)
}

func (n *named) Subscribe(_ context.Context, uri ahp.URI) error { return n.note(uri) }
func (n *named) Unsubscribe(uri ahp.URI)                        { n.note(uri) } //nolint:errcheck // away is fine
func (n *named) Dispatch(uri ahp.URI, _ ahp.Action) (int64, error) {
	return int64(len(n.name)), n.note(uri)
}

func (n *named) Call(_ context.Context, method string, _, result any) error {
	if got, is := result.(*find.SearchResult); is {
		got.Items = []find.SearchHit{{Terminal: n.uri("ahp-terminal:/a")}, {Terminal: "ahp-terminal://liar/a"}}
	}
	return n.note(method)
}

func (n *named) Sessions(context.Context) ([]ahp.SessionSummary, error) {
	return []ahp.SessionSummary{{Resource: n.uri("ahp-session:/s")}, {Resource: "ahp-session://liar/s"}}, n.note("sessions")
}

func (n *named) Tasks(context.Context) ([]tasks.Task, error) {
	return []tasks.Task{{ID: n.name}}, n.note("tasks")
}

func (n *named) DiscardTask(_ context.Context, id string) (string, error) {
	return "", n.note("discard " + id)
}

// TestFleet: what is of a host goes to that one alone, lists are of all that are there, and
// what is of no host known says so.
func TestFleet(t *testing.T) {
	own, build := &named{name: "own"}, &named{name: "build"}
	var others Others
	others.Set([]Far{{Name: "build", Host: func() Host { return build }}, {Name: "gpu", Host: func() Host { return Nowhere{Err: ErrAway} }}})
	h := &fleet{own, &others}
	ctx := t.Context()
	for _, uri := range []ahp.URI{"ahp-terminal:/a", "ahp-terminal://build/b"} {
		if err := h.Subscribe(ctx, uri); err != nil {
			t.Error(err)
		}
	}
	if seq, err := h.Dispatch("ahp-terminal://build/b", ahp.TerminalInput{}); seq != 5 || err != nil {
		t.Errorf("dispatch: %d, %v", seq, err)
	}
	if _, err := h.Dispatch("ahp-terminal://gpu/b", ahp.TerminalInput{}); !errors.Is(err, ErrAway) {
		t.Errorf("a host that is away: %v", err)
	}
	if err := h.Subscribe(ctx, "ahp-terminal://none/b"); err == nil || !strings.Contains(err.Error(), "no host is called none here") {
		t.Errorf("an unknown host: %v", err)
	}
	if err := h.Call(ctx, "dispose", ahp.DisposeTerminalParams{Channel: "ahp-terminal://build/b"}, nil); err != nil {
		t.Error(err)
	}
	var found find.SearchResult
	if err := h.Call(ctx, find.MethodSearch, find.SearchParams{Channel: ahp.RootURI}, &found); err != nil || len(found.Items) != 2 {
		t.Errorf("search: %+v, %v", found, err)
	}
	if rows, err := h.Sessions(ctx); err != nil || len(rows) != 2 {
		t.Errorf("sessions: %+v, %v", rows, err)
	}
	if rows, err := h.Tasks(ctx); err != nil || len(rows) != 2 || rows[1].ID != "build:build" {
		t.Errorf("tasks: %+v, %v", rows, err)
	}
	if _, err := h.DiscardTask(ctx, "build:x"); err != nil {
		t.Error(err)
	}
	if got := strings.Join(own.got, " "); got != "ahp-terminal:/a "+find.MethodSearch+" sessions tasks" {
		t.Errorf("own was asked for %s", got)
	}
	if got := strings.Join(build.got, " "); got != "ahp-terminal://build/b ahp-terminal://build/b dispose "+find.MethodSearch+" sessions tasks discard x" {
		t.Errorf("build was asked for %s", got)
	}
	own.down = true
	if _, err := h.Sessions(ctx); !errors.Is(err, ErrAway) {
		t.Errorf("without this user's own: %v", err)
	}
}

// TestRemoteSink: roots and connections of several hosts are told apart.
func TestRemoteSink(t *testing.T) {
	s := NewSink()
	root := func(term string) ahp.Snapshot {
		return ahp.Snapshot{Resource: ahp.RootURI, State: json.RawMessage(`{"agents":[],"terminals":[{"resource":"` + term + `","title":"x","claim":{"kind":"client","clientId":"c"}}]}`)}
	}
	s.Snapshot(root("ahp-terminal:/a"))
	s.Of("build").Snapshot(root("ahp-terminal://build/b"))
	// What is not its own is left out, however it is spelled.
	s.Of("build").Action(ahp.Envelope{Channel: "ahp-terminal:/a", Action: ahp.TerminalTitleChanged{Title: "spoofed"}})
	s.Of("build").Snapshot(ahp.Snapshot{Resource: "x-tandemux-layout:/main", State: json.RawMessage(`{}`)})
	s.Of("build").Gone("ahp-terminal:/a")
	s.Of("build").Note(ahp.NoteSessionRemoved, json.RawMessage(`{"session":"ahp-session:/a"}`))
	s.Of("build").Note(ahp.NoteSessionRemoved, json.RawMessage(`{"session":"ahp-session://build/a"}`))
	s.Of("build").Status(Connected, nil)
	s.Of("build").Status(Reconnecting, errors.New("cut"))
	var said []string
	l := New(&named{}, []Far{{Name: "build"}}, s, loop.New(nil, time.Now, nil, nil), nil)
	if l.UpAt("ahp-terminal://build/b") || !l.UpAt("ahp-terminal:/a") || l.UpAt("ahp-terminal://none/b") {
		t.Error("before it is connected")
	}
	for _, item := range s.Take() {
		switch it := item.(type) {
		case Snapshot:
			said = append(said, it.Channel+" "+it.State.(ahp.RootState).Terminals[0].Resource)
		case Note:
			said = append(said, string(it.Params))
		case ahp.Envelope, Gone:
			t.Errorf("%+v came from a host that has no such thing", it)
		case HostChanged:
			if !l.Hosts.Take(it) {
				t.Errorf("%+v changes nothing", it)
			}
			said = append(said, map[bool]string{true: "up", false: "down"}[l.UpAt("ahp-terminal://build/b")])
		}
	}
	if got, want := strings.Join(said, ", "), `ahp-root:// ahp-terminal:/a, ahp-root://build ahp-terminal://build/b, {"session":"ahp-session://build/a"}, up, down`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if st := l.Hosts.Standing("build"); st.Since.IsZero() || st.Err == nil {
		t.Errorf("%+v", st)
	}
}
