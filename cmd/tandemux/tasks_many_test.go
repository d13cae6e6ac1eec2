package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandemux/host/task/store"
	"tandemux/internal/soak"
)

// TestManyTasks has many tasks of one repository change the same file, and merges them all: the
// agents resolve what both sides changed. It prints what that took; in a soak they are 50:
//
//	make soak RUN=TestManyTasks PACKAGES=./cmd/tandemux
func TestManyTasks(t *testing.T) {
	soak.Long(t, "many tasks at once")
	if beside(t) {
		return
	}
	x := startKilled(t)
	n := soak.Size(t, 3, 50)
	name := func(i int) string { return fmt.Sprintf("t%02d", i) }
	lines := `if grep -q '^<<<<<<< ' file000.txt; then sed -i '/^<<<<<<< /d; /^=======$/d; /^>>>>>>> /d' file000.txt; else git branch --show-current >>file000.txt; fi`
	agent := x.script("adds.txt", "prompt\n"+
		`call t terminal/create {"sessionId":"$SESSION","command":"`+lines+`"}`+"\n"+
		`call w terminal/wait_for_exit {"sessionId":"$SESSION","terminalId":"$t.terminalId"}`+"\nsay added\n")
	where := []string{"--no-sandbox"}
	if sandboxes() {
		where = nil
		ownFiles(t, x.bin)
	}
	x.tandemux("task", "ls")
	host := hostPid(filepath.Join(x.run, "tandemux"))
	measure := func(what string, began time.Time) {
		rss, cpu := usage(t, host)
		t.Logf("%d tasks %s: %v; the host has %d MB and has used %v; %d MB of files", n, what, time.Since(began).Round(time.Millisecond), rss>>20, cpu, diskUse(filepath.Join(x.home, "state"))>>20)
	}
	measure("are to be made", time.Now())
	began := time.Now()
	slowest := time.Duration(0)
	for i := range n {
		one := time.Now()
		x.tandemux(append([]string{"task", "new", "--agent-command", agent, "--name", name(i), "--approve", "all", "--workspace", "worktree"}, where...)...)
		slowest = max(slowest, time.Since(one))
	}
	t.Logf("`task new` took %v, the slowest %v", (time.Since(began) / time.Duration(n)).Round(time.Millisecond), slowest.Round(time.Millisecond))
	idle := func() (count int) {
		var all []store.Task
		x.must(json.Unmarshal([]byte(x.tandemux("task", "ls", "--json")), &all))
		for _, task := range all {
			if task.Status == store.Idle {
				count++
			}
		}
		return count
	}
	t.Cleanup(func() {
		if t.Failed() {
			ls, _ := x.try("task", "ls")
			show, _ := x.try("task", "show", name(0))
			t.Logf("%s\n%s", ls, show)
		}
	})
	settled := func(what string) {
		for end := time.Now().Add(time.Duration(n/5+1) * waitLimit); idle() != n; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("not every task %s", what)
			}
		}
	}
	settled("is ready")
	measure("are ready", began)
	began = time.Now()
	for i := range n {
		x.tandemux("task", "send", name(i), "add your line")
	}
	settled("has worked")
	measure("have worked", began)
	began = time.Now()
	for i := range n {
		x.tandemux("ws", "merge", name(i), "--ask", "--yes")
	}
	measure("are merged", began)
	began = time.Now()
	for i := range n {
		x.tandemux("task", "rm", name(i))
	}
	measure("are deleted", began)
	text, err := os.ReadFile(filepath.Join(x.repo, "file000.txt"))
	for i := range n {
		if strings.Count(string(text), "tandemux/"+name(i)+"\n") != 1 {
			t.Errorf("%v: the work of %s is not there once:\n%s", err, name(i), text)
		}
	}
	x.clean(0)
}

// usage is what a process has in memory, in bytes, and how long it has run.
func usage(t *testing.T, pid int) (rss int64, cpu time.Duration) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Logf("what process %d uses is not known: %v", pid, err)
		return 0, 0
	}
	f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var user, system, pages int64
	fmt.Sscan(f[11], &user)                                                                    //nolint:errcheck // it is the kernel's
	fmt.Sscan(f[12], &system)                                                                  //nolint:errcheck // it is the kernel's
	fmt.Sscan(f[21], &pages)                                                                   //nolint:errcheck // it is the kernel's
	return pages * int64(os.Getpagesize()), time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100
}

// diskUse is what a directory takes.
func diskUse(dir string) (sum int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, _ error) error { //nolint:errcheck // what goes meanwhile takes no room
		if info, err := d.Info(); err == nil {
			if at, is := info.Sys().(*syscall.Stat_t); is {
				sum += at.Blocks * 512
			}
		}
		return nil
	})
	return sum
}

// ownFiles makes files of the links in a directory of programs: a sandbox has programs by their
// own names.
func ownFiles(t *testing.T, bin string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tandemux", "scripted-agent"} {
		file := filepath.Join(bin, name)
		err := os.Remove(file)
		if err == nil && os.Link(self, file) != nil { // it is on another disk
			var text []byte
			if text, err = os.ReadFile(self); err == nil {
				err = os.WriteFile(file, text, 0o700)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
