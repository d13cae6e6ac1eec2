package host

import (
	"path"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/history"
	"tandemux/host/hooks"
	"tandemux/host/sessions"
	"tandemux/host/terminals"
	"tandemux/internal/fileuri"
)

// Followers are told of actions. They are the caller's to close; nil is none.
type Followers struct {
	Hooks   *hooks.Hooks
	History *history.Log
}

// followed tells the followers; nil where there are none.
func followed(c Config) func(core.Tx, *core.Channel, ahp.Action) {
	var w *hooks.Watch
	if c.Hooks != nil {
		w = hooks.NewWatch(c.Hooks, c.Now)
	} else if c.History == nil {
		return nil
	}
	return func(tx core.Tx, ch *core.Channel, a ahp.Action) {
		w.Follow(ch.URI, a, facts{tx})
		c.History.Follow(tx, ch.URI, a)
	}
}

// facts is what hooks are told besides an action.
type facts struct{ core.Tx }

func (f facts) Terminal(uri ahp.URI) (*hooks.Terminal, *hooks.Ran) {
	t, ok := terminals.At(f.Tx, uri)
	if !ok {
		return nil, nil
	}
	at := &hooks.Terminal{ID: path.Base(uri), Name: t.Meta.Name, Title: t.Value.Title, Cwd: fileuri.Path(t.Value.Cwd), Pid: t.Meta.Pid, Claim: t.Value.Claim}
	c := t.Meta.LastCommand
	if c == nil {
		return at, nil
	}
	return at, &hooks.Ran{ID: c.ID, Line: c.CommandLine, Cwd: fileuri.Path(c.Cwd), Timestamp: ahp.InstantOf(c.Timestamp), ExitCode: c.ExitCode, DurationMs: c.DurationMs}
}

func (f facts) Chat(uri ahp.URI) *hooks.Session {
	c, ok := core.At[*sessions.Chat](f.Tx, uri)
	if !ok {
		return nil
	}
	s := hooks.Session{ID: path.Base(c.Session()), Chat: path.Base(uri), Agent: c.Provider(), Task: c.Task()}
	if ch := f.Channel(c.Session()); ch != nil {
		if state, ok := ch.Body.State(f.Tx).(ahp.SessionState); ok {
			s.Title = state.Title
		}
	}
	return &s
}
