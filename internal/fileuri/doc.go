// Package fileuri names files as AHP does: by URIs with the scheme file. It has no
// state.
package fileuri
