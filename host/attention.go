package host

import (
	"fmt"

	"tandemux/ahp"
	"tandemux/host/activity"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// seeTerminal is x-tandemux/terminalSeen: by those who may change the terminal, as
// it takes marks away that others see too.
func (h *Host) seeTerminal(tx core.Tx, d *requests.Dispatch) string {
	a := d.Action.(ahp.TerminalSeen)
	t, ok := termAt(tx, a.Terminal)
	if !ok || !reaches(tx, d.Conn.Principal, a.Terminal) {
		return fmt.Sprintf("there is no terminal %q", params.Clip(a.Terminal))
	}
	if s := t.mayShape(d.Conn.Principal); s != "" {
		return s
	}
	h.activity.Seen(tx, a.Terminal, d.By)
	return ""
}

// recount counts the clients that show a layout: those that follow it and the
// activity, as an interface does and a command that edits it does not.
func (h *Host) recount(tx core.Tx, ch *core.Channel) {
	switch ch.Body.(type) {
	case *activity.Activity:
		for _, l := range h.layouts {
			h.recount(tx, l.ch)
		}
	case *layout:
		n := 0
		for _, l := range ch.Links() {
			if l.Watches(ahp.ActivityURI) {
				n++
			}
		}
		h.activity.Watched(tx, ch.URI, n)
	}
}

// holderName is what people call whoever holds a terminal: a token's name, "" for
// the operator.
func (t *term) holderName(tx core.Tx) string {
	if id, ok := auth.TokenOf(t.holder); ok {
		return t.h.tokens.Name(id)
	}
	return ""
}
