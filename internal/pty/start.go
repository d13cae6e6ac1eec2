package pty

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Pair makes a terminal: the descriptor of whoever drives it, and that of programs.
// Both block and are close-on-exec. Its line editor takes UTF-8 (IUTF8): a backspace erases
// a character and not a byte.
func Pair() (master, slave int, err error) {
	master, err = unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("open /dev/ptmx: %w", err)
	}
	name, err := unlock(master)
	if err == nil {
		slave, err = unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	}
	if err == nil {
		if err = takeUTF8(slave); err != nil {
			unix.Close(slave)
		}
	}
	if err != nil {
		unix.Close(master)
		return -1, -1, fmt.Errorf("open the other side of a pty: %w", err)
	}
	return master, slave, nil
}

func takeUTF8(slave int) error {
	mode, err := unix.IoctlGetTermios(slave, getMode)
	if err != nil {
		return err
	}
	mode.Iflag |= unix.IUTF8
	return unix.IoctlSetTermios(slave, setMode, mode)
}

// Open is Pair as files, of which deadlines work on the first.
func Open() (master, slave *os.File, err error) {
	m, s, err := Pair()
	if err != nil {
		return nil, nil, err
	}
	slave = os.NewFile(uintptr(s), "pty")
	if err := unix.SetNonblock(m, true); err != nil {
		unix.Close(m)
		slave.Close()
		return nil, nil, fmt.Errorf("open a pty: %w", err)
	}
	return os.NewFile(uintptr(m), "/dev/ptmx"), slave, nil
}

// Winsize is a terminal's size in cells.
type Winsize struct{ Rows, Cols uint16 }

// Setsize changes it; the programs on it are told.
func Setsize(f *os.File, s *Winsize) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("set a terminal's size: %w", err)
	}
	if cerr := raw.Control(func(fd uintptr) {
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: s.Rows, Col: s.Cols})
	}); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("set a terminal's size: %w", err)
	}
	return nil
}

// StartWithSize starts a program as the leader of a session on a new terminal,
// which is its input, output and errors where cmd says nothing else, and gives
// the terminal's other side.
func StartWithSize(cmd *exec.Cmd, s *Winsize) (*os.File, error) {
	master, slave, err := Open()
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	if err := Setsize(master, s); err != nil {
		master.Close()
		return nil, err
	}
	if cmd.Stdin == nil {
		cmd.Stdin = slave
	}
	if cmd.Stdout == nil {
		cmd.Stdout = slave
	}
	if cmd.Stderr == nil {
		cmd.Stderr = slave
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty = true, true
	if err := cmd.Start(); err != nil {
		master.Close()
		return nil, err
	}
	return master, nil
}
