package journal

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// memoryFile makes a memory file, which uses memory only for written pages. Its seals keep
// all holders of the descriptor from changing its size.
func memoryFile(size int) (*os.File, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("tandemux-journal", flags|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate("tandemux-journal", flags)
	}
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "tandemux-journal")
	if err := f.Truncate(int64(size)); err != nil {
		f.Close()
		return nil, err
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		f.Close()
		return nil, os.NewSyscallError("seal a memory file", err)
	}
	return f, nil
}

// sealed reports whether a file cannot be truncated: because of its seals or, for a file that
// can't have seals, because it has no name.
func sealed(fd int, named bool) bool {
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals == unix.F_SEAL_SEAL {
		// A file system without seals, or one of memory whose files can't have any.
		return !named
	}
	return seals&unix.F_SEAL_SHRINK != 0
}

func allocate(f *os.File, size int) error {
	return unix.Fallocate(int(f.Fd()), 0, 0, int64(size))
}

// remove frees whole pages of a mapped file, which then read as zeros. On other memory it does
// nothing.
func remove(mem []byte) {
	if len(mem) > 0 {
		unix.Madvise(mem, unix.MADV_REMOVE) //nolint:errcheck // it only saves memory
	}
}

// sendfile writes n bytes of a file, from its position on, to a non-blocking tty. The position
// moves by what the tty takes.
func sendfile(to uintptr, from, n int) (int, error) {
	sent, _, errno := syscall.RawSyscall6(unix.SYS_SENDFILE, to, uintptr(from), 0, uintptr(n), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(sent), nil
}

// rewind sets a file's position.
func rewind(fd, to int) error {
	if _, _, errno := syscall.RawSyscall(unix.SYS_LSEEK, uintptr(fd), uintptr(to), unix.SEEK_SET); errno != 0 {
		return errno
	}
	return nil
}
