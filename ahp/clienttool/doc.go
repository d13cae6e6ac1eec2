// Package clienttool has the values by which a program of a session's agent reaches the tools of that
// session's clients. It is pure data.
package clienttool
