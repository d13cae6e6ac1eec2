//go:build !linux

package filetree

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// chmodat changes permission bits without following a symlink.
func chmodat(dirfd int, name string, perm fs.FileMode) error {
	return unix.Fchmodat(dirfd, name, uint32(perm.Perm()), unix.AT_SYMLINK_NOFOLLOW)
}
