// Package rules holds the project's rules about its own source as tests: which
// package may import which, one package documentation each in doc.go, how long
// a file may be, that packages with goroutines check for leaks, and that what
// code and pages say of each other is so.
//
// It reads the source with go/parser instead of asking the go command, because
// the test cache does not see files that a child process reads.
package rules
