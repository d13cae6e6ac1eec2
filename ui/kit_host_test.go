package ui_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/ahp/resource"
	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/ui/link"
)

// Host is a host for one client, in memory. It belongs to the test's goroutine.
type Host struct {
	TaskList Tasks // see ui.Tasks

	Retries int           // how often the interface wanted one at once
	Trip    time.Duration // what RoundTrip is

	// Program runs in terminals that are created; nil is Shell.
	Program Program
	// Refuse, if it gives a reason, refuses a dispatch.
	Refuse func(uri ahp.URI, a ahp.Action) string
	// FailCreate, if not nil, is what createTerminal answers.
	FailCreate error
	// FailRun, if not nil, is what x-tandemux/run answers.
	FailRun error
	// FailSession, if not nil, is what createSession answers.
	FailSession error
	// Older are the turns that fetchTurns gives.
	Older []ahp.Turn
	// Sent has every dispatch but the layout's, in words.
	Sent []string
	// Answers are those to agents' questions.
	Answers []ahp.AnswerParams
	// Painted has what the client said of its colours, each time it did.
	Painted []ahp.ColorsParams
	// Now is the host's clock in Unix milliseconds.
	Now int64

	t        testing.TB
	root     ahp.RootState
	terms    map[ahp.URI]*Terminal
	layouts  map[ahp.URI]ahp.LayoutState
	made     int
	activity ahp.ActivityState
	sessions []*Session
	reviewed
	wire
}

// wire is what lies between a host and its client.
type wire struct {
	sink      *link.Sink
	lost      bool // nothing reaches the host
	seq       int64
	clientSeq int64
	follows   map[ahp.URI]bool
	held      []func()
	holding   bool
	quiet     bool // dispatches are counted and no more
}

// ClientID and Person name the client that the host is for.
const (
	ClientID = "tester"
	Person   = "ann"
)

// NewHost gives a host without terminals.
func NewHost(t testing.TB, sink *link.Sink) *Host {
	h := &Host{
		t: t, terms: map[ahp.URI]*Terminal{}, layouts: map[ahp.URI]ahp.LayoutState{},
		wire: wire{sink: sink, follows: map[ahp.URI]bool{ahp.RootURI: true}},
	}
	h.snapshot(ahp.RootURI, h.root)
	return h
}

// Hold keeps back what the host would answer until Let.
func (h *Host) Hold() { h.holding = true }

// Forget answers nothing of what was kept back.
func (h *Host) Forget() { h.holding, h.held = false, nil }

// Let answers what was kept back.
func (h *Host) Let() {
	h.holding = false
	held := h.held
	h.held = nil
	for _, f := range held {
		f()
	}
}

func (h *Host) later(f func()) {
	if h.holding {
		h.held = append(h.held, f)
		return
	}
	f()
}

// emit sequences an action and hands it to the client if it follows the
// channel.
func (h *Host) emit(uri ahp.URI, a ahp.Action, origin *ahp.Origin) {
	h.seq++
	e := ahp.Envelope{Channel: uri, Action: a, ServerSeq: h.seq, Origin: origin}
	if h.follows[uri] {
		h.later(func() { h.sink.Action(e) })
	}
}

func (h *Host) snapshot(uri ahp.URI, state any) {
	raw, err := json.Marshal(state)
	if err != nil {
		h.t.Fatalf("encode snapshot: %v", err)
	}
	seq := h.seq
	h.later(func() { h.sink.Snapshot(ahp.Snapshot{Resource: uri, State: raw, FromSeq: seq}) })
}

// list announces the terminals.
func (h *Host) list() {
	var infos []ahp.TerminalInfo
	for _, old := range h.root.Terminals {
		if t := h.terms[old.Resource]; t != nil {
			infos = append(infos, t.info())
		}
	}
	for uri, t := range h.terms {
		if !slices.ContainsFunc(infos, func(i ahp.TerminalInfo) bool { return i.Resource == uri }) {
			infos = append(infos, t.info())
		}
	}
	a := ahp.RootTerminalsChanged{Terminals: infos, Meta: &ahp.RootMeta{Layouts: map[ahp.URI]int{}}}
	for uri, l := range h.layouts {
		if n := len(l.Terminals); n > 0 {
			a.Meta.Layouts[uri] = n
		}
	}
	h.root = ahp.ReduceRoot(h.root, a)
	h.emit(ahp.RootURI, a, nil)
}

func (t *Terminal) info() ahp.TerminalInfo {
	meta := t.meta
	if meta.Name != "" {
		meta.Title = t.title
	}
	if t.state.Claim.Kind == ahp.ClaimClient {
		meta.Principal = t.meta.Principal
		if t.state.Claim.ClientID == ClientID {
			meta.Principal = Person
		}
	}
	for uri, l := range t.host.layouts {
		if slices.Contains(l.Terminals, t.URI) {
			meta.Layouts = append(meta.Layouts, uri)
		}
	}
	return ahp.TerminalInfo{
		Resource: t.URI, Title: t.state.Title, Claim: t.state.Claim, Lifecycle: t.state.Lifecycle, Meta: &meta,
	}
}

// ClientID implements link.Host.
func (h *Host) ClientID() string { return ClientID }

// Colors implements link.Host.
func (h *Host) Colors(p ahp.ColorsParams) error {
	h.Painted = append(h.Painted, p)
	return nil
}

// Call implements link.Host.
func (h *Host) Call(_ context.Context, method string, params, result any) error {
	switch p := params.(type) {
	case ahp.AnswerParams:
		h.Answers = append(h.Answers, p)
		h.terms[p.Channel].Describe(func(m *ahp.TerminalMeta) { m.Ask = nil })
	case ahp.TokenRevokeParams:
		h.Sent = append(h.Sent, "end the shares of "+p.Shares)
		h.terms[p.Shares].Describe(func(m *ahp.TerminalMeta) { m.Shares = nil })
	case ahp.DisposeTerminalParams:
		t := h.terms[p.Channel]
		if t == nil {
			return errors.New("there is no such terminal")
		}
		h.Sent = append(h.Sent, "dispose "+t.state.Title)
		delete(h.terms, p.Channel)
		h.list()
	case ahp.ReadParams:
		if t := h.terms[p.Channel]; t != nil {
			*result.(*ahp.ReadResult) = ahp.ReadResult{Cols: t.state.Cols, Rows: t.state.Rows}
		}
	case ahp.RunParams:
		t := h.terms[p.Channel]
		switch {
		case h.FailRun != nil:
			return h.FailRun
		case t == nil:
			return errors.New("there is no such terminal")
		}
		t.Input = append(t.Input, p.Line+"\r")
	case ahp.CreateChatParams:
		h.Sent = append(h.Sent, fmt.Sprintf("create chat from %s", p.Source.TurnID))
	case ahp.FetchTurnsParams:
		h.Sent = append(h.Sent, "fetch turns "+p.Cursor)
		if s := h.session(p.Channel); s != nil && h.Older != nil {
			s.Do(ahp.ChatTurnsLoaded{Turns: h.Older})
		}
	case ahp.CompletionsParams:
		*result.(*ahp.CompletionsResult) = complete(p)
	case resource.ReadParams:
		text, ok := h.contents[p.URI]
		if !ok {
			return errors.New("it is not below a directory that this host serves")
		}
		*result.(*resource.ReadResult) = resource.ReadResult{Data: text, Encoding: resource.UTF8}
	case ahp.SubscribeParams:
		if method == ahp.MethodDisposeSession {
			return h.disposeSession(p.Channel)
		}
		h.Sent = append(h.Sent, method)
	default:
		return fmt.Errorf("%s is not offered", method)
	}
	return nil
}

// Create implements link.Host.
func (h *Host) Create(_ context.Context, p ahp.CreateTerminalParams) error {
	if h.FailCreate != nil {
		return h.FailCreate
	}
	if h.terms[p.Channel] != nil {
		return errors.New("taken")
	}
	h.made++
	name := p.Name
	if name == "" {
		name = fmt.Sprintf("sh%d", h.made)
	}
	h.add(p.Channel, name, p.Claim, p.Cols, p.Rows, p.Cwd, p.Meta)
	return nil
}

// Add makes a terminal that no client asked for: "agent", say.
func (h *Host) Add(name string, claim ahp.Claim) *Terminal {
	return h.add(ahp.TerminalScheme+"/"+name, name, claim, 80, 24, "file:///srv/"+name, nil)
}

func (h *Host) add(uri ahp.URI, name string, claim ahp.Claim, cols, rows int, cwd ahp.URI, meta *ahp.CreateMeta) *Terminal {
	if cols == 0 {
		cols, rows = 80, 24
	}
	em, err := engine.New(Engine, emulator.Options{Cols: cols, Rows: rows})
	if err != nil {
		h.t.Fatalf("make engine: %v", err)
	}
	t := &Terminal{URI: uri, host: h, em: em, run: h.Program, Prompt: "$ "}
	if t.run == nil {
		t.run = Shell
	}
	t.state = ahp.TerminalState{
		Title: name, Cwd: cwd, Cols: cols, Rows: rows, Claim: claim,
		Lifecycle: ahp.Lifecycle{Status: ahp.StatusRunning},
	}
	t.meta = ahp.TerminalMeta{Cwd: cwd, Created: h.Now}
	if meta != nil {
		t.meta.Command, t.Env = meta.Command, meta.Env
	}
	h.terms[uri] = t
	h.list()
	if h.Program == nil {
		t.Print("$ ")
	}
	return t
}

// Subscribe implements link.Host.
func (h *Host) Subscribe(_ context.Context, uri ahp.URI) error {
	switch t := h.terms[uri]; {
	case uri == ahp.ActivityURI:
		h.follows[uri] = true
		h.snapshot(uri, h.activity)
	case strings.HasPrefix(uri, ahp.LayoutScheme):
		h.follows[uri] = true
		h.snapshot(uri, h.layouts[uri])
	case t != nil:
		h.follows[uri] = true
		h.snapshot(uri, t.snapshot())
	case uri == ahp.RootURI:
		h.snapshot(uri, h.root)
	case h.subscribeSession(uri), h.subscribeChanges(uri):
	default:
		return errors.New("there is no such channel")
	}
	return nil
}

// snapshot is the terminal's state with content that rebuilds its screen.
func (t *Terminal) snapshot() ahp.TerminalState {
	s := t.state
	if s.SupportsCommandDetection {
		s.Content = t.parts.Content
		return s
	}
	s.Content = []ahp.Part{{Type: ahp.PartUnclassified, Value: string(t.em.Snapshot(nil, -1))}}
	return s
}

// Unsubscribe implements link.Host.
func (h *Host) Unsubscribe(uri ahp.URI) { delete(h.follows, uri) }

// Follows reports whether the client follows a channel.
func (h *Host) Follows(uri ahp.URI) bool { return h.follows[uri] }

// Dispatch implements link.Host.
func (h *Host) Dispatch(uri ahp.URI, a ahp.Action) (int64, error) {
	if h.lost {
		return 0, link.ErrAway
	}
	h.clientSeq++
	if h.quiet {
		return h.clientSeq, nil
	}
	origin := &ahp.Origin{ClientID: ClientID, ClientSeq: h.clientSeq}
	if reason := h.refusal(uri, a); reason != "" {
		h.note(uri, a, " refused")
		e := ahp.Envelope{Channel: uri, Action: a, ServerSeq: h.seq, Origin: origin, RejectionReason: reason}
		h.later(func() { h.sink.Action(e) })
		return h.clientSeq, nil
	}
	h.note(uri, a, "")
	h.do(uri, a, origin)
	return h.clientSeq, nil
}

func (h *Host) note(uri ahp.URI, a ahp.Action, how string) {
	if _, ok := a.(ahp.LayoutChanged); ok {
		return
	}
	text, _ := json.Marshal(a)
	name := uri
	if t := h.terms[uri]; t != nil {
		name = t.state.Title
	}
	h.Sent = append(h.Sent, fmt.Sprintf("%s %s %s%s", strings.TrimPrefix(a.ActionType(), "terminal/"), name, text, how))
}

func (h *Host) refusal(uri ahp.URI, a ahp.Action) string {
	if h.Refuse != nil {
		if reason := h.Refuse(uri, a); reason != "" {
			return reason
		}
	}
	t := h.terms[uri]
	switch a := a.(type) {
	case ahp.TerminalSeen:
		return ""
	case ahp.LayoutChanged:
		if a.Rev != h.layouts[uri].Rev+1 {
			return fmt.Sprintf("revision %d does not follow %d", a.Rev, h.layouts[uri].Rev)
		}
		return ""
	case ahp.TerminalInput:
		if t != nil && t.state.Claim.Kind == ahp.ClaimSession {
			return "a session holds the terminal"
		}
	}
	if t == nil && h.session(strings.TrimSuffix(uri, annotation.Suffix)) == nil {
		return "there is no such terminal"
	}
	return ""
}

// Refused tells what an agent was not allowed.
func (h *Host) Refused(r ahp.AgentRefusal) {
	h.tell(ahp.AgentsRefused{Refusals: append(slices.Clone(h.activity.Refusals), r)}, nil)
}

// Warned tells what the host's owner has to see to.
func (h *Host) Warned(text string) { h.tell(ahp.HostWarned{Warning: text}, nil) }

// Watched says how many clients show a layout.
func (h *Host) Watched(layout string, clients int) {
	h.tell(ahp.LayoutWatched{Layout: ahp.LayoutScheme + "/" + layout, Clients: clients}, nil)
}

// tell sequences an action of the activity channel.
func (h *Host) tell(a ahp.Action, origin *ahp.Origin) {
	h.activity = ahp.ReduceActivity(h.activity, a)
	h.emit(ahp.ActivityURI, a, origin)
}

// do carries a dispatch out.
func (h *Host) do(uri ahp.URI, a ahp.Action, origin *ahp.Origin) {
	if s, ok := a.(ahp.TerminalSeen); ok {
		s.At = h.Now
		h.tell(s, origin)
		return
	}
	if l, ok := a.(ahp.LayoutChanged); ok {
		h.layouts[uri] = ahp.ReduceLayout(h.layouts[uri], l)
		h.emit(uri, a, origin)
		h.list()
		return
	}
	if h.doSession(uri, a, origin) || h.doComments(uri, a, origin) {
		return
	}
	t := h.terms[uri]
	switch a := a.(type) {
	case ahp.TerminalInput:
		t.Input = append(t.Input, a.Data)
		if c := &t.state.Claim; c.Kind == ahp.ClaimClient && c.ClientID != ClientID {
			t.Claim(ahp.Claim{Kind: ahp.ClaimClient, ClientID: ClientID})
		}
		t.run(t, a.Data)
		h.emit(uri, a, origin)
		return
	case ahp.TerminalTitleChanged:
		if t.meta.Name == "" {
			t.title = t.state.Title
		}
		t.meta.Name = a.Title
		t.state.Title = cmp.Or(a.Title, t.title)
		h.emit(uri, ahp.TerminalTitleChanged{Title: t.state.Title}, origin)
		h.list()
		return
	case ahp.TerminalResized:
		t.em.Resize(a.Cols, a.Rows)
	case ahp.TerminalClaimed:
		if t.state.Claim.Kind == ahp.ClaimSession && a.Claim.Kind == ahp.ClaimClient {
			old := t.state.Claim
			t.meta.HandBack = &old
		}
	}
	t.state = ahp.ReduceTerminal(t.state, a)
	h.emit(uri, a, origin)
	if _, ok := a.(ahp.TerminalClaimed); ok {
		h.list()
	}
}

// Other changes the layout as another client would.
func (h *Host) Other(layout string, doc []byte, terminals []ahp.URI) {
	uri := ahp.LayoutScheme + "/" + layout
	h.do(uri, ahp.LayoutChanged{Rev: h.layouts[uri].Rev + 1, Doc: doc, Terminals: terminals}, &ahp.Origin{ClientID: "other", ClientSeq: 1})
}

// Layout is the document of a layout.
func (h *Host) Layout(name string) ahp.LayoutState { return h.layouts[ahp.LayoutScheme+"/"+name] }

// Terminal gives the terminal of a title.
func (h *Host) Terminal(title string) *Terminal {
	h.t.Helper()
	for _, t := range h.terms {
		if t.state.Title == title {
			return t
		}
	}
	h.t.Fatalf("the host has no terminal %q", title)
	return nil
}

// Terminals gives the titles of all terminals, sorted.
func (h *Host) Terminals() []string {
	var titles []string
	for _, t := range h.terms {
		titles = append(titles, t.state.Title)
	}
	slices.Sort(titles)
	return titles
}

// URIs gives the addresses of all terminals.
func (h *Host) URIs() []ahp.URI {
	var uris []ahp.URI
	for uri := range h.terms {
		uris = append(uris, uri)
	}
	return uris
}

// AddCommand makes a terminal that runs a command instead of a shell.
func (h *Host) AddCommand(name string, claim ahp.Claim, argv ...string) *Terminal {
	return h.add(ahp.TerminalScheme+"/"+name, name, claim, 80, 24, "", &ahp.CreateMeta{Command: argv})
}
