// Package resource is AHP's family of requests about files, and its channels of watches:
// the state of one says what is watched and never changes, its action tells what has
// changed.
package resource
