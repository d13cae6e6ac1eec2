// Package themes names the colours of the interface and holds the themes that
// ship with cotty. A Theme is a value; Load makes one of a user's TOML.
package themes
