//go:build !linux

package pty

import (
	"os"

	"github.com/creack/pty"
)

// Open makes a terminal: the side of whoever drives it, and that of programs.
func Open() (master, slave *os.File, err error) { return pty.Open() }
