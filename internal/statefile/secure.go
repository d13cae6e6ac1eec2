package statefile

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Secure reports what lets another user put something at a path, or in the directory
// that it is: an owner who is neither this user nor root, or a mode that lets others
// write, of itself and of the directories on the way from the home directory or, if it is
// not below that, from the root. What is not there is secure. As sshd does with
// StrictModes, it follows links, and lets a user's own group write; in directories above,
// others may write where the sticky bit keeps them from others' files.
func Secure(path string) error {
	home, _ := os.UserHomeDir() //nolint:errcheck // then all is looked at
	var all []string
	for _, path := range []string{path, followed(path)} {
		for ; ; path = filepath.Dir(path) {
			all = append(all, path)
			if path == filepath.Dir(path) || path == home || path == followed(home) {
				break
			}
		}
	}
	for _, at := range all {
		info, err := os.Stat(at)
		if err != nil {
			continue // nothing is there, or it is said by who uses it
		}
		if err := secure(info, at == all[0] || at == followed(all[0])); err != nil {
			return fmt.Errorf("%s %w%s", at, err, fix(info, at))
		}
	}
	return nil
}

// followed is a path without links.
func followed(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// secure judges a file or directory by itself.
func secure(info fs.FileInfo, itself bool) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	if int(st.Uid) != os.Getuid() && st.Uid != 0 && !unmapped(st.Uid) {
		return fmt.Errorf("belongs to uid %d, neither to you nor to root", st.Uid)
	}
	others := info.Mode().Perm() & 0o022
	if others == 0o020 && ownGroup(st.Gid) {
		others = 0
	}
	if others != 0 && (itself || info.Mode()&fs.ModeSticky == 0) {
		return fmt.Errorf("can be written by others")
	}
	return nil
}

// fix is what to do about it.
func fix(info fs.FileInfo, at string) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Getuid() && st.Uid != 0 {
		return ": move it away, or give it to yourself with chown"
	}
	return ": look at what is in it, then `chmod go-w " + at + "`"
}

// ownGroup reports whether a group is this user's alone: it has the user's name, and no
// other members.
func ownGroup(gid uint32) bool {
	me, err := user.Current()
	if err != nil || me.Gid != strconv.Itoa(int(gid)) {
		return false
	}
	f, err := os.Open("/etc/group")
	if err != nil {
		return false
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if part := strings.Split(s.Text(), ":"); len(part) == 4 && part[2] == me.Gid {
			return part[0] == me.Username && (part[3] == "" || part[3] == me.Username)
		}
	}
	return false
}

// unmapped reports whether a uid stands for those that a user namespace does not have: of
// the machine's directories, mostly root's.
func unmapped(uid uint32) bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil || strings.Join(strings.Fields(string(text)), " ") == "0 0 4294967295" {
		return false
	}
	text, err = os.ReadFile("/proc/sys/kernel/overflowuid")
	return err == nil && strings.TrimSpace(string(text)) == strconv.Itoa(int(uid))
}
