package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"tandemux/ahp"
	"tandemux/host/keeper"
	"tandemux/host/terminal"
)

var errClosing = ahp.Internal("the host is stopping")

// spawnErrors maps what the keeper says to codes of the wire (AHP, Error Codes).
var spawnErrors = []struct {
	is   error
	code int
}{
	{keeper.ErrNoDir, ahp.CodeNotFound},
	{keeper.ErrNoCommand, ahp.CodeNotFound},
	{keeper.ErrNotExecutable, ahp.CodePermissionDenied},
	{keeper.ErrInvalid, ahp.CodeInvalidParams},
}

// inputRefusals are the reasons of Terminal.Input that are the client's to
// know; all other errors are ours.
var inputRefusals = []error{terminal.ErrInputFull, terminal.ErrExited, terminal.ErrClosed}

// decode reads a request's params; unknown members are ignored.
func decode(raw json.RawMessage, p any) error {
	if len(raw) == 0 {
		return ahp.InvalidParams("params: missing")
	}
	if err := ahp.Unmarshal(raw, p); err != nil {
		return ahp.InvalidParams("params: %s", unfit(err))
	}
	return nil
}

// decodeOptional is decode for requests that old clients send without params.
func decodeOptional(raw json.RawMessage, p any) error {
	if len(raw) == 0 {
		return nil
	}
	return decode(raw, p)
}

// unfit says what is wrong with params in the words of the wire.
func unfit(err error) string {
	var t *json.UnmarshalTypeError
	if !errors.As(err, &t) {
		return clip(err.Error())
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
		return because("want %s, not: %s", want, clip(t.Value))
	}
	return because("%s: want %s, not: %s", t.Field, want, clip(t.Value))
}

// because words a refusal.
func because(format string, args ...any) string { return fmt.Sprintf(format, args...) }

func clip(s string) string { return cutText(s, maxURI) }

func cutText(s string, most int) string { return s[:min(len(s), most)] }
