package keeper

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestIdentity: a process is told from a later one of its number, its end is seen by
// who is not its parent, and it is ended with its group.
func TestIdentity(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	cmd := exec.Command("sh", "-c", "sleep 1000 & wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	i := Identify(cmd.Process.Pid)
	if !i.Alive() || i.Pid != cmd.Process.Pid {
		t.Fatalf("%+v of process %d", i, cmd.Process.Pid)
	}
	later := i
	later.Start++
	if later.Alive() {
		t.Error("a process is taken for one of another start")
	}
	if err := later.Signal(syscall.SIGKILL, 0); err != nil || !i.Alive() {
		t.Errorf("a stranger of that number was signalled: %v", err)
	}
	if err := later.Wait(ctx); err != nil {
		t.Errorf("wait for one that has ended: %v", err)
	}
	short, stop := context.WithTimeout(ctx, 10*time.Millisecond)
	defer stop()
	if err := i.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait for one that runs: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- i.Wait(ctx) }()
	if err := i.End(ctx); err != nil {
		t.Error(err)
	}
	// It is a zombie now, as nobody has waited for it.
	if err := <-ended; err != nil || i.Alive() {
		t.Errorf("after its end it lives: %v, %v", i.Alive(), err)
	}
	if (Identity{}).Alive() {
		t.Error("no process lives")
	}
}
