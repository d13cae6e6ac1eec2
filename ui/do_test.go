package ui_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"tandemux/ahp"
	"tandemux/internal/soak"
	"tandemux/ui"
	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/link"
)

// shared is a Host for callers on several goroutines.
type shared struct {
	*Host
	mu sync.Mutex
}

func (s *shared) Create(ctx context.Context, p ahp.CreateTerminalParams) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Host.Create(ctx, p)
}

func (s *shared) Call(ctx context.Context, method string, params, result any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Host.Call(ctx, method, params, result)
}

func (s *shared) Subscribe(ctx context.Context, uri ahp.URI) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Host.Subscribe(ctx, uri)
}

func (s *shared) Dispatch(uri ahp.URI, a ahp.Action) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Host.Dispatch(uri, a)
}

// do runs a command as a process of its own does.
func do(t *testing.T, h *Host, o ui.Order) (ui.Done, error) {
	t.Helper()
	h.sink = link.NewSink()
	h.follows = map[string]bool{ahp.RootURI: true}
	h.snapshot(ahp.RootURI, h.root)
	s := &shared{Host: h}
	done, err := ui.Do(t.Context(), ui.Config{Host: s, Sink: h.sink, Person: Person}, o)
	s.mu.Lock() // what the host still does for it
	defer s.mu.Unlock()
	return done, err
}

// now is the layout at the host.
func now(t *testing.T, h *Host) (layout.Layout, int64) {
	t.Helper()
	st := h.layouts[ahp.LayoutScheme+"/main"]
	if len(st.Doc) == 0 {
		return layout.New("main"), 0
	}
	l, err := layout.Decode(st.Doc)
	if err != nil {
		t.Fatal(err)
	}
	return l, st.Rev
}

// Whatever is done by commands without an interface, the layout is one, changes once for
// each, and has the focus where it was with KeepFocus.
func TestRandomOrders(t *testing.T) {
	soak.Long(t, "as many orders as it takes to have had them all")
	random := rand.New(rand.NewPCG(3, 4))
	all := slices.DeleteFunc(ui.Doable(), func(c command.Command) bool {
		return !ui.OnLayout(c) || slices.Contains([]string{"popup", "reclaim", "hand-back", "rename-layout"}, c.Name)
	})
	done := map[string]int{}
	for range 12 {
		h := NewHost(t, link.NewSink())
		h.Program = silent
		if _, err := do(t, h, ui.Order{Name: "new-tab"}); err != nil {
			t.Fatal(err)
		}
		for range 60 {
			before, rev := now(t, h)
			o := randomOrder(random, all, before)
			did, err := do(t, h, o)
			l, next := now(t, h)
			if err == nil {
				done[o.Name]++
			} else if next != rev {
				t.Fatalf("%+v: %v, but the layout has changed", o, err)
			}
			if next > rev+1 {
				t.Fatalf("%+v is %d changes", o, next-rev)
			}
			if did.Made {
				if i, leaf, ok := l.Find(did.Pane); !ok || leaf.Terminal != did.Terminal || l.Tabs[i].ID != did.Tab {
					t.Fatalf("%+v made %+v in %s", o, did, l.Encode())
				}
			}
			if o.KeepFocus && !l.Equal(l.Refocused(before)) {
				t.Fatalf("%+v moved the focus:\n%s\n%s", o, before.Encode(), l.Encode())
			}
		}
	}
	if len(done) < len(all)*9/10 {
		t.Errorf("of %d commands only these were done: %v", len(all), done)
	}
}

// randomOrder is a command with arguments that may or may not mean something.
func randomOrder(random *rand.Rand, all []command.Command, l layout.Layout) ui.Order {
	c := all[random.IntN(len(all))]
	o := ui.Order{Name: c.Name, KeepFocus: random.IntN(2) == 0, Yes: true}
	var ids []string
	for _, tab := range l.Tabs {
		for _, leaf := range tab.Panes() {
			ids = append(ids, string(leaf.Pane))
		}
	}
	if len(ids) > 0 && random.IntN(2) == 0 {
		o.At = ids[random.IntN(len(ids))]
	}
	if len(ids) > 0 {
		o.Marked = ids[random.IntN(len(ids))]
	}
	for _, a := range c.Args {
		switch {
		case a.Optional && random.IntN(2) == 0:
			return o
		case a.Kind == command.Int:
			o.Args = append(o.Args, strconv.Itoa(1+random.IntN(4)))
		case a.Kind == command.Choice:
			o.Args = append(o.Args, a.Choices[random.IntN(len(a.Choices))])
		case a.Kind == command.Program:
			o.Args = append(o.Args, "cat")
		default:
			o.Args = append(o.Args, "name")
		}
	}
	return o
}

// A layout that nobody looks at gets another name; one that is taken, or none, is refused.
func TestRenameLayoutFromAShell(t *testing.T) {
	h := NewHost(t, link.NewSink())
	h.Program = silent
	if _, err := do(t, h, ui.Order{Name: "new-tab"}); err != nil {
		t.Fatal(err)
	}
	done, err := do(t, h, ui.Order{Name: "rename-layout", Args: []string{"home"}})
	gone, _ := now(t, h)
	home, herr := layout.Decode(h.Layout("home").Doc)
	if err != nil || herr != nil || done.Layout != "home" || len(gone.Tabs) != 0 || gone.Renamed != "home" || len(home.Tabs) != 1 || home.Name != "home" || home.Renamed != "" {
		t.Fatalf("%+v, %v: main is %s, home %s", done, err, gone.Encode(), home.Encode())
	}
	// Who opens the old name makes it anew, as another layout.
	if _, err := do(t, h, ui.Order{Name: "new-tab"}); err != nil {
		t.Fatal(err)
	}
	if again, _ := now(t, h); len(again.Tabs) != 1 || again.Renamed != "" {
		t.Errorf("main is %s", again.Encode())
	}
	for name, why := range map[string]string{"no/name": "is no name for a layout", "home": "there is a layout home already"} {
		if _, err := do(t, h, ui.Order{Name: "rename-layout", Args: []string{name}}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of a line of commands all are one change; nothing is done of one with a mistake.
func TestOrders(t *testing.T) {
	h := NewHost(t, link.NewSink())
	h.Program = silent
	done, err := do(t, h, ui.Order{Name: "new-tab", Args: []string{"top", ";", "split-right", ";", "rename-tab", "two"}})
	l, rev := now(t, h)
	if err != nil || rev != 1 || len(l.Tabs) != 1 || l.Tabs[0].Name != "two" || done.Pane != l.Tabs[0].Focus {
		t.Errorf("%+v, %v: revision %d, %s", done, err, rev, l.Encode())
	}
	first := l.Tabs[0].Panes()[0]
	for _, c := range []struct {
		order ui.Order
		want  string
	}{
		{ui.Order{Name: "zoom", Args: []string{";", "nothing"}}, `there is no command "nothing"`},
		{ui.Order{Name: "focus-left", KeepFocus: true}, "focus-left only moves the focus"},
		{ui.Order{Name: "zoom", At: string(first.Pane), KeepFocus: true}, "zoom only moves the focus"},
		{ui.Order{Name: "go-tab", Args: []string{"2"}}, "go-tab: there is no tab 2"},
		{ui.Order{Name: "close-tab"}, `close-tab asks: end 2 terminals: "sh1", "sh2"? Say --yes`},
		{ui.Order{Name: "split-right", At: "p77"}, "layout main has no pane p77"},
		{ui.Order{Name: "join-pane", Marked: string(l.Tabs[0].Focus)}, "no other pane is marked"},
	} {
		if _, err := do(t, h, c.order); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.order, err, c.want)
		}
	}
	if again, rev := now(t, h); rev != 1 || !again.Equal(l) {
		t.Errorf("what was refused has changed the layout: %s", again.Encode())
	}
	// A pane's command leaves the focus where it is, unless it is about that.
	if _, err := do(t, h, ui.Order{Name: "resize-right", Args: []string{"3"}, At: first.Terminal}); err != nil {
		t.Error(err)
	}
	if is, _ := now(t, h); is.Tabs[0].Focus != l.Tabs[0].Focus || is.Equal(l) {
		t.Errorf("resized: %s", is.Encode())
	}
	if _, err := do(t, h, ui.Order{Name: "zoom", At: first.Terminal}); err != nil {
		t.Error(err)
	}
	if is, _ := now(t, h); is.Tabs[0].Focus != first.Pane || !is.Tabs[0].Zoom {
		t.Errorf("zoomed: %s", is.Encode())
	}
	for _, name := range []string{"new-floating", "focus-left"} {
		if _, err := do(t, h, ui.Order{Name: name, At: string(l.Tabs[0].Focus)}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	is, _ := now(t, h)
	float := is.Tabs[0].Floats[0]
	if _, err := do(t, h, ui.Order{Name: "move-floating", Args: []string{"down", "2"}, At: string(float.Leaf.Pane)}); err != nil {
		t.Error(err)
	}
	if is, _ := now(t, h); is.Tabs[0].Floats[0].Y <= float.Y || is.Tabs[0].Focus != first.Pane {
		t.Errorf("moved: %s", is.Encode())
	}
	// What the host refuses is told.
	h.Refuse = func(uri ahp.URI, a ahp.Action) string {
		if _, ok := a.(ahp.TerminalTitleChanged); ok {
			return "the name is taken"
		}
		return ""
	}
	if _, err := do(t, h, ui.Order{Name: "rename-pane", Args: []string{"x"}}); err == nil || !strings.Contains(err.Error(), "the name is taken") {
		t.Error(err)
	}
}

// What breaks is an error of the command: a host that runs it goes on.
func TestBrokenOrder(t *testing.T) {
	h := NewHost(t, link.NewSink())
	h.Refuse = func(ahp.URI, ahp.Action) string { panic("there it is") }
	if _, err := do(t, h, ui.Order{Name: "new-tab"}); err == nil || !strings.Contains(err.Error(), "new-tab broke: there it is") {
		t.Error(err)
	}
	h = NewHost(t, link.NewSink())
	h.FailCreate = errors.New("no pty is left")
	if _, err := do(t, h, ui.Order{Name: "new-tab"}); err == nil || !strings.Contains(err.Error(), "no pty is left") {
		t.Error(err)
	}
}

// TestOrderOfGiven: a terminal that somebody has made already is put where the command would
// put its own, also one of another host.
func TestOrderOfGiven(t *testing.T) {
	h := NewHost(t, link.NewSink())
	h.Program = silent
	first, err := do(t, h, ui.Order{Name: "new-tab"})
	if err != nil {
		t.Fatal(err)
	}
	const given = "ahp-terminal://build/x"
	had := len(h.root.Terminals)
	done, err := do(t, h, ui.Order{Name: "split-right", At: string(first.Pane), Terminal: given})
	if err != nil {
		t.Fatal(err)
	}
	l, _ := now(t, h)
	if i, leaf, ok := l.Find(done.Pane); !ok || leaf.Terminal != given || l.Tabs[i].ID != first.Tab || !done.Made {
		t.Errorf("%+v is in %s", done, l.Encode())
	}
	if n := len(h.root.Terminals); n != had {
		t.Errorf("the host has %d terminals, not %d", n, had)
	}
	// Beside it there is room for another one, and its pane can be closed here.
	if _, err := do(t, h, ui.Order{Name: "split-down", At: string(done.Pane), Terminal: "ahp-terminal://build/y"}); err != nil {
		t.Error(err)
	}
	if _, err := do(t, h, ui.Order{Name: "close-pane", At: string(done.Pane)}); err != nil {
		t.Error(err)
	}
	if l, _ := now(t, h); len(l.Terminals()) != 2 {
		t.Errorf("left is %s", l.Encode())
	}
}
