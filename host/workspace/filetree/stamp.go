package filetree

import (
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// Stamp is by what a file is known not to have changed: as long as it is the same,
// so are the contents, unless it is younger than fresh.
type Stamp struct {
	mode         uint32 // as the system has it
	Size         int64
	mtime, ctime int64 // nanoseconds since 1970
	ino, dev     uint64
}

// fresh is how old a change must be before the next one is sure to have another
// time: file systems take theirs from a clock that ticks up to every 10 ms.
const fresh = 50 * time.Millisecond

func stampFrom(st *unix.Stat_t) Stamp {
	return Stamp{
		mode: uint32(st.Mode), Size: st.Size, ino: st.Ino, dev: uint64(st.Dev), //nolint:unconvert // types differ by system
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
	}
}

func stampOf(fd int) (Stamp, error) {
	var st unix.Stat_t
	err := again(func() error { return unix.Fstat(fd, &st) })
	return stampFrom(&st), err
}

// Settled reports whether a file with this stamp can't have changed unseen since a
// moment at which it had it.
func (s Stamp) Settled(at time.Time) bool {
	limit := at.Add(-fresh).UnixNano()
	return s.ctime < limit && s.mtime < limit
}

// fileMode is the type and permission bits that manifests keep; ok is false for
// devices, sockets and FIFOs.
func (s Stamp) fileMode() (mode fs.FileMode, ok bool) {
	switch s.mode & unix.S_IFMT {
	case unix.S_IFREG:
		return fs.FileMode(s.mode & 0o777), true
	case unix.S_IFDIR:
		return fs.ModeDir | fs.FileMode(s.mode&0o777), true
	case unix.S_IFLNK:
		return fs.ModeSymlink | 0o777, true
	}
	return 0, false
}
