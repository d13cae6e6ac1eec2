// Package hosts is the list of other hosts that this user has given names: hosts.toml in
// the configuration's directory, 0600. It has addresses, and files in which tokens are;
// never a token. Each interface and each command reads it, and dials each host itself; no
// host sees it.
//
// Change is the one writer, under a lock of the directory, and replaces the file whole.
// The package keeps no state; everything may be used from any goroutine. It connects to
// nothing: that is internal/endpoint's.
package hosts
