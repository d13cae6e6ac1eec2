// Package clocktest starts a program whose clocks a test sets: forward and backward, while
// it runs, each clock apart. The program is as it was built. It is for tests, and Linux.
//
// The program is started without the kernel's vDSO, so that it asks the time by system
// calls, and with a filter of seccomp that hands these to the test, which answers with the
// machine's time and what it was shifted by. The system's clocks stay as they are. Pauses
// that the program asks the kernel for take as long as they take; a program notices that a
// clock was shifted when it looks, as after a machine slept. What the program starts, or
// becomes by exec, has its vDSO back.
//
// A test binary that imports it becomes the program on its way: it is what sets the filter.
// A Clock may be used from any goroutine, and ends with its program.
package clocktest
