package keeper

import (
	"bytes"
	"fmt"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The requests of a pty's master, of <sys/ttycom.h>.
const (
	ptyUnlock = 0x20007452 // TIOCPTYUNLK
	ptyGrant  = 0x20007454 // TIOCPTYGRANT
	ptyName   = 0x40807453 // TIOCPTYGNAME, 128 bytes
)

// openPty makes a pty. Both descriptors are close-on-exec and stay out of Go's
// poller, for the reasons given in pty_linux.go.
func openPty() (master, slave int, err error) {
	master, err = unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("open /dev/ptmx: %w", err)
	}
	defer func() {
		if err != nil {
			unix.Close(master)
		}
	}()
	if err = unix.IoctlSetInt(master, ptyGrant, 0); err != nil {
		return -1, -1, fmt.Errorf("grant access to the pty: %w", err)
	}
	if err = unix.IoctlSetInt(master, ptyUnlock, 0); err != nil {
		return -1, -1, fmt.Errorf("unlock the pty: %w", err)
	}
	name, err := nameOf(master)
	if err != nil {
		return -1, -1, fmt.Errorf("find the pty's name: %w", err)
	}
	slave, err = unix.Open(name, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("open %s: %w", name, err)
	}
	return master, slave, nil
}

// name is where the kernel puts a pty's name. It is no variable of a stack, which
// may move while the kernel has its address as a number.
var name struct {
	sync.Mutex
	text [128]byte
}

// nameOf is the path of the pty's other side.
func nameOf(master int) (string, error) {
	name.Lock()
	defer name.Unlock()
	clear(name.text[:])
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(master), ptyName, uintptr(unsafe.Pointer(&name.text)))
	if errno != 0 {
		return "", errno
	}
	text, _, _ := bytes.Cut(name.text[:], []byte{0})
	return string(text), nil
}

// sealFiles marks every inherited descriptor but the standard three
// close-on-exec.
func sealFiles() error {
	for fd := 3; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
	return nil
}
