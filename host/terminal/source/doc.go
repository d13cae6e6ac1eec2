// Package source reads one terminal's pty into its landing, a chunk at a time, and says when to
// wait for more, when to sleep and when memory goes back.
//
// A goroutine of the terminal's calls Collect and processes the chunk, and so on. Who types calls
// WithAnswer and reads in its place what the program prints upon a key. Whoever reads and
// processes has the turn, a mutex: what is read is in order, and each chunk is processed once. The
// goroutine gives the turn away only while it waits in the poller, which wakes it for whatever
// nobody has read. It knows nothing of what output means.
package source
