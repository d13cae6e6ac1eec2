// Package linktest is a way over TCP between programs of a test that is as bad as real
// ones: slow, narrow, losing packets, or dropping all of them without a word, in one
// direction or both.
//
// It is a proxy on loopback. A packet that is lost is late, as TCP sends it again and what
// is behind it waits; what is sent while a way is cut comes once it is open again, where
// somebody still waits for it. Neither side learns that the other has closed before that.
// A Proxy may be used from any goroutine and ends with its test. It is never linked into
// tandemux.
package linktest
