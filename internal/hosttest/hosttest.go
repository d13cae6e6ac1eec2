package hosttest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandemux/internal/leak"
)

// Main builds tandemux, and programs that lie beside it, for the tests of a package and runs
// them: a TestMain is os.Exit(hosttest.Main(m)).
func Main(tests *testing.M, beside ...string) int {
	dir, err := os.MkdirTemp("", "tandemux-bin")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "tandemux")
	for _, program := range append([]string{"tandemux"}, beside...) {
		if err := build(program, dir); err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n", program, err)
			return 1
		}
	}
	return leak.Apart(tests)
}

// build links a program of ours and copies it into a directory. What was linked stays in the
// user's cache: go has nothing to do for the next package whose tests want the same.
func build(program, dir string) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	cache = filepath.Join(cache, "tandemux-tests")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return err
	}
	built := filepath.Join(cache, program)
	lock, err := os.OpenFile(built+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", built, "tandemux/cmd/"+program).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	text, err := os.ReadFile(built)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, program), text, 0o755)
}

var binary string

type Machine struct {
	testing.TB
	Dir string // the home directory
	Env []string
}

// New makes one with that config.toml.
func New(t testing.TB, config string) *Machine {
	t.Helper()
	dir, err := os.MkdirTemp("", "m") // sockets want short paths
	if err != nil {
		t.Fatal(err)
	}
	m := &Machine{t, dir, []string{
		"HOME=" + dir, "XDG_RUNTIME_DIR=" + filepath.Join(dir, "r"), "PATH=" + os.Getenv("PATH"),
		"SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=xterm-256color",
	}}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Cleanup(func() { m.Command("stop").Run() }) //nolint:errcheck // there may be none
	m.Must(os.Mkdir(filepath.Join(dir, "r"), 0o700))
	m.Must(os.MkdirAll(filepath.Join(dir, ".config", "tandemux"), 0o700))
	m.Must(os.WriteFile(filepath.Join(dir, ".config", "tandemux", "config.toml"), []byte(config), 0o600))
	return m
}

// Must ends the test on an error.
func (m *Machine) Must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

// Command is tandemux, to be run on this machine.
func (m *Machine) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Env, cmd.Dir = m.Env, m.Dir
	return cmd
}

// Tandemux runs tandemux, as the person would, and gives its output.
func (m *Machine) Tandemux(args ...string) string {
	m.Helper()
	out, err := m.Command(args...).CombinedOutput()
	if err != nil {
		m.Fatalf("tandemux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Listen starts the host on a port of its own choice and gives host:port.
func (m *Machine) Listen(args ...string) string {
	m.Helper()
	out := m.Tandemux(append([]string{"host", "--listen", "127.0.0.1:0"}, args...)...)
	_, rest, ok := strings.Cut(out, "ws://")
	if !ok {
		m.Fatalf("the host says no address: %s", out)
	}
	return strings.TrimRight(strings.Fields(rest)[0], "/,.;")
}

// Token makes a token; args are those of `tandemux token new`.
func (m *Machine) Token(args ...string) string {
	m.Helper()
	for _, word := range strings.Fields(m.Tandemux(append([]string{"token", "new"}, args...)...)) {
		if strings.HasPrefix(word, "tandemux_") {
			return word
		}
	}
	m.Fatal("no token in the answer")
	return ""
}

func (m *Machine) Eventually(what string, ok func() bool) {
	m.Helper()
	for began := time.Now(); !ok(); time.Sleep(Pause(time.Since(began))) {
		if time.Since(began) > 20*time.Second {
			m.Fatalf("not reached: %s", what)
		}
	}
}

// Pause is how long to wait before looking again, after having waited so long: who looks is
// most often a process, and what takes its time is to have the processor meanwhile.
func Pause(waited time.Duration) time.Duration {
	return min(max(waited/8, 20*time.Millisecond), 250*time.Millisecond)
}

// Processes are those that have an assignment, as HOME=/x, in their environment, this one
// apart; none where there is no /proc.
func Processes(assignment string) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // with /environ behind, it would list each process's directory
	for _, dir := range dirs {
		environ, _ := os.ReadFile(dir + "/environ")
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if pid != os.Getpid() && strings.Contains("\x00"+string(environ), "\x00"+assignment+"\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}
