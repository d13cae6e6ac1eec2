package address

import (
	"crypto/rand"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
)

// Layout is the channel of a layout.
func Layout(name string) ahp.URI { return ahp.LayoutScheme + "/" + name }

// LayoutName is the name of a layout's channel, HOST:NAME of another host's.
func LayoutName(uri ahp.URI) string {
	host, there := hosted.Split(uri)
	name := strings.TrimPrefix(there, ahp.LayoutScheme+"/")
	if host != "" {
		return host + ":" + name
	}
	return name
}

// IsChat reports whether an address is a chat's.
func IsChat(uri ahp.URI) bool { return strings.HasPrefix(uri, ahp.ChatScheme) }

// New makes an address of a scheme that nothing has.
func New(scheme string) ahp.URI { return scheme + "/" + strings.ToLower(rand.Text()[:10]) }
