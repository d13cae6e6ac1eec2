package desk

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tool writes a program of the name into a directory of its own and gives that.
func tool(t *testing.T, name, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestClip: the program gets the text on its stdin, whatever it leaves running; that
// it failed, stays or is not there is known.
func TestClip(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	long := strings.Repeat("x", 4<<20)
	for _, c := range []struct {
		name, script, text string
		running            bool
		err                string // a part of it
	}{
		{name: "takes it", script: "cat >" + out, text: "some\ntext"},
		{name: "takes much", script: "cat >" + out, text: long},
		// As xclip does: a process in the background that keeps stderr.
		{name: "leaves one behind", script: "cat >" + out + "; sleep 60 & echo $! >" + out + ".pid", text: "served"},
		{name: "fails", script: "cat >/dev/null; echo \"Error: Can't open display: (null)\" >&2; exit 1", text: "x", err: "copy failed: Error: Can't open display: (null)"},
		{name: "fails in silence", script: "exit 3", text: long, err: "copy failed: exit status 3"},
		{name: "stays", script: "echo $$ >" + out + ".pid; cat >" + out + "; exec sleep 60", text: "mine", running: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := testDesk(t)
			d.configure(t, `copy-command = "`+filepath.Join(tool(t, "copy", c.script), "copy")+`"`)
			if d.clips.wait = time.Minute; c.running {
				d.clips.wait = 300 * time.Millisecond
			}
			program, running, err := d.Clip(c.text, false)
			switch {
			case c.err != "":
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("%v, want %q", err, c.err)
				}
				return
			case err != nil || program != "copy" || running != c.running:
				t.Fatalf("%q, running %v, %v", program, running, err)
			}
			got, err := os.ReadFile(out)
			for end := time.Now().Add(30 * time.Second); c.running && string(got) != c.text && time.Now().Before(end); time.Sleep(time.Millisecond) {
				got, err = os.ReadFile(out) // it may have got less far in that time
			}
			if err != nil || string(got) != c.text {
				t.Errorf("it got %d bytes, %v", len(got), err)
			}
			if !c.running {
				if pid, err := os.ReadFile(out + ".pid"); err == nil {
					n, _ := strconv.Atoi(strings.TrimSpace(string(pid)))
					_ = syscall.Kill(n, syscall.SIGKILL)
				}
				return
			}
			// The next one takes its place.
			d.clips.wait = time.Minute
			d.configure(t, `copy-command = "true"`)
			if _, running, err := d.Clip("next", false); err != nil || running {
				t.Errorf("the next one: running %v, %v", running, err)
			}
			pid, _ := os.ReadFile(out + ".pid")
			n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
			if err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(10 * time.Second); syscall.Kill(n, 0) == nil; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the one before still runs")
				}
			}
		})
	}
	d := testDesk(t)
	d.configure(t, `copy-command = "no-such-program -x"`)
	if _, _, err := d.Clip("x", false); err == nil || !strings.Contains(err.Error(), "no-such-program is not there") {
		t.Errorf("a program that isn't there: %v", err)
	}
}

// TestFindCopyCommand: without the option the program is one that is there and has
// a clipboard to set.
func TestFindCopyCommand(t *testing.T) {
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION"} {
		t.Setenv(name, "")
	}
	all := tool(t, "wl-copy", "") + ":" + tool(t, "xclip", "") + ":" + tool(t, "xsel", "")
	for _, c := range []struct{ set, path, env, want string }{
		{path: t.TempDir(), env: "DISPLAY"},
		{path: all},
		{path: all, env: "WAYLAND_DISPLAY", want: "wl-copy"},
		{path: all, env: "DISPLAY", want: "xclip"},
		{path: tool(t, "xsel", ""), env: "DISPLAY", want: "xsel"},
		{path: tool(t, "xsel", ""), env: "WAYLAND_DISPLAY"},
		{path: all, env: "DISPLAY", set: "none"},
		{path: all, env: "DISPLAY", set: "mine -x", want: "mine"},
	} {
		t.Run(c.env+" "+c.want, func(t *testing.T) {
			t.Setenv("PATH", c.path)
			if c.env != "" {
				t.Setenv(c.env, ":7")
			}
			got := ""
			if argv, _ := copyCommand(c.set); len(argv) > 0 {
				got = argv[0]
			}
			if got != c.want {
				t.Errorf("%q is taken", got)
			}
		})
	}
}

// TestRealClipboard: what was copied is in the clipboard of a real X server, and what was selected
// with the mouse is what the middle button pastes there, too.
func TestRealClipboard(t *testing.T) {
	for _, name := range []string{"Xvfb", "xclip"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command("Xvfb", "-displayfd", "3", "-nolisten", "tcp", "-screen", "0", "320x200x8")
	server.ExtraFiles = []*os.File{w}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	w.Close()
	number := make([]byte, 16)
	n, err := r.Read(number) // when it is ready, or has ended
	if err != nil {
		t.Skipf("Xvfb does not start here: %v", err)
	}
	t.Setenv("WAYLAND_DISPLAY", "")
	t.Setenv("DISPLAY", ":"+strings.TrimSpace(string(number[:n])))
	d := testDesk(t)
	for _, c := range []struct {
		text, primary string
		selected      bool
	}{{"first\n", "first\n", true}, {"zweiter Text: äöü\n\ttab", "first\n", false}} {
		text := c.text
		if program, running, err := d.Clip(text, c.selected); program != "xclip" || running || err != nil {
			t.Fatalf("%q, running %v, %v", program, running, err)
		}
		// It ends a moment before the process that it leaves has the clipboard.
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			got, err := exec.Command("xclip", "-selection", "clipboard", "-o").Output()
			if err == nil && string(got) == text {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the clipboard has %q, %v", got, err)
			}
		}
		if got, err := exec.Command("xclip", "-selection", "primary", "-o").Output(); err != nil || string(got) != c.primary {
			t.Errorf("the middle button pastes %q, want %q: %v", got, c.primary, err)
		}
	}
}
