package memtrim

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// unmapProgram unmaps the pages of the running program's file that are mapped to be
// read or executed. None of them can have been written to. All that it runs itself
// comes back, with what lies around it, so unmapping is the last thing it does.
func unmapProgram() error {
	ranges, err := program()
	if err != nil {
		return err
	}
	for _, r := range ranges {
		_, _, errno := syscall.RawSyscall(syscall.SYS_MADVISE, r[0], r[1]-r[0], syscall.MADV_DONTNEED)
		if errno != 0 {
			return fmt.Errorf("unmap pages of the program: %w", errno)
		}
	}
	return nil
}

// program is where the running program's file is mapped, but for its data.
func program() (ranges [][2]uintptr, err error) {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil, fmt.Errorf("find the program: %w", err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, fmt.Errorf("read what is mapped: %w", err)
	}
	for line := range strings.Lines(string(maps)) {
		// address range, permissions, offset, device, inode, path
		f := strings.Fields(line)
		if len(f) < 6 || f[5] != exe || f[1] != "r--p" && f[1] != "r-xp" {
			continue
		}
		from, to, err := addresses(f[0])
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, [2]uintptr{from, to})
	}
	return ranges, nil
}

// addresses reads a range such as 400000-a1b000.
func addresses(s string) (from, to uintptr, err error) {
	a, b, _ := strings.Cut(s, "-")
	const size = 8 * int(unsafe.Sizeof(from))
	lo, err := strconv.ParseUint(a, 16, size)
	if err != nil {
		return 0, 0, fmt.Errorf("read what is mapped: %w", err)
	}
	hi, err := strconv.ParseUint(b, 16, size)
	if err != nil || hi < lo {
		return 0, 0, fmt.Errorf("read what is mapped: %q is no range", s)
	}
	return uintptr(lo), uintptr(hi), nil
}
