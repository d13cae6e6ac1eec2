package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if os.Getenv("BENCH_TEST") != "" {
		main()
		return
	}
	m.Run()
}

// TestSignal: who is ended by a signal leaves nothing behind, though what it started is in
// sessions of its own.
func TestSignal(t *testing.T) {
	dir := t.TempDir()
	pipe, fake := filepath.Join(dir, "pipe"), filepath.Join(dir, "fake")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fake, []byte("#!/bin/bash\nsetsid sh -c 'exec 3>"+pipe+"; echo >&3; sleep 1000' &\nwait\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-mux", "tandemux", "-case", "start", "-tandemux", fake)
	cmd.Env = append(os.Environ(), "BENCH_TEST=1", "TMPDIR="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Read(make([]byte, 1))          //nolint:errcheck // what has the pipe runs
	cmd.Process.Signal(unix.SIGTERM) //nolint:errcheck // then it has ended
	cmd.Wait()                       //nolint:errcheck // by the signal, or as if it had failed
	left, _ := filepath.Glob(filepath.Join(dir, "tandemux-bench-*"))
	if len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	for _, p := range marked("") {
		if strings.Contains(p.args, pipe) {
			t.Errorf("process %d is left: %s", p.pid, p.args)
			unix.Kill(p.pid, unix.SIGKILL) //nolint:errcheck // it may have ended
		}
	}
}
