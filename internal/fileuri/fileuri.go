package fileuri

import (
	"net/url"
	"path/filepath"
	"strings"
)

// Of is the URI of an absolute path; "" for none.
func Of(path string) string {
	if path == "" {
		return ""
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// Path is the path of a file URI. What is none is given as it is: old hosts send plain
// paths.
func Path(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	return u.Path
}

// Local is the path that a file URI, or an absolute path, names on this machine, clean;
// false if it names none.
func Local(uri, hostname string) (string, bool) {
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
