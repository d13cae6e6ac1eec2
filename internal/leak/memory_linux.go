package leak

import "golang.org/x/sys/unix"

// memory is a directory in memory, with room, that programs may be run from; "" where there
// is none.
func memory() string {
	const dir, room = "/dev/shm", 4 << 30
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil || s.Type != unix.TMPFS_MAGIC || s.Flags&unix.ST_NOEXEC != 0 || s.Bavail*uint64(s.Bsize) < room {
		return ""
	}
	return dir
}
