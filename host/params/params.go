package params

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandemux/ahp"
	"tandemux/internal/plaintext"
)

// Bounds of what clients name, in bytes.
const (
	MaxURI   = 1024
	MaxTitle = 1024
)

// Decode reads a request's params; unknown members are ignored.
func Decode(raw json.RawMessage, p any) error {
	if len(raw) == 0 {
		return ahp.InvalidParams("params: missing")
	}
	if err := ahp.Unmarshal(raw, p); err != nil {
		return ahp.InvalidParams("params: %s", Unfit(err))
	}
	return nil
}

// Unfit says what is wrong with params in the words of the wire.
func Unfit(err error) string {
	var t *json.UnmarshalTypeError
	if !errors.As(err, &t) {
		return Clip(err.Error())
	}
	want := "an object"
	switch k := t.Type.Kind(); {
	case k == reflect.String:
		want = "a string"
	case k == reflect.Bool:
		want = "true or false"
	case k == reflect.Slice || k == reflect.Array:
		want = "a list"
	case k >= reflect.Int && k <= reflect.Float64:
		want = "a whole number in range"
	}
	if t.Field == "" {
		return fmt.Sprintf("want %s, not: %s", want, Clip(t.Value))
	}
	return fmt.Sprintf("%s: want %s, not: %s", t.Field, want, Clip(t.Value))
}

// Clip bounds a text from outside as a URI is.
func Clip(s string) string { return Cut(s, MaxURI) }

// Cut bounds a text at a byte.
func Cut(s string, most int) string { return s[:min(len(s), most)] }

// ClipTo bounds a text at a character.
func ClipTo(s string, most int) string { return plaintext.Clip(s, most, "") }

// Allowed wraps a refusal as the error of a request.
func Allowed(doing, refusal string) error {
	if refusal == "" {
		return nil
	}
	return ahp.PermissionDenied("%s: %s", doing, refusal)
}

// CheckTitle says what is wrong with a title; "" is nothing.
func CheckTitle(s string) string {
	switch {
	case len(s) > MaxTitle:
		return fmt.Sprintf("it is longer than %d bytes", MaxTitle)
	case strings.ContainsFunc(s, unicode.IsControl):
		return "it has control characters in it"
	}
	return ""
}

// CleanTitle makes a title of a text.
func CleanTitle(s string) string {
	return plaintext.Without(s[:min(len(s), MaxTitle)], unicode.IsControl)
}

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

// CheckOwnURI says what is wrong with a URI that a client chose for a session
// or chat: any scheme will do that has no meaning of its own.
func CheckOwnURI(uri ahp.URI, own string) string {
	if rest, ok := strings.CutPrefix(uri, own); ok {
		uri = "x:" + rest
	}
	if err := CheckURI(uri); err != nil {
		return strings.TrimPrefix(err.Message, "channel: ")
	}
	return ""
}
