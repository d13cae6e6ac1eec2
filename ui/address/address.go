package address

import (
	"crypto/rand"
	"net/url"
	"strings"

	"tandemux/ahp"
)

// Layout is the channel of a layout.
func Layout(name string) ahp.URI { return ahp.LayoutScheme + "/" + name }

// LayoutName is the name of a layout's channel.
func LayoutName(uri ahp.URI) string { return strings.TrimPrefix(uri, ahp.LayoutScheme+"/") }

// IsChat reports whether an address is a chat's.
func IsChat(uri ahp.URI) bool { return strings.HasPrefix(uri, ahp.ChatScheme) }

// New makes an address of a scheme that nothing has.
func New(scheme string) ahp.URI { return scheme + "/" + strings.ToLower(rand.Text()[:10]) }

// File gives a directory as a URI, "" for none.
func File(dir string) ahp.URI {
	if dir == "" {
		return ""
	}
	return (&url.URL{Scheme: "file", Path: dir}).String()
}

// Path gives a file URI's path, "" for other URIs.
func Path(uri ahp.URI) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return u.Path
}
