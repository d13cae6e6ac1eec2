package host

import (
	"encoding/json"
	"maps"
	"slices"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/requests"
	"tandemux/host/terminals"
)

// Panic panics under a host's lock.
func Panic(h *Host) { h.core.Locked(func(core.Tx) { panic("host's test panics") }) }

// Methods are what can be asked of a host.
func Methods(h *Host) []string { return slices.Sorted(maps.Keys(h.requests.Methods)) }

// panicker panics once, at the first action that it is told.
type panicker struct{ t *terminals.Terminal }

func (p *panicker) Told(tx core.Tx, _ ahp.Action) {
	p.t.Unwatch(tx, p)
	panic("host's test panics")
}
func (p *panicker) Follow(core.Tx, ahp.Action) {}
func (p *panicker) Gone(core.Tx)               {}

// PanicAtOutput makes the next output of a terminal panic when it is applied.
func PanicAtOutput(h *Host, uri ahp.URI) {
	h.core.Locked(func(tx core.Tx) {
		t, _ := terminals.At(tx, uri)
		t.Watch(tx, &panicker{t})
	})
}

// Hold keeps everything from being carried out until release.
func Hold(h *Host) (release func()) { return h.core.Lock().Unlock }

// Tables are what a host can be asked and told, and what clients may dispatch.
func Tables(h *Host) (map[string]requests.Method, map[string]func(*requests.Conn, json.RawMessage), map[string]requests.Action) {
	return h.requests.Methods, h.requests.Notifications, h.requests.Actions
}

// Done is closed when a host has stopped.
func Done(h *Host) <-chan struct{} { return h.life.done }
