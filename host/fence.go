package host

import (
	"fmt"
	"runtime/debug"

	"tandemux/ahp"
)

// A panic is contained where it happens, logged with its stack, and costs one
// thing: the connection whose message was handled, the request that a front or a
// door answered, the take of a terminal's output. Whoever holds the lock where that
// can happen lets go of it in a defer. A panic anywhere else ends the host, and
// the next one takes over.

// contain logs a panic and reports whether there was one. It is called in a
// defer with what recover gave.
func (h *Host) contain(doing string, panicked any, args ...any) bool {
	if panicked == nil {
		return false
	}
	args = append([]any{"doing", doing, "panic", fmt.Sprint(panicked)}, args...)
	h.log.Error("panic", append(args, "stack", string(debug.Stack()))...)
	return true
}

// closeFailed closes a connection after a panic (RFC 6455, 7.4.1).
const closeFailed = 1011

// fence ends the connection when the handling of a message panics. It is called
// in a defer with what recover gave.
func (c *conn) fence(doing string, panicked any) (failed error) {
	if !c.h.contain(doing, panicked, "principal", c.Principal.ID) {
		return nil
	}
	c.rpc.Close(closeFailed, "the host failed at a message of this connection; see its log") //nolint:errcheck // it ends either way
	return ahp.Internal("%s: the host failed; see its log", doing)
}
