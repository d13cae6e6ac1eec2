package ui_test

import (
	"context"
	"errors"
	"time"

	"tandemux/ahp"
	"tandemux/ui/link"
)

// Lose loses the connection.
func (h *Host) Lose() {
	h.lost = true
	h.sink.Status(link.Reconnecting, errors.New("lost"))
}

// LoseUnsaid loses the connection and does not say so yet.
func (h *Host) LoseUnsaid() { h.lost = true }

// Return brings the connection back, to a host that replays what was missed:
// nothing.
func (h *Host) Return() {
	h.lost = false
	h.sink.Status(link.Connected, nil)
}

// Retrying says that an attempt to reconnect failed.
func (h *Host) Retrying(since, next time.Time, why string) {
	h.sink.Retrying(link.Retry{Since: since, Next: next, Err: errors.New(why)})
}

// Lost says that the outcome of input is unknown.
func (h *Host) Lost(uri ahp.URI, input string) { h.sink.Lost(uri, input) }

// Silent says since when the host has not answered.
func (h *Host) Silent(since time.Time) { h.sink.Silent(since) }

// Retry implements link.Host: it counts.
func (h *Host) Retry() { h.Retries++ }

// RoundTrip is Host.Trip.
func (h *Host) RoundTrip() time.Duration { return h.Trip }

// Time is the clock of the interface.
func (u *UI) Time() time.Time { return u.now }

// Reconnect loses the connection and brings it back with snapshots of all that
// was followed.
func (h *Host) Reconnect(during func()) {
	h.Lose()
	if during != nil {
		during()
	}
	h.Return()
	h.snapshot(ahp.RootURI, h.root)
	for uri := range h.follows {
		if uri != ahp.RootURI {
			h.Subscribe(context.Background(), uri) //nolint:errcheck // it may be gone
		}
	}
}
