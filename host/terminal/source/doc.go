// Package source reads one terminal's pty into its landing, a chunk at a time. It decides when
// to wait for more output, when to sleep and when to free memory. It does not interpret output.
//
// The terminal's reader goroutine calls Collect and processes the chunk, in a loop. A goroutine
// that types a key calls WithAnswer, which reads and processes what the program prints in answer,
// in the reader's place. Whoever reads and processes holds turn, a mutex: output is read in order,
// and each chunk is processed once. The reader releases turn only while it waits in Go's poller,
// which wakes it for output that WithAnswer has not read.
package source
