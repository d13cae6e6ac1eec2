package host

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"tandemux/ahp"
)

// directory is the working directory that a client asked for: a file URI, a
// plain absolute path, or nothing for the user's home.
func (h *Host) directory(cwd ahp.URI) (string, error) {
	if cwd == "" {
		return h.home, nil
	}
	dir, ok := filePath(cwd, h.hostname)
	if !ok {
		return "", ahp.InvalidParams("create terminal: cwd: %q is not a file URI with an absolute path on this machine", clip(cwd))
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

// filePath is the path of a file URI on this machine.
func filePath(uri ahp.URI, hostname string) (string, bool) {
	path := uri
	if !strings.HasPrefix(uri, "/") {
		u, err := url.Parse(uri)
		if err != nil || u.Scheme != "file" || u.Opaque != "" {
			return "", false
		}
		if u.Host != "" && u.Host != "localhost" && !strings.EqualFold(u.Host, hostname) {
			return "", false
		}
		path = u.Path
	}
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", false
	}
	return filepath.Clean(path), true
}

// fileURI is an absolute path as a URI.
func fileURI(path string) ahp.URI { return (&url.URL{Scheme: "file", Path: path}).String() }
