package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/internal/prompt"
)

// realEnv names the folder of real agents: scripts/real-agents.sh makes it.
const realEnv = "TANDEMUX_REAL_AGENTS"

// realAgents are run against a model without a mind on this machine. MODEL stands
// for its address.
var realAgents = []realAgent{
	{
		name: "claude-code-acp", shell: "mcp__acp__Bash", left: true, program: "claude-code-acp", forks: true,
		env: []string{"ANTHROPIC_API_KEY=fake", "ANTHROPIC_BASE_URL=MODEL", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"},
	},
	{
		name: "claude-agent-acp", shell: "Bash", program: "claude-agent-acp", forks: true, steers: true,
		env: []string{"ANTHROPIC_API_KEY=fake", "ANTHROPIC_BASE_URL=MODEL", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"},
	},
	{
		name: "gemini", shell: "run_shell_command", denied: "not found in registry", program: "gemini", forgets: true, args: []string{"--experimental-acp"},
		env:   []string{"GEMINI_API_KEY=fake", "GOOGLE_GEMINI_BASE_URL=MODEL", "GEMINI_CLI_TRUST_WORKSPACE=true"},
		files: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"model":{"name":"gemini-2.5-pro"}}`},
	},
	{
		name: "codex-acp", shell: "shell_command", denied: "unsupported call: shell_command", program: "codex-acp",
		env: []string{"OPENAI_API_KEY=fake"},
		files: map[string]string{".codex/config.toml": `model = "mock"
model_provider = "mock"
sandbox_mode = "danger-full-access"
approval_policy = "untrusted"
[model_providers.mock]
name = "mock"
base_url = "MODEL/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
`},
	},
	{
		name: "opencode", shell: "bash", program: "opencode", args: []string{"acp"}, forks: true,
		files: map[string]string{"config/opencode/opencode.json": `{"model":"anthropic/claude-sonnet-4-5","autoupdate":false,"share":"disabled","permission":{"bash":"ask"},
"provider":{"anthropic":{"options":{"baseURL":"MODEL/v1","apiKey":"fake"}}}}`},
	},
}

type realAgent struct {
	name, program string
	args          []string
	env           []string
	files         map[string]string // in the home
	shell         string            // its own tool for commands
	denied        string            // what the model is answered that calls that all the same; "": it runs in a terminal
	left          bool              // a command that a person takes is not waited for
	forks         bool              // it can copy a session
	steers        bool              // it takes a message while it works
	forgets       bool              // it does not remember a session in another process
	provider      string            // as which it is configured, where it is
}

// TestRealAgents has real agents, from npm, run a command and report what it said: in a
// terminal of the host's, from which its exit code arrives; where a person takes that in
// mid-run; and where the model insists on the agent's own shell. It needs what
// scripts/real-agents.sh installs, and is skipped without.
func TestRealAgents(t *testing.T) {
	folder, bin := realBin(t)
	for _, a := range realAgents {
		program := filepath.Join(folder, "node_modules", ".bin", a.program)
		if _, err := os.Stat(program); err != nil {
			t.Logf("%s is not installed: %v", a.name, err)
			continue
		}
		do := func(name string, m *Model, person func(r *realRun), check func(r *realRun, events string)) {
			t.Run(a.name+"/"+name, func(t *testing.T) {
				server := httptest.NewServer(m)
				defer server.Close()
				r := newRealRun(t, bin, program, server.URL, a.env, a.files)
				defer func() {
					r.tandemux("stop")
					if t.Failed() {
						t.Logf("the model was asked:\n%s", strings.Join(m.Asked(), "\n"))
					}
				}()
				command := strings.Join(append([]string{program}, a.args...), " ")
				began, done := time.Now(), make(chan struct{})
				go func() {
					defer close(done)
					if person != nil {
						person(r)
					}
				}()
				out, errs, err := r.tandemux("prompt", "--agent-command", command, "--approve", "all", "--timeout", "120s", "--json", "Run it and tell me what it says.")
				<-done
				t.Logf("%v, %d requests to the model, %v; stderr: %s", time.Since(began).Round(time.Millisecond), len(m.Asked()), err, errs)
				if err != nil {
					t.Fatalf("the turn failed:\n%s", out)
				}
				check(r, out)
			})
		}
		do("run", &Model{Command: "echo real-$USERNAME-agent; exit 3"}, nil, func(r *realRun, events string) {
			r.check(events, true, "real-mock-agent", 3)
		})
		do("taken", &Model{Command: "echo real-$USERNAME-agent; read x; echo $x >typed; exit 3"}, (*realRun).take, func(r *realRun, events string) {
			// ACP's terminals are left at once: nobody waits for the exit code.
			said, code := "has taken this", 3
			if a.left {
				said, code = agent.Detached, -1
			}
			r.check(events, true, said, code)
			r.typed()
		})
		do("insisted", &Model{Command: "echo real-$USERNAME-agent; exit 3", Insist: a.shell}, nil, func(r *realRun, events string) {
			if a.denied == "" {
				r.check(events, true, "real-mock-agent", 3)
			} else {
				r.check(events, false, a.denied, -1)
			}
		})
	}
}

// take is what a person does who takes the terminal of the command that runs and answers it.
func (r *realRun) take() {
	for range 600 {
		out, _, _ := r.tandemux("ls", "--json")
		var list []struct {
			ID    string
			Claim ahp.Claim
		}
		if json.Unmarshal([]byte(out), &list) == nil && len(list) == 1 && list[0].Claim.ToolCallID != "" {
			for _, args := range [][]string{{"claim", list[0].ID}, {"send", "--enter", list[0].ID, "by hand"}} {
				if out, errs, err := r.tandemux(args...); err != nil {
					r.t.Errorf("%v: %v %s%s", args, err, out, errs)
				}
			}
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	r.t.Error("no terminal of a tool call came")
}

// typed checks that the command went on in the person's hands.
func (r *realRun) typed() {
	var text []byte
	for range 100 {
		if text, _ = os.ReadFile(filepath.Join(r.dir, "typed")); len(text) > 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if string(text) != "by hand\n" {
		r.t.Errorf("the command read %q of the person", text)
	}
}

// realBin is the folder of the agents, and tandemux built.
func realBin(t *testing.T) (folder, bin string) {
	t.Helper()
	folder = os.Getenv(realEnv)
	if folder == "" {
		t.Skipf("%s is not set: run scripts/real-agents.sh", realEnv)
	}
	bin = filepath.Join(t.TempDir(), "tandemux")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return folder, bin
}

// realRun is a home of its own with a host in it.
type realRun struct {
	t   *testing.T
	bin string
	dir string
	env []string
}

func newRealRun(t *testing.T, bin, program, address string, env []string, files map[string]string) *realRun {
	t.Helper()
	run, err := os.MkdirTemp("", "tandemux")
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("", "tandemux-home")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // What agents leave behind in the background may still write.
		for range 100 {
			if os.RemoveAll(home) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Errorf("something still writes to %s", home)
	})
	t.Cleanup(func() { endHost(home, run) })
	r := &realRun{t: t, bin: bin, dir: t.TempDir()}
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.NewReplacer("MODEL", address, "TANDEMUX", bin, "RUN", run).Replace(text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for k, v := range homeEnv(home, run) {
		r.env = append(r.env, k+"="+v)
	}
	r.env = append(r.env, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "USERNAME=mock", "SHELL=/bin/bash")
	for _, kv := range env {
		r.env = append(r.env, strings.ReplaceAll(kv, "MODEL", address))
	}
	return r
}

// of is a variable of its environment.
func (r *realRun) of(name string) string {
	for _, kv := range r.env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	r.t.Fatal("no " + name)
	return ""
}

func (r *realRun) tandemux(args ...string) (stdout, stderr string, err error) {
	return r.command(r.bin, args...)
}

func (r *realRun) command(program string, args ...string) (stdout, stderr string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.dir, r.env, &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// check reads what was told of the turn: the agent repeated what the tool said, and the
// command was a terminal of the host's, or was none, and its exit code, if not -1, is its call's.
func (r *realRun) check(events string, terminal bool, said string, code int) {
	r.t.Helper()
	var state ahp.ChatState
	kinds := map[string]int{}
	for line := range strings.Lines(events) {
		var e ahp.Envelope
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			r.t.Fatalf("%q: %v", line, err)
		}
		kinds[e.Action.ActionType()]++
		state = ahp.ReduceChat(state, e.Action)
	}
	r.t.Logf("actions: %v", kinds)
	if len(state.Turns) != 1 || state.Turns[0].State != ahp.TurnComplete {
		r.t.Fatalf("the turns are %+v", state.Turns)
	}
	text, calls := "", []string{}
	shown, exit := false, -1
	for _, p := range state.Turns[0].ResponseParts {
		text += p.Content
		if c := p.ToolCall; c != nil {
			calls = append(calls, fmt.Sprintf("%s %q %s, %d pieces", c.ToolName, prompt.CallTitle(c), c.Status, len(c.Content)))
			for _, content := range c.Content {
				if shown = shown || content.Type == ahp.ContentTerminal; content.Result != nil && content.Result.ExitCode != nil {
					exit = *content.Result.ExitCode
				}
			}
		}
	}
	r.t.Logf("tool calls: %v", calls)
	if !strings.Contains(text, Answer) || !strings.Contains(text, said) || code >= 0 && exit != code {
		r.t.Errorf("the agent said %q, the exit code is %d; want %q, %d", text, exit, said, code)
	}
	if len(calls) == 0 && terminal {
		r.t.Error("no tool call was told")
	}
	out, _, err := r.tandemux("ls", "--json")
	if err != nil || strings.Contains(out, `"id":`) != terminal || shown != terminal {
		r.t.Errorf("terminals of the agent: %v, %v, want %v\n%s", err, shown, terminal, out)
	}
}
