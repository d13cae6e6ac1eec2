package ahp

// Supported lists what Negotiate accepts, for the data of -32005.
func Supported() []string { return []string{"1.0.0", "0.9.0", "0.5.0"} }

// Offered is what a client of this package offers, in order of preference.
func Offered() []string { return []string{"1.0.0", "0.9.0", "0.5.0"} }

// Negotiate picks the numerically highest offered version that lies in >=1.0.0
// <2.0.0, 0.9.x or 0.5.x, whatever the order, and returns it verbatim (ahp.md
// §2.2). A malformed entry is -32602; no acceptable one -32005 with
// data.supportedVersions.
func Negotiate(offered []string) (version string, p Profile, err error) { panic("not yet") }

// ProfileOf is the profile of a version that Negotiate would accept.
func ProfileOf(version string) (p Profile, ok bool) { panic("not yet") }
