package ui

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/ui/agents"
	"tandemux/ui/alerts"
	"tandemux/ui/clipboard"
	"tandemux/ui/command"
	"tandemux/ui/control"
	"tandemux/ui/copying"
	"tandemux/ui/keys"
	"tandemux/ui/link"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/mouse"
	"tandemux/ui/outer"
	"tandemux/ui/overlay"
	"tandemux/ui/panes"
	"tandemux/ui/recording"
	"tandemux/ui/screen"
	"tandemux/ui/segments"
	"tandemux/ui/status"
	"tandemux/ui/tasks"
	"tandemux/ui/terminals"
	"tandemux/ui/tty"
	"tandemux/ui/typing"
	"tandemux/ui/words"
)

// Env is what a Model needs of the program around it: the clock, the outer terminal, the event
// loop. Run makes a real one; tests have their own.
type Env struct {
	// Its functions are called within Update. When the program continues after Suspend, which may
	// be at once, Resumed must be delivered to Update.
	outer.Env
	Caps tty.Caps
	Now  func() time.Time
	// After delivers a message to Update when the time has passed.
	After func(d time.Duration, msg tea.Msg)
	// Wake delivers Wake to Update, soon or at once. It may be called from any goroutine, also
	// within Update, and must not wait for Update.
	Wake func()
}

// Wake tells the Model that the Sink's inbox has something.
type Wake struct{}

// Resumed tells the Model that the program continues after Env.Suspend, or after it was stopped
// from outside, and has entered the outer terminal again.
type Resumed struct {
	Stopped bool // the system did stop it
}

// Changed tells the Model that the configuration may have changed.
type Changed struct{}

// leaveTime is how long leaving waits for the host to confirm what was done.
const leaveTime = time.Second

// Model is the root of the interface. Only the event loop may use it.
type Model struct {
	// Set at the start.
	cfg     Config
	log     *slog.Logger
	loop    *loop.Loop
	actions map[string]command.Do // by the names of commands

	// What comes from the host.
	link   *link.Link
	panes  *panes.Panes
	agents *agents.Agents
	alerts *alerts.Alerts

	// The screen.
	outer  *outer.Terminal
	screen *screen.Screen
	line   struct { // the status line
		line    status.Line
		asked   *segments.Segments // what the status line needs from this machine
		cut     bool               // a message did not fit
		misread string             // the mistakes of the last reading of the configuration, on one line
	}

	// The person's input.
	keys       *keys.Keys
	held       held
	typing     *typing.Typing
	copying    *copying.Copying
	mouse      *mouse.Mouse
	clip       *clipboard.Clipboard
	recordings *recording.Recordings
	control    *control.Control

	leaving *Exit // how to leave; nil while nobody leaves
}

// held is what is delayed until a terminal is created or the commands have taken effect.
type held struct {
	input   []tea.Msg // in order, for the terminal that is being created
	answers []func()  // replies to commands that the person sent from elsewhere
}

// wholeWait is the timeout for fetching the whole state of a terminal whose output was skimmed.
const wholeWait = 15 * time.Second

// New makes the model. It fails if the configuration names what doesn't exist.
func New(c Config, env Env) (*Model, error) {
	chosen, err := c.choose()
	if err != nil {
		return nil, err
	}
	c.Layout = cmp.Or(c.Layout, "main")
	m := &Model{cfg: c, log: c.Log}
	m.line.line = chosen.line
	m.log = cmp.Or(m.log, slog.New(slog.DiscardHandler))
	m.loop = loop.New(m.log, env.Now, env.After, func() { m.outer.EndPreview() })
	m.link = link.New(c.Host, c.far(), c.Sink, m.loop, func() { m.typing.Disconnected(nil) })
	m.outer = m.newOuter(env, chosen.themes)
	m.clip = clipboard.New(m.loop, c.Desk.Texts, c.Desk.Clipper, m.outer.SetClipboard, m.pasteText)
	m.keys = keys.New(chosen.keys, m.loop, keys.Hooks{
		Mode: m.mode, Context: m.context, Run: m.run, Learnt: m.learnt, Look: func() *look.Look { return &m.outer.Look },
		Ran: func(name string) { m.copying.Ran(name) },
	})
	m.loop.Keys, m.loop.Home = m.keys.Of, c.home()
	m.panes = panes.New(c.Layout, panes.First{Cwd: c.Cwd}, m.loop, m.link, m.outer, terminals.New(c.Host.ClientID(), c.Person), panes.Hooks{
		Arranged:  func() { m.alerts.Stale = true; m.agents.Follow() },
		Focused:   func(from, to ahp.URI) { m.typing.Moved(from, to) },
		Released:  m.release,
		Emptied:   func(note string) { m.leave(Exit{Reason: Emptied, Note: note}) },
		Broke:     func(note string) { m.leave(Exit{Reason: Ended, Note: note}) },
		Switched:  func() { m.mouse.Drop() },
		ChatTitle: func(uri ahp.URI) string { return m.agents.Title(uri) }, Run: m.run,
		Preview: func(l *overlay.List, of func(string) ahp.URI) panes.Preview { return m.control.Preview(l, of) },
		PaneEnv: func() func() (map[string]string, func(), error) { return m.copying.PaneEnv() },
	})
	m.typing = typing.New(m.loop, m.link, m.panes, m.outer, func(uri ahp.URI, data []byte) {
		if m.cfg.RecordInput {
			m.recordings.Input(uri, data)
		}
	})
	m.copying = copying.New(m.loop, m.link, m.panes, m.outer, m.clip, c.Desk.Texts, m.typing.MayType)
	m.agents = agents.New(agents.With{
		Loop: m.loop, Link: m.link, Panes: m.panes, Outer: m.outer, Clip: m.clip, Log: m.log,
		Tasks: tasks.New(m.loop, m.log, m.link.Host, m.link.Up), Composer: c.Desk.Composer, Dir: c.Cwd,
		Changed:  func() { m.alerts.Stale = true },
		OpenLink: m.copying.OpenLink, Keys: m.keys.InChat,
	})
	m.alerts = alerts.New(chosen.alerts, m.loop, m.link, m.panes, m.agents, m.outer)
	m.recordings = recording.New(m.loop, c.Desk.Recorder)
	m.screen = screen.New(m.loop, m.panes, m.agents, m.outer, m.recordings)
	m.control = control.New(m.loop, m.link, m.panes, m.outer, m.alerts)
	m.mouse = mouse.New(mouse.With{
		Loop: m.loop, Link: m.link, Panes: m.panes, Outer: m.outer, Clip: m.clip,
		Agents: m.agents, Typing: m.typing, Copying: m.copying, Run: m.run, Menu: m.openMenu,
	})
	m.line.asked = segments.New(m.loop, m.panes, m.outer, c.Desk.Segments)
	m.apply()
	m.actions = m.commands()
	if c.Misread != nil {
		m.line.misread = words.Clean(oneLine(c.Misread).Error())
	}
	c.Sink.LimitHistory(c.Scrollback)
	c.Sink.Attach(c.Engine, env.Wake, func(terminal ahp.URI) {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), wholeWait)
			defer cancel()
			if err := m.link.Host.Subscribe(ctx, terminal); err != nil {
				m.log.Warn("get the whole of a terminal", "err", err)
			}
		}()
	})
	return m, nil
}

// Init implements tea.Model. It opens the layout, unless its snapshot has arrived already.
func (m *Model) Init() tea.Cmd {
	if m.drain(); !m.panes.Doc.Loaded() {
		m.panes.Open()
	}
	m.alerts.Follow(m.log, "")
	m.agents.Load()
	return m.loop.Take()
}

// View implements tea.Model. Bubble Tea draws nothing here: the painter does.
func (m *Model) View() tea.View { return tea.View{} }

// Update implements tea.Model. It hands the message to its part, then settles.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.drain()
	switch msg := msg.(type) {
	case Wake:
		m.events()
		m.loop.Dirty |= loop.Panes
	case tty.Input:
		m.read(msg)
	case tea.WindowSizeMsg:
		m.outer.Resize(msg.Width, msg.Height)
	case Resumed:
		m.outer.Resumed(msg.Stopped)
	case Changed:
		m.reload(false)
	case loop.Then:
		msg()
	case ended:
		m.leave(Exit{Reason: Ended, Note: string(msg)})
	}
	m.settle()
	return m, m.loop.Take()
}

// settle updates everything that depends on the state: places, subscriptions, sizes, what is sent
// to the host, and the screen.
func (m *Model) settle() {
	m.outer.Refresh()
	m.control.Settle()
	m.panes.Freshen()
	m.typing.Settle() // first: the program that is typed into can't wait
	m.alerts.Settle()
	m.panes.Settle()
	if m.link.Up() {
		if err := m.outer.SendColors(m.link.Host.Colors); err != nil {
			m.log.Debug("send colours", "err", err) // they are sent on the next connection
		}
	}
	if !m.waiting() && !m.panes.Switching() || m.leaving != nil {
		for _, answer := range m.held.answers {
			answer()
		}
		m.held.answers = nil
	}
	m.typing.Settle() // reports a focus that has just moved
	m.paint()         // before the rest: the person can't wait
	m.line.asked.Settle(m.line.line, &m.cfg.Content)
	m.recordings.Prune(func(uri ahp.URI) bool {
		t := m.panes.Terms.Get(uri)
		return t != nil && !t.Exited() && !t.Done
	})
	if m.leaving != nil {
		m.agents.TellDrafts()
	}
	if m.leaving != nil && m.loop.Idle() && m.panes.Idle() && m.typing.Idle() {
		m.loop.Quit()
	}
	m.paint() // draws what has changed since
	m.agents.Settle()
}

// leave ends the interface as soon as the host has confirmed what was done, or after leaveTime.
func (m *Model) leave(e Exit) {
	if m.leaving != nil {
		return
	}
	e.Layout = m.panes.Name
	m.leaving = &e
	m.loop.After(leaveTime, m.loop.Quit)
}

// Exit returns how the interface ended.
func (m *Model) Exit() Exit {
	if m.leaving == nil {
		return Exit{Reason: Ended, Layout: m.panes.Name}
	}
	return *m.leaving
}
