package host

import (
	"fmt"
	"os"
	"path/filepath"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/internal/fileuri"
)

// whereabouts is the directory that a new terminal beside another is started in:
// where the other's foreground program works, as people expect who split while
// something runs, or whose shell does not tell. What the shell told is used where
// it names the same place, as it may have come there by a link, and where the
// system does not say. Reading it costs nothing until it is asked for.
func (h *Host) whereabouts(p *auth.Principal, uri ahp.URI) (dir string, ok bool) {
	tx := h.core.Lock()
	t, ok := termAt(tx, uri)
	if !ok || !reaches(tx, p, uri) {
		tx.Unlock()
		return "", false
	}
	told, _ := fileuri.Local(t.value.Cwd, h.hostname)
	pid, exited := t.meta.Pid, t.value.Lifecycle.Exited()
	b, _ := h.sessions.Confined(tx, t.sandbox)
	k, _ := b.(*confined)
	inside := t.sandbox != ""
	tx.Unlock()
	if !exited {
		if fg := t.t.Foreground(); fg > 0 {
			pid = fg
		}
		dir = workingDirectory(pid)
	}
	if inside { // What it calls its directory means something else outside.
		return k.whereabouts(dir, told)
	}
	if real, err := filepath.EvalSymlinks(told); told != "" && (dir == "" || err == nil && real == dir) {
		dir = told
	}
	info, err := os.Stat(dir)
	return dir, err == nil && info.IsDir()
}

// workingDirectory is a process's, "" where the system does not say: that takes
// /proc.
func workingDirectory(pid int) string {
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	return dir
}
