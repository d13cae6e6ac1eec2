package store

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	// maxReserve bounds the reserve in bytes; it is at most 1/shareReserve of the disk.
	maxReserve   = 4 << 20
	shareReserve = 32
	// spareFile takes as much space again, for opening the database on a full disk.
	spareFile = "tasks.spare"
)

// reserve allocates disk space behind the end of the database's log that nothing else can take; the
// file's size does not change. If that fails it returns Full: only what ends something may be written
// then. On a file system that can't do that there is no reserve.
func (s *Store) reserve() error {
	if !s.lay(eighths) {
		return s.full()
	}
	return nil
}

// eighths is the number of parts of the whole reserve.
const eighths = 8

// lay allocates parts of the reserve, and with all of them the spare file. It returns false if the
// disk is full.
func (s *Store) lay(parts int64) bool {
	f, err := os.OpenFile(s.path+"-wal", os.O_RDWR|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return true // nothing was written yet; SQLite reports other errors
	}
	defer f.Close() // SQLite's locks are on other files
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
	// The database needs space for what is in the log, or the log's space could not be used again.
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

// giveUp deletes the spare file, and reports whether there was one.
func giveUp(dir string) bool { return os.Remove(filepath.Join(dir, spareFile)) == nil }

// keepSome allocates as much of the reserve as possible, after giveUp.
func keepSome(s *Store) {
	for parts := int64(eighths); parts > 0 && !s.lay(parts); parts-- {
	}
}
