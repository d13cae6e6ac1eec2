package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tandemux/host/agent"
	"tandemux/host/sandbox"
	"tandemux/host/task/home"
	"tandemux/host/task/hook"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
)

// settings are those of the directory that a workspace's files come from.
func (s *Service) settings(w *workspace.Workspace) (home.Repository, bool) {
	if s.Repositories == nil || w.Info().Source == "" {
		return home.Repository{}, false
	}
	return s.Repositories().Of(w.Info().Source, w.Common())
}

// CheckOf is the command that must succeed before a task's work comes home, empty for none.
func (s *Service) CheckOf(w *workspace.Workspace) string {
	r, _ := s.settings(w)
	return r.Check
}

// check gives what runs the check of a workspace's directory in the task's sandbox, or, of a
// task that has none, as the person; nil where there is no check. Where it fails, the error
// is a home.CheckError.
func (s *Service) check(w *workspace.Workspace) func(context.Context) error {
	r, _ := s.settings(w)
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

// setUp runs what the configuration has for a new task of a directory, before its agent
// starts. Where that fails, so does the task.
func (s *Service) setUp(ctx context.Context, t store.Task) error {
	w, err := s.Files.Workspace(t.ID)
	if err != nil {
		return err
	}
	r, _ := s.settings(w)
	if k := w.Info().Kind; r.Setup == "" || k != workspace.Worktree && k != workspace.Copy {
		return nil
	}
	s.note(t, store.Info, "setting up: "+clipText(r.Setup, 200))
	out := home.NewTail()
	err = s.shell(ctx, t.ID, "the setup", r.Setup, cmp.Or(r.CheckTime, home.DefaultTime), out)
	if err == nil || ctx.Err() != nil {
		return err
	}
	why := fmt.Sprintf("%v: `%s`", err, clipText(r.Setup, 200))
	for line := range strings.Lines(out.String()) {
		line = strings.TrimSpace(line)
		s.note(t, store.Warning, line)
		if line != "" {
			err = errors.New(clipText(line, 300)) // the last says most
		}
	}
	if out.String() != "" {
		why += ": " + err.Error()
	}
	return &startError{why}
}

// shell runs a shell's line where a task is, and gives what it prints line by line.
func (s *Service) shell(ctx context.Context, id, what, line string, limit time.Duration, out *home.Tail) error {
	l, err := s.command(ctx, id, line)
	if err != nil {
		return err
	}
	return hook.Run(ctx, hook.Call{Name: what, Launch: l.Launch, Timeout: limit, Watched: l.confined, Plain: out.Line, Stderr: out.Line})
}

// shellLine is a shell's line to be run where a task is.
type shellLine struct {
	agent.Launch
	confined bool
}

// command says how a shell's line is run where a task is.
func (s *Service) command(ctx context.Context, id, line string) (shellLine, error) {
	t, err := s.Store.Tasks.Find(ctx, id)
	if err != nil {
		return shellLine{}, err
	}
	launch, err := s.Agents.Launch(ctx, cmp.Or(t.LaunchedID, t.VersionID))
	if err != nil {
		return shellLine{}, err
	}
	root, err := s.rootOf(t)
	if err != nil {
		return shellLine{}, err
	}
	l := agent.Launch{Argv: []string{"/bin/sh", "-c", "exec 2>&1\n" + line}, Dir: root}
	if t.Facts.Bare {
		l.Env = slices.Concat(s.environ(), taskEnv(t, launch), launch.Env)
		return shellLine{l, false}, mayRunBare(launch)
	}
	spec, err := s.walls(ctx, t, launch)
	if err != nil {
		return shellLine{}, err
	}
	c, err := sandbox.New(spec)
	if err != nil {
		return shellLine{}, err
	}
	l, err = c.Wrap(ctx, l)
	return shellLine{l, true}, err
}

// carried are globs of what a worktree of a directory gets besides.
func (s *Service) carried(dir, common string) []string {
	if s.Repositories == nil {
		return nil
	}
	r, _ := s.Repositories().Of(dir, common)
	return r.Carry
}

// about is what a task's work since a time is about.
func (s *Service) about(ctx context.Context, id string, since time.Time) (subject, body string) {
	return home.About(ctx, s.Store, id, since)
}
