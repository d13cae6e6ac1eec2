package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tandemux/host/listen"
	"tandemux/host/sandbox"
	"tandemux/internal/daemon"
	"tandemux/internal/hosttest"
	"tandemux/internal/leak"
	"tandemux/internal/local"
	"tandemux/internal/pgtest"
	"tandemux/internal/soak"
	"tandemux/internal/tmux"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(recordEnv); file != "" && tmux.Is(os.Args) {
		recordTmux(file)
	}
	if tmux.Is(os.Args) {
		main()
	}
	testscript.Main(apart{m}, map[string]func(){"tandemux": jumping(main), "scripted-agent": scriptedAgent, "numbers": numbersMain, "echoes": echoesMain, "paints": paintsMain, "replay": replayMain})
}

// apart runs the tests with temporary files of their own.
type apart struct{ *testing.M }

func (m apart) Run() int { return leak.Apart(m.M) }

// TestScript runs the built program end to end. Each script has a HOME and a
// runtime directory of its own, and whatever it leaves running is ended.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: setupScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"tty":     cmdTty,
			"waitfor": cmdWaitFor,
			"rpc":     cmdRPC,
			"sigkill": cmdSigkill,

			"exitcode":   cmdExitCode,
			"hostsignal": cmdHostSignal,
			"network":    cmdNetwork,
			"cmpraw":     cmdCmpRaw,
			"user":       cmdUser,
			"disk":       cmdDisk,
			"job":        cmdJob,
			"outage":     cmdOutage,
			"waiting":    cmdWaiting,
			"sshd":       cmdSSHD,
			"postgres":   cmdPostgres,
		},
		Condition: func(cond string) (bool, error) { return holds(t, cond) },
	})
}

// holds decides about a condition that a script has in brackets.
func holds(t *testing.T, cond string) (bool, error) {
	if prog, ok := strings.CutPrefix(cond, "has:"); ok {
		_, err := exec.LookPath(prog)
		return err == nil, nil
	}
	if cond == "userns" {
		return exec.Command("unshare", "-rm", "true").Run() == nil, nil
	}
	if cond == "mount" {
		return mayMount(), nil
	}
	if cond == "postgres" {
		_, err := pgtest.Program("postgres")
		return err == nil, nil
	}
	if cond == "sshd" {
		return sshdPath() != "", nil
	}
	if cond == "sandbox" {
		return sandboxes(), nil
	}
	if cond == "soak" {
		return soak.Time(t) > 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// cmdPostgres gives the script the URL of an empty PostgreSQL database in $POSTGRES; down and
// up end the server, which all scripts have together, and have it back.
func cmdPostgres(ts *testscript.TestScript, neg bool, args []string) {
	t := scriptT{ts}
	server := pgtest.Start(t)
	switch {
	case neg || len(args) != 1:
		ts.Fatalf("usage: postgres NAME|down|up")
	case args[0] == "down":
		server.Down(t, syscall.SIGKILL)
	case args[0] == "up":
		server.Up(t)
	default:
		ts.Setenv("POSTGRES", server.Schema(t, args[0]))
	}
}

// scriptT is a script as pgtest takes it.
type scriptT struct{ *testscript.TestScript }

func (scriptT) Helper()             {}
func (t scriptT) Skip(args ...any)  { t.Fatalf("%s", fmt.Sprint(args...)) }
func (t scriptT) Fatal(args ...any) { t.Fatalf("%s", fmt.Sprint(args...)) }

// sandboxes reports whether tasks can be shut in here.
var sandboxes = sync.OnceValue(func() bool {
	return sandbox.Check(context.Background(), "").Err == nil
})

func setupScript(env *testscript.Env) error {
	// The work directory of a test can be too long for a socket's path.
	run, err := os.MkdirTemp("", "tandemux")
	if err != nil {
		return err
	}
	home := filepath.Join(env.WorkDir, "home")
	// Else fish reads all manual pages, in the background, for minutes.
	if err := os.MkdirAll(filepath.Join(home, "data/fish/generated_completions"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(home, ".bashrc"), []byte("PS1='$ '\nunset PROMPT_COMMAND\n"), 0o600); err != nil {
		return err
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		return err
	}
	for k, v := range homeEnv(home, run) {
		env.Setenv(k, v)
	}
	for _, dir := range filepath.SplitList(env.Getenv("PATH")) {
		if path := filepath.Join(dir, "tandemux"); env.Getenv("TANDEMUXBIN") == "" {
			if _, err := os.Stat(path); err == nil {
				env.Setenv("TANDEMUXBIN", path) // for another machine's PATH
			}
		}
	}
	for k, v := range map[string]string{
		"SHELL": bash, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8",
	} {
		env.Setenv(k, v)
	}
	for _, name := range []string{"bash", "zsh", "fish"} { // their paths, for SHELL
		if path, err := exec.LookPath(name); err == nil {
			env.Setenv(strings.ToUpper(name), path)
		}
	}
	env.Values[ttysKey{}] = ttys{}
	env.Values[networkKey{}] = map[string]*network{}
	env.Defer(func() { endEverything(env, run) })
	return nil
}

// homeEnv says where a user's tandemux has its files.
func homeEnv(home, run string) map[string]string {
	return map[string]string{
		"HOME": home, "XDG_RUNTIME_DIR": run, "XDG_STATE_HOME": home + "/state", "XDG_CONFIG_HOME": home + "/config",
		"XDG_DATA_HOME": home + "/data", "XDG_CACHE_HOME": home + "/cache",
	}
}

// aHome gives a test a user's directories of its own, and one with the programs that
// this test binary is by their names. What runs in there is ended after the test.
func aHome(t *testing.T, programs ...string) (home, run, bin string) {
	t.Helper()
	run, err := os.MkdirTemp("", "tandemux") // a test's own directory is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	home = t.TempDir()
	for k, v := range homeEnv(home, run) {
		t.Setenv(k, v)
	}
	t.Cleanup(func() { endHost(home, run) })
	bin = filepath.Join(home, "bin")
	self, err := os.Executable()
	if err == nil {
		err = os.Mkdir(bin, 0o700)
	}
	for _, name := range programs {
		if err == nil {
			err = os.Symlink(self, filepath.Join(bin, name))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return home, run, bin
}

// endEverything ends what a script left running: the screens, the host and,
// through its keeper, every child.
func endEverything(env *testscript.Env, run string) {
	env.Values[ttysKey{}].(ttys).close()
	endHost(filepath.Dir(env.Getenv("XDG_STATE_HOME")), run)
}

// close ends all: an interface that is left starts the host again.
func (all ttys) close() {
	for name, t := range all {
		t.close()
		delete(all, name)
	}
}

// endHost ends the host of a home and a runtime directory, through its keeper every
// child, and removes the runtime directory.
func endHost(home, run string) {
	d := local.Dirs{Dirs: daemon.Dirs{Runtime: filepath.Join(run, "tandemux"), State: filepath.Join(home, "state", "tandemux")}}
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	for { // the socket may be gone, and it may be writing a file
		if pid, err := d.HostPlace().Signal(syscall.SIGKILL); err != nil || pid <= 0 || ctx.Err() != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if pid := hostPid(d.Runtime); pid > 0 {
		syscall.Kill(pid, syscall.SIGKILL)
		for hostPid(d.Runtime) == pid && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
	}
	d.EndKeeper(ctx) //nolint:errcheck // there may be none
	endOthers(ctx, run)
	os.RemoveAll(run)
}

// endOthers ends what has a runtime directory in its environment, until there is nothing: a
// child of the host that lived a moment longer, as an agent's tools, has started another.
func endOthers(ctx context.Context, run string) {
	for ctx.Err() == nil {
		all := hosttest.Processes("XDG_RUNTIME_DIR=" + run)
		if len(all) == 0 {
			return
		}
		for _, pid := range all {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(time.Millisecond)
	}
}

// hostPid is the process that holds the runtime directory's lock.
func hostPid(dir string) int {
	f, err := os.Open(filepath.Join(dir, listen.LockName))
	if err != nil {
		return 0
	}
	defer f.Close()
	if errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
		var pid int
		if _, err := fmt.Fscan(f, &pid); err == nil {
			return pid
		}
	}
	return 0
}

// cmdSigkill kills a process as hard as can be: sigkill host|keeper.
func cmdSigkill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sigkill host|keeper")
	}
	dir := filepath.Join(ts.Getenv("XDG_RUNTIME_DIR"), "tandemux")
	pid := hostPid(dir)
	if pid == 0 {
		ts.Fatalf("no host runs")
	}
	if args[0] == "keeper" {
		// Another connection would supersede the host's: ask the host.
		ts.Check(ts.Exec("tandemux", "doctor"))
		m := regexp.MustCompile(`keeper (\d+)`).FindStringSubmatch(ts.ReadFile("stdout"))
		if m == nil {
			ts.Fatalf("doctor names no keeper")
		}
		pid, _ = strconv.Atoi(m[1])
	}
	ts.Check(syscall.Kill(pid, syscall.SIGKILL))
}

// cmdExitCode runs a command that must end with an exit code: exitcode N CMD ARG….
func cmdExitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N CMD [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		code = ended.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d; want %s", code, args[0])
	}
}

// cmdCmpRaw compares a file with a text in which \n, \t, \r, \x1b and \\ stand
// for bytes: cmpraw FILE TEXT. Unlike cmp it can tell how a file ends.
func cmdCmpRaw(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cmpraw FILE TEXT")
	}
	want := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\x1b`, "\x1b", `\\`, `\`).Replace(args[1])
	if got := ts.ReadFile(args[0]); got != want {
		ts.Fatalf("%s is %q; want %q", args[0], got, want)
	}
}

// waitLimit bounds every wait for a state; a test that waits this long failed.
const waitLimit = 20 * time.Second

// cmdWaitFor runs a command again and again until its output holds a text:
// waitfor TEXT CMD ARG…; with ! until it no longer does. It is for states that
// nothing announces; the pause between runs costs time, never correctness.
func cmdWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: waitfor TEXT CMD [ARG...]")
	}
	began := time.Now()
	for {
		ts.Exec(args[1], args[2:]...) //nolint:errcheck // its output decides
		out := ts.ReadFile("stdout")
		if strings.Contains(out, args[0]) != neg {
			return
		}
		if time.Since(began) > waitLimit {
			ts.Fatalf("%s: waited %v for %q (not: %v); last output:\n%s", args[1], waitLimit, args[0], neg, out)
		}
		time.Sleep(hosttest.Pause(time.Since(began)))
	}
}

// lazily is a regular expression that is compiled when it is used: this binary is every
// tandemux of the scripts, too, and starts more than a thousand times.
func lazily(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}
