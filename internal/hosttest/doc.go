// Package hosttest gives tests a user's machine: directories of their own, the
// built program, and a host that ends with the test. It is for tests of what
// reaches the host from outside the process; it is never linked into tandemux.
package hosttest
