package main

import (
	"net/http"
)

// status is what `tandemux hub status --json` prints; stable.
type status struct {
	URLs        []string `json:"urls" doc:"Where people and programs reach the hub"`
	Join        string   `json:"join" doc:"Where hosts join"`
	Fingerprint string   `json:"fingerprint,omitempty" doc:"The certificate's SHA-256"`
	NATS        string   `json:"nats" doc:"The version of NATS"`
	Here        int      `json:"here" doc:"Hosts that are here"`
	Away        int      `json:"away" doc:"Hosts that are away"`
}

func (h *hub) status(*http.Request) (status, error) {
	s := status{URLs: []string{}, Join: h.url, Fingerprint: h.fingerprint, NATS: h.bus.ConnectedServerVersion()}
	if urls := h.urls.Load(); urls != nil {
		s.URLs = *urls
	}
	for _, e := range h.directory.Hosts() {
		if e.Present {
			s.Here++
		} else {
			s.Away++
		}
	}
	return s, nil
}
