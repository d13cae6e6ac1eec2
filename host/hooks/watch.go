package hooks

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
)

// Facts is what the host knows, while its lock is held.
type Facts interface {
	// Terminal gives one, and its newest command; nil where there is none.
	Terminal(uri ahp.URI) (*Terminal, *Ran)
	// Chat gives the session of a chat; nil where there is none.
	Chat(uri ahp.URI) *Session
}

// Watch makes events of actions. Its methods are called with core's lock held.
type Watch struct {
	hooks *Hooks
	now   func() time.Time
	since int64 // Unix ms: what an earlier host has told is no event
	told  map[ahp.URI]attention
	shown map[ahp.URI]int             // how many clients show a layout
	asks  map[ahp.URI]map[string]bool // what waits in a session, by id
	wants map[ahp.URI]string          // what an agent asks for at a terminal, by its id
}

// attention is what was told of a terminal last, in Unix ms.
type attention struct{ bell, note, status, output int64 }

// NewWatch makes a Watch that tells h.
func NewWatch(h *Hooks, now func() time.Time) *Watch {
	return &Watch{hooks: h, now: now, since: now().UnixMilli(), told: map[ahp.URI]attention{}, shown: map[ahp.URI]int{}, asks: map[ahp.URI]map[string]bool{}}
}

// Follow looks at an action that was applied to a channel. The Watch may be nil.
func (w *Watch) Follow(uri ahp.URI, a ahp.Action, f Facts) {
	if w == nil {
		return
	}
	switch a := a.(type) {
	case ahp.TerminalCommandFinished:
		w.terminal(Command, uri, f, func(e *Event, last *Ran) bool {
			e.Command = last
			return last != nil && last.ID == a.CommandID
		})
	case ahp.TerminalExited:
		w.terminal(Exit, uri, f, func(e *Event, _ *Ran) bool {
			e.Exit = &ahp.Lifecycle{Status: ahp.StatusExited, ExitCode: a.ExitCode}
			return true
		})
	case ahp.TerminalClaimed:
		w.terminal(Claim, uri, f, nil)
	case ahp.AttentionChanged:
		w.attended(a, f)
	case ahp.LayoutWatched:
		w.watched(a)
	case ahp.LayoutChanged:
		w.tell(Event{Event: Layout, Layout: nameOf(uri)})
	case ahp.RootTerminalsChanged:
		w.wanted(a.Terminals, f)
	case ahp.SessionInputNeededSet:
		w.asked(uri, a.Request, f)
	case ahp.SessionInputNeededRemoved:
		if delete(w.asks[uri], a.ID); len(w.asks[uri]) == 0 {
			delete(w.asks, uri)
		}
	case ahp.ChatTurnComplete:
		w.turned(uri, f, Done, "")
	case ahp.ChatTurnCancelled:
		outcome, why := cancelled(a.Meta)
		w.turned(uri, f, outcome, why)
	case ahp.ChatError:
		w.turned(uri, f, Failed, message(a.Part))
	}
}

func (w *Watch) tell(e Event) {
	e.At = ahp.InstantOf(w.now().UnixMilli())
	w.hooks.Tell(e)
}

// terminal tells of a terminal, if fill, unless nil, agrees.
func (w *Watch) terminal(kind string, uri ahp.URI, f Facts, fill func(e *Event, last *Ran) bool) {
	if !w.hooks.Wants(kind) {
		return
	}
	t, last := f.Terminal(uri)
	e := Event{Event: kind, Terminal: t}
	if t != nil && (fill == nil || fill(&e, last)) {
		w.tell(e)
	}
}

// attended tells what is new in a terminal's row.
func (w *Watch) attended(a ahp.AttentionChanged, f Facts) {
	row := a.Attention
	if row == nil {
		delete(w.told, a.Terminal)
		return
	}
	before := w.told[a.Terminal]
	now := attention{bell: row.Bell, output: row.Output}
	if row.Note != nil {
		now.note = row.Note.At
	}
	if row.Status != nil && slices.Contains([]string{ahp.StatusBlocked, ahp.StatusDone, ahp.StatusError}, row.Status.State) {
		now.status = row.Status.At
	}
	w.told[a.Terminal] = now
	isNew := func(now, before int64) bool { return now > before && now >= w.since }
	if isNew(now.bell, before.bell) {
		w.terminal(Bell, a.Terminal, f, nil)
	}
	if isNew(now.output, before.output) {
		w.terminal(Output, a.Terminal, f, nil)
	}
	if isNew(now.note, before.note) {
		w.terminal(Attention, a.Terminal, f, func(e *Event, _ *Ran) bool { e.Note = &Note{row.Note.Title, row.Note.Body}; return true })
	}
	if isNew(now.status, before.status) {
		w.terminal(Attention, a.Terminal, f, func(e *Event, _ *Ran) bool {
			s := row.Status
			e.Status = &Status{s.State, s.Kind, s.App, s.Title, s.Text}
			return true
		})
	}
}

// watched tells that more or fewer interfaces show a layout.
func (w *Watch) watched(a ahp.LayoutWatched) {
	kind := Attach
	if a.Clients < w.shown[a.Layout] {
		kind = Detach
	}
	if w.shown[a.Layout] = a.Clients; a.Clients == 0 {
		delete(w.shown, a.Layout)
	}
	w.tell(Event{Event: kind, Layout: nameOf(a.Layout), Clients: &a.Clients})
}

// asked tells what waits for a person in a chat, once.
func (w *Watch) asked(session ahp.URI, n ahp.InputNeeded, f Facts) {
	if n.Kind == ahp.NeedToolClientExecution || w.asks[session][n.ID] {
		return
	}
	if w.asks[session] == nil {
		w.asks[session] = map[string]bool{}
	}
	w.asks[session][n.ID] = true
	if !w.hooks.Wants(Question) {
		return
	}
	e := Event{Event: Question, Session: f.Chat(n.Chat)}
	switch {
	case n.Request != nil && n.Request.Message != nil:
		e.Question = n.Request.Message.Text
	case n.ToolCall != nil && n.ToolCall.InvocationMessage != nil:
		e.Question = n.ToolCall.InvocationMessage.Text
	}
	if e.Session != nil {
		w.tell(e)
	}
}

// wanted tells what agents ask for at terminals, once: one of them, or to run a command.
func (w *Watch) wanted(list []ahp.TerminalInfo, f Facts) {
	before := w.wants
	w.wants = map[ahp.URI]string{}
	for _, t := range list {
		if t.Meta == nil || t.Meta.Ask == nil {
			continue
		}
		ask := t.Meta.Ask
		if w.wants[t.Resource] = ask.ID; before[t.Resource] != ask.ID {
			w.terminal(Question, t.Resource, f, func(e *Event, _ *Ran) bool { e.Question = cmp.Or(ask.Command, ask.Reason); return true })
		}
	}
}

// turned tells how a turn has ended.
func (w *Watch) turned(chat ahp.URI, f Facts, outcome, why string) {
	if !w.hooks.Wants(Turn) {
		return
	}
	if s := f.Chat(chat); s != nil {
		w.tell(Event{Event: Turn, Session: s, Outcome: outcome, Error: why})
	}
}

// cancelled says how a turn ended that was cancelled: its task's budget may have been the
// reason.
func cancelled(meta json.RawMessage) (outcome, why string) {
	var told struct {
		Budget string `json:"tandemux/budget"`
	}
	if json.Unmarshal(meta, &told) != nil || told.Budget == "" {
		return Cancelled, ""
	}
	return Budget, told.Budget[:min(len(told.Budget), 256)]
}

// nameOf is what people call a layout.
func nameOf(uri ahp.URI) string { return strings.TrimPrefix(uri, ahp.LayoutScheme+"/") }

func message(p ahp.ResponsePart) string {
	if p.Error == nil {
		return ""
	}
	return p.Error.Message
}
