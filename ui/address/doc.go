// Package address makes and reads the addresses of channels and files that the
// interface deals with.
package address
