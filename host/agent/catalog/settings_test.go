package catalog

import (
	"reflect"
	"strings"
	"testing"

	"tandemux/host/agent"
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
[agents.short]
command = "short  agent"
`)
	want := Tables{
		"claude": {Env: map[string]string{"ANTHROPIC_API_KEY": "x"}},
		"mine": {Command: []string{"my-agent", "--acp"}, Title: "Mine", Cwd: "/srv", Confirm: "reads", Login: &agent.Resource{
			URI: "https://api.example.com", Variable: "KEY", Scopes: []string{"a", "b"}, Required: true,
		}},
		"short": {Command: []string{"short", "agent"}},
	}
	if len(problems) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, problems)
	}
	one := Tables{"mine": got["mine"]}
	if again, problems := read(one.TOML()); len(problems) > 0 || !reflect.DeepEqual(again["mine"].Login, want["mine"].Login) {
		t.Errorf("%+v, %v, from %s", again["mine"].Login, problems, one.TOML())
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
		{"[agents.mine]\ntitle = 1", `line 2: agents.mine.title must be a text`},
		{"[agents.\"a/b\"]\ncommand = \"x\"", `agents.a/b has a name of other characters`},
	} {
		got, problems := read(c.doc)
		if len(problems) != 1 || !strings.Contains(problems[0].String(), c.want) || got != nil {
			t.Errorf("%q: %v, %v; want %q", c.doc, problems, got, c.want)
		}
	}
}
