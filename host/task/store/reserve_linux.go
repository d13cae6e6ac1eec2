package store

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	// maxReserve bounds the reserve, in bytes, and shareReserve what it is of a disk.
	maxReserve   = 4 << 20
	shareReserve = 32
	// spareFile has as much again, for a database that is opened where the disk is full.
	spareFile = "tasks.spare"
)

// reserve sees to it that there is room behind the end of the database's log, which
// nobody else can take: it has blocks, but counts for nothing. Where there is no room for
// it, the disk is full to all but what ends something. A file system that knows no such
// thing has none.
func (s *Store) reserve() error {
	if !s.lay(eighths) {
		return s.full()
	}
	return nil
}

// eighths are all parts of the reserve.
const eighths = 8

// lay lays so many parts of the reserve, and the spare file with the whole; false: the disk
// is full.
func (s *Store) lay(parts int64) bool {
	f, err := os.OpenFile(s.path+"-wal", os.O_RDWR|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return true // nothing was written yet; what is wrong SQLite says
	}
	defer f.Close() // SQLite has its locks on other files
	info, err := f.Stat()
	db, bad := s.file.Stat()
	if err != nil || bad != nil {
		return true
	}
	now := [2]int64{info.Size(), db.Size()}
	if was := s.laid.Load(); was != nil && *was == now {
		return true
	}
	var disk unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &disk) != nil {
		return true
	}
	size := min(maxReserve, int64(disk.Blocks)*disk.Bsize/shareReserve) * parts / eighths
	if !allocated(f, info.Size(), size) {
		return false
	}
	if parts < eighths {
		return true
	}
	// What is in the log has a place in the database, or its room could not be used again.
	if !allocated(s.file, db.Size(), info.Size()+size) {
		return false
	}
	spare, err := os.OpenFile(filepath.Join(s.dir, spareFile), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err == nil {
		defer spare.Close()
		if !allocated(spare, 0, size) {
			return false
		}
	}
	s.laid.Store(&now)
	return true
}

func allocated(f *os.File, from, size int64) bool {
	if size <= 0 {
		return true
	}
	err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, from, size)
	return !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT)
}

// giveUp gives the spare file's room to the database, if there is one.
func giveUp(dir string) bool { return os.Remove(filepath.Join(dir, spareFile)) == nil }

// keepSome lays what there is room for, at once: the spare file's was given up.
func keepSome(s *Store) {
	for parts := int64(eighths); parts > 0 && !s.lay(parts); parts-- {
	}
}
