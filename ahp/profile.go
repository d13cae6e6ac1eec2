package ahp

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
func (p Profile) String() string {
	switch p {
	case V1:
		return "1.x"
	case V09:
		return "0.9.x"
	case V05:
		return "0.5.x"
	}
	return "unknown"
}
