package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tandemux/host/keeper"
	"tandemux/internal/daemon"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "keeper" {
		main()
	}
	os.Exit(m.Run())
}

// TestKeeper: it says that it is ready, starts children, and ends when it is told to.
func TestKeeper(t *testing.T) {
	run, err := os.MkdirTemp("", "tandemux") // a short path, as that of a socket must be
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(run)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(exe, "keeper", run, t.TempDir())
	cmd.Env = append(os.Environ(), daemon.ReadyEnv+"=3")
	cmd.ExtraFiles = []*os.File{w}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	w.Close()
	if line, err := bufio.NewReader(r).ReadString('\n'); line != "ready\n" {
		t.Fatalf("it says %q, %v", line, err)
	}
	k, err := keeper.Dial(t.Context(), filepath.Join(run, daemon.KeeperName))
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	p, err := k.Spawn(t.Context(), keeper.Spec{ID: "a", Argv: []string{"/bin/sh", "-c", "exit 3"}, Dir: "/", Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Pty.Close()
	if e := <-k.Exits(); e.Code != 3 {
		t.Errorf("the child ended with %+v", e)
	}
	if err := k.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
