package procgroup

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain is also the process that dies: it begins a group with a watcher, says
// its id, and waits to be killed.
func TestMain(m *testing.M) {
	if os.Getenv("WATCHED_DIES") == "" {
		os.Exit(m.Run())
	}
	child := exec.Command("sleep", "1000")
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := child.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if _, err := Watch(child.Process.Pid); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(child.Process.Pid)
	time.Sleep(time.Hour)
}

// TestWatch: who watches is killed, and the group is gone soon after.
func TestWatch(t *testing.T) {
	self := exec.Command(os.Args[0])
	self.Env = append(os.Environ(), "WATCHED_DIES=1")
	out, err := self.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	group, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(line)
	}
	self.Process.Kill()
	self.Wait() //nolint:errcheck // killed
	gone := func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", group))
		if os.IsNotExist(err) && syscall.Kill(group, 0) != nil {
			return true
		}
		return strings.Contains(string(stat), ") Z ") // nobody reaps it where there is no init
	}
	for end := time.Now().Add(10 * time.Second); !gone(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			syscall.Kill(group, syscall.SIGKILL)
			t.Fatal("the group lives on")
		}
	}
}

// TestRelease: a watcher that is released ends nothing.
func TestRelease(t *testing.T) {
	child := exec.Command("cat")
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	w, err := Watch(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	w.Release()
	(*Watcher)(nil).Release()
	in.Close()
	if err := child.Wait(); err != nil {
		t.Errorf("the group was ended: %v", err)
	}
}
