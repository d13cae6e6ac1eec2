package ahp

import (
	"encoding/json"
	"fmt"
)

// kind is one row of the table of actions.
type kind struct {
	client bool // clients may dispatch it
	// after05 says that 0.5.0 does not have it.
	after05 bool
	decode  func(raw json.RawMessage) (Action, error)
	// write appends the members after "type".
	write func(w *writer, a Action)
}

// row makes a row for the action type A.
func row[A Action](client bool, write func(w *writer, a A)) (string, kind) {
	var zero A
	return zero.ActionType(), kind{
		client: client,
		decode: func(raw json.RawMessage) (Action, error) {
			var a A
			if err := Unmarshal(raw, &a); err != nil {
				return nil, err
			}
			return a, nil
		},
		write: func(w *writer, a Action) {
			if v, ok := a.(A); ok {
				write(w, v)
			}
		},
	}
}

const (
	byHost   = false
	byClient = true
)

// kinds is the table of actions by type.
var kinds = map[string]kind{}

func add(actionType string, k kind) { kinds[actionType] = k }

func init() {
	add(row(byHost, func(w *writer, a RootAgentsChanged) { list(w, "agents", a.Agents) }))
	add(row(byHost, func(w *writer, a RootActiveSessionsChanged) {
		w.int("activeSessions", int64(a.ActiveSessions))
	}))
	add(row(byHost, func(w *writer, a RootTerminalsChanged) { list(w, "terminals", a.Terminals) }))
	add(row(byClient, func(w *writer, a RootConfigChanged) {
		w.member("config", nonNilMap(a.Config))
		if a.Replace {
			w.bool("replace", true)
		}
	}))
	add(row(byHost, func(w *writer, a TerminalData) { w.str("data", a.Data) }))
	add(row(byClient, func(w *writer, a TerminalInput) { w.str("data", a.Data) }))
	add(row(byClient, func(w *writer, a TerminalResized) {
		w.int("cols", int64(a.Cols))
		w.int("rows", int64(a.Rows))
	}))
	add(row(byClient, func(w *writer, a TerminalClaimed) { w.member("claim", a.Claim) }))
	add(row(byClient, func(w *writer, a TerminalTitleChanged) { w.str("title", a.Title) }))
	add(row(byHost, func(w *writer, a TerminalCwdChanged) { w.str("cwd", a.Cwd) }))
	add(row(byHost, func(w *writer, a TerminalExited) {
		if a.ExitCode != nil {
			w.int("exitCode", int64(*a.ExitCode))
		}
	}))
	add(row(byClient, func(*writer, TerminalCleared) {}))
	add(row(byHost, func(*writer, TerminalCommandDetectionAvailable) {}))
	add(row(byHost, func(w *writer, a TerminalCommandExecuted) {
		w.str("commandId", a.CommandID)
		w.str("commandLine", a.CommandLine)
		w.int("timestamp", a.Timestamp)
	}))
	add(row(byHost, func(w *writer, a TerminalCommandFinished) {
		w.str("commandId", a.CommandID)
		w.outcome(a.ExitCode, a.DurationMs)
	}))
	add(row(byClient, func(w *writer, a LayoutChanged) {
		w.int("rev", a.Rev)
		w.raw("doc", a.Doc)
		list(w, "terminals", a.Terminals)
	}))
}

// ClientDispatchable reports whether an action type is known, and if so whether
// clients may dispatch it (AHP, Root Channel and Terminal Channel).
func ClientDispatchable(actionType string) (known, ok bool) {
	k, known := kinds[actionType]
	return known, k.client
}

// DecodeAction reads an action of any profile. A type that is not known gives
// an Unknown that keeps raw; unknown members are dropped. The result shares no
// memory with raw.
func DecodeAction(raw json.RawMessage) (Action, error) {
	var head struct {
		Type *string `json:"type"`
	}
	if err := Unmarshal(raw, &head); err != nil {
		return nil, fmt.Errorf("decode action: %w", err)
	}
	if head.Type == nil || *head.Type == "" {
		return nil, fmt.Errorf("decode action: member \"type\" is missing")
	}
	k, known := kinds[*head.Type]
	if !known {
		return Unknown{Type: *head.Type, Raw: append(json.RawMessage(nil), raw...)}, nil
	}
	a, err := k.decode(raw)
	if err != nil {
		return nil, fmt.Errorf("decode action %s: %w", *head.Type, err)
	}
	return a, nil
}

// EncodeAction is the action's JSON object for a peer of profile p, its type
// member included. An Unknown is written verbatim. a must be one of this
// package's action types, by value.
func EncodeAction(p Profile, a Action) (json.RawMessage, error) {
	w := writer{p: p}
	w.action(a)
	if w.err != nil {
		return nil, w.err
	}
	return w.buf, nil
}

// action appends an action.
func (w *writer) action(a Action) {
	if u, ok := a.(Unknown); ok && len(u.Raw) > 0 {
		if !json.Valid(u.Raw) {
			w.fail(fmt.Errorf("encode action %s: kept text is not JSON", u.Type))
			return
		}
		w.buf = append(w.buf, u.Raw...)
		return
	}
	if a == nil {
		w.fail(fmt.Errorf("encode action: there is none"))
		return
	}
	w.open('{')
	w.str("type", a.ActionType())
	if k, known := kinds[a.ActionType()]; known {
		k.write(w, a)
	}
	w.close('}')
}

func (w *writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
	w.buf = append(w.buf, "null"...)
}

// outcome writes how a command ended.
func (w *writer) outcome(exitCode *int, durationMs *int64) {
	if exitCode != nil {
		w.int("exitCode", int64(*exitCode))
	}
	if durationMs != nil {
		w.int("durationMs", *durationMs)
	}
}

func nonNilMap(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
