package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A program's clocks are set by a test: forward and backward, while it runs, each clock apart.
// The program is as it was built.
//
// It is started without the kernel's vDSO, so that it asks the time by system
// calls, and with a filter of seccomp that hands these to the test, which answers with the
// machine's time and what it was shifted by. The system's clocks stay as they are. Pauses
// that the program asks the kernel for take as long as they take; a program notices that a
// clock was shifted when it looks, as after a machine slept. What the program starts, or
// becomes by exec, has its vDSO back. The test binary becomes the program on its way: it is
// what sets the filter.

// clock is those of a program. It may be used from any goroutine, and ends with its program.
type clock struct{ shift [3]atomic.Int64 }

// kinds are the clocks that are shifted, in the order of clock.shift.
var kinds = [3]uint64{unix.CLOCK_REALTIME, unix.CLOCK_MONOTONIC, unix.CLOCK_BOOTTIME}

// Wall shifts the clock that people set.
func (c *clock) Wall(d time.Duration) { c.shift[0].Add(int64(d)) }

// Sleep shifts what a machine finds shifted that slept: all but the monotonic clock.
func (c *clock) Sleep(d time.Duration) { c.Wall(d); c.shift[2].Add(int64(d)) }

// Pass shifts all clocks.
func (c *clock) Pass(d time.Duration) { c.Sleep(d); c.shift[1].Add(int64(d)) }

// wrapper is the name under which a test binary becomes the program.
const wrapper = "clock-wrapper"

// saysTime is what has a test binary say for each line what its clocks say.
const saysTime = "TANDEMUX_TEST_SAYS_TIME"

var begun = time.Now()

func init() {
	if os.Args[0] == wrapper {
		runtime.LockOSThread() // the main one, which keeps its filter
		fmt.Fprintln(os.Stderr, "clocks:", wrap(os.Args[1], os.Args[2:]))
		os.Exit(125)
	}
	if os.Getenv(saysTime) != "" {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			var boot unix.Timespec
			unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) //nolint:errcheck // it is there
			fmt.Println(time.Now().Unix(), int64(time.Since(begun)/time.Second), boot.Sec)
		}
		os.Exit(0)
	}
}

// wrap hands the filter's other end to the test, has it stop this process as the program
// begins, and becomes that.
func wrap(path string, args []string) error {
	const nr, low = 0, 16 // of seccomp_data: the call, its first argument
	jump := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: yes, Jf: no}
	}
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	program := []unix.SockFilter{
		load(nr), jump(unix.SYS_CLOCK_GETTIME, 0, 4), load(low),
		jump(uint32(kinds[0]), 3, 0), jump(uint32(kinds[1]), 2, 0), jump(uint32(kinds[2]), 1, 0),
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(int(fd)), nil, 0); err != nil {
		return fmt.Errorf("hand over: %w", err)
	}
	unix.Close(int(fd)) //nolint:errcheck // it was handed over
	unix.CloseOnExec(3)
	if _, _, errno := unix.RawSyscall(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0); errno != 0 {
		return fmt.Errorf("ptrace: %w", errno)
	}
	return syscall.Exec(path, args, os.Environ())
}

// startClock starts a command with clocks that are the machine's until they are shifted. It
// skips the test where the system does not let it.
func startClock(t testing.TB, cmd *exec.Cmd) *clock {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Args = append([]string{wrapper, cmd.Path}, cmd.Args...)
	cmd.Path, cmd.ExtraFiles = self, []*os.File{theirs}
	began := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // which is the tracer
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		theirs.Close()
		if err == nil {
			err = enter(cmd.Process.Pid)
		}
		began <- err
	}()
	if err := <-began; err != nil {
		t.Skipf("a program's clocks can't be set here: %v", err)
	}
	fd, err := receive(ours)
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{}
	go c.serve(fd)
	return c
}

// receive takes the filter's end.
func receive(from *os.File) (int, error) {
	conn, err := net.FileConn(from)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.(*net.UnixConn).ReadMsgUnix(make([]byte, 1), rights) //nolint:forcetypeassert // it is one
	if err != nil {
		return 0, err
	}
	all, err := unix.ParseSocketControlMessage(rights[:n])
	if err != nil || len(all) != 1 {
		return 0, errors.New("it hands nothing over")
	}
	fds, err := unix.ParseUnixRights(&all[0])
	if err != nil {
		return 0, err
	}
	return fds[0], nil
}

// enter waits until the program begins, hides the vDSO from it, and lets it go.
func enter(pid int) error {
	for {
		var s syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &s, syscall.WALL, nil); err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		} else if err != nil {
			continue
		}
		switch {
		case !s.Stopped():
			return fmt.Errorf("it ended: %d", s.ExitStatus())
		case s.StopSignal() == syscall.SIGTRAP:
			err := hide(pid)
			return errors.Join(err, syscall.PtraceDetach(pid))
		}
		if err := syscall.PtraceCont(pid, int(s.StopSignal())); err != nil {
			return err
		}
	}
}

// hide takes the vDSO out of what the kernel told the program at its start.
func hide(pid int) error {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return err
	}
	const startStack = 28 - 3 // see proc(5)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	at, err := strconv.ParseInt(fields[startStack], 10, 64)
	if err != nil {
		return err
	}
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer mem.Close()
	word := func() (uint64, error) {
		var b [8]byte
		_, err := mem.ReadAt(b[:], at)
		at += 8
		return binary.NativeEndian.Uint64(b[:]), err
	}
	n, err := word()
	at += 8 * (int64(n) + 1)
	for v := uint64(1); v != 0 && err == nil; { // the environment
		v, err = word()
	}
	const sysinfoEHDR, ignore = 33, 1
	for err == nil {
		var kind uint64
		switch kind, err = word(); kind {
		case sysinfoEHDR:
			_, err = mem.WriteAt(binary.NativeEndian.AppendUint64(nil, ignore), at-8)
			return err
		case 0:
			return errors.Join(err, errors.New("it has no vDSO"))
		}
		at += 8
	}
	return err
}

// notification and answer are seccomp_notif and seccomp_notif_resp.
type notification struct {
	id         uint64
	pid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

type answer struct {
	id    uint64
	val   int64
	err   int32
	flags uint32
}

const (
	notifRecv = 0xc0502100 // SECCOMP_IOCTL_NOTIF_RECV
	notifSend = 0xc0182101 // SECCOMP_IOCTL_NOTIF_SEND
)

// serve answers what the program asks, until it is gone.
func (c *clock) serve(fd int) {
	defer unix.Close(fd)
	for {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if ready[0].Revents&unix.POLLIN == 0 {
			if ready[0].Revents != 0 {
				return
			}
			continue
		}
		var n notification
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), notifRecv, uintptr(unsafe.Pointer(&n))); errno != 0 {
			continue // who asked was interrupted
		}
		a := answer{id: n.id}
		if err := c.tell(&n); err != nil {
			a.err = -int32(unix.EINVAL)
		}
		unix.Syscall(unix.SYS_IOCTL, uintptr(fd), notifSend, uintptr(unsafe.Pointer(&a))) //nolint:errcheck // it asks again
	}
}

func (c *clock) tell(n *notification) error {
	var now unix.Timespec
	if err := unix.ClockGettime(int32(n.args[0]), &now); err != nil {
		return err
	}
	for i, kind := range kinds {
		if kind == n.args[0] {
			now = unix.NsecToTimespec(now.Nano() + c.shift[i].Load())
		}
	}
	text := unsafe.Slice((*byte)(unsafe.Pointer(&now)), unsafe.Sizeof(now))
	local := []unix.Iovec{{Base: &text[0], Len: uint64(len(text))}}
	_, err := unix.ProcessVMWritev(int(n.pid), local, []unix.RemoteIovec{{Base: uintptr(n.args[1]), Len: len(text)}}, 0)
	return err
}

// TestShift: a program's wall, monotonic and boot clocks are set while it runs, each apart.
func TestShift(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), saysTime+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	c := startClock(t, cmd)
	defer cmd.Wait() //nolint:errcheck // its input ends
	defer in.Close()
	says := bufio.NewReader(out)
	read := func() (v [3]int64) {
		t.Helper()
		if _, err := fmt.Fprintln(in); err != nil {
			t.Fatal(err)
		}
		line, err := says.ReadString('\n')
		if _, scanned := fmt.Sscan(line, &v[0], &v[1], &v[2]); err != nil || scanned != nil {
			t.Fatalf("%q: %v", line, err)
		}
		return v
	}
	const day = 24 * 60 * 60
	first := read()
	if d := time.Now().Unix() - first[0]; d < -1 || d > 5 {
		t.Errorf("unshifted it is %d s behind", d)
	}
	for _, s := range []struct {
		by   func(time.Duration)
		long time.Duration
		want [3]int64
	}{
		{c.Wall, -48 * time.Hour, [3]int64{-2 * day, 0, 0}},
		{c.Sleep, 24 * time.Hour, [3]int64{-day, 0, day}},
		{c.Pass, 24 * time.Hour, [3]int64{0, day, 2 * day}},
	} {
		s.by(s.long)
		now := read()
		for i := range now {
			if d := now[i] - first[i] - s.want[i]; d < 0 || d > 60 {
				t.Errorf("clock %d is off by %d s", i, d)
			}
		}
	}
}
