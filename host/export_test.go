package host

import (
	"context"
	"encoding/json"

	"tandemux/ahp"
)

// MethodPanic is a request that panics.
const MethodPanic = "x-test/panic"

func init() {
	methods[MethodPanic] = method{do: func(_ context.Context, c *conn, _ json.RawMessage) (any, error) {
		c.h.locked(func(Tx) { panic("host's test panics") })
		return nil, nil
	}}
}

// PanicAtOutput makes the next output of a terminal panic when it is applied.
func PanicAtOutput(h *Host, uri ahp.URI) {
	h.locked(func(tx Tx) {
		t, _ := h.termAt(tx, uri)
		w := &wait{h: h, t: t}
		w.see = func(Tx, *wait, ahp.Action) {
			w.see = nil
			panic("host's test panics")
		}
		t.waits = append(t.waits, w)
	})
}
