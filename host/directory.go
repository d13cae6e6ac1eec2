package host

import (
	"os"

	"tandemux/ahp"
	"tandemux/host/params"
	"tandemux/internal/fileuri"
)

// directory is the working directory that a client asked for: a file URI, a
// plain absolute path, or nothing for the user's home.
func (h *Host) directory(cwd ahp.URI) (string, error) {
	if cwd == "" {
		return h.home, nil
	}
	dir, ok := fileuri.Local(cwd, h.hostname)
	if !ok {
		return "", ahp.InvalidParams("create terminal: cwd: %q is not a file URI with an absolute path on this machine", params.Clip(cwd))
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", ahp.NotFound("create terminal: cwd: %v", err)
	}
	if !info.IsDir() {
		return "", ahp.NotFound("create terminal: cwd: %s is not a directory", dir)
	}
	return dir, nil
}
