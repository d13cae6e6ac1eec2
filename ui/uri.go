package ui

import (
	"crypto/rand"
	"net/url"
	"strings"

	"tandemux/ahp"
)

func isRoot(uri ahp.URI) bool { return uri == ahp.RootURI }

func isLayout(uri ahp.URI) bool { return strings.HasPrefix(uri, ahp.LayoutScheme) }

// layoutURI is the channel of a layout.
func layoutURI(name string) ahp.URI { return ahp.LayoutScheme + "/" + name }

func layoutName(uri ahp.URI) string { return strings.TrimPrefix(uri, ahp.LayoutScheme+"/") }

// newTerminalURI makes an address that no terminal has.
func newTerminalURI() ahp.URI {
	return ahp.TerminalScheme + "/" + strings.ToLower(rand.Text()[:10])
}

// fileURI gives a directory as a URI, "" for none.
func fileURI(dir string) ahp.URI {
	if dir == "" {
		return ""
	}
	return (&url.URL{Scheme: "file", Path: dir}).String()
}

// filePath gives a file URI's path, "" for other URIs.
func filePath(uri ahp.URI) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return u.Path
}
