package params

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"tandemux/ahp"
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
func ClipTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

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
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s[:min(len(s), MaxTitle)])
}
