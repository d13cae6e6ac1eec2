package roster

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"tandemux/host/keeper"
)

// TestRoster: a program that runs on without the keeper is found by the next host, until
// it is ended; one that the keeper has is none, and a damaged file is as if there were
// none.
func TestRoster(t *testing.T) {
	dir := t.TempDir()
	var work sync.WaitGroup
	open := func() *Roster { return New(dir, &work, func(err error) { t.Error(err) }) }
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as the keeper's are
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }() //nolint:errcheck // it is killed
	defer cmd.Process.Kill()
	id := keeper.Identify(cmd.Process.Pid)
	r := open()
	if all := r.Find(nil); len(all) != 0 {
		t.Errorf("strays without a file: %v", all)
	}
	r.Put([]Program{{Terminal: "ahp-terminal:/a", Name: "sleep", Identity: id}})
	work.Wait()
	if all := open().Find([]keeper.Info{{Pid: id.Pid}}); len(all) != 0 {
		t.Errorf("the keeper has it: %v", all)
	}
	r = open()
	if all := r.Find(nil); len(all) != 1 || all[0].Terminal != "ahp-terminal:/a" || len(r.Strays()) != 1 {
		t.Fatalf("strays %v", all)
	}
	if err := r.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-ended
	if all := r.Strays(); len(all) != 0 {
		t.Errorf("strays after the end: %v", all)
	}
	r.Put(nil)
	work.Wait()
	path := filepath.Join(dir, fileName)
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file of no programs: %v", err)
	}
	if err := os.WriteFile(path, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all := open().Find(nil); len(all) != 0 {
		t.Errorf("strays of a damaged file: %v", all)
	}
}

// TestHalfWritten: what a host that was killed had not written to the end is removed.
func TestHalfWritten(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "programs.json.new"), []byte("["), 0o600); err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	New(dir, &work, func(err error) { t.Error(err) }).Find(nil)
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
