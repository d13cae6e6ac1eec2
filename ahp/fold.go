package ahp

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// TerminalFold applies actions to a terminal's state in time linear in their length, by keeping the
// text of the last part in a buffer that grows in place. ReduceTerminal copies that text for each
// action. A TerminalFold is not safe for concurrent use.
//
//	state.Content   [ part ][ part ] … [ last part ]
//	                  text    text       stale text
//	tail                               [ all of its text, room to grow ]
type TerminalFold struct {
	state TerminalState
	limit int // bytes of text to keep; 0 keeps all
	size  int // bytes of text now

	// tail has the last part's text while open is set.
	tail []byte
	open bool
}

// NewTerminalFold starts from the state of a snapshot. It keeps about the newest limit bytes of
// text (G16); 0 keeps all.
func NewTerminalFold(s TerminalState, limit int) *TerminalFold {
	f := &TerminalFold{state: s, limit: limit}
	f.state.Content = slices.Clone(s.Content)
	for _, p := range s.Content {
		f.size += len(p.Text())
	}
	f.trim()
	return f
}

func (f *TerminalFold) Apply(a Action) {
	switch a := a.(type) {
	case TerminalData:
		f.data(a.Data)
	case TerminalCommandExecuted:
		f.push(Part{Type: PartCommand, CommandID: a.CommandID, CommandLine: a.CommandLine, Timestamp: a.Timestamp})
		f.state.SupportsCommandDetection = true
	case TerminalCommandFinished:
		for i := range f.state.Content {
			if p := &f.state.Content[i]; p.Type == PartCommand && p.CommandID == a.CommandID {
				p.IsComplete, p.ExitCode, p.DurationMs = true, a.ExitCode, a.DurationMs
			}
		}
	case TerminalCleared:
		f.state.Content, f.tail, f.open, f.size = nil, nil, false, 0
	default:
		reduceShape(&f.state, a)
	}
}

// State returns the current state. It copies the last part's text and shares no memory that Apply
// changes.
func (f *TerminalFold) State() TerminalState {
	s := f.state
	s.Content = slices.Clone(s.Content)
	if f.open {
		*s.Content[len(s.Content)-1].Share() = string(f.tail)
	}
	return s
}

// Shape returns the state without the content, and copies nothing.
func (f *TerminalFold) Shape() TerminalState {
	s := f.state
	s.Content = nil
	return s
}

func (f *TerminalFold) data(text string) {
	// Output belongs to the last part if that is an open command or unclassified (G25).
	var last Part
	if n := len(f.state.Content); n > 0 {
		last = f.state.Content[n-1]
	}
	if last.Type != PartUnclassified && (last.Type != PartCommand || last.IsComplete) {
		f.push(Part{Type: PartUnclassified})
	}
	if !f.open {
		last := &f.state.Content[len(f.state.Content)-1]
		f.tail, f.open = append(f.tail[:0], *last.Share()...), true
		*last.Share() = ""
	}
	f.tail = append(f.tail, text...)
	f.size += len(text)
	if f.limit > 0 && f.size > f.limit+f.limit/4 {
		f.trim()
	}
}

// push moves the buffered text into the last part and appends p.
func (f *TerminalFold) push(p Part) {
	if f.open {
		last := &f.state.Content[len(f.state.Content)-1]
		*last.Share() = string(f.tail)
		f.tail, f.open = f.tail[:0], false
		if cap(f.tail) > 64<<10 {
			f.tail = nil
		}
	}
	f.state.Content = append(f.state.Content, p)
}

// trim drops the oldest text until limit is met: whole parts first, then the start of a part.
func (f *TerminalFold) trim() {
	excess := f.size - f.limit
	if f.limit <= 0 || excess <= 0 {
		return
	}
	drop := 0
	for drop < len(f.state.Content)-1 && len(f.state.Content[drop].Text()) <= excess {
		excess -= len(f.state.Content[drop].Text())
		drop++
	}
	f.state.Content = slices.Delete(f.state.Content, 0, drop)
	first := &f.state.Content[0]
	if f.open && len(f.state.Content) == 1 {
		n := cutAt(f.tail, excess)
		f.tail = f.tail[:copy(f.tail, f.tail[n:])]
	} else if text := first.Share(); excess > 0 {
		n := cutAt([]byte((*text)[:min(len(*text), excess+cutSearch)]), excess)
		*text = strings.Clone((*text)[n:])
	}
	f.size = len(f.tail)
	for _, p := range f.state.Content {
		f.size += len(p.Text())
	}
}

// cutSearch is how many bytes after the wanted place cutAt looks for the end of a line.
const cutSearch = 4 << 10

// cutAt returns the index of the first byte to keep if n bytes are to be dropped: after the end of
// a line if one is near, else at the start of a character.
func cutAt(text []byte, n int) int {
	near := text[n:min(len(text), n+cutSearch)]
	if i := bytes.IndexByte(near, '\n'); i >= 0 {
		return n + i + 1
	}
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return n
}

// ReduceRoot returns the root channel's state after a (AHP, Root Channel). Other channels' actions
// and an Unknown change nothing.
func ReduceRoot(s RootState, a Action) RootState {
	switch a := a.(type) {
	case RootAgentsChanged:
		s.Agents = a.Agents
	case RootActiveSessionsChanged:
		s.ActiveSessions = new(a.ActiveSessions)
	case RootTerminalsChanged:
		s.Terminals, s.Meta = nonNil(a.Terminals), a.Meta
	case RootConfigChanged:
		if s.Config != nil {
			s.Config = &RootConfig{s.Config.Schema, changed(s.Config.Values, a.Config, a.Replace)}
		}
	}
	return s
}

// changed returns a copy of values with others merged in, or a copy of others if replace is set.
func changed[V any](values, others map[string]V, replace bool) map[string]V {
	values = maps.Clone(values)
	if replace || values == nil {
		values = map[string]V{}
	}
	maps.Copy(values, others)
	return values
}

// ReduceTerminal returns the terminal's state after a (AHP, Terminal Channel). It copies the list
// of parts, and the last part's text for each TerminalData: apply many of them with a TerminalFold.
func ReduceTerminal(s TerminalState, a Action) TerminalState {
	f := NewTerminalFold(s, 0)
	f.Apply(a)
	return f.State()
}

// reduceShape applies the actions that do not change the content.
func reduceShape(s *TerminalState, a Action) {
	switch a := a.(type) {
	case TerminalResized:
		s.Cols, s.Rows = a.Cols, a.Rows
	case TerminalClaimed:
		s.Claim = a.Claim
	case TerminalTitleChanged:
		s.Title = a.Title
	case TerminalCwdChanged:
		s.Cwd = a.Cwd
	case TerminalExited:
		s.Lifecycle = Lifecycle{Status: StatusExited, ExitCode: a.ExitCode}
	case TerminalCommandDetectionAvailable:
		s.SupportsCommandDetection = true
	case TerminalEchoChanged:
		s.Meta.Echo = a.By
	}
}

// ReduceLayout returns the layout's state after a. A change whose Rev is not the next one changes
// nothing.
func ReduceLayout(s LayoutState, a Action) LayoutState {
	if a, ok := a.(LayoutChanged); ok && a.Rev == s.Rev+1 {
		return LayoutState(a)
	}
	return s
}

// Share returns where the part keeps its part of the raw stream: Output of a command, else Value.
func (p *Part) Share() *string {
	if p.Type == PartCommand {
		return &p.Output
	}
	return &p.Value
}

func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
