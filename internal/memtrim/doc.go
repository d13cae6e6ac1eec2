// Package memtrim returns memory to the system: when a process has come to rest (Idle) and after
// a burst of output (Trimmer). Go itself keeps freed memory for minutes, and pages of the
// executable stay mapped once they were read; a multiplexer is three processes
// that wait most of the time.
//
// A Trimmer may be used by any goroutine. A timer runs only during a burst and for
// Quiet after it. Only garbage is freed: a Trimmer does not know what the memory was
// used for.
package memtrim
