// Package statefile reads and writes the small files of the state directory, which
// are nobody else's to read, and tells which errors mean that the directory takes
// nothing. It keeps no state; its functions may be called from any goroutine.
package statefile
