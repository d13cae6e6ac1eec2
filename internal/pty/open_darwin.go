package pty

import (
	"bytes"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// name is where the kernel puts a terminal's name: no variable of a stack, which
// may move while the kernel has its address as a number.
var name struct {
	sync.Mutex
	text [128]byte
}

// The requests for a terminal's modes.
const getMode, setMode = unix.TIOCGETA, unix.TIOCSETA

// unlock lets a terminal be used, and gives the name of its other side. The requests
// are those of <sys/ttycom.h>.
func unlock(master int) (string, error) {
	for _, request := range []uint{0x20007454, 0x20007452} { // TIOCPTYGRANT, TIOCPTYUNLK
		if err := unix.IoctlSetInt(master, request, 0); err != nil {
			return "", err
		}
	}
	name.Lock()
	defer name.Unlock()
	clear(name.text[:])
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(master), 0x40807453, uintptr(unsafe.Pointer(&name.text))) // TIOCPTYGNAME
	if errno != 0 {
		return "", errno
	}
	text, _, _ := bytes.Cut(name.text[:], []byte{0})
	return string(text), nil
}
