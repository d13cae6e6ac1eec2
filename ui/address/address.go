package address

import (
	"crypto/rand"
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
