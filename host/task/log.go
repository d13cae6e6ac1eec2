package task

import (
	"context"
	"os"
	"strings"
	"time"

	"tandemux/host/task/registry"
	"tandemux/host/task/store"
)

// note puts a line about a task's life in its agent's log (U106). It says what
// happens, never what is said.
func (s *Service) note(t store.Task, level store.Level, text string) {
	s.Log.Info("task", "task", t.ID, "note", text)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), 5*time.Second)
	defer cancel()
	launch, err := s.Agents.Launch(ctx, t.VersionID)
	if err == nil {
		err = s.Agents.Log(ctx, launch, store.LogEntry{TaskID: t.ID, Level: level, Source: "task", Text: text})
	}
	if err != nil {
		s.Log.Warn("write a task's log", "task", t.ID, "err", err)
	}
}

// logger puts lines in the log of a task's agent.
func (s *Service) logger(t store.Task, l registry.Launch, source string) func(store.Level, string) {
	return func(level store.Level, text string) {
		err := s.Agents.Log(s.ctx, l, store.LogEntry{TaskID: t.ID, Level: level, Source: source, Text: text})
		if err != nil && s.ctx.Err() == nil {
			s.Log.Warn("write a task's log", "task", t.ID, "err", err)
		}
	}
}

// environ is the host's environment for processes without a sandbox.
func (s *Service) environ() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "TANDEMUX_") {
			env = append(env, kv)
		}
	}
	return env
}
