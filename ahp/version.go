package ahp

import (
	"slices"
	"strconv"
	"strings"
)

// Profile says which generation of wire shapes a peer expects. Decoding needs
// none: every form is accepted.
type Profile uint8

// The profiles. The zero value is the newest.
const (
	// V1 is 1.x: lifecycle, claims with chat. An exited terminal's exitCode is
	// written beside lifecycle as well, for readers of older habits.
	V1 Profile = iota
	// V09 is 0.9.x, which has the shapes of V1 on the channels served here.
	V09
	// V05 is 0.5.x: exitCode instead of lifecycle, claims without chat.
	V05
)

// String names the profile by its versions.
func (p Profile) String() string { return [...]string{V1: "1.x", V09: "0.9.x", V05: "0.5.x"}[p] }

// version is MAJOR.MINOR.PATCH.
type version [3]uint64

// Supported lists what Negotiate accepts, for the data of -32005, and what a client of
// this package offers, in order of preference.
func Supported() []string { return []string{"1.0.0", "0.9.0", "0.5.0"} }

// Negotiate picks the numerically highest offered version that lies in >=1.0.0
// <2.0.0, 0.9.x or 0.5.x, whatever the order, and returns it verbatim (AHP,
// Versioning). A malformed entry is -32602; no acceptable one -32005 with
// data.supportedVersions.
func Negotiate(offered []string) (v string, p Profile, err error) {
	var best version
	for _, s := range offered {
		parsed, ok := parseVersion(s)
		if !ok {
			return "", 0, InvalidParams("protocol version %q is not MAJOR.MINOR.PATCH", clip(s))
		}
		profile, ok := parsed.profile()
		if ok && (v == "" || slices.Compare(parsed[:], best[:]) > 0) {
			v, p, best = s, profile, parsed
		}
	}
	if v == "" {
		return "", 0, UnsupportedVersion(offered)
	}
	return v, p, nil
}

// ProfileOf is the profile of a version that Negotiate would accept.
func ProfileOf(v string) (p Profile, ok bool) {
	parsed, _ := parseVersion(v)
	return parsed.profile()
}

func (v version) profile() (p Profile, ok bool) {
	switch {
	case v[0] == 1:
		return V1, true
	case v[0] == 0 && v[1] == 9:
		return V09, true
	case v[0] == 0 && v[1] == 5:
		return V05, true
	}
	return 0, false
}

// parseVersion is strict: three numbers without signs, leading zeros or suffixes;
// of others it gives the zero version.
func parseVersion(s string) (v version, ok bool) {
	parts := strings.SplitN(s, ".", 4)
	if len(parts) != len(v) {
		return version{}, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil || part != strconv.FormatUint(n, 10) {
			return version{}, false
		}
		v[i] = n
	}
	return v, true
}

// clip bounds what an error quotes of the peer's words.
func clip(s string) string { return s[:min(len(s), 64)] }
