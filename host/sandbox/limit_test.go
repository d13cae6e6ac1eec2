//go:build linux

package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"tandemux/host/sandbox"
	"tandemux/internal/soak"
)

// TestLimits: memory and processes are bounded, by a cgroup or else for each.
func TestLimits(t *testing.T) {
	b := within(t, func(b *box) { b.spec.Limits = sandbox.Limits{Memory: 1 << 30, Processes: 64} })
	b.want(`echo fine; /run/tandemux/tandemux probe memory 10000000`, "fine")
	b.fails("use more memory than there may be", `/run/tandemux/tandemux probe memory 3000000000`)
	if !sandbox.Check(t.Context(), "").Cgroup && os.Getuid() == 0 {
		t.Skip("without a cgroup, root's processes are not bounded")
	}
	out, _ := b.sh(`i=0; while [ $i -lt 100 ]; do sleep 5 & i=$((i+1)); done; echo all`)
	if !strings.Contains(out, "ork") { // Cannot fork, or fork: retry
		t.Errorf("a hundred processes were started: %q", out)
	}
	b.want(`echo fine`, "fine")
	without := within(t)
	without.want(`grep -o 'Max processes *4096 *4096' /proc/self/limits | tr -s ' '`, "Max processes 4096 4096")
}

// TestNetwork: the network is shared unless it is cut (U77).
func TestNetwork(t *testing.T) {
	at := serve(t)
	b := within(t)
	b.want(`/run/tandemux/tandemux probe tcp `+at+` && echo reached`, "reached")
	b = within(t, func(b *box) { b.spec.NoNetwork = true })
	b.fails("reach the network", `/run/tandemux/tandemux probe tcp `+at)
}

// TestDescriptors: nothing is open inside but the three.
func TestDescriptors(t *testing.T) {
	b := within(t)
	f, err := os.Open(b.write("secret", "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := b.command(launch, "/run/tandemux/tandemux", "probe", "descriptors")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	// Inherited by mistake, it is not the command's.
	cmd = b.command(launch, "/bin/sh", "-c", `ls /proc/self/fd`)
	cmd.ExtraFiles = []*os.File{f}
	out, err := cmd.CombinedOutput()
	if got := strings.Join(strings.Fields(string(out)), " "); err != nil || got != "0 1 2 3" { // 3 is ls's own
		t.Errorf("%q, %v", got, err)
	}
}

// TestUnprivileged runs the tests as somebody who is not root, which is how most
// people's tandemux runs.
func TestUnprivileged(t *testing.T) {
	soak.Long(t, "all that root tries, as nobody")
	if os.Getuid() != 0 {
		t.Skip("this is not root")
	}
	within(t)
	dir := t.TempDir()
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		os.Chmod(at, 0o755)
	}
	self, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "sandbox.test"), self, 0o755)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "tmp"), 0o777)
	}
	if err == nil {
		err = os.Chmod(filepath.Join(dir, "tmp"), 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "sandbox.test"), "-test.v", "-test.run", "^Test(Escapes|Workspace|Folders|Environment|Socket|Ends|Terminal|Interrupt|Typing|Limits|Descriptors|MountPoints)$/^[^c]")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + filepath.Join(dir, "tmp")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	passed := strings.Count(string(out), "--- PASS")
	if err != nil || passed < 12 {
		t.Errorf("as nobody: %v, %s passed:\n%s", err, strconv.Itoa(passed), out)
	}
}

// BenchmarkCommand is a command that does nothing, plainly and in a sandbox: what
// that adds must be 60 ms at most.
func BenchmarkCommand(b *testing.B) {
	if err := sandbox.Check(b.Context(), "").Err; err != nil {
		b.Skip(err)
	}
	self := program(b)
	s, err := sandbox.New(sandbox.Spec{Name: "bench", Workspace: b.TempDir(), Write: true, Program: self})
	if err != nil {
		b.Fatal(err)
	}
	for name, wrap := range map[string]bool{"plain": false, "sandbox": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command("/bin/true")
				if wrap {
					l := launch
					l.Argv = []string{"/bin/true"}
					w, err := s.Wrap(b.Context(), l)
					if err != nil {
						b.Fatal(err)
					}
					cmd = exec.Command(w.Argv[0], w.Argv[1:]...)
					cmd.Env, cmd.Dir = w.Env, w.Dir
				}
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatal(err, string(out))
				}
			}
		})
	}
}
