package ahp

import (
	"slices"
	"strconv"
	"strings"
)

// Profile is a generation of the wire format that a peer expects. Decoding accepts all of them.
type Profile uint8

// The profiles. The zero value is the newest.
const (
	// V1 is 1.x: terminals have a lifecycle, claims a chat. The exitCode of a terminal that has
	// exited is also written beside the lifecycle, for clients that look for it there.
	V1 Profile = iota
	// V09 is 0.9.x. On the channels served here its forms are those of V1.
	V09
	// V05 is 0.5.x: terminals have an exitCode instead of a lifecycle, claims no chat.
	V05
)

// String returns the versions of the profile.
func (p Profile) String() string { return [...]string{V1: "1.x", V09: "0.9.x", V05: "0.5.x"}[p] }

// version is major, minor and patch.
type version [3]uint64

// Supported returns the versions that a client of this package offers, in order of preference. It
// is also in the data of error -32005.
func Supported() []string { return []string{"1.0.0", "0.9.0", "0.5.0"} }

// Negotiate returns the highest version offered, in any order, that is in >=1.0.0 <2.0.0, 0.9.x or
// 0.5.x, verbatim (AHP, Versioning). The error is -32602 if an entry is malformed, and -32005 with
// data.supportedVersions if none is acceptable.
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

// ProfileOf returns the profile of a version that Negotiate would accept.
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

// parseVersion parses three numbers without signs, leading zeros or suffixes. Of anything else it
// returns the zero version and false.
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

// clip shortens a peer's text that is quoted in an error.
func clip(s string) string { return s[:min(len(s), 64)] }
