package host

import (
	"context"
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/core"
)

// MethodPanic is a request that panics.
const MethodPanic = "x-test/panic"

func init() {
	methods[MethodPanic] = method{do: func(_ context.Context, c *conn, _ json.RawMessage) (any, error) {
		c.h.core.Locked(func(tx core.Tx) { panic("host's test panics") })
		return nil, nil
	}}
}

// PanicAtOutput makes the next output of a terminal panic when it is applied.
func PanicAtOutput(h *Host, uri ahp.URI) {
	h.core.Locked(func(tx core.Tx) {
		t, _ := termAt(tx, uri)
		w := &wait{h: h, t: t}
		w.see = func(core.Tx, *wait, ahp.Action) {
			w.see = nil
			panic("host's test panics")
		}
		t.waits = append(t.waits, w)
	})
}
