//go:build linux

package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"tandemux/host/agent"
	"tandemux/host/sandbox"
)

func TestMain(m *testing.M) {
	if code, ours := sandbox.Main(os.Args); ours {
		os.Exit(code)
	}
	if len(os.Args) > 2 && os.Args[1] == "probe" {
		os.Exit(probe(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// noSleep has programs that look for races end at once.
const noSleep = "GORACE=atexit_sleep_ms=0"

// box is a sandbox on directories of a test's own.
type box struct {
	t    *testing.T
	dir  string // workspace and what else a test makes
	spec sandbox.Spec
	*sandbox.Sandbox
}

// within makes a sandbox; change may alter what is in it. It skips the test where
// there can be none.
func within(t *testing.T, change ...func(*box)) *box {
	t.Helper()
	if err := sandbox.Check(t.Context(), "").Err; err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := &box{t: t, dir: t.TempDir()}
	b.spec = sandbox.Spec{Name: "test-" + filepath.Base(b.dir), Workspace: b.mkdir("workspace"), Write: true, Program: self}
	for _, c := range change {
		c(b)
	}
	if b.Sandbox, err = sandbox.New(b.spec); err != nil {
		t.Fatal(err)
	}
	return b
}

func addr[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

func (b *box) mkdir(name string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(path, 0o755); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *box) write(name, text string) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	b.mkdir(filepath.Dir(name))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// command is one that runs inside.
func (b *box) command(l agent.Launch, argv ...string) *exec.Cmd {
	b.t.Helper()
	l.Argv, l.Env = argv, append(slices.Clip(l.Env), noSleep)
	if l.Dir == "" {
		l.Dir = b.spec.Workspace
	}
	w, err := b.Wrap(b.t.Context(), l)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	b.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, w.Argv[0], w.Argv[1:]...)
	cmd.Env, cmd.Dir = w.Env, w.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// sh runs a shell's line inside, and gives what it printed and its exit code.
func (b *box) sh(line string, l ...agent.Launch) (out string, code int) {
	b.t.Helper()
	launch := agent.Launch{}
	if len(l) > 0 {
		launch = l[0]
	}
	cmd := b.command(launch, "/bin/sh", "-c", line)
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatal(err)
	}
	return both.String(), cmd.ProcessState.ExitCode()
}

// want runs a line that must print a text.
func (b *box) want(line, text string, l ...agent.Launch) {
	b.t.Helper()
	if out, code := b.sh(line, l...); strings.TrimSpace(out) != text || code != 0 {
		b.t.Errorf("%s: exit code %d and %q, want %q", line, code, out, text)
	}
}

// fails runs a line that must not succeed.
func (b *box) fails(what, line string, l ...agent.Launch) {
	b.t.Helper()
	if out, code := b.sh(line, l...); code == 0 {
		b.t.Errorf("%s: %s succeeded, and printed %q", what, line, out)
	}
}
