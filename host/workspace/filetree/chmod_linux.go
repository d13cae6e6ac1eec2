package filetree

import (
	"errors"
	"io/fs"
	"strconv"

	"golang.org/x/sys/unix"
)

// chmodat changes permission bits without following a symlink. Kernels before 6.6
// can't by name, but by a descriptor that only names.
func chmodat(dirfd int, name string, perm fs.FileMode) error {
	err := unix.Fchmodat(dirfd, name, uint32(perm.Perm()), unix.AT_SYMLINK_NOFOLLOW)
	if !errors.Is(err, unix.EOPNOTSUPP) {
		return err
	}
	fd, err := unix.Openat(dirfd, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return unix.EOPNOTSUPP
	}
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), uint32(perm.Perm()))
}
