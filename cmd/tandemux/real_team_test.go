package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tandemux/internal/tmux/pane"
)

var recordTeams = flag.Bool("record", false, "write what the teams of real agents send into testdata/teams")

// teamVersion is of the Claude Code whose commands were recorded.
const teamVersion = "2.1.332"

// varies is what differs from one run of Claude Code to the next.
var varies = []struct {
	is *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`session-[0-9a-f]{8}`), "session-ID"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`--lead-verify-key \S+`), "--lead-verify-key KEY"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
}

// TestRealAgentsTeam has Claude Code, from npm, make a team of two and end: the teammates
// land in panes beside it, which it holds, and go with it. What it sends for that is what
// testdata/teams has; -record writes that anew.
func TestRealAgentsTeam(t *testing.T) {
	folder, bin := realBin(t)
	arch := strings.NewReplacer("amd64", "x64").Replace(runtime.GOARCH)
	program := filepath.Join(folder, "node_modules/@anthropic-ai/claude-code-"+runtime.GOOS+"-"+arch, "claude")
	if _, err := os.Stat(program); err != nil {
		t.Skipf("not installed: %v", err)
	}
	var now atomic.Pointer[Model]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now.Load().ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	r := newRealRun(t, bin, program, server.URL,
		[]string{"ANTHROPIC_API_KEY=fake", "ANTHROPIC_BASE_URL=MODEL", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1", "PS1=$ ", "SHELL=/bin/sh"},
		map[string]string{
			"config/tandemux/config.toml": "tmux-for-agents = \"on\"\n",
			".claude/settings.json":       `{"teammateMode": "tmux"}`,
		})
	state, err := json.Marshal(object{
		"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": object{"approved": []string{"fake"}},
		"projects": object{r.dir: object{"hasTrustDialogAccepted": true}},
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(r.of("HOME"), ".claude.json"), state, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	tt, err := startTty(r.dir, r.env, 160, 50, []string{bin})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tt.close)
	see := func(what string) {
		t.Helper()
		is := regexp.MustCompile(what)
		if screen, ok := tt.waitUntil(func(screen, _ string) bool { return is.MatchString(screen) }); !ok {
			t.Fatalf("no %q:\n%s\nthe model was asked:\n%s", what, screen, strings.Join(now.Load().Asked(), "\n"))
		}
	}
	enter := func(text string) {
		t.Helper()
		fmt.Fprint(tt.ptmx, text)
		see(regexp.QuoteMeta(text)) // what comes at once with the enter is a paste
		fmt.Fprint(tt.ptmx, "\r")
	}
	see(`^\$`)
	link, log := filepath.Join(r.of("XDG_RUNTIME_DIR"), "tandemux", pane.Dir, "tmux"), filepath.Join(t.TempDir(), "log")
	self, err := os.Executable()
	if err == nil {
		err = os.Remove(link)
	}
	if err == nil {
		err = os.Symlink(self, link)
	}
	if err != nil {
		t.Fatal(err)
	}
	now.Store(&Model{})
	fmt.Fprintf(tt.ptmx, "%s=%s %s=%s claude --permission-mode acceptEdits\r", recordEnv, log, recordedEnv, bin)
	see(`accept edits on`)
	for _, name := range []string{"researcher", "writer"} {
		ask := "Make a " + name + "."
		now.Store(&Model{Tool: "Agent", Only: ask, Args: object{"description": "look around", "prompt": "Look around, " + name + ".", "name": name}})
		enter(ask)
		see(`@` + name + ` ─`) // its own line to type into
		see(`Teammate @` + name + ` finished`)
	}
	out, _, err := r.tandemux("ls", "--json")
	if n := strings.Count(out, `"kind": "session"`); err != nil || n != 2 {
		t.Errorf("%d panes are held by the team: %v\n%s", n, err, out)
	}
	enter("/exit")
	see(`❯ 1\. Exit and stop tasks`)
	fmt.Fprint(tt.ptmx, "\r")
	see(`(?s)^\$.*\n\$`)

	socket := filepath.Join(r.of("XDG_RUNTIME_DIR"), "tandemux/host.sock")
	got := fmt.Sprintf("# What Claude Code %s sends for a team of two.\n", teamVersion) +
		readTalk(t, log, newTalk("", socket, "SOCKET", r.dir, "DIR", program, "PROGRAM"))
	for _, v := range varies {
		got = v.is.ReplaceAllString(got, v.to)
	}
	t.Log(got)
	golden := "testdata/teams/claude-code-" + teamVersion + ".txt"
	if *recordTeams {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("that is not what %s has", golden)
	}
}

// readTalk is what was recorded as text. What is asked of the terminal alone, of which none
// waits for the others, comes first, in order.
func readTalk(t *testing.T, file string, as *talk) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []said
	for line := range strings.Lines(string(text)) {
		var s said
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	first := func(s said) string {
		if s.Args[0] == "-S" {
			return "~"
		}
		return strings.Join(s.Args, " ")
	}
	slices.SortStableFunc(all, func(a, b said) int { return strings.Compare(first(a), first(b)) })
	var b strings.Builder
	for _, s := range all {
		b.WriteString(as.text(s))
	}
	return b.String()
}
