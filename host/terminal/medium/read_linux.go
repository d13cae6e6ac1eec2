package medium

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// temporaryName must be in the name of a file that is removed, or has raw pixels.
	temporaryName = "tty-graphics-protocol"
	shm           = "/dev/shm"
)

// same reports whether a process group's leader is of this process's user and sees the
// same files.
func same(group int) bool {
	if group <= 0 {
		return false
	}
	of := func(pid string) (uid uint32, mounts, root string, ok bool) {
		var st unix.Stat_t
		if unix.Stat("/proc/"+pid, &st) != nil {
			return 0, "", "", false
		}
		mounts, err1 := os.Readlink("/proc/" + pid + "/ns/mnt")
		root, err2 := os.Readlink("/proc/" + pid + "/root")
		return st.Uid, mounts, root, err1 == nil && err2 == nil
	}
	uid, mounts, root, ok := of(strconv.Itoa(group))
	ours, ourMounts, ourRoot, ok2 := of("self")
	return ok && ok2 && uid == ours && mounts == ourMounts && root == ourRoot
}

// read gives what is named, nil if it may not be read, and removes what the protocol says
// goes then.
func read(kind byte, name string, n numbers) []byte {
	path := name
	made := strings.Contains(filepath.Base(name), temporaryName) // for this alone
	if kind == 's' {
		base := strings.TrimPrefix(name, "/")
		if base == "" || strings.Contains(base, "/") || base == "." || base == ".." {
			return nil
		}
		path = shm + "/" + base
	}
	if !filepath.IsAbs(path) {
		return nil
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	var st unix.Stat_t
	real, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil || unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || !allowed(filepath.Dir(real), kind) {
		return nil
	}
	made = (kind == 's' || made && temporary(filepath.Dir(real))) && int(st.Uid) == os.Geteuid()
	data := part(f, st.Size, n)
	switch {
	case data == nil:
		return nil
	case n.raw && !n.packed:
		if !made || n.pixels() == 0 || len(data) < n.pixels() {
			return nil
		}
		data = data[:n.pixels()]
	case n.raw:
		if !made {
			return nil
		}
	case !bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return nil
	}
	if made && kind != 'f' {
		remove(real, &st)
	}
	return data
}

// part reads as much of a file as is wanted.
func part(f *os.File, size int64, n numbers) []byte {
	size -= int64(n.offset)
	if n.size > 0 {
		size = min(size, int64(n.size))
	} else if n.raw && !n.packed {
		size = min(size, int64(n.pixels())) // shared memory is of whole pages
	}
	if size <= 0 || size > maxRead {
		return nil
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(f, int64(n.offset), size), data); err != nil {
		return nil
	}
	return data
}

// allowed reports whether files of a directory are read.
func allowed(dir string, kind byte) bool {
	if dir == shm {
		return kind == 's' || kind == 't'
	}
	for _, no := range [...]string{"/proc", "/sys", "/dev"} {
		if dir == no || strings.HasPrefix(dir, no+"/") {
			return false
		}
	}
	return kind != 's'
}

// temporary reports whether files of a directory are temporary ones.
func temporary(dir string) bool {
	return slices.ContainsFunc([]string{"/tmp", "/var/tmp", shm, os.TempDir()}, func(t string) bool {
		real, err := filepath.EvalSymlinks(t)
		return err == nil && (dir == real || strings.HasPrefix(dir, real+"/"))
	})
}

// remove removes a file, if it is the one that was read.
func remove(path string, st *unix.Stat_t) {
	var now unix.Stat_t
	if unix.Lstat(path, &now) == nil && now.Ino == st.Ino && now.Dev == st.Dev {
		_ = unix.Unlink(path)
	}
}
