package host

import (
	"context"
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/requests"
)

// MethodPanic is a request that panics.
const MethodPanic = "x-test/panic"

// AddPanic has a host that nobody is connected to yet answer it.
func AddPanic(h *Host) {
	h.requests.Methods[MethodPanic] = requests.Method{Do: func(context.Context, *requests.Conn, json.RawMessage) (any, error) {
		h.core.Locked(func(tx core.Tx) { panic("host's test panics") })
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
