package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/acp"
	"tandemux/host/task/login"
	"tandemux/internal/config/option"
)

// Agent is a table [agents.NAME] of the configuration: an agent that speaks the Agent Client Protocol.
type Agent struct {
	// Command is the program and its arguments; nil if the table only changes an agent that tandemux
	// knows.
	Command []string
	// Title is shown to people; may be empty.
	Title   string
	Env     map[string]string
	Cwd     string // absolute; empty means the session's
	Confirm string // "ask", "reads", "all", or empty for ask
	Login   *agent.Resource
	// Panes says how to make it leave commands to tandemux's tools; nil means as known for it, unless
	// OwnShell.
	Panes    *acp.Panes
	OwnShell bool
	// Idle is after how many seconds without a turn its process ends; nil means DefaultIdle, if the
	// agent is known to remember its session.
	Idle *int64
	// Logins are files, relative to the home directory, of which the operator's tasks with it get
	// copies.
	Logins []string
}

// DefaultIdle is the time within which people usually come back to a chat.
const DefaultIdle = 30 * time.Minute

// Tables are the configured agents by name. It is the value of an option.
type Tables map[string]Agent

// Options returns the options whose values are stored in t.
func (t *Tables) Options() []option.Option {
	return []option.Option{{
		Name: "agents", Value: t,
		Doc: `Your agents, beside those that tandemux finds by itself: docs/agents.md.`,
		Example: []string{
			"[agents.mine]", `command = ["my-agent", "--acp"]`, `title = "My agent"`,
			`confirm = "reads"   # its questions that get a yes: none ("ask"), what only reads ("reads"), "all"`,
			`cwd = "/srv/project"   # in place of the session's directory`, `env = { MODEL = "large" }`,
			"# How it is told to run commands by tandemux's tools. Also env, meta (JSON for session/new), and shell: true gives it a $SHELL that does so. false: it isn't.",
			`panes = { args = ["--no-shell"] }`,
			"# After how many idle seconds its process ends, if it can take its session up again: the next message starts it. 0: never.",
			"idle = 1800",
			"# Files of its login that your tasks get copies of: docs/sandbox.md.",
			`logins = ["~/.my-agent/token.json"]`,
			"# A token that clients are to give the agent. Also name, scopes, required = false.",
			`login = { resource = "https://api.example.com", variable = "EXAMPLE_TOKEN", servers = ["https://login.example.com"] }`,
		},
	}}
}

var tables = option.Named[Agent]{
	Option: "agents", Such: "[agents.mine]", What: "an agent",
	Members: []string{"command", "title", "env", "cwd", "confirm", "login", "panes", "idle", "logins"},
	Begin: func(name string) (a Agent, err error) {
		if !plainName(name) {
			err = errors.New("has a name of other characters than letters, digits, - and _, or of more than 40")
		}
		return a, err
	},
	Set: (*Agent).set,
}

// Set implements option.Tables.
func (t *Tables) Set(raw any) (path []string, err error) {
	return tables.Read((*map[string]Agent)(t), raw)
}

func (a *Agent) set(name string, raw any) error {
	text, isText := raw.(string)
	switch name {
	case "command":
		if isText {
			a.Command = strings.Fields(text)
		}
		if list, ok := option.Texts(raw); ok {
			a.Command = list
		} else if !isText {
			return errors.New(`must be a list of texts, such as ["my-agent", "--acp"]`)
		}
		if len(a.Command) == 0 || a.Command[0] == "" {
			return errors.New(`must be a program and its arguments, such as ["my-agent", "--acp"]`)
		}
		return nil
	case "login":
		return a.setLogin(raw)
	case "env":
		var ok bool
		if a.Env, ok = variables(raw); !ok {
			return errors.New(`must be a table of texts, such as { MODEL = "large" }`)
		}
		return nil
	case "panes":
		return a.setPanes(raw)
	case "logins":
		list, ok := option.Texts(raw)
		if !ok || len(list) > login.MaxNames {
			return fmt.Errorf(`must be a list of at most %d files, such as ["~/.claude/.credentials.json"]`, login.MaxNames)
		}
		a.Logins = nil
		for _, text := range list {
			name, err := login.Check(text)
			if err != nil {
				return err
			}
			a.Logins = append(a.Logins, name)
		}
		return nil
	case "idle":
		n, is := raw.(int64)
		if a.Idle = &n; !is || n < 0 || n > 30*86400 {
			return errors.New("must be a number of seconds, 0 to 2592000")
		}
		return nil
	}
	if !isText || strings.ContainsRune(text, 0) {
		return errors.New("must be a text in quotes")
	}
	switch {
	case name == "title":
		a.Title = text
	case name == "cwd" && strings.HasPrefix(text, "/"):
		a.Cwd = text
	case name == "cwd":
		return fmt.Errorf("%.64q is not an absolute path", text)
	case !slices.Contains(ahp.Confirms, text):
		return fmt.Errorf("must be one of %s", option.Quoted(ahp.Confirms))
	default:
		a.Confirm = text
	}
	return nil
}

// variables reads a table of environment variables.
func variables(raw any) (map[string]string, bool) {
	table, ok := raw.(map[string]any)
	out := make(map[string]string, len(table))
	for k, v := range table {
		text, is := v.(string)
		ok, out[k] = ok && is && k != "" && !strings.ContainsAny(k, "=\x00"), text
	}
	return out, ok
}

func (a *Agent) setPanes(raw any) error {
	if on, is := raw.(bool); is {
		a.OwnShell = !on
		return nil
	}
	table, ok := raw.(map[string]any)
	a.Panes = &acp.Panes{}
	for name, v := range table {
		is := false
		switch name {
		case "args":
			a.Panes.Args, is = option.Texts(v)
		case "env":
			var env map[string]string
			env, is = variables(v)
			a.Panes.Env = sorted(env)
		case "shell":
			var on bool
			if on, is = v.(bool); on {
				a.Panes.Shell = "tandemux-shell"
			}
		case "meta":
			text, _ := v.(string)
			a.Panes.Meta, is = json.RawMessage(text), json.Valid([]byte(text))
		}
		ok = ok && is
	}
	if !ok {
		return errors.New(`must be false, or like { args = ["--no-shell"], env = { SHELL_TOOL = "off" }, meta = '{"shell": false}', shell = true }`)
	}
	return nil
}

// sorted returns the variables sorted by name.
func sorted(env map[string]string) (out []agent.Var) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, agent.Var{Name: name, Value: env[name]})
	}
	return out
}

func (a *Agent) setLogin(raw any) error {
	r := &agent.Resource{Required: true}
	single := map[string]*string{"resource": &r.URI, "variable": &r.Variable, "name": &r.Name}
	lists := map[string]*[]string{"servers": &r.Servers, "scopes": &r.Scopes}
	table, ok := raw.(map[string]any)
	for name, v := range table {
		switch to, more := single[name], lists[name]; {
		case to != nil:
			*to, ok = v.(string)
		case more != nil:
			*more, ok = option.Texts(v)
		case name == "required":
			r.Required, ok = v.(bool)
		default:
			ok = false
		}
		if !ok {
			break
		}
	}
	u, err := url.Parse(r.URI)
	if !ok || err != nil || u.Scheme == "" || r.Variable == "" || strings.ContainsAny(r.Variable, "=\x00") {
		return errors.New(`must be like { resource = "https://api.example.com", variable = "EXAMPLE_TOKEN" }; it may have name, servers, scopes and required`)
	}
	a.Login = r
	return nil
}

func plainName(name string) bool {
	strange := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
	}
	return name != "" && len(name) <= 40 && !strings.ContainsFunc(name, strange)
}
