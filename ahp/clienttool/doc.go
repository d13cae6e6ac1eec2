// Package clienttool has the values by which an agent at the side of a session reaches the
// tools of that session's clients. It is pure data.
package clienttool
