package task

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"tandemux/host/agent"
	"tandemux/host/sandbox"
	"tandemux/host/task/home"
	"tandemux/host/task/hook"
	"tandemux/host/task/store"
	"tandemux/host/task/turns"
	"tandemux/host/workspace"
)

// check returns a function that runs the check that the configuration has for a workspace's directory,
// or nil if there is none. The check runs in the task's sandbox, or without one as the person. If the
// check fails, the error is a home.CheckError.
func (s *Service) check(w *workspace.Workspace) func(context.Context) error {
	r := s.Repositories.Of(w)
	if r.Check == "" {
		return nil
	}
	return func(ctx context.Context) error {
		out := home.NewTail()
		err := s.shell(ctx, w.Info().ID, "the check", r.Check, cmp.Or(r.CheckTime, home.DefaultTime), out)
		if err != nil && ctx.Err() == nil {
			return &home.CheckError{Command: r.Check, Why: err.Error(), Printed: out.String()}
		}
		return err
	}
}

// setUp runs the setup command that the configuration has for a new task's directory, before the agent
// starts. If the command fails, so does the task.
func (s *Service) setUp(ctx context.Context, t store.Task) error {
	w, err := s.Files.Workspace(t.ID)
	if err != nil {
		return err
	}
	r := s.Repositories.Of(w)
	if k := w.Info().Kind; r.Setup == "" || k != workspace.Worktree && k != workspace.Copy {
		return nil
	}
	s.note(t, store.Info, "setting up: "+turns.Clip(r.Setup, 200))
	out := home.NewTail()
	err = s.shell(ctx, t.ID, "the setup", r.Setup, cmp.Or(r.CheckTime, home.DefaultTime), out)
	if err == nil || ctx.Err() != nil {
		return err
	}
	for line := range strings.Lines(out.String()) {
		s.note(t, store.Warning, strings.TrimSpace(line))
	}
	return &startError{out.Why(r.Setup, err)}
}

// shell runs a command line of the shell in the task's directory and sandbox, and passes its output on
// by line.
func (s *Service) shell(ctx context.Context, id, what, line string, limit time.Duration, out *home.Tail) error {
	l, confined, err := s.command(ctx, id, line)
	if err != nil {
		return err
	}
	return hook.Run(ctx, hook.Call{Name: what, Launch: l, Timeout: limit, Watched: confined, Plain: out.Line, Stderr: out.Line})
}

// command returns how to run a command line in the task's directory, and whether that is in a sandbox.
func (s *Service) command(ctx context.Context, id, line string) (l agent.Launch, confined bool, err error) {
	t, err := s.Store.Tasks.Find(ctx, id)
	if err != nil {
		return l, false, err
	}
	launch, err := s.Agents.Launch(ctx, cmp.Or(t.LaunchedID, t.VersionID))
	if err != nil {
		return l, false, err
	}
	root, err := s.rootOf(t)
	if err != nil {
		return l, false, err
	}
	l = agent.Launch{Argv: []string{"/bin/sh", "-c", "exec 2>&1\n" + line}, Dir: root}
	if t.Facts.Bare {
		l.Env = slices.Concat(s.environ(), taskEnv(t, launch), launch.Env)
		return l, false, mayRunBare(launch)
	}
	spec, err := s.walls(ctx, t, launch)
	if err != nil {
		return l, false, err
	}
	c, err := sandbox.New(spec)
	if err != nil {
		return l, false, err
	}
	l, err = c.Wrap(ctx, l)
	return l, true, err
}
