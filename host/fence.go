package host

import (
	"fmt"
	"runtime/debug"
	"slices"

	"tandemux/ahp"
)

// A panic is contained where it happens, logged with its stack, and costs one
// thing: the connection whose message was handled, the request that a front or a
// door answered, the take of a terminal's output. Whoever holds h.mu where that
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
	if !c.h.contain(doing, panicked, "principal", c.principal.ID) {
		return nil
	}
	c.rpc.Close(closeFailed, "the host failed at a message of this connection; see its log") //nolint:errcheck // it ends either way
	return ahp.Internal("%s: the host failed; see its log", doing)
}

// locked runs f with the sequencing lock.
func (h *Host) locked(f func(tx Tx)) {
	tx := h.lock()
	defer tx.unlock()
	f(tx)
}

// resync has everybody who watches a channel come back for its state: a panic may
// have kept an action from some of them.
func (h *Host) resync(tx Tx, ch *channel) {
	if ch == nil {
		return
	}
	ch.log.entries, ch.log.head, ch.log.bytes = nil, 0, 0
	ch.log.floor = h.nextSeq(tx)
	ch.last = ch.log.floor
	for _, c := range slices.Clone(ch.subs) {
		c.out.Drop(closeFailed, "the host failed at what this connection watches: reconnect")
	}
}
