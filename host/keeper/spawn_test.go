package keeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSpawn(t *testing.T) {
	t.Parallel()
	c := startKeeper(t).dial()
	p := spawn(t, c, shell("a", `read line; echo "got $line"; exit 3`))
	io.WriteString(p.Pty, "hello\n")
	readUntil(t, p.Pty, "got hello")
	if e := exit(t, c); e != (Exit{ID: "a", Code: 3}) {
		t.Errorf("exit = %+v", e)
	}
	p = spawn(t, c, shell("b", "kill -9 $$"))
	if e := exit(t, c); e != (Exit{ID: "b", Code: 137, Signal: "SIGKILL"}) {
		t.Errorf("exit = %+v", e)
	}
	list, err := c.List(context.Background())
	if err != nil || len(list) != 2 || list[0].ID != "a" || list[1].Pid != p.Pid || list[1].Exit == nil {
		t.Errorf("List = %+v, %v", list, err)
	}
}

// A keeper that was started with signals ignored and descriptors open must hand
// on neither; the child has a session and a terminal of its own.
func TestChildIsClean(t *testing.T) {
	t.Parallel()
	k := startKeeper(t, "/bin/sh", "-c",
		`trap "" HUP INT QUIT PIPE ALRM USR1 TSTP TTIN TTOU; exec 7</dev/null 8</dev/null; exec "$0"`)
	c := k.dial()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run := func(argv ...string) (string, int) {
		p := spawn(t, c, Spec{
			ID: strings.Join(argv, " "), Dir: dir, Cols: 93, Rows: 31, Argv: argv,
			Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "TANDEMUX=/run/x", "TERM=xterm-256color"},
		})
		out := strings.ReplaceAll(readAll(t, p.Pty), "\r\n", "\n")
		if e := exit(t, c); e.Code != 0 {
			t.Errorf("%q: exit = %+v", argv, e)
		}
		return out, p.Pid
	}
	for _, tt := range []struct {
		argv []string
		want string // PID stands for the child's
	}{
		{[]string{"ls", "/proc/self/fd"}, `^0 +1 +2 +3\n$`}, // 3 is the directory
		// Signals 32 and 33 are the C library's own; GNU make ignores them, and
		// Go's runtime gives no way to reset them.
		{[]string{"grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"}, `^SigBlk:\s0+\nSigIgn:\s0{7}[01][08]0{7}\n$`},
		// pid comm state ppid pgrp session tty foreground
		{[]string{"cat", "/proc/self/stat"}, `^PID \(cat\) R \d+ PID PID [1-9]\d* PID `},
		{[]string{"stty", "size"}, `^31 93\n$`},
		{[]string{"pwd"}, `^` + regexp.QuoteMeta(dir) + `\n$`},
		{[]string{"cat", "/proc/self/environ"}, `^PATH=/usr/local/bin:/usr/bin:/bin\x00TANDEMUX=/run/x\x00TERM=xterm-256color\x00$`},
	} {
		out, pid := run(tt.argv...)
		want := strings.ReplaceAll(tt.want, "PID", fmt.Sprint(pid))
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%q: %q; want %s", tt.argv, out, want)
		}
	}
	out, _ := run("grep", "flags", "/proc/self/fdinfo/0")
	var flags int
	if _, err := fmt.Sscanf(out, "flags: %o", &flags); err != nil || flags&unix.O_NONBLOCK != 0 {
		t.Errorf("standard input's %q, %v; want it blocking", out, err)
	}
}

func TestSpawnRefusals(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", "text", 0o644)
	binary := write("binary", "\x00\x01not a program", 0o755)
	orphan := write("orphan", "#!/no/such/interpreter\n", 0o755)
	spawn(t, c, shell("taken", "read x"))

	base := shell("x", "")
	with := func(f func(*Spec)) Spec { s := base; f(&s); return s }
	tests := []struct {
		name string
		spec Spec
		is   error
		text string
	}{
		{"no command in PATH", with(func(s *Spec) { s.Argv = []string{"no-such-command"} }), ErrNoCommand, "command no-such-command was not found in PATH"},
		{"no file", with(func(s *Spec) { s.Argv = []string{"/no/such"} }), ErrNoCommand, "command /no/such does not exist"},
		{"not executable", with(func(s *Spec) { s.Argv = []string{plain} }), ErrNotExecutable, "is not executable: permission denied"},
		{"a directory", with(func(s *Spec) { s.Argv = []string{dir} }), ErrNotExecutable, "is not executable: is a directory"},
		{"not a program", with(func(s *Spec) { s.Argv = []string{binary} }), ErrNotExecutable, "neither a program for this machine"},
		{"no interpreter", with(func(s *Spec) { s.Argv = []string{orphan} }), ErrNotExecutable, "its interpreter or loader is missing"},
		{"not executable in PATH", with(func(s *Spec) { s.Argv = []string{"plain"}; s.Env = []string{"PATH=" + dir} }), ErrNotExecutable, "permission denied"},
		{"PATH is the child's", with(func(s *Spec) { s.Argv = []string{"sh"}; s.Env = []string{"PATH=" + dir} }), ErrNoCommand, "not found"},
		{"no directory", with(func(s *Spec) { s.Dir = "/no/such" }), ErrNoDir, "directory /no/such does not exist"},
		{"not a directory", with(func(s *Spec) { s.Dir = plain }), ErrNoDir, "is not a directory"},
		{"relative directory", with(func(s *Spec) { s.Dir = "x" }), ErrInvalid, `directory "x" is not absolute`},
		{"no argv", with(func(s *Spec) { s.Argv = nil }), ErrInvalid, "there is no command"},
		{"no size", with(func(s *Spec) { s.Cols = 0 }), ErrInvalid, "size 0×24 is out of range"},
		{"zero byte", with(func(s *Spec) { s.Argv = []string{"sh", "a\x00b"} }), ErrInvalid, "a zero byte"},
		{"no id", with(func(s *Spec) { s.ID = "" }), ErrInvalid, "the id must have 1 to 256 bytes"},
		{"id in use", with(func(s *Spec) { s.ID = "taken" }), ErrExists, "the id is in use"},
		{"too long", with(func(s *Spec) { s.Argv = []string{"/bin/true", strings.Repeat("x", 1<<20)} }), ErrInvalid, "too long for the system"},
		{"over the frame's limit", with(func(s *Spec) { s.Argv = []string{"/bin/true", strings.Repeat("x", maxFrame)} }), ErrInvalid, "over the limit"},
	}
	ctx := context.Background()
	files, goroutines := k.files(), k.goroutines()
	for _, tt := range tests {
		_, err := c.Spawn(ctx, tt.spec)
		if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v; want %v: …%s…", tt.name, err, tt.is, tt.text)
		}
	}
	if list, err := c.List(ctx); err != nil || len(list) != 1 {
		t.Errorf("List = %+v, %v; want the one that was there", list, err)
	}
	until(t, fmt.Sprintf("%d descriptors and %d goroutines, as before", files, goroutines), func() bool {
		return k.files() <= files && k.goroutines() <= goroutines
	})
	// The id of a failed spawn is free.
	spawn(t, c, shell("x", "exit 0"))
}

// Two hundred children come and go and leave nothing in the keeper.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	k := startKeeper(t)
	c := k.dial()
	ctx := context.Background()
	round := func(i int) {
		id := fmt.Sprint("child ", i)
		p, err := c.Spawn(ctx, shell(id, "exit "+fmt.Sprint(i%100)))
		if err != nil {
			t.Fatal(err)
		}
		p.Pty.Close()
		if e := exit(t, c); e.ID != id || e.Code != i%100 {
			t.Fatalf("exit = %+v", e)
		}
		if err := c.Forget(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		round(i)
	}
	files, goroutines := k.files(), k.goroutines()
	for i := range 200 {
		round(i)
	}
	until(t, "the reapers to end", func() bool { return k.goroutines() == goroutines })
	if n := k.files(); n != files {
		t.Errorf("%d descriptors, %d before 200 children", n, files)
	}
	if list, err := c.List(ctx); err != nil || len(list) != 0 {
		t.Errorf("List = %+v, %v", list, err)
	}
}

// A signal reaches the child's own group and the job in the foreground.
func TestSignal(t *testing.T) {
	t.Parallel()
	c := startKeeper(t).dial()
	ctx := context.Background()
	p := spawn(t, c, Spec{
		ID: "job", Dir: "/", Cols: 80, Rows: 24, Env: []string{"PATH=/usr/bin:/bin"},
		Argv: []string{"bash", "--norc", "-c", `set -m; trap 'echo shell heard' TERM
			bash -c 'echo job $$ $(cut -d" " -f8 /proc/$$/stat); exec sleep 1000'
			echo "job ended $?"; read x`},
	})
	readUntil(t, p.Pty, "job ")
	// The job must be in the foreground before it is signalled.
	raw, err := p.Pty.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the job to be in the foreground", func() bool {
		fg := 0
		raw.Control(func(fd uintptr) { fg, _ = unix.IoctlGetInt(int(fd), unix.TIOCGPGRP) })
		comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", fg))
		return fg != p.Pid && strings.TrimSpace(string(comm)) == "sleep"
	})
	if err := c.Signal(ctx, "job", syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	out := readUntil(t, p.Pty, "job ended 143")
	if !strings.Contains(out, "shell heard") {
		out += readUntil(t, p.Pty, "shell heard")
	}
	if err := c.Signal(ctx, "job", syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if e := exit(t, c); e.Signal != "SIGKILL" {
		t.Errorf("exit = %+v", e)
	}
	if err := c.Signal(ctx, "job", syscall.SIGKILL); err != nil {
		t.Errorf("signal an exited child: %v", err)
	}
	if err := c.Signal(ctx, "nobody", syscall.SIGKILL); !errors.Is(err, ErrUnknown) {
		t.Errorf("signal a stranger: %v", err)
	}
	if err := c.Signal(ctx, "job", 99); err == nil {
		// It has exited, so even nonsense is harmless; but it must not pass for
		// a running one.
		return
	} else if !errors.Is(err, ErrInvalid) {
		t.Errorf("signal 99: %v", err)
	}
}
