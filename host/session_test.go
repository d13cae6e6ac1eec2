package host_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"tandemux/host"
	"tandemux/host/agent"
)

// TestSessions runs testdata/sessions/*.txtar as TestConformance does its files,
// against a host whose agents are scripted, with more sections:
//
//	-- agent TEXT --   what the agent does when it is prompted with TEXT (scripted)
//	-- go WORD --      lets an agent go on that awaits it
//	-- forks --        the agent's sessions can be copied
//
// The agent "scripted" is the first, "other" refuses to open when it is told to.
// Grace periods are
// short.
func TestSessions(t *testing.T) {
	files, err := filepath.Glob("testdata/sessions/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, other := newScripted("scripted"), newScripted("other")
			other.refuse = &agent.Error{Kind: agent.KindAuthRequired, Message: "log in first", Auth: []agent.AuthMethod{{ID: "login", Name: "Log in", Kind: agent.AuthTerminal, Command: []string{"other", "login"}}}}
			other.opening = func(ctx context.Context) {
				select {
				case <-p.word("refuse"):
				case <-ctx.Done():
				}
			}
			w := startWith(t, p, other)
			s := &script{t: t, w: w, peers: map[string]*peer{}, vars: map[string]any{}}
			s.vars["DIR"] = "file://" + filepath.Join(w.dir, "home")
			for _, section := range a.Files {
				verb, rest, _ := strings.Cut(section.Name, " ")
				switch verb {
				case "forks":
					p.forks.Store(true) // It is asked from now on.
				case "agent":
					p.mu.Lock()
					p.scripts[rest] = string(section.Data)
					p.mu.Unlock()
				case "go":
					close(p.word(rest))
				default:
					s.run(section)
				}
			}
		})
	}
}

// startWith makes a fixture with these agents and short times.
func startWith(t testing.TB, providers ...*scripted) *fixture {
	return start(t, withAgents(providers...))
}

func withAgents(providers ...*scripted) func(c *host.Config) {
	return func(c *host.Config) {
		for _, p := range providers {
			c.Agents = append(c.Agents, p)
		}
		c.Limits.AgentStart, c.Limits.AgentGrace = 2*time.Second, 300*time.Millisecond
		c.Limits.ClientGrace, c.Limits.TurnBytes = 300*time.Millisecond, 256<<10
	}
}
