package catalog

import (
	"cmp"
	"encoding/json"
	"maps"
	"os/exec"
	"slices"

	"tandemux/host/agent/acp"
)

// known are the agents that are used without configuration if their programs are in PATH. The first
// one found is the default.
var known = []Row{
	{Name: "claude", Title: "Claude Code", Command: []string{"claude-agent-acp"}, Needs: "a login (claude /login) or ANTHROPIC_API_KEY", Install: "npm install -g @agentclientprotocol/claude-agent-acp", panes: &acp.Panes{
		Meta: json.RawMessage(`{"claudeCode":{"options":{"disallowedTools":["Bash"],"toolAliases":{"Bash":"mcp__tandemux__run_command"},"allowedTools":["Glob","Grep"]}}}`),
	}, rests: true},
	{Name: "claude-code", Title: "Claude Code (earlier adapter)", Command: []string{"claude-code-acp"}, Needs: "a login (claude /login) or ANTHROPIC_API_KEY", Install: "npm install -g @zed-industries/claude-code-acp", rests: true},
	{Name: "gemini", Title: "Gemini CLI", Command: []string{"gemini", "--experimental-acp"}, Needs: "a login (gemini) or GEMINI_API_KEY", Install: "npm install -g @google/gemini-cli", panes: &acp.Panes{Args: []string{"--admin-policy"}}, policy: `[[rule]]
toolName = ["run_shell_command", "list_background_processes", "read_background_output"]
decision = "deny"
priority = 900
`},
	{Name: "codex", Title: "Codex", Command: []string{"codex-acp"}, Needs: "a login (codex login) or OPENAI_API_KEY", Install: "npm install -g @zed-industries/codex-acp", panes: &acp.Panes{Args: []string{"-c", "features.shell_tool=false", "-c", "features.unified_exec=false"}}, rests: true},
	{Name: "opencode", Title: "opencode", Command: []string{"opencode", "acp"}, Needs: "a login (opencode auth login)", Install: "npm install -g opencode-ai", panes: &acp.Panes{Shell: "tandemux-shell"}, rests: true},
}

// Row is an agent as `tandemux agent ls --json` prints it. The form is stable.
type Row struct {
	Name       string   `json:"name"`
	Title      string   `json:"title"`
	Command    []string `json:"command"`
	Configured bool     `json:"configured"`
	Found      bool     `json:"found"` // its program exists
	Host       bool     `json:"host"`  // the running host has it
	Needs      string   `json:"needs,omitempty"`
	Install    string   `json:"install,omitempty"`

	Agent Agent `json:"-"` // its configuration

	panes  *acp.Panes // makes it leave commands to tandemux's tools; nil if that is not needed or not known
	rests  bool       // its process may end between turns, because it remembers the session
	policy string     // contents of a file whose directory is appended to panes.Args; "" for none
}

// Rows returns the configured and the known agents, those with a program first.
func (t Tables) Rows() []Row {
	var rows []Row
	for _, name := range slices.Sorted(maps.Keys(t)) {
		r, _ := Named(known, name)
		c := t[name]
		r.Name, r.Title, r.Configured, r.Agent = name, cmp.Or(c.Title, r.Title, name), true, c
		if c.Command != nil {
			r.Command = c.Command
		}
		rows = append(rows, r)
	}
	for _, r := range known {
		if _, ours := t[r.Name]; !ours {
			rows = append(rows, r)
		}
	}
	for i := range rows {
		if len(rows[i].Command) > 0 {
			_, err := exec.LookPath(rows[i].Command[0])
			rows[i].Found = err == nil
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return a.rank() - b.rank() })
	return rows
}

func (r Row) rank() int {
	switch {
	case r.Found && r.Configured:
		return 0
	case r.Found:
		return 1
	case r.Configured:
		return 2
	}
	return 3
}

// Named returns the row with a name.
func Named(rows []Row, name string) (Row, bool) {
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return Row{}, false
	}
	return rows[i], true
}

// State says in words whether the agent can be used.
func (r Row) State() string {
	switch {
	case r.Configured && r.Found:
		return "configured"
	case r.Configured:
		return "configured, no such program"
	case r.Found:
		return "found"
	case r.Host:
		return "added"
	}
	return "not installed"
}

// Missing returns what a person has to do before the agent can be used.
func (r Row) Missing() string {
	if !r.Found && !r.Host && r.Install != "" {
		return r.Install
	}
	return r.Needs
}
