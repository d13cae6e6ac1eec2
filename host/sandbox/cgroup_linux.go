package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A sandbox's cgroup is a directory beside, or below, that of whoever starts it, in
// the first place that this user may write to. One that is empty is taken away by
// the next sandbox that is made beside it.

var errNoCgroup = errors.New("no cgroup of one's own can be had here")

const cgroupPrefix = "tandemux-"

// cgroupRoot is another one in tests.
var cgroupRoot = "/sys/fs/cgroup"

// joinCgroup puts a process, this one's with pid 0, into the sandbox's cgroup, made
// if there is none, with the limits. Without limits it does nothing.
func joinCgroup(name string, l Limits, pid int) error {
	if l == (Limits{}) {
		return nil
	}
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return err
	}
	return enterAbove(string(text), name, l, pid)
}

// enterAbove joins one of version 2: the nearest above us, as /proc/self/cgroup says
// where we are, that hands on both controllers and lets us make directories.
func enterAbove(own, name string, l Limits, pid int) error {
	_, path, ok := strings.Cut("\n"+own, "\n0::")
	if !ok {
		return errNoCgroup
	}
	path, _, _ = strings.Cut(path, "\n")
	for at := path; ; at = filepath.Dir(at) {
		parent := filepath.Join(cgroupRoot, at)
		given, err := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
		has := strings.Fields(string(given))
		if err == nil && slices.Contains(has, "memory") && slices.Contains(has, "pids") {
			if err := enter(parent, name, map[string]int64{"memory.max": l.Memory, "pids.max": int64(l.Processes)}, pid); err == nil {
				return nil
			}
		}
		if at == "/" {
			return errNoCgroup
		}
	}
}

// enter makes a cgroup below parent, sets its limits, and moves a process there.
func enter(parent, name string, limits map[string]int64, pid int) error {
	dir := filepath.Join(parent, cgroupPrefix+name)
	for range 3 { // Whoever clears up may take it away before we are in it.
		if err := os.Mkdir(dir, 0o755); errors.Is(err, fs.ErrExist) {
		} else if err != nil {
			return err
		} else {
			clearUp(parent, dir)
		}
		var err error
		for file, limit := range limits {
			if limit > 0 && err == nil {
				err = os.WriteFile(filepath.Join(dir, file), []byte(strconv.FormatInt(limit, 10)), 0)
			}
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
		}
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errNoCgroup
}

// clearUp takes away those of sandboxes that have ended: one with a process in it
// can't be.
func clearUp(parent, but string) {
	list, _ := filepath.Glob(filepath.Join(parent, cgroupPrefix+"*"))
	for _, dir := range list {
		if dir != but {
			os.Remove(dir) //nolint:errcheck // it is in use
		}
	}
}
