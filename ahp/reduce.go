package ahp

import (
	"maps"
	"slices"
)

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
		if s.Config == nil {
			break
		}
		values := make(map[string]any, len(a.Config))
		if !a.Replace {
			maps.Copy(values, s.Config.Values)
		}
		maps.Copy(values, a.Config)
		s.Config = &RootConfig{Schema: s.Config.Schema, Values: values}
	}
	return s
}

// ReduceTerminal is the terminal's state after a (AHP, Terminal Channel). It copies
// the list of parts, and the last part's text for each terminal/data: fold many of
// them with a TerminalFold. A host keeps its own retention instead.
func ReduceTerminal(s TerminalState, a Action) TerminalState {
	switch a := a.(type) {
	case TerminalData:
		parts := slices.Clone(s.Content)
		if takesData(parts) {
			last := &parts[len(parts)-1]
			*last.text() += a.Data
		} else {
			parts = append(parts, Part{Type: PartUnclassified, Value: a.Data})
		}
		s.Content = parts
	case TerminalCommandExecuted:
		s.Content = append(slices.Clip(s.Content), openCommand(a))
		s.SupportsCommandDetection = true
	case TerminalCommandFinished:
		s.Content = slices.Clone(s.Content)
		finish(s.Content, a)
	case TerminalCleared:
		s.Content = []Part{}
	default:
		reduceShape(&s, a)
	}
	return s
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

// takesData reports whether output belongs to the last part: an open command's
// or an unclassified one (G25).
func takesData(parts []Part) bool {
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	return last.Type == PartUnclassified || last.Type == PartCommand && !last.IsComplete
}

// text is where a part keeps its share of the raw stream.
func (p *Part) text() *string {
	if p.Type == PartCommand {
		return &p.Output
	}
	return &p.Value
}

func openCommand(a TerminalCommandExecuted) Part {
	return Part{
		Type: PartCommand, CommandID: a.CommandID, CommandLine: a.CommandLine, Timestamp: a.Timestamp,
	}
}

// finish completes the parts of a command in place.
func finish(parts []Part, a TerminalCommandFinished) {
	for i := range parts {
		if p := &parts[i]; p.Type == PartCommand && p.CommandID == a.CommandID {
			p.IsComplete, p.ExitCode, p.DurationMs = true, a.ExitCode, a.DurationMs
		}
	}
}

func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
