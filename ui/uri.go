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

// shorten writes the home directory as "~".
func shorten(dir, home string) string {
	if home == "" || home == "/" {
		return dir
	}
	if dir == home {
		return "~"
	}
	if rest, ok := strings.CutPrefix(dir, home+"/"); ok {
		return "~/" + rest
	}
	return dir
}

// clean takes control characters out of a text that somebody else chose.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, s)
}
