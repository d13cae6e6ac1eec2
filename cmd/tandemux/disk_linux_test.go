package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// mayMount reports whether this user can make a small disk.
func mayMount() bool {
	dir, err := os.MkdirTemp("", "tandemux")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	if unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k") != nil {
		return false
	}
	return unix.Unmount(dir, unix.MNT_DETACH) == nil
}

// cmdDisk is a disk that can be full:
//
//	disk mount DIR    a small one
//	disk fill DIR     to the last byte, and keeps it so
//	disk free DIR
func cmdDisk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: disk mount|fill|free DIR")
	}
	dir := ts.MkAbs(args[1])
	ballast := filepath.Join(dir, "ballast")
	switch args[0] {
	case "mount":
		unmount, err := mountSmall(dir, "1m")
		ts.Check(err)
		ts.Defer(unmount)
	case "fill":
		ts.Check(fillFile(ballast))
	case "free":
		ts.Check(os.Remove(ballast))
	}
}

// mountSmall makes a directory a disk of its own, of a size, until the returned function
// is called.
func mountSmall(dir, size string) (unmount func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return func() { unix.Unmount(dir, unix.MNT_DETACH) }, //nolint:errcheck // the directory shows
		unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size)
}

// fillFile writes into a file until its disk has no byte left.
func fillFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	block := make([]byte, 4096)
	for end := time.Now().Add(waitLimit); ; {
		if _, err = f.Write(block); errors.Is(err, unix.ENOSPC) {
			return nil
		}
		if err != nil {
			return err
		}
		if time.Now().After(end) {
			return errors.New("the disk does not fill")
		}
	}
}
