package world

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Main builds tandemux for the tests of a package and runs them: a TestMain is
// os.Exit(world.Main(m)).
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tandemux-bin")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "tandemux")
	if out, err := exec.Command("go", "build", "-o", binary, "tandemux/cmd/tandemux").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build tandemux: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

var binary string

// World is one user's machine.
type World struct {
	testing.TB
	Dir string // the home directory
	Env []string
}

// New makes one with that config.toml.
func New(t testing.TB, config string) *World {
	t.Helper()
	dir, err := os.MkdirTemp("", "w") // sockets want short paths
	if err != nil {
		t.Fatal(err)
	}
	w := &World{t, dir, []string{
		"HOME=" + dir, "XDG_RUNTIME_DIR=" + filepath.Join(dir, "r"), "PATH=" + os.Getenv("PATH"),
		"SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=xterm-256color",
	}}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Cleanup(func() { w.Command("stop").Run() }) //nolint:errcheck // there may be none
	w.Must(os.Mkdir(filepath.Join(dir, "r"), 0o700))
	w.Must(os.MkdirAll(filepath.Join(dir, ".config", "tandemux"), 0o700))
	w.Must(os.WriteFile(filepath.Join(dir, ".config", "tandemux", "config.toml"), []byte(config), 0o600))
	return w
}

// Must ends the test on an error.
func (w *World) Must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// Command is tandemux, to be run in this world.
func (w *World) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Env, cmd.Dir = w.Env, w.Dir
	return cmd
}

// Tandemux runs tandemux, as the person would, and gives its output.
func (w *World) Tandemux(args ...string) string {
	w.Helper()
	out, err := w.Command(args...).CombinedOutput()
	if err != nil {
		w.Fatalf("tandemux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Listen starts the host on a port of its own choice and gives host:port.
func (w *World) Listen(args ...string) string {
	w.Helper()
	out := w.Tandemux(append([]string{"host", "--listen", "127.0.0.1:0"}, args...)...)
	_, rest, ok := strings.Cut(out, "ws://")
	if !ok {
		w.Fatalf("the host says no address: %s", out)
	}
	return strings.TrimRight(strings.Fields(rest)[0], "/,.;")
}

// Token makes a token; args are those of `tandemux token new`.
func (w *World) Token(args ...string) string {
	w.Helper()
	for _, word := range strings.Fields(w.Tandemux(append([]string{"token", "new"}, args...)...)) {
		if strings.HasPrefix(word, "tandemux_") {
			return word
		}
	}
	w.Fatal("no token in the answer")
	return ""
}

// Eventually waits for a state.
func (w *World) Eventually(what string, ok func() bool) {
	w.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("not reached: %s", what)
		}
	}
}
