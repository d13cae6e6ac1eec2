package pty

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// name is where the kernel puts a terminal's name: no variable of a stack, which
// may move meanwhile.
var name struct {
	sync.Mutex
	text [128]byte
}

// Open makes a terminal: the side of whoever drives it, which deadlines work on,
// and the side of programs.
func Open() (master, slave *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open a pty: %w", err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	for _, request := range []uint{0x20007454, 0x20007452} { // TIOCPTYGRANT, TIOCPTYUNLK
		if err == nil {
			err = unix.IoctlSetInt(fd, request, 0)
		}
	}
	path := ""
	if err == nil {
		path, err = nameOf(fd)
	}
	if err == nil {
		slave, err = os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
		return nil, nil, fmt.Errorf("open a pty: %w", err)
	}
	return master, slave, nil
}

func nameOf(fd int) (string, error) {
	name.Lock()
	defer name.Unlock()
	clear(name.text[:])
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), 0x40807453, uintptr(unsafe.Pointer(&name.text))) // TIOCPTYGNAME
	if errno != 0 {
		return "", errno
	}
	text, _, _ := bytes.Cut(name.text[:], []byte{0})
	return string(text), nil
}
