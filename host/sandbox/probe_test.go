//go:build linux

package sandbox_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tandemux/host/agent"
)

// probes are what a shell has no words for: the test's own program tries it, inside
// and out. A nil error is success.
var probes = map[string]func(args []string) error{
	"unix": func(args []string) error { return dial("unix", args[0]) },
	"tcp":  func(args []string) error { return dial("tcp", args[0]) },
	"signal": func(args []string) error {
		pid, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		return syscall.Kill(pid, syscall.SIGCONT)
	},
	"ptrace": func(args []string) error {
		pid, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		return unix.PtraceSeize(pid)
	},
	// A user namespace, by each way that there is.
	"namespace": func([]string) error {
		// The child sees a copy of our memory, where it is in a namespace of its own: it ends.
		for _, call := range []uintptr{unix.SYS_CLONE, unix.SYS_CLONE3} {
			args := struct{ flags, pidfd, child, parent, signal, stack, size, tls uint64 }{flags: unix.CLONE_NEWUSER, signal: uint64(unix.SIGCHLD)}
			first, second := uintptr(unix.CLONE_NEWUSER)|uintptr(unix.SIGCHLD), uintptr(0)
			if call == unix.SYS_CLONE3 {
				first, second = addr(&args), unsafe.Sizeof(args)
			}
			pid, _, errno := syscall.RawSyscall6(call, first, second, 0, 0, 0, 0)
			if errno == 0 && pid == 0 {
				syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
			}
			if errno == 0 {
				return nil
			}
		}
		return unix.Unshare(unix.CLONE_NEWUSER)
	},
	"ring": func([]string) error {
		var params [120]byte
		fd, _, errno := syscall.Syscall(unix.SYS_IO_URING_SETUP, 1, addr(&params), 0)
		if errno != 0 {
			return errno
		}
		return unix.Close(int(fd))
	},
	// Writes where a process's memory is.
	"write": func(args []string) error {
		f, err := os.OpenFile("/proc/"+args[0]+"/mem", os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err == nil && info.Mode()&os.ModeDevice != 0 {
			return errors.New("it is a device")
		}
		return err
	},
	"keyring": func([]string) error {
		_, err := unix.KeyctlInt(unix.KEYCTL_GET_KEYRING_ID, unix.KEY_SPEC_SESSION_KEYRING, 0, 0, 0)
		return err
	},
	"segment": func(args []string) error {
		key, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		_, err = unix.SysvShmGet(key, 0, 0)
		return err
	},
	// Types a character where stdin is the terminal.
	"type": func([]string) error {
		x := byte('x')
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, 0, unix.TIOCSTI, addr(&x))
		if errno != 0 {
			return errno
		}
		return nil
	},
	// Whether there is a controlling terminal.
	"tty": func([]string) error {
		f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		if err == nil {
			f.Close()
		}
		return err
	},
	// Holds so many bytes for a moment.
	"memory": func(args []string) error {
		n, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			return err
		}
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		return nil
	},
	"descriptors": func([]string) error {
		for fd := 3; fd < 1024; fd++ {
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
				return fmt.Errorf("descriptor %d is open", fd)
			}
		}
		return nil
	},
}

func dial(network, addr string) error {
	c, err := net.DialTimeout(network, addr, 5*time.Second)
	if err == nil {
		c.Close()
	}
	return err
}

// probe runs one and gives the exit code.
func probe(args []string) int {
	do := probes[args[0]]
	if do == nil {
		fmt.Fprintln(os.Stderr, errors.New("there is no such probe"), args[0])
		return 2
	}
	if err := do(args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, args[0], err)
		return 1
	}
	return 0
}

// launch is one of nothing in particular.
var launch = agent.Launch{}

// serve answers on TCP for a test's time.
func serve(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln.Addr().String()
}

// program is what a benchmark's sandbox runs: the real one where the environment
// names it.
func program(b *testing.B) string {
	b.Helper()
	if path := os.Getenv("TANDEMUX_PROGRAM"); path != "" {
		return path
	}
	path, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	return path
}
