package ahp

import (
	"errors"
	"slices"
	"testing"
)

func TestNegotiate(t *testing.T) {
	tests := []struct {
		offered []string
		want    string
		profile Profile
		code    int
	}{
		{[]string{"1.0.0"}, "1.0.0", V1, 0},
		{[]string{"0.9.0", "1.0.0"}, "1.0.0", V1, 0},
		{[]string{"1.7.3"}, "1.7.3", V1, 0},
		{[]string{"1.9.0", "1.10.0", "1.2.99"}, "1.10.0", V1, 0},
		{[]string{"2.0.0", "1.1.0"}, "1.1.0", V1, 0},
		{[]string{"0.9.4"}, "0.9.4", V09, 0},
		{[]string{"0.5.0", "0.9.0", "0.10.0"}, "0.9.0", V09, 0},
		{[]string{"0.5.0", "0.4.0", "0.3.0"}, "0.5.0", V05, 0},
		{[]string{"0.5.2"}, "0.5.2", V05, 0},
		{[]string{"0.10.0"}, "", 0, CodeUnsupportedVersion},
		{[]string{"2.0.0"}, "", 0, CodeUnsupportedVersion},
		{[]string{"0.4.0"}, "", 0, CodeUnsupportedVersion},
		{nil, "", 0, CodeUnsupportedVersion},
		{[]string{"1.0"}, "", 0, CodeInvalidParams},
		{[]string{"1.0.0", "1.0.0-beta"}, "", 0, CodeInvalidParams},
		{[]string{"01.0.0"}, "", 0, CodeInvalidParams},
		{[]string{"1.0.0.0"}, "", 0, CodeInvalidParams},
		{[]string{"+1.0.0"}, "", 0, CodeInvalidParams},
		{[]string{"1.-1.0"}, "", 0, CodeInvalidParams},
		{[]string{""}, "", 0, CodeInvalidParams},
		{[]string{"v1.0.0"}, "", 0, CodeInvalidParams},
		{[]string{" 1.0.0"}, "", 0, CodeInvalidParams},
	}
	for _, tt := range tests {
		got, p, err := Negotiate(tt.offered)
		if got != tt.want || p != tt.profile || CodeOf(err) != tt.code {
			t.Errorf("Negotiate(%q) = %q, %v, %v; want %q, %v, code %d",
				tt.offered, got, p, err, tt.want, tt.profile, tt.code)
		}
		if tt.code != CodeUnsupportedVersion {
			continue
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("%v is no *Error", err)
		}
		if data, _ := e.Data.(map[string][]string); !slices.Equal(data["supportedVersions"], Supported()) {
			t.Errorf("data of %v is %v, want the supported versions", err, e.Data)
		}
	}
	for _, v := range Supported() {
		if _, ok := ProfileOf(v); !ok {
			t.Errorf("offered version %s has no profile", v)
		}
	}
}

type foreign struct{}

func (foreign) Error() string                  { return "x" }
func (foreign) RPCError() (int, string, any)   { return CodeConflict, "stale", 7 }
func wrap(err error) error                     { return errors.Join(errors.New("read file"), err) }
func isCode(err error, code int) bool          { return errors.Is(err, &Error{Code: code}) }
func same(e *Error, code int, msg string) bool { return e != nil && e.Code == code && e.Message == msg }

func TestErrors(t *testing.T) {
	if err := wrap(NotFound("terminal %s is not here", "x")); !isCode(err, CodeNotFound) || isCode(err, CodeConflict) {
		t.Errorf("errors.Is does not go by the code of %v", err)
	}
	if e := FromRPC(wrap(foreign{})); !same(e, CodeConflict, "stale") || e.Data != 7 {
		t.Errorf("FromRPC of a foreign error = %#v", e)
	}
	if e := FromRPC(errors.New("plain")); e != nil {
		t.Errorf("FromRPC of a plain error = %v", e)
	}
	if CodeOf(nil) != 0 || CodeOf(Internal("x")) != CodeInternal {
		t.Error("CodeOf is wrong")
	}
}
