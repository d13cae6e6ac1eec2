//go:build linux

package sandbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tandemux/host/agent"
	"tandemux/host/sandbox"
)

// TestWorkspace: /workspace is the directory, read-only unless it may be written to
// (U70, U74).
func TestWorkspace(t *testing.T) {
	b := within(t)
	b.write("workspace/file", "text")
	b.want(`pwd; cat file; echo more >new; cat new`, "/workspace\ntextmore")
	if text, err := os.ReadFile(filepath.Join(b.dir, "workspace/new")); err != nil || string(text) != "more\n" {
		t.Errorf("outside: %q, %v", text, err)
	}
	r := within(t, func(b *box) { b.spec.Write = false })
	r.write("workspace/file", "text")
	r.want(`cat file`, "text")
	for _, line := range []string{`echo x >file`, `echo x >new`, `rm file`, `mkdir d`, `chmod 777 file`, `touch file`, `mv file other`, `mount -o remount,rw /workspace && touch new`} {
		r.fails("write into a read-only workspace", line)
	}
}

// TestFolders: the task's own folders are in its home directory, and what else is
// written there ends with the process (U6, U75).
func TestFolders(t *testing.T) {
	b := within(t, func(b *box) {
		b.write("system/.claude/settings.json", "{}")
		b.spec.Shares = []sandbox.Share{
			{Outside: filepath.Join(b.dir, "system/.claude"), Inside: "/root/.claude", Write: true},
			{Outside: b.mkdir("system/.codex"), Inside: "/root/.codex"},
			{Outside: b.mkdir("system/.config/opencode"), Inside: "/root/.config/opencode", Write: true},
		}
	})
	b.want(`cat ~/.claude/settings.json; echo 1 >~/.claude/new; echo 2 >~/.config/opencode/x; echo 3 >~/.profile; cat ~/.profile; echo $HOME`, "{}3\n/root")
	b.want(`cat ~/.claude/new ~/.config/opencode/x; ls ~/.profile 2>/dev/null || echo gone`, "1\n2\ngone")
	b.fails("write into what is for reading", `touch ~/.codex/x`)
	if text, _ := os.ReadFile(filepath.Join(b.dir, "system/.claude/new")); string(text) != "1\n" {
		t.Errorf("outside: %q", text)
	}
}

// TestTmp: /tmp is each process's own, or the task's, and never the host's (U76).
func TestTmp(t *testing.T) {
	b := within(t)
	b.want(`ls /tmp; echo 1 >/tmp/x; echo 2 >/var/tmp/y; cat /tmp/x /tmp/y`, "1\n2")
	b.want(`ls /tmp`, "")
	b = within(t, func(b *box) { b.spec.Tmp = b.mkdir("tmp") })
	b.want(`echo 1 >/tmp/x`, "")
	b.want(`cat /tmp/x`, "1")
	// A program in /tmp takes it away: no mount point is made in what others write.
	b = within(t, func(b *box) {
		b.spec.Tmp = b.mkdir("tmp")
		b.spec.Code = []string{b.write("code/agent", "x")}
	})
	if strings.HasPrefix(b.dir, "/tmp/") {
		b.want(`echo 1 >/tmp/x`, "")
		b.want(`ls /tmp/x 2>/dev/null || echo gone`, "gone")
	}
}

// TestEnvironment: there is what is injected, and nothing else (U80); no value is in
// an argument vector, and none is obeyed outside.
func TestEnvironment(t *testing.T) {
	t.Setenv("HOST_SECRET", "1")
	t.Setenv("LANG", "C.UTF-8")
	const secret = "s3cr3t-of-the-task"
	b := within(t, func(b *box) { b.spec.Env = []string{"API_KEY=" + secret, "PATH=/opt/x:/usr/bin:/bin", "EMPTY="} })
	l := agent.Launch{Env: []string{"GIVEN=a b\nc", "EMPTY=no", "TANDEMUX=/elsewhere", "PWD=/x", "LD_PRELOAD=/nowhere/evil.so", "BASH_FUNC_x%%=() { :; }"}}
	out, code := b.sh(`env -0 2>/dev/null | LD_PRELOAD= tr '\0' '|' && echo`, l)
	out = strings.TrimSpace(out[max(0, strings.LastIndex(out, "ignored.\n"))+len("ignored."):])
	if code != 0 {
		t.Fatal(code, out)
	}
	var names []string
	for kv := range strings.SplitSeq(strings.TrimSuffix(out, "|"), "|") {
		name, value, _ := strings.Cut(kv, "=")
		names = append(names, name)
		if want, ok := map[string]string{"API_KEY": secret, "GIVEN": "a b\nc", "EMPTY": "no", "PWD": "/workspace", "HOME": "/root", "PATH": "/opt/x:/usr/bin:/bin", "LD_PRELOAD": "/nowhere/evil.so"}[name]; ok && value != want {
			t.Errorf("%s is %q, want %q", name, value, want)
		}
	}
	for _, name := range []string{"HOST_SECRET", "TANDEMUX", "TANDEMUX_HOST", "TANDEMUX_SANDBOX_PLAN"} {
		if slices.Contains(names, name) {
			t.Errorf("%s is there", name)
		}
	}
	for _, name := range []string{"API_KEY", "GIVEN", "LANG", "HOME", "PWD"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not there: %q", name, names)
		}
	}
	// The loader complains of a library that is not there: of the program inside and
	// of the shell, and not of what runs outside.
	if out, _ := b.sh(":", l); strings.Count(out, "LD_PRELOAD") > 2 {
		t.Errorf("LD_PRELOAD was obeyed outside: %s", out)
	}
	cmd := b.command(l, "sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	waitFor(t, "the command", func() bool { return len(family(cmd.Process.Pid)) >= 3 })
	for _, pid := range family(cmd.Process.Pid) {
		if text, _ := os.ReadFile("/proc/" + pid + "/cmdline"); bytes.Contains(text, []byte(secret)) {
			t.Errorf("process %s has the secret in its arguments: %q", pid, text)
		}
	}
}

// family are a process and its descendants.
func family(pid int) []string {
	all := []string{strconv.Itoa(pid)}
	for i := 0; i < len(all); i++ {
		tasks, _ := filepath.Glob("/proc/" + all[i] + "/task/*/children")
		for _, file := range tasks {
			text, _ := os.ReadFile(file)
			all = append(all, strings.Fields(string(text))...)
		}
	}
	return all
}

// TestSocket: the session's own socket is inside, and a next host's in its place.
func TestSocket(t *testing.T) {
	b := within(t)
	path := filepath.Join(b.mkdir("s"), "host.sock")
	l := agent.Launch{Socket: path}
	first := listen(t, path)
	line := `/run/tandemux/tandemux probe unix "$TANDEMUX" && echo $TANDEMUX $TANDEMUX_HOST`
	b.want(line, "/run/tandemux/host.sock unix:///run/tandemux/host.sock", l)
	cmd := b.command(l, "/bin/sh", "-c", `read _; `+line)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first.Close()
	listen(t, path)
	in.Write([]byte("\n"))
	if err := cmd.Wait(); err != nil {
		t.Errorf("the next host's socket: %v, %s", err, out.String())
	}
	b.fails("make a socket in its place", `rm /run/tandemux/socket/host.sock || touch /run/tandemux/socket/x`, l)
}

// TestEnds: exit codes, signals and what ends with what.
func TestEnds(t *testing.T) {
	b := within(t)
	for line, want := range map[string]int{
		`exit 7`: 7, `kill -TERM $$`: 143, `kill -KILL $$`: 137, `exec /no/such`: 127, `true`: 0,
	} {
		if out, code := b.sh(line); code != want {
			t.Errorf("%s: exit code %d, want %d: %s", line, code, want, out)
		}
	}
	for _, c := range []struct {
		argv []string
		want int
		says string
	}{
		{[]string{"no-such-program"}, 127, "no such program"},
		{[]string{"/workspace/none"}, 127, "no such file"},
		{[]string{"/workspace"}, 126, "/workspace"},
	} {
		cmd := b.command(agent.Launch{}, c.argv...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.want || !strings.Contains(string(out), c.says) {
			t.Errorf("%q: exit code %d, %s", c.argv, code, out)
		}
	}
	// What ends the group is for the command, which ends in its own time.
	cmd := b.command(agent.Launch{}, "/bin/sh", "-c", `trap 'echo term; exit 3' TERM; echo ready; while :; do sleep 0.1; done`)
	out := start(t, cmd)
	out.waitFor("ready")
	syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	out.waitFor("term")
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("a command that ends at SIGTERM: %v", err)
	}
	// What it started ends with it.
	cmd = b.command(agent.Launch{}, "/bin/sh", "-c", `setsid sleep 1001 & echo ready; exit 0`)
	out = start(t, cmd)
	out.waitFor("ready")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	// Where the sandbox's init is killed, as the kernel does when memory is short, that is
	// noticed at once.
	cmd = b.command(agent.Launch{}, "/bin/sh", "-c", "echo ready; exec sleep 1000")
	out = start(t, cmd)
	out.waitFor("ready")
	for _, pid := range family(cmd.Process.Pid) {
		status, _ := os.ReadFile("/proc/" + pid + "/status")
		if n, err := strconv.Atoi(pid); err == nil && regexp.MustCompile(`NSpid:.*\t1\n`).Match(status) {
			syscall.Kill(n, syscall.SIGKILL)
		}
	}
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 137 {
		t.Errorf("a sandbox whose init was killed: %v", err)
	}
	// And all with whoever started it, however that ends, once the command runs: bwrap
	// sees to it only after it has started that.
	w := b.command(agent.Launch{}, "/bin/sh", "-c", "echo runs; exec sleep 1000")
	parent := exec.Command("/bin/sh", append([]string{"-c", `"$@" & echo $!; read _`, "sh"}, w.Args...)...)
	parent.Env, parent.Dir = w.Env, w.Dir
	in, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out = start(t, parent)
	waitFor(t, "the command", func() bool { return strings.Count(out.String(), "\n") == 2 })
	pid, err := strconv.Atoi(strings.TrimSpace(strings.Replace(out.String(), "runs", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	all := family(pid)
	parent.Process.Kill()
	parent.Wait()
	waitFor(t, "the end of the sandbox", func() bool { return !slices.ContainsFunc(all, lives) })
}

// lives reports whether a process is there and no zombie.
func lives(pid string) bool {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !bytes.Contains(text, []byte(") Z "))
}

// output is what a process writes, as it comes.
type output struct {
	t  *testing.T
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func (o *output) waitFor(text string) {
	o.t.Helper()
	defer func() {
		if o.t.Failed() {
			o.t.Logf("there is %q", o.String())
		}
	}()
	waitFor(o.t, fmt.Sprintf("%q", text), func() bool { return strings.Contains(o.String(), text) })
}

// start starts a process and follows its output.
func start(t *testing.T, cmd *exec.Cmd) *output {
	t.Helper()
	o := &output{t: t}
	cmd.Stdout, cmd.Stderr = o, o
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return o
}

func listen(t *testing.T, path string) net.Listener {
	t.Helper()
	os.Remove(path)
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

func waitFor(t *testing.T, what string, yes func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !yes(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 20 s", what)
		}
	}
}
