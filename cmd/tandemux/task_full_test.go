package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandemux/internal/smalldisk"
	"tandemux/internal/soak"
)

// TestTaskDiskFull: where the tasks' records have no room, tasks are listed, cancelled and
// deleted; the turn that runs fails with the reason, and who waits or watches is told
// (U4, U44). With room all goes on.
func TestTaskDiskFull(t *testing.T) {
	soak.Long(t, "a disk is filled under five tasks")
	if beside(t) {
		return
	}
	x := startKilled(t)
	if smalldisk.Mount(t, filepath.Join(x.home, "state"), "12m") {
		return
	}
	free := filepath.Join(x.home, "go")
	agent := x.script("talks.txt", "prompt\nsay hello\nshell w until test -e "+free+"; do sleep 0.02; done\nsay after all\nprompt\nsay again\n")
	floods := x.script("floods.txt", "prompt\nsay hello\nshell w until test -e "+free+"; do sleep 0.02; done\nflood 20000\nhang\n")
	writes := x.script("writes.txt", `prompt
call w fs/write_text_file {"sessionId":"$SESSION","path":"$CWD/made.txt","content":"$PROMPT"}
`)
	for _, name := range []string{"writes", "given"} {
		x.tandemux("task", "new", "--no-sandbox", "--agent-command", writes, "--name", name, "-m", "work", "--wait")
	}
	hangs := x.script("hangs.txt", "prompt\nsay hello\nhang\n")
	for name, command := range map[string]string{"talks": agent, "floods": floods, "hangs": hangs, "goes": hangs, "rests": hangs} {
		x.tandemux("task", "new", "--no-sandbox", "--agent-command", command, "--name", name, "--workspace", "none")
		x.status(name, "IDLE")
	}
	follow := func(args ...string) func() (string, int) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		cmd := exec.CommandContext(ctx, filepath.Join(x.bin, "tandemux"), args...)
		var out strings.Builder
		cmd.Dir, cmd.Stdout, cmd.Stderr = x.repo, &out, &out
		x.must(cmd.Start())
		return func() (string, int) {
			defer cancel()
			cmd.Wait() //nolint:errcheck // its code is looked at
			return out.String(), cmd.ProcessState.ExitCode()
		}
	}
	sent := follow("task", "send", "talks", "one", "--wait")
	for _, name := range []string{"hangs", "goes", "floods"} {
		x.tandemux("task", "send", name, "one")
	}
	for _, name := range []string{"talks", "hangs", "goes", "floods"} {
		x.saying(name, "hello")
	}
	watched := follow("task", "watch", "talks")
	x.saying("talks", "hello")
	filler := filepath.Join(x.home, "state", "filler")
	smalldisk.Fill(t, filler)
	x.must(os.WriteFile(free, nil, 0o600))
	for what, wait := range map[string]func() (string, int){"send --wait": sent, "watch": watched} {
		out, code := wait()
		if want := map[string]int{"send --wait": 1}[what]; code != want || !strings.Contains(out, "hello") || strings.Count(out, "the disk is full") != 1 {
			t.Errorf("%s: %d\n%s", what, code, out)
		}
	}
	if out := x.tandemux("task", "ls"); !strings.Contains(out, "disk: the disk is full") || !strings.Contains(out, "RUNNING") {
		t.Errorf("the list is\n%s", out)
	}
	if out := x.tandemux("task", "show", "talks", "--json"); !strings.Contains(out, `"outcome": "disk"`) {
		t.Errorf("the task is %s", out)
	}
	x.status("floods", "IDLE")
	if out := x.tandemux("task", "show", "floods"); !strings.Contains(out, "disk: the disk is full") {
		t.Errorf("the task is %s", out)
	}
	x.tandemux("task", "rm", "floods")
	smalldisk.Fill(t, filler) // what was given back
	if out, err := x.try("task", "rm", "writes"); err == nil || !strings.Contains(err.Error(), "deleting by force gives it up") {
		t.Errorf("rm of work that has no room to be kept: %s %v", out, err)
	}
	objects := filepath.Join(x.repo, ".git", "objects")
	x.must(os.Rename(objects, objects+"2"))
	if out, err := x.try("task", "rm", "given"); err == nil {
		t.Errorf("rm of work that can't be kept: %s", out)
	}
	x.tandemux("task", "rm", "--force", "given") // after it was refused
	x.must(os.Rename(objects+"2", objects))
	smalldisk.Fill(t, filler)
	if out, err := x.try("task", "send", "rests", "one"); err != nil && !strings.Contains(err.Error(), "the disk is full") { // the log may have room
		t.Errorf("send: %s %v", out, err)
	}
	x.tandemux("task", "cancel", "hangs")
	x.status("hangs", "CANCELLED")
	x.tandemux("task", "rm", "goes")
	x.tandemux("task", "rm", "hangs")
	x.kill() // the next one finds no room from its beginning
	x.tandemux("task", "rm", "rests")
	if out := x.tandemux("task", "ls", "--all"); strings.Contains(out, "rests") || strings.Contains(out, "hangs") || !strings.Contains(out, "talks") {
		t.Errorf("the list is\n%s", out)
	}
	x.must(os.Remove(filler))
	if out := x.tandemux("task", "send", "talks", "two", "--wait"); !strings.Contains(out, "after all") {
		t.Errorf("with room: %s", out)
	}
	x.tandemux("task", "rm", "talks")
	x.try("task", "rm", "writes") //nolint:errcheck // the next host may have been faster
	if out := x.git("show", "tandemux/writes:made.txt"); !strings.Contains(out, "work") {
		t.Errorf("what was kept of the work is %s", out)
	}
}
