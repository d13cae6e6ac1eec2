package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// fileURI names an absolute path as AHP does.
func fileURI(path string) string {
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// pathOf is the path of a file URI; a plain path passes, as old hosts send it.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	return u.Path
}

// tilde shortens a path below the home directory.
func tilde(path string) string {
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
