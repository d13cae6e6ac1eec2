package params

import (
	"strings"
	"unicode/utf8"

	"tandemux/ahp"
)

// CheckURI says what is wrong with a URI that a client chose for a terminal.
// Any scheme is accepted but those with a meaning of their own.
func CheckURI(uri ahp.URI) *ahp.Error {
	scheme, rest, ok := strings.Cut(uri, ":")
	switch {
	case len(uri) > MaxURI:
		return ahp.InvalidParams("channel: the URI is longer than %d bytes", MaxURI)
	case !ok || rest == "" || !isScheme(scheme):
		return ahp.InvalidParams("channel: %q is not a URI: use one like ahp-terminal:/ID", uri)
	case strings.ContainsFunc(rest, func(r rune) bool { return r <= ' ' || r == 0x7f || r == utf8.RuneError }):
		return ahp.InvalidParams("channel: the URI has blanks or control characters in it")
	case reserved[strings.ToLower(scheme)], Canonical(uri) == ahp.RootURI:
		return ahp.InvalidParams("channel: the scheme %q is not for terminals: use one like ahp-terminal:/ID", scheme)
	}
	return nil
}

// Canonical maps the guide's spelling of the root URI (G7) to today's. All
// other URIs are opaque.
func Canonical(uri ahp.URI) ahp.URI {
	if uri == "agenthost:/root" {
		return ahp.RootURI
	}
	return uri
}

func isScheme(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", r)) {
			return false
		}
	}
	return s != ""
}

// reserved are schemes that terminals cannot have: clients tell the kind of a
// channel by them.
var reserved = map[string]bool{
	"ahp-root": true, "ahp-session": true, "ahp-chat": true, "ahp-changeset": true,
	"ahp-resource-watch": true, "ahp-otlp": true, "ahp-automations": true, "ahp-automation": true,
	"ahp-canvas": true, "ahp-tcp": true, "ahp-tunnels": true, "mcp": true, "x-tandemux-layout": true, "x-tandemux-activity": true,
}
