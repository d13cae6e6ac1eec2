package host

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"tandemux/ahp"
	"tandemux/host/core"
)

// revived is a body that has something to do when all channels of an earlier host
// are there again, such as to end what that host was doing. It may apply actions.
type revived interface{ revived(tx core.Tx) }

// A kind makes bodies of channels that an earlier host left, from their state as
// AHP 1 has it. What was applied after that is reduced then.
type kind func(h *Host, ch *core.Channel, state json.RawMessage) (core.Body, error)

// kinds are the channels that outlive the host, by the scheme of their URIs.
// Terminals, whose scheme is any, are besides (adopt.go). A channel of these
// kinds is journalled from its first action on, or from Tx.Keep.
var kinds map[string]kind

func init() {
	kinds = map[string]kind{
		"ahp-root:":            reviveRoot,
		"x-tandemux-activity:": reviveActivity,
		ahp.LayoutScheme:       reviveLayout,
		ahp.SessionScheme:      reviveSession,
		ahp.ChatScheme:         reviveChat,
	}
}

// isKept reports whether a channel that is no terminal outlives the host.
func isKept(uri ahp.URI) bool {
	scheme, _, _ := strings.Cut(uri, ":")
	return kinds[scheme+":"] != nil
}

// kind is that of a channel; nil if this version has none.
func (h *Host) kind(uri ahp.URI) core.Kind {
	scheme, _, _ := strings.Cut(uri, ":")
	k := kinds[scheme+":"]
	if k == nil {
		return nil
	}
	return func(ch *core.Channel, state json.RawMessage) (core.Body, error) { return k(h, ch, state) }
}

// canonical maps the guide's spelling of the root URI (G7) to today's. All
// other URIs are opaque.
func canonical(uri ahp.URI) ahp.URI {
	if uri == "agenthost:/root" {
		return ahp.RootURI
	}
	return uri
}

// checkURI says what is wrong with a URI that a client chose for a terminal.
// Any scheme is accepted but those with a meaning of their own.
func checkURI(uri ahp.URI) *ahp.Error {
	scheme, rest, ok := strings.Cut(uri, ":")
	switch {
	case len(uri) > maxURI:
		return ahp.InvalidParams("channel: the URI is longer than %d bytes", maxURI)
	case !ok || rest == "" || !isScheme(scheme):
		return ahp.InvalidParams("channel: %q is not a URI: use one like ahp-terminal:/ID", uri)
	case strings.ContainsFunc(rest, func(r rune) bool { return r <= ' ' || r == 0x7f || r == utf8.RuneError }):
		return ahp.InvalidParams("channel: the URI has blanks or control characters in it")
	case reserved[strings.ToLower(scheme)], canonical(uri) == ahp.RootURI:
		return ahp.InvalidParams("channel: the scheme %q is not for terminals: use one like ahp-terminal:/ID", scheme)
	}
	return nil
}

// reserved are schemes that terminals cannot have: clients tell the kind of a
// channel by them.
var reserved = map[string]bool{
	"ahp-root": true, "ahp-session": true, "ahp-chat": true, "ahp-changeset": true,
	"ahp-resource-watch": true, "ahp-otlp": true, "ahp-automations": true, "ahp-automation": true,
	"ahp-canvas": true, "ahp-tcp": true, "ahp-tunnels": true, "mcp": true, "x-tandemux-layout": true, "x-tandemux-activity": true,
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
