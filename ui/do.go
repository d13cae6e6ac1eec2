package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/link"
	"tandemux/ui/loop"
	"tandemux/ui/outer"
	"tandemux/ui/overlay"
	"tandemux/ui/panes"
	"tandemux/ui/status"
	"tandemux/ui/tty"
)

// Order is a command for Do.
type Order struct {
	Name string
	Args []string // as in a binding; further commands follow command.Then
	// At is the pane that the command is for: its id, or the URI of a terminal in the layout.
	// Empty means the focused pane.
	At string
	// Marked is the marked pane, which join-pane and swap-marked take. It is like At.
	Marked string
	// Terminal, if not empty, is shown where the command would show a new terminal.
	Terminal ahp.URI
	// KeepFocus keeps the focus, the active tab and what is zoomed.
	KeepFocus bool
	// Yes confirms what the command asks.
	Yes bool
}

type Done struct {
	Layout string
	// The pane that was made last, else the pane that the command was for; empty if there is
	// none.
	Tab      string
	Pane     layout.PaneID
	Terminal ahp.URI
	Made     bool   // Terminal was created
	Exit     *int   // exit code of a popup's program; nil if unknown
	Said     string // what the interface would say, "" for nothing
}

// doTime is the timeout of each thing that Do waits for, except a popup's program.
const doTime = 15 * time.Second

// The size of the screen if nobody shows the tab, in cells.
const unseenWidth, unseenHeight = 80, 24

// elsewhere says, for commands that need an interface, what to do in a shell instead.
var elsewhere = map[string]string{
	"new-on":  "`tandemux new --host HOST` makes one there",
	"layouts": "`tandemux layout ls` lists them, `tandemux attach LAYOUT` opens one", "switch-layout": "`tandemux layout ls` lists them, `tandemux attach LAYOUT` opens one",
	"terminals": "`tandemux ls` lists them",
	"history":   "use `tandemux history`", "search-all": "use `tandemux search`",
	"answer-agent": "use `tandemux answer`", "record": "use `tandemux record`", "send-prefix": "use `tandemux send`", "run-again": "use `tandemux run`",
	"agents": "`tandemux session ls` lists the sessions", "new-session": "use `tandemux prompt`", "stop": "use `tandemux stop`",
	"save-scrollback": "use `tandemux read --history`", "reload-config": "options count once you save the file",
}

// OnLayout reports whether a command works without an interface. Those are the commands about
// panes and tabs, and about who holds a terminal.
func OnLayout(c command.Command) bool {
	switch c.Group {
	case "Panes":
		return !slices.Contains([]string{"mark-pane", "type-to-all", "pane-numbers"}, c.Name) // these depend on one client's keyboard
	case "Tabs":
		return c.Name != "new-on"
	}
	return slices.Contains([]string{"rename-layout", "reclaim", "background", "hand-back"}, c.Name)
}

// given is the commands whose first argument may be omitted only in an interface, which asks for
// it or doesn't need it.
var given = []string{"rename-pane", "rename-tab", "rename-layout", "go-tab", "move-tab", "move-to-tab", "popup"}

// Doable returns all commands, with the arguments that they need in a shell.
func Doable() []command.Command {
	all := command.All()
	for i, c := range all {
		if slices.Contains(given, c.Name) {
			all[i].Args = slices.Clone(c.Args)
			all[i].Args[0].Optional = false
		}
	}
	return all
}

// NeedsInterfaceError says that a command works only in an interface, and what to do instead.
type NeedsInterfaceError struct{ Command, Instead string }

func (e *NeedsInterfaceError) Error() string {
	return fmt.Sprintf("%s needs an interface: %s", e.Command, e.Instead)
}

// CheckOrder returns what is wrong with a command line for Do. If its only problem is that a
// command needs an interface, the error is a *NeedsInterfaceError.
func CheckOrder(name string, args []string) error {
	if err := command.Check(name, args); err != nil {
		return err
	}
	own, next := command.Cut(args)
	all := Doable()
	c := all[slices.IndexFunc(all, func(c command.Command) bool { return c.Name == name })]
	if !OnLayout(c) {
		return &NeedsInterfaceError{name, cmp.Or(elsewhere[name], "open one with `tandemux attach`")}
	}
	if len(own) == 0 && len(c.Args) > 0 && !c.Args[0].Optional {
		return fmt.Errorf("%s needs its argument %s", name, c.Args[0].Name)
	}
	if len(next) > 0 {
		return CheckOrder(next[0], next[1:])
	}
	return nil
}

// Do runs a command without an interface, on a layout that others may be showing: they see one
// change. It waits for a popup's program.
//
// Config needs only Host, Sink, Person and Layout. Terminals start in Cwd, or in the pane's
// directory if it is empty. The error says why nothing was done, or what failed.
func Do(ctx context.Context, c Config, o Order) (done Done, err error) {
	if err := CheckOrder(o.Name, o.Args); err != nil {
		return Done{}, err
	}
	d := &doer{order: o, msgs: make(chan tea.Msg), host: &creator{Host: c.Host}}
	c.Host = d.host
	wakes := make(chan struct{}, 1)
	m, err := New(c, Env{
		Env:   outer.Env{Suspend: func() {}, Write: func([]byte) {}},
		Now:   time.Now,
		After: func(t time.Duration, msg tea.Msg) { time.AfterFunc(t, func() { d.post(msg) }) },
		Wake: func() {
			select {
			case wakes <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		return Done{}, err
	}
	defer c.Sink.Close()
	ctx, end := context.WithCancel(ctx)
	defer end()
	d.m, d.ctx = m, ctx
	go func() {
		for {
			select {
			case <-wakes:
				d.post(Wake{})
			case <-ctx.Done():
				return
			}
		}
	}()
	c.Sink.Guard(func(broke any, _ []byte) { go d.post(loop.Crashed(broke)) })
	defer func() { // a host may run Do, and must survive
		if r := recover(); r != nil {
			done, err = d.done, fmt.Errorf("%s broke: %v", o.Name, r)
		}
	}()
	m.panes.Unseen = true
	panes.Give(m.panes, o.Terminal)
	m.outer.Suspend() // there is no outer terminal
	return d.do()
}

// doer is the program around a Model without a viewer.
type doer struct {
	m     *Model
	order Order
	ctx   context.Context
	host  *creator
	msgs  chan tea.Msg
	done  Done
	wrong error // the first failure
}

// creator remembers the last terminal that it created.
type creator struct {
	link.Host
	mu   sync.Mutex // guards last
	last ahp.URI
}

// Create implements link.Host.
func (c *creator) Create(ctx context.Context, p ahp.CreateTerminalParams) error {
	err := c.Host.Create(ctx, p)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.last = p.Channel
	}
	return err
}

func (c *creator) made() ahp.URI {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (d *doer) post(msg tea.Msg) {
	select {
	case d.msgs <- msg:
	case <-d.ctx.Done():
	}
}

func (d *doer) perform(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				d.perform(c)
			}
		default:
			d.post(msg)
		}
	}()
}

// update has the model handle a message, and answers its questions.
func (d *doer) update(msg tea.Msg) {
	_, cmd := d.m.Update(msg)
	d.perform(cmd)
	switch o := d.m.loop.Overlay.(type) {
	case nil:
	case *overlay.Confirm:
		d.m.loop.Close()
		if d.order.Yes {
			o.Key(yes)
			d.update(nil)
			return
		}
		d.fail(asks(d.order.Name, o))
	default:
		d.m.loop.Close()
		d.fail(fmt.Errorf("%s asks for more than a shell can answer: do it in an interface", d.order.Name))
	}
	switch text, kind := d.m.loop.Note(); {
	case text == "":
	case kind == status.Info:
		d.done.Said = text
	default:
		d.fail(errors.New(text))
	}
	d.m.loop.Unsay()
	if e := d.m.leaving; e != nil {
		d.fail(errors.New(e.Note))
	}
}

// yes is the key that confirms.
var yes = tea.Key{Code: 'y', Text: "y"}

// asks is the error of a command whose question Yes doesn't answer.
func asks(name string, q *overlay.Confirm) error {
	return ahp.Conflict("%s asks: %s Say --yes if you mean it", name, q.Text())
}

func (d *doer) fail(err error) {
	d.wrong = cmp.Or(d.wrong, err)
}

// until handles messages until is returns true, something fails or the limit has passed; a limit
// of 0 is none.
func (d *doer) until(what string, limit time.Duration, is func() bool) error {
	ctx, cancel := d.ctx, func() {}
	if limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	for d.wrong == nil && !is() {
		select {
		case msg := <-d.msgs:
			d.update(msg)
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		}
	}
	return d.wrong
}

func (d *doer) do() (Done, error) {
	m, ps := d.m, d.m.panes
	d.done.Layout = ps.Name
	ps.Open()
	d.perform(m.loop.Take())
	if err := d.until("open layout "+ps.Name, doTime, func() bool { return ps.Begun }); err != nil {
		return d.done, err
	}
	ps.Doc.Hold()
	at, err := d.target(d.order.At)
	if err != nil {
		return d.done, err
	}
	if d.order.Marked != "" {
		marked, err := d.target(d.order.Marked)
		if err != nil {
			return d.done, err
		}
		ps.Mark(marked)
	}
	if at != "" {
		ps.Change(func(l layout.Layout) layout.Layout { return l.FocusPane(at) })
	}
	d.resize()
	d.found(ps.Doc.Shown, ps.FocusID())
	if err := d.run(); err != nil {
		return d.done, err
	}
	if err := d.release(at); err != nil {
		return d.done, err
	}
	settled := func() bool { return m.loop.Idle() && ps.Idle() }
	if err := d.until("change layout "+ps.Name, doTime, settled); err != nil {
		return d.done, err
	}
	// The host answers in order, so refusals of earlier actions arrive before this answer.
	m.loop.Call("reach the host", func(ctx context.Context) error {
		return m.link.Host.Call(ctx, ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
	}, nil)
	d.update(nil)
	if err := d.until("reach the host", doTime, settled); err != nil {
		return d.done, err
	}
	d.done.Layout = ps.Name // the command may have renamed it
	made := cmp.Or(d.host.made(), d.order.Terminal)
	if made != "" {
		d.done.Made, d.done.Tab, d.done.Pane, d.done.Terminal = true, "", "", made
		if id, ok := d.m.panes.Doc.Shown.Showing(made); ok {
			d.found(d.m.panes.Doc.Shown, id)
		}
	}
	if d.order.Name == "popup" {
		err := d.popup(made)
		return d.done, err
	}
	return d.done, nil
}

// target returns the pane that a field of Order names, "" for an empty field.
func (d *doer) target(what string) (layout.PaneID, error) {
	if what == "" {
		return "", nil
	}
	if id, ok := find(&d.m.panes.Doc.Shown, what); ok {
		return id, nil
	}
	return "", ahp.NotFound("layout %s has no pane %s", d.m.panes.Name, what)
}

// find returns the pane with an id, or the one that shows the terminal of a URI.
func find(l *layout.Layout, what string) (layout.PaneID, bool) {
	if _, _, ok := l.Find(layout.PaneID(what)); ok {
		return layout.PaneID(what), true
	}
	return l.Showing(what)
}

// found sets the pane that the command was for.
func (d *doer) found(l layout.Layout, id layout.PaneID) {
	if i, leaf, ok := l.Find(id); ok {
		d.done.Tab, d.done.Pane, d.done.Terminal = l.Tabs[i].ID, id, leaf.Terminal
	}
}

// resize gives the model the size of the screen on which the tab is shown, or a default.
func (d *doer) resize() {
	area := layout.Rect{}
	if tab, ok := d.m.panes.Doc.Shown.Tab(); ok {
		ctx, cancel := context.WithTimeout(d.ctx, doTime)
		defer cancel()
		area = tab.Seen(func(uri ahp.URI) (cols, rows int) {
			var seen ahp.ReadResult
			if d.m.link.Host.Call(ctx, ahp.MethodRead, ahp.ReadParams{Channel: uri, What: ahp.ReadScreen}, &seen) != nil {
				return 0, 0 // it is gone or must not be read
			}
			return seen.Cols, seen.Rows
		})
	}
	if area.Empty() {
		area.W, area.H = unseenWidth, unseenHeight
	}
	d.update(tea.WindowSizeMsg{Width: area.W, Height: area.H + 1}) // one row for the status line
}

// run runs the command line; each command waits for the terminals of those before it.
func (d *doer) run() error {
	m := d.m
	m.panes.Freshen()
	own, _ := command.Cut(d.order.Args)
	if why := command.Why(d.order.Name, own, m.context()); why != "" {
		return fmt.Errorf("%s: %s", d.order.Name, why)
	}
	m.read(tty.Input{after(append([]string{d.order.Name}, d.order.Args...))})
	d.update(nil)
	return d.until(d.order.Name, doTime, func() bool { return !m.waiting() && len(m.held.input) == 0 })
}

// release sends the changed layout. If the command was for a pane that didn't have the focus, the
// focus stays where it was unless the command moved it.
func (d *doer) release(at layout.PaneID) error {
	var nothing bool
	d.m.panes.Doc.Release(func(was, is layout.Layout) layout.Layout {
		from := was
		if at != "" {
			from = was.FocusPane(at)
		}
		next := is
		if d.order.KeepFocus || at != "" && !moved(from, is, at) {
			next = is.Refocused(was)
		}
		nothing = d.order.KeepFocus && next.Equal(was) && !is.Equal(from)
		return next
	})
	d.update(nil)
	if nothing {
		return fmt.Errorf("%s only moves the focus, which --focus=false leaves where it is", d.order.Name)
	}
	return d.wrong
}

// moved reports whether a command moved the focus away from a pane that still exists, or zoomed
// or unzoomed it.
func moved(was, is layout.Layout, at layout.PaneID) bool {
	if _, _, there := is.Find(at); !there {
		return false
	}
	a, _ := was.Tab()
	b, _ := is.Tab()
	return a.ID != b.ID || a.Focus != b.Focus || a.Zoom != b.Zoom
}

// popup waits until a popup's program has ended and its pane is closed.
func (d *doer) popup(uri ahp.URI) error {
	ps := d.m.panes
	t := ps.Terms.Get(uri)
	ended := func() bool { return t == nil || t.Exited() || ps.Terms.Get(uri) != t }
	if err := d.until("wait for the popup, which runs on", 0, ended); err != nil {
		return err
	}
	if t != nil {
		d.done.Exit = t.Info.Lifecycle.ExitCode
	}
	return d.until("close the popup", doTime, func() bool { return d.m.loop.Idle() && ps.Idle() })
}
