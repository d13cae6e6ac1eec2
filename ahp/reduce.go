package ahp

import "maps"

// ReduceRoot is the root channel's state after a (AHP, Root Channel). An action of
// another channel or an Unknown changes nothing.
func ReduceRoot(s RootState, a Action) RootState {
	switch a := a.(type) {
	case RootAgentsChanged:
		s.Agents = a.Agents
	case RootActiveSessionsChanged:
		n := a.ActiveSessions
		s.ActiveSessions = &n
	case RootTerminalsChanged:
		s.Terminals = nonNil(a.Terminals)
	case RootConfigChanged:
		if s.Config != nil {
			s.Config = &RootConfig{s.Config.Schema, changed(s.Config.Values, a.Config, a.Replace)}
		}
	}
	return s
}

// changed is a copy of values with others merged in, or in their place.
func changed[V any](values, others map[string]V, replace bool) map[string]V {
	values = maps.Clone(values)
	if replace || values == nil {
		values = map[string]V{}
	}
	maps.Copy(values, others)
	return values
}

// ReduceTerminal is the terminal's state after a (AHP, Terminal Channel). It copies
// the list of parts, and the last part's text for each terminal/data: fold many of
// them with a TerminalFold. A host keeps its own retention instead.
func ReduceTerminal(s TerminalState, a Action) TerminalState {
	f := NewTerminalFold(s, 0)
	f.Apply(a)
	return f.State()
}

// reduceShape applies the actions that leave the content alone.
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
	}
}

// ReduceLayout is the layout's state after a. A change that does not name the
// next revision changes nothing.
func ReduceLayout(s LayoutState, a Action) LayoutState {
	if a, ok := a.(LayoutChanged); ok && a.Rev == s.Rev+1 {
		return LayoutState(a)
	}
	return s
}

// text is where a part keeps its share of the raw stream.
func (p *Part) text() *string {
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
