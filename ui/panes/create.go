package panes

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/internal/fileuri"
	"tandemux/ui/address"
	"tandemux/ui/layout"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// RemovePane closes a terminal's panes.
func (ps *Panes) RemovePane(uri ahp.URI) {
	area := ps.Area()
	if ps.Change(func(l layout.Layout) layout.Layout { return l.RemoveTerminal(area, uri) }) {
		ps.Emptied()
	}
}

// Dispose ends a terminal and closes its panes.
func (ps *Panes) Dispose(t *terminals.Terminal) {
	t.Done = true
	uri, ended := t.URI, t.Exited()
	area := ps.Area()
	ps.Change(func(l layout.Layout) layout.Layout { return l.RemoveTerminal(area, uri) })
	what := "end " + t.Quoted()
	ps.loop.Async(what, func(ctx context.Context) (func(), error) {
		err := ps.link.Host.Call(ctx, ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: uri}, nil)
		if err != nil && ended {
			err = nil // another client was first
		}
		return func() {
			if t := ps.Terms.Get(uri); t != nil && err != nil {
				t.Done = false
			}
		}, err
	})
}

// Placement adds a pane with a new terminal to a layout.
type Placement func(l layout.Layout, uri ahp.URI) (layout.Layout, layout.PaneID, error)

// Program is what a new terminal runs.
type Program struct {
	Argv []string // nil for a shell
	Cwd  ahp.URI  // the working directory if it can't be the focused terminal's
	Host *string  // the host to run on, "" for this user's own; nil for the focused pane's
	// Env, if not nil, returns environment variables, and a function to call when the program has
	// ended. It is called outside of the event loop.
	Env func() (env map[string]string, after func(), err error)
}

// hostFor returns the host that a program runs on: the one it names, or the focused pane's. why
// says why it can't run there.
func hostFor(ps *Panes, prog Program) (host, why string) {
	if host = ps.FocusedHost(); prog.Host != nil {
		host = *prog.Host
	}
	if host != "" && !ps.link.UpAt(hosted.At(host, ahp.RootURI)) {
		why = ps.Absent(hosted.At(host, ahp.RootURI)) + "; new-on local opens a terminal here"
	}
	return host, why
}

// FocusedHost is the host of the focused pane's terminal or chat, "" for this user's own.
func (ps *Panes) FocusedHost() string {
	p, _ := ps.Arr.Focused()
	return hosted.Host(p.Terminal)
}

// newOn opens a terminal on a named host; "local" is this user's own.
func newOn(ps *Panes, args []string) {
	names := append([]string{local}, ps.link.Hosts.Names()...)
	ps.loop.Ask(args, "new terminal on "+strings.Join(names, ", "), "", func(name string) {
		if name = strings.TrimSpace(name); !slices.Contains(names, name) {
			ps.loop.Say(status.Warning, "no host is called %q: there are %s", words.Clean(name), strings.Join(names, ", "))
			return
		}
		if name == local {
			name = ""
		}
		ps.Create(layout.Layout.NewTab, Program{Host: &name, Cwd: fileuri.Of(ps.first.Cwd)})
	})
}

// local is the name of this user's own host in commands.
const local = "local"

// Own is Program.Host of programs that need a file of this machine.
var Own = new(string)

// program returns the Program of a command's arguments: an argv, or one argument for sh.
func (ps *Panes) program(args []string) Program {
	p := Program{Argv: args, Cwd: ps.Cwd()}
	if len(args) == 0 {
		return p
	}
	if len(args) == 1 && strings.ContainsFunc(args[0], func(r rune) bool { return strings.ContainsRune(" \t|&;<>()$`\\\"'*?#~", r) }) {
		p.Argv = []string{"/bin/sh", "-c", args[0]}
	}
	p.Env = ps.do.PaneEnv()
	return p
}

// Create makes a terminal and adds it to the layout. Input is held until the terminal shows, and
// then goes to it.
func (ps *Panes) Create(put Placement, prog Program) {
	if given := ps.first.given; given != "" {
		if _, _, err := put(ps.Doc.Shown, given); err != nil {
			ps.loop.Say(status.Warning, "%v", err)
			return
		}
		ps.Created(given, put)
		return
	}
	host, why := hostFor(ps, prog)
	if why != "" {
		ps.loop.Say(status.Warning, "%s", why)
		return
	}
	uri := hosted.At(host, address.New(ahp.TerminalScheme))
	l, id, err := put(ps.Doc.Shown, uri)
	if err != nil {
		ps.loop.Say(status.Warning, "%v", err)
		return
	}
	params := ahp.CreateTerminalParams{
		Channel: uri, Cwd: prog.Cwd, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: ps.Terms.Me},
	}
	params.Meta = &ahp.CreateMeta{Command: prog.Argv}
	if ps.Unseen && ps.first.Cwd != "" { // the directory of Config.Cwd
		params.Cwd = fileuri.Of(ps.first.Cwd)
	} else if _, t, _ := ps.Focused(); t != nil && t.Host() == host {
		params.Meta.CwdOf = t.URI
	} else if t != nil || host != "" { // the directory is on another machine
		params.Cwd = ""
	}
	if tab, ok := l.Tab(); ok {
		if p, ok := tab.Arrange(ps.Area()).Pane(id); ok {
			params.Cols, params.Rows = p.Body.W, p.Body.H
		}
	}
	ps.Holding++
	ps.loop.Async("create terminal", func(ctx context.Context) (func(), error) {
		var err error
		var after func()
		if prog.Env != nil {
			params.Meta.Env, after, err = prog.Env()
		}
		if err == nil {
			err = ps.link.Host.Create(ctx, params)
		}
		if err == nil && !ps.Unseen {
			err = ps.link.Host.Subscribe(ctx, uri)
		}
		if err != nil && after != nil {
			after()
		}
		return func() {
			if err == nil {
				if after != nil {
					ps.Then(uri, func() { go after() })
				}
				ps.Created(uri, put)
			}
			ps.Holding--
			ps.do.Released()
			if err != nil && len(ps.Doc.Shown.Tabs) == 0 && ps.Holding == 0 && !ps.Unseen {
				ps.do.Emptied("no terminal could be created: " + strings.TrimPrefix(err.Error(), "create terminal: "))
			}
		}, err
	})
}

func (ps *Panes) Created(uri ahp.URI, put Placement) {
	t := ps.Terms.Ensure(uri)
	if t.Born.IsZero() {
		t.Born = ps.loop.Now()
	}
	ps.Bare = false
	ps.Apply(func(l layout.Layout) (layout.Layout, error) {
		if _, ok := l.Showing(uri); ok {
			return l, nil // the operation is repeated on a layout that has the terminal
		}
		l, _, err := put(l, uri)
		return l, err
	})
	if t.Exited() {
		ps.Ended(t) // it ended before it was shown
	}
}

// NewTab opens a terminal in a new tab.
func (ps *Panes) NewTab(p Program) {
	p.Cwd = cmp.Or(ps.Cwd(), fileuri.Of(ps.first.Cwd))
	ps.Create(layout.Layout.NewTab, p)
}

// split makes a command that opens a terminal beside the focused pane.
func split(d layout.Direction) action {
	return newAt(func(l layout.Layout, area layout.Rect, at layout.PaneID, uri ahp.URI) (layout.Layout, layout.PaneID, error) {
		return l.Split(area, at, d, uri)
	})
}

// newAt makes a command that opens a terminal where put adds it at the focused pane.
func newAt(put func(layout.Layout, layout.Rect, layout.PaneID, ahp.URI) (layout.Layout, layout.PaneID, error)) action {
	return func(ps *Panes, args []string) {
		at, area := ps.FocusID(), ps.Area()
		ps.Create(func(l layout.Layout, uri ahp.URI) (layout.Layout, layout.PaneID, error) {
			if _, _, ok := l.Find(at); !ok {
				return l.NewTab(uri) // the pane is gone
			}
			return put(l, area, at, uri)
		}, ps.program(args))
	}
}

// FocusID is the focused pane's id, "" if there is none.
func (ps *Panes) FocusID() layout.PaneID {
	tab, ok := ps.Doc.Shown.Tab()
	if !ok {
		return ""
	}
	return tab.Focus
}

// Cwd is the focused terminal's working directory, where new terminals start.
func (ps *Panes) Cwd() ahp.URI {
	if _, t, _ := ps.Focused(); t != nil {
		return t.Cwd
	}
	return ""
}

// Beside returns a Placement below a pane, zoomed, or in a new tab if there is no room. The pane
// closes when the program has ended well.
func (ps *Panes) Beside(area layout.Rect, at layout.PaneID) Placement {
	return func(l layout.Layout, uri string) (layout.Layout, layout.PaneID, error) {
		if t := ps.Terms.Get(uri); t != nil {
			t.Passing = true
		}
		if _, _, ok := l.Find(at); ok {
			if split, id, err := l.Split(area, at, layout.Down, uri); err == nil {
				return split.Zoom(), id, nil
			}
		}
		return l.NewTab(uri)
	}
}

func (ps *Panes) PanesOf(uri ahp.URI) int {
	n := 0
	for _, tab := range ps.Doc.Shown.Tabs {
		for _, leaf := range tab.Panes() {
			if leaf.Terminal == uri {
				n++
			}
		}
	}
	return n
}

func (ps *Panes) Claim(t *terminals.Terminal) {
	t.Asked, _ = ps.link.Dispatch(t.URI, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: ps.Terms.Me}})
}
