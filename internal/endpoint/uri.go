package endpoint

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// FileURI names an absolute path as AHP does.
func FileURI(path string) string {
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// PathOf is the path of a file URI; a plain path passes, as old hosts send it.
func PathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	return u.Path
}

// Tilde shortens a path below the home directory.
func Tilde(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "/" {
		return path
	}
	if path == home {
		return "~"
	}
	if rest, ok := strings.CutPrefix(path, filepath.Clean(home)+"/"); ok {
		return "~/" + rest
	}
	return path
}
