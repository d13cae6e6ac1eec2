// Package pool tells of a host's terminals in the words of the side protocols
// (MCP tools and pty:*): a pool of terminals with owners. All of it derives from
// what AHP says of them: the owner is "user" when the claim is a client's, and a
// terminal is visible when a client holds it or a layout shows it.
//
// Pure: values in, values out.
package pool
