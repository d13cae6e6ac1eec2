package smalldisk

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// inside is set where a test runs in a namespace of its own.
const inside = "SMALL_DISK_INSIDE"

// Mount makes a directory a disk of a size, such as 6m, until the test ends. Where this
// user may not, the test is run by another process that may, and elsewhere is true: it is
// to return, as it has failed or passed there. Where that is not possible it is skipped.
func Mount(t *testing.T, dir, size string) (elsewhere bool) {
	t.Helper()
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size)
	}
	if err == nil {
		t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) }) //nolint:errcheck // the directory shows
		return false
	}
	if os.Getuid() == 0 || os.Getenv(inside) != "" {
		t.Skipf("no small disk can be made: %v", err)
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), inside+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	out, err := again.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		t.Skipf("no small disk can be made without root, as there are no user namespaces: %v", err)
	}
	t.Logf("in a user namespace:\n%s", out)
	if err != nil {
		t.Error(err)
	}
	return true
}

// Fill writes a file until its disk has no byte left. It is removed to have room again.
func Fill(t *testing.T, file string) {
	t.Helper()
	if err := fill(file); err != nil {
		t.Fatal(err)
	}
}

func fill(file string) error {
	f, err := os.OpenFile(filepath.Clean(file), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 1 << 16; size > 0; {
		_, err := f.Write(make([]byte, size))
		switch {
		case errors.Is(err, unix.ENOSPC):
			size /= 16
		case err != nil:
			return err
		}
	}
	return nil
}
