package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// mayLogIn reports whether an sshd that runs as this user could log it in: a user with
// a login shell, and as root one that may become others, as sshd does.
func mayLogIn() bool {
	if ids, err := os.ReadFile("/proc/self/uid_map"); err == nil && os.Getuid() == 0 {
		f := strings.Fields(string(ids))
		return len(f) == 3 && len(f[2]) > 4
	}
	users, _ := os.ReadFile("/etc/passwd")
	for line := range strings.Lines(string(users)) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) == 7 && f[2] == strconv.Itoa(os.Getuid()) {
			return !strings.HasSuffix(f[6], "nologin") && !strings.HasSuffix(f[6], "false")
		}
	}
	return true
}

// sshdPath is the system's sshd, which may be in the sbin beside a bin of the PATH;
// empty for none, where it could log nobody in, and without the programs that the
// tests use with it.
func sshdPath() string {
	if !mayLogIn() {
		return ""
	}
	for _, name := range []string{"ssh", "ssh-keygen", "pgrep"} {
		if _, err := exec.LookPath(name); err != nil {
			return ""
		}
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		for _, dir := range []string{dir, filepath.Join(dir, "../sbin")} {
			if path, err := exec.LookPath(filepath.Join(dir, "sshd")); err == nil && filepath.IsAbs(path) {
				return path
			}
		}
	}
	return ""
}

// cmdUser gives the script other directories, as another user on another
// machine would have: user NAME. Their host is ended with the script.
func cmdUser(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: user NAME")
	}
	home := ts.MkAbs("home-" + args[0])
	run := ts.Getenv("RUN_" + args[0])
	if run == "" {
		var err error
		run, err = os.MkdirTemp("", "tandemux")
		ts.Check(err)
		ts.Setenv("RUN_"+args[0], run)
		ts.Defer(func() {
			ts.Value(ttysKey{}).(ttys).close()
			endHost(home, run)
		})
		ts.Check(os.MkdirAll(home, 0o700))
		ts.Check(os.WriteFile(filepath.Join(home, ".bashrc"), []byte("PS1='$ '\nunset PROMPT_COMMAND\n"), 0o600))
	}
	for k, v := range homeEnv(home, run) {
		ts.Setenv(k, v)
	}
}

// cmdSSHD runs a real sshd on loopback, with keys of its own, that logs in as
// the user of cmdUser: sshd NAME. Its commands have $WORK/farbin before the
// PATH. TANDEMUX_SSH and SSH_PORT are set to use it, also as "machine"; the machine's key goes into
// $WORK/known only by `sshd known`, `sshd cut` cuts all
// connections, until `sshd back`.
func cmdSSHD(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sshd NAME|known|cut|back")
	}
	dir := ts.MkAbs("sshd")
	port := ts.Getenv("SSH_PORT")
	if args[0] == "back" {
		n, err := strconv.Atoi(ts.Getenv("SSHD_PID"))
		ts.Check(err)
		ts.Check(syscall.Kill(n, syscall.SIGCONT))
		return
	}
	if args[0] == "cut" { // every connection; the server answers no new ones
		n, err := strconv.Atoi(ts.Getenv("SSHD_PID"))
		ts.Check(err)
		ts.Check(syscall.Kill(n, syscall.SIGSTOP))
		out, err := exec.Command("pgrep", "-P", ts.Getenv("SSHD_PID")).Output()
		ts.Check(err)
		for _, pid := range strings.Fields(string(out)) {
			n, err := strconv.Atoi(pid)
			ts.Check(err)
			ts.Check(syscall.Kill(n, syscall.SIGKILL))
		}
		return
	}
	if args[0] == "known" {
		key, err := os.ReadFile(filepath.Join(dir, "host.pub"))
		ts.Check(err)
		words := strings.Fields(string(key))
		line := fmt.Sprintf("[127.0.0.1]:%s %s %s\n", port, words[0], words[1])
		ts.Check(os.WriteFile(ts.MkAbs("known"), []byte(line), 0o600))
		return
	}
	ts.Check(os.MkdirAll(dir, 0o700))
	for _, key := range []string{"host", "user"} {
		ts.Check(exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).Run())
	}
	if os.Getuid() == 0 {
		ts.Check(os.MkdirAll("/run/sshd", 0o755)) // the service would make it
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_, port, err = net.SplitHostPort(ln.Addr().String())
	ts.Check(err)
	ln.Close()
	me, err := user.Current()
	ts.Check(err)
	env := homeEnv(ts.MkAbs("home-"+args[0]), ts.Getenv("RUN_"+args[0]))
	env["PATH"] = ts.MkAbs("farbin") + ":/usr/bin:/bin"
	set := "SetEnv"
	for k, v := range env {
		set += fmt.Sprintf(" %s=%q", k, v)
	}
	write := func(name string, lines ...string) string {
		path := ts.MkAbs(name)
		ts.Check(os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
		return path
	}
	conf := write("sshd/config", "Port "+port, "ListenAddress 127.0.0.1", "HostKey "+filepath.Join(dir, "host"),
		"PidFile none", "AuthorizedKeysFile "+filepath.Join(dir, "user.pub"), "PasswordAuthentication no",
		"KbdInteractiveAuthentication no", "UsePAM no", "StrictModes no", "PermitRootLogin yes", "PrintMotd no", set)
	client := write("ssh_config", "UserKnownHostsFile "+ts.MkAbs("known"), "GlobalKnownHostsFile /dev/null", "StrictHostKeyChecking yes",
		"IdentityFile "+filepath.Join(dir, "user"), "IdentitiesOnly yes", "BatchMode yes", "LogLevel ERROR",
		"Host machine", "HostName 127.0.0.1", "Port "+port)
	cmd := exec.Command(sshdPath(), "-D", "-f", conf, "-E", filepath.Join(dir, "log"))
	ts.Check(cmd.Start())
	ts.Defer(func() {
		cmd.Process.Kill() //nolint:errcheck // gone already is fine
		cmd.Wait()         //nolint:errcheck // killed
	})
	for end := time.Now().Add(waitLimit); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			c.Close()
			break
		}
		if time.Now().After(end) {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			ts.Fatalf("sshd does not listen: %v\n%s", err, log)
		}
	}
	ts.Setenv("SSHD_PID", strconv.Itoa(cmd.Process.Pid))
	ts.Setenv("SSH_PORT", port)
	ts.Setenv("SSH_AT", me.Username+"@127.0.0.1:"+port)
	ts.Setenv("TANDEMUX_SSH", "ssh -F "+client)
}
