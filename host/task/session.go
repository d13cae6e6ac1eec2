package task

import (
	"context"
	"errors"
	"fmt"

	"tandemux/ahp"
	"tandemux/host/task/store"
	"tandemux/host/task/turns"
	"tandemux/internal/fileuri"
)

// errWaiting says that the runner has to wait for the host, whose next message wakes it.
var errWaiting = errors.New("waiting for the host")

// launch makes sure that the task has a session with its current version and that the agent is ready.
// errWaiting means that it is not ready yet.
func (l *live) launch(ctx context.Context, t *store.Task) error {
	now := l.look()
	switch {
	case t.Session != "" && now.lost:
		// Somebody ended the session, or an earlier host lost it.
		l.s.note(*t, store.Warning, "the session is gone; another one begins")
		return l.another(ctx, t)
	case t.Session != "" && t.LaunchedID != t.VersionID && now.hasChat && now.chat.ActiveTurn == nil:
		return l.replace(ctx, t)
	case t.Session == "":
		return l.another(ctx, t)
	case !now.hasSession || !now.hasChat:
		return l.attach(ctx, t)
	}
	switch now.session.Lifecycle {
	case ahp.LifecycleReady:
		return nil
	case ahp.LifecycleFailed:
		why := "the agent did not start"
		if e := now.session.CreationError; e != nil {
			why = e.Message
		}
		if e := now.session.CreationError; e != nil && e.ErrorType == turns.ErrorRestarted && l.facts.Sessions < maxTries {
			return l.replace(ctx, t)
		}
		if l.facts.Begun { // it has worked before
			if err := l.dispose(ctx, t.Session); err != nil {
				return err
			}
			if err := l.noSession(ctx, t); err != nil {
				return err
			}
		}
		return &startError{why}
	}
	return errWaiting
}

// maxTries is how many sessions a task may lose because hosts die.
const maxTries = 20

// startError says why a session has no agent.
type startError struct{ text string }

func (e *startError) Error() string { return e.text }

// replace ends the session and makes another one.
func (l *live) replace(ctx context.Context, t *store.Task) error {
	if err := l.dispose(ctx, t.Session); err != nil {
		return err
	}
	return l.another(ctx, t)
}

// another chooses the URI of a new session and makes it.
func (l *live) another(ctx context.Context, t *store.Task) error {
	l.unwatch()
	l.facts.Sessions++
	uri := ahp.SessionScheme + "/" + t.ID
	if l.facts.Sessions > 1 {
		uri += fmt.Sprintf("-%d", l.facts.Sessions)
	}
	got, err := l.s.Store.Tasks.Edit(ctx, t.ID, func(r *store.Task) error {
		r.Session, r.LaunchedID, r.Facts = uri, r.VersionID, l.facts
		return nil
	})
	if err != nil {
		return err
	}
	*t = got
	return l.open(ctx, t)
}

// noSession removes the session from the task's record.
func (l *live) noSession(ctx context.Context, t *store.Task) error {
	l.unwatch()
	got, err := l.s.Store.Tasks.Edit(ctx, t.ID, func(r *store.Task) error {
		r.Session, r.LaunchedID = "", ""
		return nil
	})
	if err == nil {
		*t = got
	}
	return err
}

// attach subscribes to the task's session. If there is none it makes it, because a host may have died
// after the URI was chosen.
func (l *live) attach(ctx context.Context, t *store.Task) error {
	l.watch(t.Session)
	err := l.subscribe(ctx, t.Session)
	var refused *ahp.Error
	switch {
	case errors.As(err, &refused) && l.facts.Begun:
		l.lose(t.Session)
		return errWaiting
	case errors.As(err, &refused):
		return l.open(ctx, t)
	}
	return err
}

// subscribe subscribes to a session and its chat. Their snapshots wake the runner.
func (l *live) subscribe(ctx context.Context, session ahp.URI) error {
	c, err := l.s.host(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	for _, uri := range []ahp.URI{session, chatOf(session)} {
		if err := c.Subscribe(ctx, uri); err != nil {
			return err
		}
	}
	return errWaiting
}

// open makes the task's session under the URI in the record.
func (l *live) open(ctx context.Context, t *store.Task) error {
	dir, err := l.s.rootOf(*t)
	if err != nil {
		return err
	}
	provider, err := l.s.useProvider(ctx, t)
	if err != nil {
		return err
	}
	l.watch(t.Session)
	sandbox := l.id
	if l.facts.Bare {
		sandbox = ""
	}
	err = l.s.call(ctx, ahp.MethodCreateSession, ahp.CreateSessionParams{
		Channel: t.Session, Provider: provider, WorkingDirectories: []ahp.URI{fileuri.Of(dir)},
		Meta: &ahp.SessionMeta{Chat: chatOf(t.Session), Title: t.Name, Confirm: l.facts.Confirm, Sandbox: sandbox},
	}, nil)
	if err != nil && ahp.CodeOf(err) != ahp.CodeSessionAlreadyExists {
		if refused, is := errors.AsType[*ahp.Error](err); is {
			return &startError{refused.Message}
		}
		return err
	}
	return l.subscribe(ctx, t.Session)
}

// watch makes the sink pass what it gets about a session and its chat on to l.
func (l *live) watch(session ahp.URI) {
	l.mu.Lock()
	if l.session != session {
		l.session, l.seen = session, seen{}
	}
	l.mu.Unlock()
	l.s.sink.watch(session, l)
	l.s.sink.watch(chatOf(session), l)
}

func (l *live) unwatch() {
	l.mu.Lock()
	session := l.session
	l.session, l.seen = "", seen{}
	l.mu.Unlock()
	if session == "" {
		return
	}
	l.s.sink.watch(session, nil)
	l.s.sink.watch(chatOf(session), nil)
	if c := l.s.connected(); c != nil {
		c.Unsubscribe(session)         //nolint:errcheck // the channel may be gone
		c.Unsubscribe(chatOf(session)) //nolint:errcheck // the channel may be gone
	}
}

// dispose ends a session with its agent and terminals. It is no error if there is none.
func (l *live) dispose(ctx context.Context, session ahp.URI) error {
	if session == "" {
		return nil
	}
	err := l.s.call(ctx, ahp.MethodDisposeSession, ahp.SubscribeParams{Channel: session}, nil)
	if _, is := errors.AsType[*ahp.Error](err); is { // there is no such session
		err = nil // it is not there
	}
	l.unwatch()
	return err
}
