package host

import (
	"context"
	"net/http"

	"tandemux/host/auth"
)

// passage is a request to a door with a prefix, while it lasts: a stream may last
// for days. Passages have a count of their own, so that they and AHP's connections
// take no places from each other.
type passage struct {
	who *auth.Principal
	end context.CancelFunc
}

// pass lets a request through a door.
func (f *front) pass(w http.ResponseWriter, r *http.Request, a answer) {
	h := f.h
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	p := &passage{a.who, cancel}
	if !h.letPass(f.kind, p) {
		w.Header().Set("Retry-After", "1")
		http.Error(w, errTooMany.Error(), http.StatusServiceUnavailable)
		return
	}
	defer h.passed(p)
	if a.who.Token != "" && !h.tokens.Valid(a.who.Token) {
		cancel() // it was revoked since we asked
	}
	f.admitted(r)
	a.door.Serve(w, r.WithContext(ctx), f.caller(a.who))
}

// letPass counts a request in, unless there are too many or the host stops; the
// last places are kept for the unix socket, as in enter.
func (h *Host) letPass(kind Kind, p *passage) bool {
	tx := h.lock()
	defer tx.unlock()
	most := h.limits.Requests
	if kind != Unix {
		most -= min(most-1, max(1, most/8))
	}
	if h.closing || len(h.passing) >= most {
		return false
	}
	h.passing[p] = struct{}{}
	h.serving.Add(1)
	return true
}

func (h *Host) passed(p *passage) {
	h.locked(func(Tx) { delete(h.passing, p) })
	h.serving.Done()
}
