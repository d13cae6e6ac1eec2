// Package rules holds the project's rules about its own source as tests: which
// package may import which, one package documentation each in doc.go, how long
// a file may be, and that packages with goroutines check for leaks.
//
// It reads the source with go/parser instead of asking the go command, because
// the test cache does not see files that a child process reads.
package rules
