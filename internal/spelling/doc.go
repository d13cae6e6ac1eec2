// Package spelling finds the word that was meant by one that was mistyped.
// Everything may be used from any goroutine.
package spelling
