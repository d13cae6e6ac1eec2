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

// A sandbox's cgroup is a directory beside or below that of the process that starts it, at the nearest
// place where this user may make one. The next sandbox that is made beside it removes it when it is
// empty.

var errNoCgroup = errors.New("no cgroup of one's own can be had here")

const cgroupPrefix = "tandemux-"

// cgroupRoot is a variable for tests.
var cgroupRoot = "/sys/fs/cgroup"

// joinCgroup puts a process, this one if pid is 0, into the sandbox's cgroup with the limits, and
// makes the cgroup if needed. Without limits it does nothing.
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

// enterAbove joins a cgroup of version 2 below the nearest ancestor of own (the text of
// /proc/self/cgroup) that delegates both controllers and lets this user make directories.
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

// enter makes a cgroup below parent, sets its limits, and moves a process into it.
func enter(parent, name string, limits map[string]int64, pid int) error {
	dir := filepath.Join(parent, cgroupPrefix+name)
	for range 3 { // clearUp of another sandbox may remove it before the process is in it
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

// clearUp removes the cgroups of sandboxes that have ended. One with a process can't be removed.
func clearUp(parent, but string) {
	list, _ := filepath.Glob(filepath.Join(parent, cgroupPrefix+"*"))
	for _, dir := range list {
		if dir != but {
			os.Remove(dir) //nolint:errcheck // fails while it is in use
		}
	}
}
