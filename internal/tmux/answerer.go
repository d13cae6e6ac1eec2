package tmux

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"tandemux/ahp"
	"tandemux/internal/client"
	"tandemux/internal/endpoint"
	"tandemux/internal/termcmd"
	"tandemux/internal/tmux/pane"
	"tandemux/ui/layout"
)

// answersAs is the version of tmux whose command line is answered.
const answersAs = "3.5a"

// answerer carries commands out, one after another.
type answerer struct {
	ctx     context.Context
	p       endpoint.Endpoint
	own     string         // TMUX_PANE
	op      *endpoint.Conn // the person's
	leader  *endpoint.Conn // the agent's, nil until it is needed
	session ahp.URI        // the agent's, "" until leader is there
	from    ahp.URI        // the terminal that it leads from, the same
	turn    turn
	seen    atomic.Pointer[map[ahp.URI]int]
	in      io.Reader
	out     *bufio.Writer
}

// open connects as the person, anew where that was done: the list of terminals then is
// what it is now, and not what was told until now.
func (a *answerer) open() error {
	if a.op != nil {
		a.op.Close()
	}
	m := viewers{client.NewMirror(0), &a.seen}
	c, err := endpoint.Connect(a.ctx, a.p, endpoint.Options{Sink: m, Kind: "tmux", Reconnect: true})
	if err != nil {
		return err
	}
	a.op = endpoint.NewConn(c, m.Mirror, a.p)
	err = c.Subscribe(a.ctx, ahp.ActivityURI)
	a.op.Unsubscribe(ahp.ActivityURI)
	return err
}

// viewers is a mirror that notes how many interfaces show each layout.
type viewers struct {
	*client.Mirror
	seen *atomic.Pointer[map[ahp.URI]int]
}

// Snapshot implements client.Sink.
func (v viewers) Snapshot(s ahp.Snapshot) {
	var now ahp.ActivityState
	if s.Resource == ahp.ActivityURI && ahp.Unmarshal(s.State, &now) == nil {
		v.seen.Store((*map[ahp.URI]int)(&now.Layouts))
	}
	v.Mirror.Snapshot(s)
}

// watched reports whether an interface shows a layout, which then sizes its terminals.
func (a *answerer) watched(name string) bool {
	seen := a.seen.Load()
	return seen != nil && (*seen)[termcmd.LayoutURI(name)] > 0
}

func (a *answerer) close() {
	for _, c := range []*endpoint.Conn{a.leader, a.op} {
		if c != nil {
			c.Close()
		}
	}
}

// world reads the layouts as they are now.
func (a *answerer) world() (world, error) {
	var names []string
	var layouts []layout.Layout
	for _, uri := range a.op.Layouts() {
		n := endpoint.LastPart(uri)
		names = append(names, n)
		l, err := a.layout(n)
		if err != nil {
			return world{}, err
		}
		layouts = append(layouts, l)
	}
	return see(layouts, names, a.op.Terminals(), a.own), nil
}

// find gives the place that a call's target names.
func (a *answerer) find(target string) (world, spot, error) {
	w, err := a.world()
	if err != nil {
		return w, spot{}, err
	}
	at, err := w.target(target)
	return w, at, err
}

// size asks for a terminal's, zeros where it can't be told.
func (a *answerer) size(uri ahp.URI) (cols, rows int) {
	var seen ahp.ReadResult
	if a.op.Ask(a.ctx, ahp.MethodRead, ahp.ReadParams{Channel: uri, What: ahp.ReadScreen}, &seen) != nil {
		return 0, 0
	}
	return seen.Cols, seen.Rows
}

// unseen is the size of a tab that has none.
var unseen = layout.Rect{W: 80, H: 24}

// settleTime is how long the sizes of terminals may follow a change of their panes.
const settleTime = 500 * time.Millisecond

// area is that of a window: in which its terminals have the sizes of their panes. Where
// they come to none, it has room for the largest.
func (a *answerer) area(at spot) (layout.Rect, error) {
	t := at.tab()
	for until := time.Now().Add(settleTime); ; time.Sleep(settleTime / 50) {
		r, agreed := a.screen(t)
		if agreed || time.Now().After(until) {
			return r, nil
		}
		l, err := a.layout(at.session.name)
		if err != nil {
			return r, err
		}
		k := slices.IndexFunc(l.Tabs, func(o layout.Tab) bool { return o.ID == t.ID })
		if k < 0 {
			return r, errGone
		}
		t = l.Tabs[k]
	}
}

// layout reads one as it is now.
func (a *answerer) layout(name string) (layout.Layout, error) {
	l, _, err := termcmd.ReadLayout(a.op, a.ctx, termcmd.LayoutURI(name))
	a.op.Unsubscribe(termcmd.LayoutURI(name))
	return l, err
}

var errGone = errors.New("can't find window: it is gone")

// screen is the area that a tab's terminals have, and whether they agree.
func (a *answerer) screen(t layout.Tab) (r layout.Rect, agreed bool) {
	t.Zoom = false // behind it the others have theirs
	sizes := map[ahp.URI][2]int{}
	for _, leaf := range t.Panes() {
		w, h := a.size(leaf.Terminal)
		sizes[leaf.Terminal] = [2]int{w, h}
	}
	r = t.Seen(func(uri ahp.URI) (cols, rows int) { return sizes[uri][0], sizes[uri][1] })
	if r.Empty() {
		return unseen, true
	}
	for _, p := range t.Arrange(r).Panes {
		if sizes[p.Terminal] != [2]int{p.Body.W, p.Body.H} {
			return r, false
		}
	}
	return r, true
}

// print writes a line of a format.
func (a *answerer) print(at spot, format string) error {
	v := view{spot: at}
	if measured(format) {
		var err error
		if v.area, err = a.area(at); err != nil {
			return err
		}
	}
	text, err := v.expand(format, 0)
	if err == nil {
		_, err = fmt.Fprintln(a.out, text)
	}
	return err
}

// edit changes a session's layout and leaves the focus, the active tab and the zoom as they
// are. Where no interface shows it, the terminals get the sizes of their panes here.
func (a *answerer) edit(name string, op func(layout.Layout) (layout.Layout, error)) error {
	var next layout.Layout
	screens := map[string]layout.Rect{}
	err := termcmd.EditLayout(a.op, a.ctx, termcmd.LayoutURI(name), func(l layout.Layout) (layout.Layout, error) {
		var err error
		if next, err = op(l); err != nil {
			return l, err
		}
		next = next.Refocused(l)
		next.Tabs = slices.Clone(next.Tabs)
		for i, t := range next.Tabs {
			k := slices.IndexFunc(l.Tabs, func(o layout.Tab) bool { return o.ID == t.ID })
			if k < 0 {
				continue
			}
			next.Tabs[i].Zoom = l.Tabs[k].Zoom && t.Focus == l.Tabs[k].Focus && len(t.Panes()) > 1
			if r, agreed := a.screen(l.Tabs[k]); agreed {
				screens[t.ID] = r
			}
		}
		return next, nil
	})
	if err != nil || a.watched(name) {
		return err
	}
	for _, t := range next.Tabs {
		if r, known := screens[t.ID]; known && !t.Zoom {
			err = errors.Join(err, a.fit(t, r))
		}
	}
	return err
}

// fit gives the terminals of a tab the sizes of their panes.
func (a *answerer) fit(t layout.Tab, r layout.Rect) error {
	for _, p := range t.Arrange(r).Panes {
		if w, h := a.size(p.Terminal); w == p.Body.W && h == p.Body.H {
			continue
		}
		err := a.op.Act(a.ctx, p.Terminal, ahp.TerminalResized{Cols: p.Body.W, Rows: p.Body.H})
		var refused *client.RejectedError
		if err != nil && !errors.As(err, &refused) { // it has ended
			return err
		}
	}
	return nil
}

// theirs begins the sessions of agents that have none of the host's, before who they are.
const theirs = "x-tandemux-agent:/" + endpoint.OperatorPrincipal + "/"

// lead connects as the agent that leads: whose terminal this runs in, or if that is a
// person's, the one that began here.
func (a *answerer) lead() error {
	if a.leader != nil {
		return nil
	}
	i := slices.IndexFunc(a.op.Terminals(), func(t ahp.TerminalInfo) bool { return pane.Number("%", t.Resource) == a.own })
	if i < 0 {
		return errNoTarget
	}
	t := a.op.Terminals()[i]
	who := &ahp.AgentMeta{Name: nameOf(t), Asks: true, Team: t.Resource, Identity: "tmux-" + strings.TrimPrefix(a.own, "%")}
	if t.Claim.Kind == ahp.ClaimSession {
		who.Session = t.Claim.Session
		if id, ok := strings.CutPrefix(t.Claim.Session, theirs); ok {
			who.Session, who.Identity = "", id
		}
	}
	m := client.NewMirror(0)
	c, err := endpoint.Connect(a.ctx, a.p, endpoint.Options{Sink: m, Kind: "tmux", Reconnect: true, Agent: who})
	if err != nil {
		return err
	}
	a.leader = endpoint.NewConn(c, m, a.p)
	a.session, a.from = c.Session(), t.Resource
	return nil
}

// nameOf is what people call the program that leads in a terminal.
func nameOf(t ahp.TerminalInfo) string {
	argv := t.Meta.Command
	if c := t.Meta.LastCommand; t.Meta.RunsShell() {
		if argv = nil; c != nil && c.Running {
			argv = strings.Fields(c.CommandLine)
		}
	}
	for _, word := range argv {
		if name := strings.Map(plain, path.Base(word)); name != "" && !strings.Contains(word, "=") { // not a variable
			return name[:min(len(name), maxName)]
		}
	}
	return "agent"
}

// maxName bounds an agent's name, in bytes.
const maxName = 32

// plain drops what is no part of a program's name.
func plain(r rune) rune {
	if r == '-' || r == '_' || r == '.' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return r
	}
	return -1
}

// mine refuses what is done to a terminal that is not the agent's.
func (a *answerer) mine(p *place, doing string) error {
	if err := a.lead(); err != nil {
		return err
	}
	if c := p.terminal.Claim; c.Kind == ahp.ClaimSession && c.Session == a.session {
		return nil
	}
	return fmt.Errorf("%s: pane %s is not of this team: who holds it decides", doing, p.id)
}

// ofTeam is mine of a place.
func (a *answerer) ofTeam(at spot, doing string) error { return a.mine(at.pane, doing) }

// ours is mine of all but the pane that this runs in.
func (a *answerer) ours(at spot, doing string) error {
	if at.pane.id == a.own {
		return nil
	}
	return a.mine(at.pane, doing)
}

// near refuses to rearrange a window in which the agent has no pane.
func (a *answerer) near(at spot, doing string) error {
	for i := range at.window.panes {
		p := &at.window.panes[i]
		if p.id == a.own || a.mine(p, doing) == nil {
			return nil
		}
	}
	return fmt.Errorf("%s: this team has no pane in window %s", doing, at.window.id)
}

// program is what the words behind a command start: one is a line of the shell's.
func program(words []string) []string {
	if len(words) != 1 {
		return words
	}
	shell := cmp.Or(os.Getenv("SHELL"), "/bin/sh")
	return []string{shell, "-c", words[0]}
}

// create starts a terminal of the team's.
func (a *answerer) create(c call, uri ahp.URI, r layout.Rect) error {
	if err := a.lead(); err != nil {
		return err
	}
	p, err := endpoint.NewTerminal("", c.value('c'), "", program(c.args))
	if err != nil {
		return err
	}
	if r.Empty() {
		r = unseen
	}
	p.Channel, p.Cols, p.Rows, p.Meta.Fit = uri, r.W, r.H, true
	p.Claim = ahp.Claim{Kind: ahp.ClaimSession, Session: a.session}
	for _, kv := range c.flags['e'] {
		name, value, ok := strings.Cut(kv, "=")
		if !ok {
			return fmt.Errorf("-e %s: want NAME=VALUE", kv)
		}
		p.Meta.Env[name] = value
	}
	return a.allowed(program(c.args), func() error { return a.leader.Create(a.ctx, p) })
}

// end ends a terminal of the team's that no layout shows any more.
func (a *answerer) end(uri ahp.URI) error {
	err := a.leader.Ask(a.ctx, ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: uri}, nil)
	if errors.Is(err, &ahp.Error{Code: ahp.CodeNotFound}) {
		return nil // it has ended
	}
	return err
}
