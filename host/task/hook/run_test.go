package hook

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandemux/host/agent"
	"tandemux/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }

// TestRun: what programs say and how they end.
func TestRun(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for name, tt := range map[string]struct {
		script  string
		timeout time.Duration
		lines   string // types and texts
		stderr  string
		fails   string
	}{
		"says":        {script: `cat; echo plain; echo '{"type":"message","text":"hi"}'; printf '{"type":"progress","percent":5}'`, lines: "log:in message:hi progress: log:plain"},
		"says enough": {script: `printf '{"type":"message","text":"%s"}' ` + long, lines: "message:" + long},
		"reads not":   {script: `exit 0`},
		"no JSON":     {script: `echo '{"type":'; echo '{"a":1}'`, lines: `log:{"type": log:{"a":1}`},
		"fails":       {script: `echo why >&2; exit 7`, stderr: "why", fails: "it failed (exit code 7): why"},
		"says so":     {script: `echo '{"type":"error","text":"no"}'`, lines: "error:no", fails: "no"},
		"is killed":   {script: `kill -9 $$`, fails: "it failed (signal killed)"},
		"hangs":       {script: `trap '' TERM; sleep 1000 & sleep 1000`, timeout: 200 * time.Millisecond, fails: "it took longer than 200ms"},
		"leaves":      {script: `sleep 1000 & echo gone`, lines: "log:gone"},
		"floods":      {script: `head -c 2000000 /dev/zero | tr '\0' x`, fails: "said more than"},
	} {
		t.Run(name, func(t *testing.T) {
			var lines, stderr []string
			if tt.timeout == 0 {
				tt.timeout = time.Minute
			}
			err := Run(context.Background(), Call{
				Name: "it", Launch: agent.Launch{Argv: []string{"/bin/sh", "-c", tt.script}, Env: os.Environ(), Dir: t.TempDir()},
				Input: []byte("in\n"), Timeout: tt.timeout,
				Line:   func(l Line) { lines = append(lines, l.Type+":"+l.Text) },
				Stderr: func(s string) { stderr = append(stderr, s) },
			})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if tt.fails == "" && err != nil || !strings.Contains(got, tt.fails) {
				t.Errorf("it ended with %q, want %q", got, tt.fails)
			}
			for _, want := range strings.Split(tt.lines, " ") {
				if tt.fails == "" && !strings.Contains(strings.Join(lines, " "), want) {
					t.Errorf("it said %.200q, want %.200q", lines, want)
				}
			}
			if strings.Join(stderr, "|") != tt.stderr {
				t.Errorf("stderr %q, want %q", stderr, tt.stderr)
			}
		})
	}
}

// TestLastWords: what a program said before it ended is heard, however long that takes; who
// holds its pipe open longer is not waited for.
func TestLastWords(t *testing.T) {
	dir := t.TempDir()
	var lines []string
	err := Run(t.Context(), Call{
		Name: "it", Launch: agent.Launch{Argv: []string{"sh", "-c", `echo $$; until test -e go; do sleep 0.01; done; echo two; echo three`}, Env: os.Environ(), Dir: dir},
		Timeout: time.Minute, Stderr: func(string) {},
		Line: func(l Line) {
			if lines = append(lines, l.Text); len(lines) > 1 {
				return
			}
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
				t.Error(err)
			}
			pid, err := strconv.Atoi(l.Text)
			for err == nil && syscall.Kill(pid, 0) == nil {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(2 * agent.LastWords) // the lateness is the point
		},
	})
	if err != nil || len(lines) != 3 || lines[1] != "two" || lines[2] != "three" {
		t.Errorf("heard %q, %v", lines, err)
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	lines = nil
	err = Run(t.Context(), Call{
		Name: "it", Launch: agent.Launch{Argv: []string{"sh", "-c", `setsid sh -c 'echo up; echo $$ >pid; while test -e pid; do sleep 0.01; done' & until test -s pid; do sleep 0.01; done`}, Env: os.Environ(), Dir: dir},
		Timeout: time.Minute, Stderr: func(string) {}, Line: func(l Line) { lines = append(lines, l.Text) },
	})
	if err != nil || len(lines) != 1 {
		t.Errorf("heard %q, %v", lines, err)
	}
}

// TestCancelled: a call whose context ends takes its whole group along.
func TestCancelled(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Call{
			Name: "it", Launch: agent.Launch{Argv: []string{"sh", "-c", `sleep 1000 & echo $! >child; echo up; wait`}, Env: os.Environ(), Dir: dir},
			Timeout: time.Minute, Line: func(Line) { cancel() }, Stderr: func(string) {},
		})
	}()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it ended well")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it did not end")
	}
	text, err := os.ReadFile(filepath.Join(dir, "child"))
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	gone := func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ")
	}
	for end := time.Now().Add(10 * time.Second); !gone(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("what it began lives on")
		}
	}
	if err := Run(context.Background(), Call{Name: "it", Launch: agent.Launch{Argv: []string{"/no/such/program"}}, Timeout: time.Second}); err == nil {
		t.Error("what is not there was started")
	}
}
