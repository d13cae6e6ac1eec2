// Package themes names the colours of the interface and holds the themes that
// ship with tandemux: families with a dark and a light theme each, and "terminal",
// which uses the outer terminal's own sixteen colours and nothing else. A Theme
// is a value; Load makes one of a user's TOML, and Choose finds the pair of
// themes, for dark and for light outer terminals, that a name means.
//
// A token says what a colour is for, not what it looks like; the interface asks
// for tokens only. Text tokens come with the token of the ground they are drawn
// on, and Faults measures their contrast by WCAG 2.2 (sections 1.4.3 and
// 1.4.11), where the colours are known: what the outer terminal's palette holds
// is its user's affair. Tokens drawn on panes' borders have the outer terminal's
// own background as ground, so they are measured against the backgrounds that
// people use.
//
// The package opens no files, and everything may be used from any goroutine.
package themes
