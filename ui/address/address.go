package address

import (
	"crypto/rand"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
)

// Layout returns the channel of a layout.
func Layout(name string) ahp.URI { return ahp.LayoutScheme + "/" + name }

// LayoutName returns the name of a layout's channel, HOST:NAME for another host's layout.
func LayoutName(uri ahp.URI) string {
	host, there := hosted.Split(uri)
	name := strings.TrimPrefix(there, ahp.LayoutScheme+"/")
	if host != "" {
		return host + ":" + name
	}
	return name
}

// IsChat reports whether a URI is a chat's.
func IsChat(uri ahp.URI) bool { return strings.HasPrefix(uri, ahp.ChatScheme) }

// New returns a new URI of a scheme.
func New(scheme string) ahp.URI { return scheme + "/" + strings.ToLower(rand.Text()[:10]) }
