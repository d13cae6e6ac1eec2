// Package host is the multiplexer's server: one writer for all state, one
// sequence of numbered actions, and the fronts through which people, agents and
// scripts reach it over AHP.
package host
