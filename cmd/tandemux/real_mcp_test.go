package main

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mcpAgents are agents that bring an interface of their own and are told of tandemux
// as of any MCP server. TANDEMUX stands for the program, MODEL for the model's
// address, RUN for XDG_RUNTIME_DIR.
var mcpAgents = []struct {
	name, program string // below the folder's node_modules
	args          []string
	env           []string
	files         map[string]string // in the home
}{
	{
		name: "claude-code", program: "@anthropic-ai/claude-agent-sdk-linux-x64/claude",
		args:  []string{"-p", asksForBuild, "--mcp-config", "HOME/mcp.json", "--allowedTools", "mcp__tandemux__run_command", "--max-turns", "5"},
		env:   []string{"ANTHROPIC_API_KEY=fake", "ANTHROPIC_BASE_URL=MODEL", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"},
		files: map[string]string{"mcp.json": `{"mcpServers":{"tandemux":{"command":"TANDEMUX","args":["mcp"],"env":{"XDG_RUNTIME_DIR":"RUN"}}}}`},
	},
	{
		name: "gemini", program: ".bin/gemini", args: []string{"--yolo", "-p", asksForBuild},
		env:   []string{"GEMINI_API_KEY=fake", "GOOGLE_GEMINI_BASE_URL=MODEL", "GEMINI_CLI_TRUST_WORKSPACE=true"},
		files: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"mcpServers":{"tandemux":{"command":"TANDEMUX","args":["mcp"],"env":{"XDG_RUNTIME_DIR":"RUN"},"trust":true}}}`},
	},
	{
		name: "opencode", program: ".bin/opencode", args: []string{"run", asksForBuild},
		files: map[string]string{"config/opencode/opencode.json": `{"model":"anthropic/claude-sonnet-4-5","autoupdate":false,"share":"disabled",
"provider":{"anthropic":{"options":{"baseURL":"MODEL/v1","apiKey":"fake"}}},
"mcp":{"tandemux":{"type":"local","command":["TANDEMUX","mcp"],"environment":{"XDG_RUNTIME_DIR":"RUN"},"enabled":true}}}`},
	},
}

const asksForBuild = "Build the program and run it."

// buildLine is what the model has them run: a build, and what it built.
const buildLine = "go build -v -o built . && ./built"

const builtSays = "built by an agent through a terminal"

// TestRealAgentsBuild has agents from npm that run on their own build a program by
// the tool run_command of `tandemux mcp`. It needs what scripts/real-agents.sh installs.
func TestRealAgentsBuild(t *testing.T) {
	folder, bin := realBin(t)
	for _, a := range mcpAgents {
		t.Run(a.name, func(t *testing.T) {
			program := filepath.Join(folder, "node_modules", a.program)
			b := newRealBuild(t, bin, program, a.env, a.files)
			args := make([]string, len(a.args))
			for i, arg := range a.args {
				args[i] = strings.ReplaceAll(arg, "HOME", b.home)
			}
			b.check(b.run(program, args...))
		})
	}
}

// TestRealAgentsBuildInTandemux is the same for those that tandemux runs: they are given
// that server in session/new.
func TestRealAgentsBuildInTandemux(t *testing.T) {
	folder, bin := realBin(t)
	for _, a := range realAgents {
		t.Run(a.name, func(t *testing.T) {
			program := filepath.Join(folder, "node_modules", ".bin", a.program)
			b := newRealBuild(t, bin, program, a.env, a.files)
			command := strings.Join(append([]string{program}, a.args...), " ")
			b.check(b.run(bin, "prompt", "--agent-command", command, "--approve", "all", "--timeout", "170s", asksForBuild))
		})
	}
}

// realBuild is a program to build, in a world with a model and a host of its own.
type realBuild struct {
	*realRun
	m    *Model
	home string
}

func newRealBuild(t *testing.T, bin, program string, env []string, files map[string]string) *realBuild {
	t.Helper()
	if _, err := os.Stat(program); err != nil {
		t.Skipf("not installed: %v", err)
	}
	b := &realBuild{m: &Model{Tool: "run_command"}}
	server := httptest.NewServer(b.m)
	t.Cleanup(server.Close)
	b.realRun = newRealRun(t, bin, program, server.URL, env, files)
	b.m.Args = map[string]any{"line": buildLine, "cwd": b.dir}
	for _, name := range []string{"GOCACHE", "GOROOT"} { // Not the standard library again.
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		b.env = append(b.env, name+"="+strings.TrimSpace(string(out)))
	}
	for _, kv := range b.env {
		if home, ok := strings.CutPrefix(kv, "HOME="); ok {
			b.home = home
		}
	}
	for name, text := range map[string]string{
		"go.mod":  "module built\n",
		"main.go": "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"" + builtSays + "\") }\n",
	} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		b.tandemux("stop")
		if t.Failed() {
			t.Logf("the model was asked:\n%s", strings.Join(b.m.Asked(), "\n"))
		}
	})
	return b
}

func (b *realBuild) run(program string, args ...string) string {
	b.t.Helper()
	began := time.Now()
	out, errs, err := b.command(program, args...)
	b.t.Logf("%v, %d requests to the model, %v; stderr: %s", time.Since(began).Round(time.Millisecond), len(b.m.Asked()), err, errs)
	return out
}

// check: the program is there, the agent read what it printed and the exit code,
// and it ran in a terminal of the host's, for the tool call of a session.
func (b *realBuild) check(said string) {
	b.t.Helper()
	if info, err := os.Stat(filepath.Join(b.dir, "built")); err != nil || info.Mode()&0o100 == 0 {
		b.t.Errorf("nothing was built: %v", err)
	}
	if !strings.Contains(said, Answer) || !strings.Contains(said, builtSays) || !strings.Contains(said, "exitCode") {
		b.t.Errorf("the agent said %q", said)
	}
	log, err := os.ReadFile(filepath.Join(b.home, "state/tandemux/audit.log"))
	if err != nil { // Not every agent hands XDG_STATE_HOME on to its servers.
		log, err = os.ReadFile(filepath.Join(b.home, ".local/state/tandemux/audit.log"))
	}
	if err != nil || !strings.Contains(string(log), "run_command-1") {
		b.t.Errorf("the host knows of no such call: %v\n%s", err, log)
	}
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "run_command-1") {
			b.t.Logf("audit: %s", strings.TrimSpace(line))
		}
	}
}
