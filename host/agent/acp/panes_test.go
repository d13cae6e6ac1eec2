package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"tandemux/host/agent"
)

// TestPanes: an agent is told to leave commands to a tool of the host's in each of the
// ways, where it gets such a tool; an earlier version that ends at it is started without.
func TestPanes(t *testing.T) {
	const script = "prompt\nsay $ARGS|$HOW|$META\n"
	ours := &Panes{Args: []string{"--no-shell"}, Env: []agent.Var{{Name: "HOW", Value: "ours"}, {Name: "WORK", Value: "ours"}}, Meta: json.RawMessage(`{"shell":false}`)}
	for _, c := range []struct {
		name    string
		servers []agent.Server
		panes   *Panes
		script  string
		want    string
	}{
		{"told", []agent.Server{{Name: "other"}, {Name: "x", Command: "/x", Commands: "run"}}, ours, script, `--no-shell|ours|{"shell":false}`},
		{"without the tool", []agent.Server{{Name: "other"}}, ours, script, "|$HOW|"},
		{"not to be told", []agent.Server{{Name: "x", Commands: "run"}}, nil, script, "|$HOW|"},
		{"an earlier version", []agent.Server{{Name: "x", Commands: "run"}}, ours, "refuse --no-shell\n" + script, "|$HOW|"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.script, func(o *Config) { o.Panes = c.panes })
			b.servers = c.servers
			b.open("")
			b.step("prompt x")
			if got := b.log.String(); !strings.Contains(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
			if c.want[0] == '|' && strings.Contains(b.log.String(), "no-shell|") {
				t.Error("it was told all the same")
			}
		})
	}
}
