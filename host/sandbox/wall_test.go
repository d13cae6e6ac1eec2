//go:build linux

package sandbox_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tandemux/host/agent"
	"tandemux/host/sandbox"
	"tandemux/internal/soak"
)

// attempt is a way out. Its line runs in a workspace, outside first, where it must
// succeed: then it tries what it says.
type attempt struct {
	name, line string
	// harm says that it is not tried outside, or that what it needs is not
	// everywhere.
	harm bool
}

var attempts = []attempt{
	{name: "read a file outside", line: `cat "$SECRET"`},
	{name: "list the home directory", line: `test -n "$(ls -A "$HOSTHOME")"`},
	{name: "read the user's keys", line: `cat "$HOSTHOME/.ssh/id"`},
	{name: "write a file outside", line: `echo x >"$OUT/new"`},
	{name: "read another task's workspace", line: `cat "$OTHER/file"`},
	{name: "write into another task's workspace", line: `echo x >"$OTHER/new"`},
	{name: "follow a symbolic link", line: `ln -sfn "$SECRET" link && cat link`},
	{name: "follow a link of directories", line: `ln -sfn "$OUT" dir && cat dir/secret`},
	{name: "climb", line: `cat "../out/secret"`},
	{name: "make a hard link", line: `ln -f "$SECRET" hard && cat hard`},
	{name: "look through /proc/self/root", line: `cat "/proc/self/root$SECRET"`},
	{name: "look through /proc/1/root", line: `cat "/proc/1/root$SECRET"`, harm: true},
	{name: "look through a parent's root", line: `cat "/proc/$PPID/root$SECRET"`},
	{name: "read a process's environment", line: `grep -q VICTIM "/proc/$VICTIM/environ"`},
	{name: "read a process's descriptors", line: `test -n "$(ls "/proc/$VICTIM/fd")"`},
	{name: "read a process's directory", line: `ls "/proc/$VICTIM/cwd/"`},
	{name: "find a process", line: `ls -d /proc/[0-9]* | grep -qx "/proc/$VICTIM"`},
	{name: "signal a process", line: `"$PROBE" probe signal "$VICTIM"`},
	{name: "trace a process", line: `"$PROBE" probe ptrace "$VICTIM"`, harm: true},
	{name: "stop the sandbox's init", line: `"$PROBE" probe ptrace 1`, harm: true},
	{name: "write into the sandbox's init", line: `"$PROBE" probe write 1`, harm: true},
	{name: "make a user namespace", line: `"$PROBE" probe namespace || unshare -U true`, harm: true},
	{name: "make a ring of system calls", line: `"$PROBE" probe ring`, harm: true},
	{name: "reach a unix socket", line: `"$PROBE" probe unix "$SOCKET"`},
	{name: "reach an abstract socket", line: `"$PROBE" probe unix "$ABSTRACT"`},
	{name: "reach a keyring", line: `"$PROBE" probe keyring`},
	{name: "reach shared memory", line: `"$PROBE" probe segment "$SEGMENT"`},
	{name: "reach a file in /dev/shm", line: `cat "$SHM"`},
	{name: "reach /tmp", line: `cat "$TMPFILE"`},
	{name: "read the host's environment", line: `test -n "$SECRET_OF_HOST"`},
	{name: "change the agent's code", line: `echo x >>"$CODE/agent"`},
	{name: "replace the agent's code", line: `echo x >"$CODE/new" && mv "$CODE/new" "$CODE/agent"`},
	{name: "make the agent's code executable", line: `chmod 755 "$CODE/agent"`},
	{name: "gain a user by setuid", line: `test "$(./setuid -u)" = 65534 && test "$(id -u)" != 65534`, harm: os.Getuid() != 0},
	{name: "be allowed more by exec", line: `grep -q '^NoNewPrivs:.*0' /proc/self/status`},
	{name: "change the system's programs", line: `touch /usr/bin/tandemux-was-here`, harm: true},
	{name: "change the root", line: `mkdir /tandemux-was-here`, harm: true},
	{name: "change the host's program", line: `echo x >>/run/tandemux/tandemux`, harm: true},
	{name: "change a setting of the kernel", line: `cat /proc/sys/kernel/core_pattern >/proc/sys/kernel/core_pattern`, harm: true},
	{name: "press a system request", line: `echo h >/proc/sysrq-trigger`, harm: true},
	{name: "change the machine's name", line: `hostname "$(hostname)"`, harm: true},
	{name: "mount", line: `mount -t tmpfs none /mnt || mount -t tmpfs none /tmp`, harm: true},
	{name: "unmount", line: `umount /workspace || umount -l /usr`, harm: true},
	{name: "make what is read-only writable", line: `mount -o remount,rw /usr || unshare -Urm mount -o remount,rw,bind /usr`, harm: true},
	{name: "mount the host's processes", line: `unshare -Urm sh -c 'mount -t proc none /proc && test -d "/proc/$VICTIM"'`, harm: true},
	{name: "make a device", line: `mknod dev b 8 0 || mknod dev c 1 1`, harm: true},
	{name: "find a disk", line: `test -n "$(find /dev -type b)"`, harm: true},
	{name: "read the kernel's memory", line: `head -c1 /dev/mem || head -c1 /proc/kcore || head -c1 /dev/kmsg`, harm: true},
	{name: "see the passwords", line: `cat /etc/shadow`, harm: true},
	{name: "see the machine's users", line: `grep -q "$DAEMON" /etc/passwd`},
	{name: "reach cgroups", line: `test -d /sys/fs/cgroup`},
	{name: "enter another's namespaces", line: `nsenter -t "$VICTIM" -m true`, harm: true},
	{name: "find a terminal", line: `test -n "$(ls /dev/pts | grep -v ptmx)"`, harm: true},
}

// outside prepares what attempts reach for.
func outside(t *testing.T, b *box) (env []string) {
	t.Helper()
	secret := b.write("out/secret", "secret\n")
	key := b.write("home/.ssh/id", "key\n")
	b.write("other/file", "other\n")
	socket := filepath.Join(b.dir, "s")
	abstract := "@tandemux-test-" + strconv.Itoa(os.Getpid()) + filepath.Base(b.dir)
	for _, at := range []string{socket, abstract} {
		ln, err := net.Listen("unix", at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ln.Close() })
	}
	victim := exec.Command("sleep", "1000")
	victim.Env = append(os.Environ(), "VICTIM=1")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := victim.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("the process outside was ended: %v", err)
		}
		victim.Process.Kill()
		victim.Wait()
	})
	segment := os.Getpid()*64 + 7
	id, err := unix.SysvShmGet(segment, 4096, unix.IPC_CREAT|0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	if os.Getuid() == 0 {
		text, err := os.ReadFile("/usr/bin/id")
		if err == nil {
			err = os.WriteFile(filepath.Join(b.spec.Workspace, "setuid"), text, 0o755)
		}
		if err == nil {
			err = os.Chown(filepath.Join(b.spec.Workspace, "setuid"), 65534, 65534)
		}
		if err == nil {
			err = os.Chmod(filepath.Join(b.spec.Workspace, "setuid"), 0o755|os.ModeSetuid)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	temporary := func(dir string) string {
		f, err := os.CreateTemp(dir, "tandemux")
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		t.Cleanup(func() { os.Remove(f.Name()) })
		return f.Name()
	}
	return []string{
		"SECRET=" + secret, "HOSTHOME=" + filepath.Dir(filepath.Dir(key)), "OUT=" + filepath.Dir(secret), "OTHER=" + filepath.Join(b.dir, "other"),
		"VICTIM=" + strconv.Itoa(victim.Process.Pid), "SOCKET=" + socket, "ABSTRACT=" + abstract, "SEGMENT=" + strconv.Itoa(segment),
		"SHM=" + temporary("/dev/shm"), "TMPFILE=" + temporary("/tmp"), "CODE=" + filepath.Join(b.dir, "code"), "DAEMON=daemon",
	}
}

// TestEscapes: nothing that a process inside tries gets it out (U72–U80). Each
// attempt succeeds outside, so that it is one.
func TestEscapes(t *testing.T) {
	for _, network := range []string{"shared", "cut"}[:soak.Short(1, 2)] {
		t.Run(network, func(t *testing.T) {
			b := within(t, func(b *box) {
				b.spec.NoNetwork = network == "cut"
				b.write("code/agent", "#!/bin/sh\necho agent\n")
				os.Chmod(filepath.Join(b.dir, "code/agent"), 0o755)
				b.spec.Code = []string{filepath.Join(b.dir, "code")}
			})
			env := outside(t, b)
			os.Setenv("SECRET_OF_HOST", "1") // t's would let the attempts wait for each other
			t.Cleanup(func() { os.Unsetenv("SECRET_OF_HOST") })
			b.want(`"$CODE/agent"`, "agent", agent.Launch{Env: env})
			for _, a := range attempts {
				t.Run(a.name, func(t *testing.T) {
					t.Parallel()
					if strings.Contains(a.name, "abstract") && network == "shared" && !hasScopes(t) {
						t.Skip("the kernel lacks Landlock's scopes")
					}
					if !a.harm {
						if out, err := plainly(b, env, a.line); err != nil {
							t.Fatalf("outside, %s fails: %v, %s", a.line, err, out)
						}
					}
					b := *b
					b.t = t
					b.fails(a.name, a.line, agent.Launch{Env: append([]string{"PROBE=/run/tandemux/tandemux"}, env...)})
				})
			}
		})
	}
}

func hasScopes(t *testing.T) bool {
	t.Helper()
	for _, m := range sandbox.Check(t.Context(), "").Missing {
		if strings.Contains(m, "Landlock") {
			return false
		}
	}
	return true
}

// plainly runs a line outside.
func plainly(b *box, env []string, line string) (string, error) {
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.Dir = b.spec.Workspace
	self, _ := os.Executable()
	cmd.Env = append(append(os.Environ(), env...), "PROBE="+self, noSleep)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
