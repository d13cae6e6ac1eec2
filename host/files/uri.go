package files

import (
	"net/url"
	"path/filepath"
	"strings"

	"tandemux/ahp"
)

// Path is the path that a file URI, or an absolute path, names on this machine.
func Path(uri ahp.URI, hostname string) (string, bool) {
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

// URI is the file URI of an absolute path.
func URI(path string) ahp.URI { return (&url.URL{Scheme: "file", Path: path}).String() }
