package desk

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandemux/internal/config"
	"tandemux/internal/config/option"
	"tandemux/internal/daemon"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
)

func testDesk(t *testing.T) Desk {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	dir := t.TempDir()
	return New(endpoint.Endpoint{Dirs: local.Dirs{Dirs: daemon.Dirs{Runtime: t.TempDir()}, Config: dir}}, func() (open, copy string) {
		doc, _ := os.ReadFile(filepath.Join(dir, "config.toml")) // none is fine
		config.Read(doc, []option.Option{{Name: "open-command", Value: &open}, {Name: "copy-command", Value: &copy}})
		return open, copy
	})
}

// configure writes a desk's configuration.
func (d Desk) configure(t *testing.T, toml string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(d.place.Dirs.Config, "config.toml"), []byte(toml), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestEditRemovesTheFile: the editor gets a private file with the text; it is
// gone when the editor has ended, also when it failed or the pane was closed.
func TestEditRemovesTheFile(t *testing.T) {
	// Started by nohup, what it starts would ignore the signal, too.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	d := testDesk(t)
	dir := t.TempDir()
	out, ready := filepath.Join(dir, "seen"), filepath.Join(dir, "ready")
	for _, c := range []struct {
		name, editor string
		kill         syscall.Signal
	}{
		{"done", `cp "$1" ` + out + `; stat -c %a`, 0}, // what follows is given the file's name
		{"failed", "false", 0},
		{"hung up", "sh -c 'touch " + ready + "; exec sleep 60'; :", syscall.SIGHUP},
	} {
		t.Setenv("VISUAL", c.editor)
		argv, err := d.Edit("some\ntext\n", 2)
		if err != nil {
			t.Fatal(err)
		}
		path := argv[len(argv)-1]
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%s: the file is %v, %v", c.name, info, err)
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if c.kill != 0 {
			for _, err := os.Stat(ready); err != nil; _, err = os.Stat(ready) {
				time.Sleep(5 * time.Millisecond)
			}
			if err := syscall.Kill(-cmd.Process.Pid, c.kill); err != nil {
				t.Fatal(err)
			}
		}
		_ = cmd.Wait()
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s: the file is still there: %v", c.name, err)
		}
	}
	if seen, err := os.ReadFile(out); err != nil || string(seen) != "some\ntext\n" {
		t.Errorf("the editor saw %q, %v", seen, err)
	}
}

// TestEditSweeps: what an editor left long ago goes, what is open stays.
func TestEditSweeps(t *testing.T) {
	d := testDesk(t)
	old, err := d.Edit("old", 1)
	if err != nil {
		t.Fatal(err)
	}
	open, _ := d.Edit("open", 1)
	past := time.Now().Add(-2 * leftTime)
	if err := os.Chtimes(old[4], past, past); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Edit("new", 1); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old[4]); !os.IsNotExist(err) {
		t.Errorf("what was left is still there: %v", err)
	}
	if _, err := os.Stat(open[4]); err != nil {
		t.Errorf("what is open is gone: %v", err)
	}
}

func TestEditorStartsAtTheLine(t *testing.T) {
	for editor, want := range map[string]string{
		"vim": ` vim +7 "$1"`, "/usr/bin/nano -w": ` /usr/bin/nano -w +7 "$1"`, "code -w": ` code -w "$1"`,
	} {
		if argv := editing(editor, "/f", 7); !strings.HasSuffix(argv[2], want) {
			t.Errorf("%s: %q", editor, argv[2])
		}
	}
}

func TestSave(t *testing.T) {
	d := testDesk(t)
	full, err := d.Save("~/out.txt", "text")
	if err != nil || full != filepath.Join(os.Getenv("HOME"), "out.txt") {
		t.Fatalf("saved to %q, %v", full, err)
	}
	if info, err := os.Stat(full); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	if _, err := d.Save("~/out.txt", "other"); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("written over: %v", err)
	}
	if _, err := d.Save("/nowhere/at/all", "text"); err == nil {
		t.Error("saved to nowhere")
	}
}

// TestOpen: the address is one argument, whatever is in it, and what could do
// more than show something is refused.
func TestOpen(t *testing.T) {
	d := testDesk(t)
	out := filepath.Join(t.TempDir(), "args")
	script := filepath.Join(t.TempDir(), "open")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" > "+out+".new; mv "+out+".new "+out+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.configure(t, "open-command = \""+script+" --new-tab\"\n")
	uri := "https://example.org/?a=$(touch${IFS}x)&b=`id`;'"
	if err := d.Open(uri); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for deadline := time.Now().Add(10 * time.Second); len(got) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("nothing was started")
		}
		got, _ = os.ReadFile(out)
		time.Sleep(time.Millisecond)
	}
	if string(got) != "--new-tab\n"+uri+"\n" {
		t.Errorf("started with %q", got)
	}
	for _, uri := range []string{
		"javascript:alert(1)", "ssh://x", "--help", "", "https://a b", "https://a\x1b", "data:text/html,x", "vscode://run",
		"file://elsewhere.example/etc/passwd",
	} {
		if err := d.Open(uri); err == nil {
			t.Errorf("%q was opened", uri)
		}
	}
}
