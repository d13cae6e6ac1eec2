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
		ts.Check(os.MkdirAll(dir, 0o700))
		ts.Check(unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=0700"))
		ts.Defer(func() { unix.Unmount(dir, unix.MNT_DETACH) }) //nolint:errcheck // the directory shows
	case "fill":
		f, err := os.OpenFile(ballast, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		ts.Check(err)
		defer f.Close()
		block := make([]byte, 4096)
		for end := time.Now().Add(waitLimit); ; {
			if _, err = f.Write(block); err != nil {
				break
			}
			if time.Now().After(end) {
				ts.Fatalf("the disk does not fill")
			}
		}
		if !errors.Is(err, unix.ENOSPC) {
			ts.Fatalf("fill the disk: %v", err)
		}
	case "free":
		ts.Check(os.Remove(ballast))
	}
}
