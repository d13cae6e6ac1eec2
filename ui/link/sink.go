package link

import (
	"encoding/json"
	"maps"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/ahp/changeset"
	"tandemux/ahp/hosted"
	"tandemux/ahp/palette"
	"tandemux/ahp/wire"
	"tandemux/ui/pane"
	"tandemux/ui/predict"
)

// maxInbox bounds the messages that wait for the event loop. When it is full the connection's
// goroutine waits, and the connection's own bounds slow the host down.
const maxInbox = 4096

// Sink takes what arrives over the connection. The connection's goroutine calls its methods, in
// order. Other hosts' connections use a RemoteSink (Of); messages of different hosts have no
// order. The Sink is made before the connection and before the Model, and keeps what arrives in
// between, such as the root snapshot of the handshake.
//
// A terminal's output goes straight into the terminal's feed. All else waits in the inbox until
// the event loop takes it. The loop is woken once for any number of changes.
type Sink struct {
	mu     sync.Mutex // guards all below
	room   *sync.Cond
	inbox  []any
	feeds  map[ahp.URI]*pane.Feed
	engine string
	limit  int             // of feeds' histories, as emulator.Options.History
	limits map[ahp.URI]int // of terminals that have another limit
	told   bool            // wake was called, and the inbox was not taken since
	wake   func()          // nil until a Model is attached
	whole  func(ahp.URI)   // nil until a Model is attached; see Attach
	closed bool
	broke  func(v any, stack []byte)  // gets panics of the connection's goroutine
	inputs bool                       // HearInput
	agents map[string][]ahp.AgentInfo // of hosts' roots, by host name, "" for this user's own
	kinds  map[ahp.URI]Kind           // of channels whose URI does not tell
}

// Kind is what a channel is.
type Kind uint8

// The kinds of channels whose URI does not tell.
const (
	None Kind = iota
	Session
	Chat
)

// Expect sets the kind of a channel before its snapshot arrives; None removes it.
func (s *Sink) Expect(uri ahp.URI, k Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k == None {
		delete(s.kinds, uri)
		return
	}
	s.kinds[uri] = k
}

// What Take returns, besides ahp.Envelope.
type (
	// Snapshot is the state of a channel: an ahp.RootState, TerminalState,
	// LayoutState, ActivityState, SessionState or ChatState, a changeset.State or
	// annotation.State.
	Snapshot struct {
		Channel ahp.URI
		State   any
	}
	// Gone says that a channel no longer exists.
	Gone struct{ Channel ahp.URI }
	// Changed is a change of the connection's state.
	Changed struct {
		State State
		Err   error // why, where known
	}
	// Retry is the progress of reconnecting.
	Retry struct {
		Since, Next time.Time // of the loss, of the next attempt
		Err         error     // of the last attempt
	}
	// Lost is how many characters of input may or may not have arrived.
	Lost int
	// Silent says since when the host has not answered; the zero time says that it answers.
	Silent time.Time
	// Note is a notification about the list of sessions.
	Note struct {
		Method string
		Params json.RawMessage
	}
	// Asked is a person's command that came through the host. Reply must be called once.
	Asked struct {
		palette.Params
		Reply func(result any, err error)
	}
	// Broken is a message that could not be decoded.
	Broken struct {
		What string
		Err  error
	}
)

func NewSink() *Sink {
	s := &Sink{feeds: map[ahp.URI]*pane.Feed{}, kinds: map[ahp.URI]Kind{}, limits: map[ahp.URI]int{}, agents: map[string][]ahp.AgentInfo{}}
	s.room = sync.NewCond(&s.mu)
	return s
}

// Attach connects the sink to an event loop. wake wakes the loop. It is called without a lock,
// and may call Take and draw. whole requests the state of a terminal whose output was skimmed.
// Neither may block.
func (s *Sink) Attach(engine string, wake func(), whole func(terminal ahp.URI)) {
	s.mu.Lock()
	s.engine, s.wake, s.whole = engine, wake, whole
	told := s.told
	s.mu.Unlock()
	if told {
		wake()
	}
}

// Close discards what arrives from now on, so that the connection's goroutine never waits.
func (s *Sink) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.inbox = true, nil
	s.room.Broadcast()
}

// HearInput sets whether echoes of input reach the loop. Mostly the loop need not be woken for
// them.
func (s *Sink) HearInput(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inputs = on
}

// signal wakes the loop unless it was woken already.
func (s *Sink) signal() {
	s.mu.Lock()
	wake := s.wake
	if s.told {
		wake = nil
	}
	s.told = true
	s.mu.Unlock()
	if wake != nil {
		wake()
	}
}

func (s *Sink) post(item any) {
	s.mu.Lock()
	for len(s.inbox) >= maxInbox && !s.closed {
		s.room.Wait()
	}
	if !s.closed {
		s.inbox = append(s.inbox, item)
	}
	s.mu.Unlock()
	s.signal()
}

// Take returns and removes what waits, in order.
func (s *Sink) Take() []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := s.inbox
	s.inbox, s.told = nil, false
	s.room.Broadcast()
	return items
}

// Feed returns the terminal's feed, a new one if there is none.
func (s *Sink) Feed(uri ahp.URI) *pane.Feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.feeds[uri]
	if f == nil {
		f = pane.NewFeed(s.engine, s.signal)
		if whole := s.whole; whole != nil {
			f.Whole = func() { whole(uri) }
		}
		f.LimitHistory(s.limitOf(uri))
		s.feeds[uri] = f
	}
	return f
}

// limitOf is how much history a terminal's feed keeps. The lock must be held.
func (s *Sink) limitOf(uri ahp.URI) int {
	if n, ok := s.limits[uri]; ok {
		return n
	}
	return s.limit
}

// LimitHistory sets how much history feeds keep whose terminals have no limit of their own.
func (s *Sink) LimitHistory(lines int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = lines
	s.relimit()
}

func (s *Sink) relimit() {
	for uri, f := range s.feeds {
		f.LimitHistory(s.limitOf(uri))
	}
}

// list notes what a host's list of terminals says of their histories.
func (s *Sink) list(host string, terminals []ahp.TerminalInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.limits, func(uri ahp.URI, _ int) bool { return hosted.Host(uri) == host })
	for _, t := range terminals {
		if t.Meta == nil || t.Meta.Scrollback == nil || hosted.Host(t.Resource) != host {
			continue
		}
		lines := *t.Meta.Scrollback
		if lines <= 0 {
			lines = -1
		}
		s.limits[t.Resource] = lines
	}
	s.relimit()
}

// existing returns the terminal's feed, nil if there is none.
func (s *Sink) existing(uri ahp.URI) *pane.Feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.feeds[uri]
}

func (s *Sink) Drop(uri ahp.URI) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.feeds, uri)
}

// Guard sets the handler of panics on the connection's goroutine, which otherwise would end the
// program without restoring the outer terminal.
func (s *Sink) Guard(broke func(v any, stack []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broke = broke
}

// Fence, deferred, passes a panic to Guard's handler.
func (s *Sink) Fence() {
	v := recover()
	if v == nil {
		return
	}
	stack := debug.Stack()
	broke := func(v any, _ []byte) { panic(v) }
	if s.mu.TryLock() { // else the panic came with the lock held
		if s.broke != nil {
			broke = s.broke
		}
		s.mu.Unlock()
	}
	broke(v, stack)
}

// Snapshot takes the state of a channel, after a subscription or a reconnect.
func (s *Sink) Snapshot(snap ahp.Snapshot) {
	defer s.Fence()
	var state any
	var err error
	s.mu.Lock()
	kind := s.kinds[snap.Resource]
	s.mu.Unlock()
	host, there := hosted.Split(snap.Resource)
	switch {
	case there == ahp.RootURI:
		var st ahp.RootState
		if st, err = read[ahp.RootState](snap.State); err == nil {
			s.hire(host, st.Agents)
			s.list(host, st.Terminals)
		}
		state = st
	case there == ahp.ActivityURI:
		state, err = read[ahp.ActivityState](snap.State)
	case strings.HasPrefix(snap.Resource, ahp.LayoutScheme):
		state, err = read[ahp.LayoutState](snap.State)
	case strings.HasPrefix(snap.Resource, changeset.Scheme):
		state, err = read[changeset.State](snap.State)
	case strings.HasSuffix(snap.Resource, annotation.Suffix):
		state, err = read[annotation.State](snap.State)
	case kind == Session:
		state, err = read[ahp.SessionState](snap.State)
	case kind == Chat:
		state, err = read[ahp.ChatState](snap.State)
	default:
		state, err = s.terminal(snap, (*pane.Feed).Reset)
	}
	if err != nil {
		s.post(Broken{"read the state of " + snap.Resource, err})
		return
	}
	s.post(Snapshot{snap.Resource, state})
}

func read[T any](text []byte) (st T, err error) {
	err = ahp.Unmarshal(text, &st)
	return st, err
}

// Data takes output of a terminal; data is valid until it returns.
func (s *Sink) Data(channel ahp.URI, data []byte, _ int64) {
	defer s.Fence()
	if f := s.existing(channel); f != nil {
		f.Print(data)
	}
}

// terminal shows a terminal's state, and returns the state without what was shown.
func (s *Sink) terminal(snap ahp.Snapshot, show func(*pane.Feed, ahp.TerminalState) error) (st ahp.TerminalState, err error) {
	if st, err = wire.Terminal(snap); err == nil { // whose JSON was validated as part of the message
		err = show(s.Feed(snap.Resource), st)
		st.Content = nil
	}
	return st, err
}

// Begins reports whether a terminal has no feed with a screen yet.
func (s *Sink) Begins(channel ahp.URI) bool {
	defer s.Fence()
	f := s.existing(channel)
	return f != nil && f.Whole != nil && !f.Ready()
}

// Begun is Snapshot for a terminal whose history follows later.
func (s *Sink) Begun(snap ahp.Snapshot) {
	defer s.Fence()
	st, err := s.terminal(snap, (*pane.Feed).Skim)
	if err != nil {
		s.post(Broken{"read the screen of " + snap.Resource, err})
		return
	}
	s.post(Snapshot{snap.Resource, st})
}

// Skims reports whether only the screen of a terminal is needed.
func (s *Sink) Skims(channel ahp.URI) bool {
	defer s.Fence()
	f := s.existing(channel)
	return f != nil && f.Skims()
}

// Skimmed takes a terminal's screen, in place of the output until then.
func (s *Sink) Skimmed(snap ahp.Snapshot) {
	defer s.Fence()
	st, err := wire.Terminal(snap)
	if f := s.existing(snap.Resource); err == nil && f != nil {
		err = f.Skim(st)
	}
	if err != nil {
		s.post(Broken{"read the screen of " + snap.Resource, err})
	}
}

// Action takes a confirmed action, this client's own included, or a refusal.
func (s *Sink) Action(e ahp.Envelope) {
	defer s.Fence()
	f := s.existing(e.Channel)
	if f != nil && s.echo(f, e) {
		defer s.signal()
	}
	if e.RejectionReason != "" {
		s.post(e)
		return
	}
	if f != nil {
		switch a := e.Action.(type) {
		case ahp.TerminalData:
			f.Write(a.Data)
		case ahp.TerminalCleared:
			f.Clear()
		case ahp.TerminalResized:
			f.Resize(a.Cols, a.Rows)
		case ahp.TerminalCommandDetectionAvailable:
			f.Detects()
		case ahp.TerminalCommandExecuted:
			f.Executed(a)
		case ahp.TerminalCommandFinished:
			f.Finished(a)
		}
	}
	switch a := e.Action.(type) {
	case ahp.RootAgentsChanged:
		s.hire(hosted.Host(e.Channel), a.Agents)
	case ahp.RootTerminalsChanged:
		s.list(hosted.Host(e.Channel), a.Terminals)
	case ahp.TerminalData, ahp.TerminalCleared, ahp.TerminalEchoChanged:
		return
	case ahp.TerminalInput:
		s.mu.Lock()
		hears := s.inputs
		s.mu.Unlock()
		if !hears {
			return
		}
	}
	s.post(e)
}

// echo passes on what an action says about the echo of input. It reports whether there is
// something to draw.
func (s *Sink) echo(f *pane.Feed, e ahp.Envelope) bool {
	switch a := e.Action.(type) {
	case ahp.TerminalEchoChanged:
		return f.Predict(false, func(p *predict.Predictor, _ predict.Screen, _ int) { p.Allow(a.By) })
	case ahp.TerminalInput:
		return e.Origin != nil && f.Predict(false, func(p *predict.Predictor, _ predict.Screen, _ int) {
			p.Took(e.Origin.ClientSeq, e.RejectionReason != "")
		})
	}
	return false
}

// Gone says that a channel no longer exists.
func (s *Sink) Gone(channel ahp.URI) { s.post(Gone{channel}) }

// Note takes a notification beside actions.
func (s *Sink) Note(method string, params json.RawMessage) {
	defer s.Fence()
	switch method {
	case ahp.NoteSessionAdded, ahp.NoteSessionRemoved, ahp.NoteSessionSummaryChanged:
		s.post(Note{method, params})
	}
}

// Asked takes a request of the host's.
func (s *Sink) Asked(method string, params json.RawMessage, reply func(result any, err error)) bool {
	defer s.Fence()
	if method != palette.MethodOrder {
		return false
	}
	var p palette.Params
	if err := json.Unmarshal(params, &p); err != nil {
		reply(nil, ahp.InvalidParams("order: %v", err))
		return true
	}
	s.post(Asked{p, reply})
	return true
}

// Retrying says that another attempt to reconnect has failed.
func (s *Sink) Retrying(r Retry) { s.post(r) }

// Lost says that typed input may or may not have arrived.
func (s *Sink) Lost(_ ahp.URI, input string) { s.post(Lost(max(utf8.RuneCountInString(input), 1))) }

// Silent says since when the host has not answered; the zero time says that it answers.
func (s *Sink) Silent(since time.Time) { s.post(Silent(since)) }

// Status takes a change of the connection's state; err says why, where known.
func (s *Sink) Status(to State, err error) { s.post(Changed{to, err}) }

func (s *Sink) hire(host string, agents []ahp.AgentInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents[host] = agents
}

// Agents is the agents of the host's root. It may be called from any goroutine.
func (s *Sink) Agents() []ahp.AgentInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.agents[""]
}
