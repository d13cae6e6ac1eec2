package endpoint

import (
	"os"
	"path/filepath"
	"strings"
)

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
