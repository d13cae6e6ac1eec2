package ui

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/keymap"
	"tandemux/ui/layout"
	"tandemux/ui/overlay"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/tty"
)

// Env is the program around a Model: the clock, the outer terminal, the loop.
// Run makes a real one, package uitest one for tests.
type Env struct {
	Caps tty.Caps
	Now  func() time.Time
	// After delivers a message to Update when the time has passed.
	After func(d time.Duration, msg tea.Msg)
	// Expect says that what is written next asks the outer terminal for its
	// colours. It may be nil.
	Expect func()
	// Learned is told what the outer terminal can do as that becomes known, as
	// it decides how to give the terminal back. It may be nil.
	Learned func(tty.Caps)
	// Suspend gives the outer terminal back and stops the program, as the shell
	// that it was started from expects; Resumed is delivered to Update when it
	// goes on, which may be at once. It is called within Update and may be nil.
	Suspend func()
	// Wake delivers Wake to Update soon. It is called from any goroutine and
	// must not block.
	Wake func()
	// Write writes to the outer terminal. It is called within Update.
	Write func(p []byte)
}

// Wake tells the Model that the Sink has something.
type Wake struct{}

// Resumed tells the Model that the program goes on after Env.Suspend, or after it
// was stopped otherwise; the outer terminal is switched on again.
type Resumed struct {
	Stopped bool // it was stopped indeed
}

// Changed tells the Model that the configuration may be another one.
type Changed struct{}

// then is what is to be done in the loop when something else is finished.
type then func(*Model)

// callTimeout bounds a call to the host.
const callTimeout = 15 * time.Second

// noteTime is how long a message stays in the status line.
const noteTime = 4 * time.Second

// briefTime is how long one does that says that what was asked for is done.
const briefTime = 1500 * time.Millisecond

// leaveTime is how long leaving waits for the host to confirm what was done.
const leaveTime = time.Second

// dirt says what has to be drawn again.
type dirt uint8

const (
	dirtyPanes  dirt = 1 << iota // what terminals show
	dirtyChrome                  // status line and pane headers
	dirtyAll                     // everything
	stale                        // where everything is has to be computed first

	dirtyPlaces = dirtyAll | stale
)

// note is a message in the status line.
type note struct {
	text string
	kind status.Kind
	id   int
}

// Model is the root of the interface. It belongs to the event loop.
type Model struct {
	// Fixed at the start.
	cfg  Config
	env  Env
	keys keymap.Table
	log  *slog.Logger

	misread string // what was wrong with the configuration when it was read last

	// What the host says.
	link  Link
	away  outage
	terms terminals
	doc   document
	begun bool // both lists have come and were acted on

	// What shows.
	outer   outer
	arr     layout.Arrangement
	views   map[layout.PaneID]*pane.View
	overlay overlay.Overlay
	note    note

	// What the person does.
	kb         keyboard
	mouse      mouse
	picking    picking
	buffers    buffers
	elapsed    elapsed
	recordings map[ahp.URI]*recorded
	together   together
	layouts    layouts
	attending  attending
	preview    preview
	sessions   sessions
	taskList   taskList
	chats      map[ahp.URI]*chatEntry
	composing  map[ahp.URI]func(*Model) // what follows when an editor's terminal ends
	fetching   bool                     // older messages are under way
	marked     layout.PaneID            // for the commands that take two, "" for none
	searches   []string                 // what was looked for, the newest last

	// Work.
	dirty   dirt
	cmds    []tea.Cmd
	tasks   int // calls to the host under way
	ticks   int // arrangements so far
	leaving *Exit
}

// New makes the model. Config.Keymap and Theme must name what exists.
func New(c Config, env Env) (*Model, error) {
	keys, err := c.table()
	if err != nil {
		return nil, err
	}
	pair, err := c.theme()
	if err != nil {
		return nil, err
	}
	if c.line, err = c.compose(); err != nil {
		return nil, err
	}
	if c.Layout == "" {
		c.Layout = "main"
	}
	m := &Model{
		cfg: c, env: env, keys: keys, log: c.Log,
		views: map[layout.PaneID]*pane.View{},
		outer: newOuter(env.Caps, pair, uint64(env.Now().UnixNano())),
	}
	if err := m.attending.heed(c.Look); err != nil {
		return nil, fmt.Errorf("choose what is marked: %w", err)
	}
	m.dress()
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	m.terms.me, m.terms.person = c.Host.ClientID(), c.Person
	m.doc.uri = layoutURI(c.Layout)
	m.doc.shown = layout.New(c.Layout)
	m.outer.colors.asked = env.Now() // by what switched the terminal on
	if c.Misread != nil {
		m.misread = clean(oneLine(c.Misread).Error())
	}
	c.Sink.limitHistory(c.Scrollback)
	c.Sink.attach(c.Engine, env.Wake)
	return m, nil
}

// Init implements tea.Model: it follows the layout.
func (m *Model) Init() tea.Cmd {
	m.async("open layout "+m.cfg.Layout, func(ctx context.Context) (then, error) {
		return nil, m.cfg.Host.Subscribe(ctx, m.doc.uri)
	})
	m.followActivity()
	m.loadSessions()
	return m.takeCommands()
}

// View implements tea.Model. Bubble Tea draws nothing here: the painter does.
func (m *Model) View() tea.View { return tea.View{} }

// Update implements tea.Model: it hands the message on, then brings everything
// that depends on it up to date.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.drain()
	switch msg := msg.(type) {
	case Wake:
		m.events()
		m.dirty |= dirtyPanes
	case tty.Input:
		m.read(msg)
	case tea.WindowSizeMsg:
		m.resized(msg.Width, msg.Height)
	case Resumed:
		m.resumed(msg)
	case Changed:
		m.reload(false)
	case then:
		msg(m)
	case ended:
		m.leave(Exit{Reason: Ended, Note: string(msg)})
	}
	m.settle()
	return m, m.takeCommands()
}

// settle brings what depends on the state up to date: places, subscriptions,
// sizes, what goes to the host, the screen.
func (m *Model) settle() {
	if m.outer.undressed {
		m.dress()
	}
	m.peek()
	m.freshen()
	m.attend()
	m.keepFolds()
	m.sendLayout()
	m.switchLayout()
	m.sendColors()
	m.sendInput()
	m.endRecordings()
	if m.leaving != nil {
		m.tellDrafts()
	}
	if m.leaving != nil && m.tasks == 0 && m.doc.idle() && len(m.kb.flows) == 0 {
		m.cmds = append(m.cmds, tea.Quit)
	}
	m.paint()
	m.settleChats()
}

func (m *Model) takeCommands() tea.Cmd {
	cmds := m.cmds
	m.cmds = nil
	switch len(cmds) {
	case 0:
		return nil
	case 1:
		return cmds[0]
	}
	return tea.Batch(cmds...)
}

// async runs a call to the host outside of the loop and what it gives in it. An
// error becomes a message; a panic ends the interface, restoring the terminal.
func (m *Model) async(what string, call func(context.Context) (then, error)) {
	m.tasks++
	m.cmds = append(m.cmds, func() (msg tea.Msg) {
		defer func() {
			if p := recover(); p != nil {
				msg = crashed(p)
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
		defer cancel()
		next, err := call(ctx)
		return then(func(m *Model) {
			m.tasks--
			if err != nil {
				m.fail(what, err)
			}
			if next != nil {
				next(m)
			}
		})
	})
}

// crashed makes a panic elsewhere one of the loop, where Run restores the
// terminal and reports it.
func crashed(p any) tea.Msg {
	stack := debug.Stack()
	return then(func(*Model) { panic(fmt.Sprintf("%v\n%s", p, stack)) })
}

// say shows a message in the status line for a while.
func (m *Model) say(kind status.Kind, format string, args ...any) {
	m.sayFor(noteTime, kind, format, args...)
}

// brief is say for what was done as asked: it soon makes room for the status
// again.
func (m *Model) brief(format string, args ...any) {
	m.sayFor(briefTime, status.Info, format, args...)
}

func (m *Model) sayFor(d time.Duration, kind status.Kind, format string, args ...any) {
	m.note = note{text: clean(fmt.Sprintf(format, args...)), kind: kind, id: m.note.id + 1}
	m.dirty |= dirtyChrome
	id := m.note.id
	m.env.After(d, then(func(m *Model) {
		if m.note.id == id {
			m.unsay()
		}
	}))
}

// unsay takes the message away.
func (m *Model) unsay() {
	if m.note.text != "" {
		m.note.text = ""
		m.dirty |= dirtyChrome
	}
}

// fail reports what went wrong.
func (m *Model) fail(what string, err error) {
	m.log.Warn("call failed", "what", what, "err", err)
	text := err.Error()
	if !strings.HasPrefix(text, what+": ") { // as most of the host's errors begin
		text = what + ": " + text
	}
	m.say(status.Error, "%s", text)
}

// leave ends the interface once the host has confirmed what was done.
func (m *Model) leave(e Exit) {
	if m.leaving != nil {
		return
	}
	m.leaving = &e
	m.env.After(leaveTime, then(func(m *Model) { m.cmds = append(m.cmds, tea.Quit) }))
}

// Exit says how the interface ended, once it has.
func (m *Model) Exit() Exit {
	if m.leaving == nil {
		return Exit{Reason: Ended}
	}
	return *m.leaving
}

// dispatch sends an action; what can't be sent is reported.
func (m *Model) dispatch(uri ahp.URI, a ahp.Action) (seq int64, ok bool) {
	seq, err := m.cfg.Host.Dispatch(uri, a)
	switch {
	case errors.Is(err, ErrAway):
		if m.link == Connected { // it is about to say so itself
			m.link = Reconnecting
			m.lose(nil)
		}
	case err != nil:
		m.fail("send "+a.ActionType(), err)
	}
	return seq, err == nil
}

// open puts an overlay on top; close takes it away.
func (m *Model) open(o overlay.Overlay) {
	m.endPreview()
	m.overlay = o
	m.dirty |= dirtyPlaces
}

func (m *Model) close() {
	m.endPreview()
	m.overlay = nil
	m.dirty |= dirtyPlaces
}
