package catalog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tandemux/host/agent"
	"tandemux/host/agent/acp"
	"tandemux/internal/config"
)

func read(doc string) (Tables, []config.Problem) {
	var t Tables
	problems := config.Read([]byte(doc), t.Options())
	return t, problems
}

func TestAgents(t *testing.T) {
	got, problems := read(`
[agents.claude]
env = { ANTHROPIC_API_KEY = "x" }
[agents.mine]
command = ["my-agent", "--acp"]
title = "Mine"
cwd = "/srv"
confirm = "reads"
login = { resource = "https://api.example.com", variable = "KEY", scopes = ["a", "b"] }
panes = { args = ["--no-shell"], env = { A = "b" }, meta = '{"c":1}' }
[agents.short]
command = "short  agent"
cwd = "/"
confirm = "ask"
panes = false
idle = 0
`)
	want := Tables{
		"claude": {Env: map[string]string{"ANTHROPIC_API_KEY": "x"}},
		"mine": {Command: []string{"my-agent", "--acp"}, Title: "Mine", Cwd: "/srv", Confirm: "reads", Login: &agent.Resource{
			URI: "https://api.example.com", Variable: "KEY", Scopes: []string{"a", "b"}, Required: true,
		}, Panes: &acp.Panes{Args: []string{"--no-shell"}, Env: []agent.Var{{Name: "A", Value: "b"}}, Meta: json.RawMessage(`{"c":1}`)}},
		"short": {Command: []string{"short", "agent"}, Cwd: "/", Confirm: "ask", OwnShell: true, Idle: new(int64)},
	}
	if len(problems) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, problems)
	}
}

// Mistakes are named with their line, and none of the agents counts then.
func TestFaultyAgents(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{`agents = 3`, `line 1: agents must be tables`},
		{"[agents]\nmine = 3", `line 2: agents.mine must be a table`},
		{"[agents.mine]\ncomand = []", `line 2: agents.mine.comand is nothing that an agent has; did you mean "command"?`},
		{"[agents.mine]\n\ncommand = []", `line 3: agents.mine.command must be a program`},
		{"[agents.mine]\ncommand = [1]", `line 2: agents.mine.command must be a list of texts`},
		{"[agents.mine]\nconfirm = \"maybe\"", `line 2: agents.mine.confirm must be one of "ask", "reads", "all"`},
		{"[agents.mine]\ncwd = \"here\"", `line 2: agents.mine.cwd "here" is not an absolute path`},
		{"[agents.mine]\nenv = { A = 1 }", `line 2: agents.mine.env must be a table of texts`},
		{"[agents.mine]\nenv = 1", `line 2: agents.mine.env must be a table of texts`},
		{"[agents.mine]\nlogin = 1", `line 2: agents.mine.login must be like {`},
		{"[agents.mine]\nlogin = { resource = \"https://x\" }", `line 2: agents.mine.login must be like {`},
		{"[agents.mine]\nlogin = { resource = \"x\", variable = \"A\" }", `line 2: agents.mine.login must be like {`},
		{"[agents.mine]\nlogin = { resource = \"https://x\", variable = \"A\", scopes = \"a\" }", `line 2: agents.mine.login must be like {`},
		{"[agents.mine]\nlogin = { resource = \"https://x\", variable = \"A\", secret = \"a\" }", `line 2: agents.mine.login must be like {`},
		{"[agents.mine]\npanes = 1", `line 2: agents.mine.panes must be false, or like {`},
		{"[agents.mine]\npanes = { args = 1 }", `line 2: agents.mine.panes must be false, or like {`},
		{"[agents.mine]\npanes = { meta = \"{\" }", `line 2: agents.mine.panes must be false, or like {`},
		{"[agents.mine]\npanes = { arg = [] }", `line 2: agents.mine.panes must be false, or like {`},
		{"[agents.mine]\ntitle = 1", `line 2: agents.mine.title must be a text`},
		{"[agents.\"a/b\"]\ncommand = \"x\"", `agents.a/b has a name of other characters`},
	} {
		got, problems := read(c.doc)
		if len(problems) != 1 || !strings.Contains(problems[0].String(), c.want) || got != nil {
			t.Errorf("%q: %v, %v; want %q", c.doc, problems, got, c.want)
		}
	}
}

// TestPanes: those of which it is known are told to leave commands to tandemux's tools,
// by whatever path their program is given, unless the configuration says otherwise.
func TestPanes(t *testing.T) {
	m := Maker{State: t.TempDir(), Program: "/bin/tandemux"}
	for _, k := range known {
		if k.panes == nil {
			continue
		}
		p, err := m.panes(Row{Name: "x-1", Command: []string{"/opt/bin/" + k.Command[0]}})
		if err != nil || p == nil {
			t.Fatalf("%s: %v, %v", k.Name, p, err)
		}
		if len(p.Meta) > 0 && !json.Valid(p.Meta) {
			t.Errorf("%s: %s is no JSON", k.Name, p.Meta)
		}
		if k.policy != "" {
			text, err := os.ReadFile(filepath.Join(p.Args[len(p.Args)-1], "policy.toml"))
			if err != nil || string(text) != k.policy || p.Files[0] != p.Args[len(p.Args)-1] {
				t.Errorf("%s: %+v, %v, %s", k.Name, p, err, text)
			}
		}
		if p, err := m.panes(Row{Name: k.Name, Command: k.Command, Agent: Agent{OwnShell: true}}); p != nil || err != nil {
			t.Errorf("%s: %+v, %v, though it keeps its own shell", k.Name, p, err)
		}
		own := &acp.Panes{Args: []string{"--x"}}
		if p, _ := m.panes(Row{Name: k.Name, Command: k.Command, Agent: Agent{Panes: own}}); p != own {
			t.Errorf("%s: %+v, want what is configured", k.Name, p)
		}
	}
	if p, err := m.panes(Row{Name: "mine", Command: []string{"mine"}}); p != nil || err != nil {
		t.Errorf("an agent of which nothing is known is told %+v, %v", p, err)
	}
}

// TestMissing: what the host has needs no installing, also where this PATH lacks it.
func TestMissing(t *testing.T) {
	r := Row{Install: "npm install -g it", Needs: "a login"}
	if got := r.Missing(); got != r.Install {
		t.Errorf("what is not there needs %q", got)
	}
	r.Host = true
	if got := r.Missing(); got != r.Needs {
		t.Errorf("what the host has needs %q", got)
	}
}
