// Package resource has AHP's requests about files, and its channels of watches: a watch's state says
// what is watched and never changes, its action tells what has changed.
package resource
