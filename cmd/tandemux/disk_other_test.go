//go:build !linux

package main

import (
	"errors"

	"github.com/rogpeppe/go-internal/testscript"
)

func mayMount() bool { return false }

func mountSmall(string, string) (func(), error) { return nil, errors.ErrUnsupported }

func fillFile(string) error { return errors.ErrUnsupported }

func cmdDisk(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("no small disks here") }
