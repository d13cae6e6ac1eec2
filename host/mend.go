package host

import (
	"sync"
	"time"

	"tandemux/internal/statefile"
)

// mendEvery is how often what a full disk has kept from being written is tried
// again.
const mendEvery = 5 * time.Second

// mender tries again what could not be written, until it can or the host ends.
// There is no timer while all is well.
type mender struct {
	mu    sync.Mutex
	again map[string]func() error
	timer *time.Timer
	over  bool
}

// mend warns the owner about something that could not be written, and tries it
// again if that was for want of room. It is called without the lock, as is again.
func (h *Host) mend(about string, err error, again func() error) {
	h.warn(about, err)
	if !statefile.Full(err) {
		return
	}
	m := &h.mender
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return
	}
	if m.again == nil {
		m.again = map[string]func() error{}
	}
	m.again[about] = again
	if m.timer == nil {
		m.timer = time.AfterFunc(mendEvery, h.tryAgain)
	}
}

// mendState sees to what could not be written at the start.
func (h *Host) mendState(noMark, noAudit error) {
	auditFailed := func(err error) { h.mend("audit log", err, h.audit.Probe) }
	h.audit.OnFailure(auditFailed)
	if noAudit != nil {
		auditFailed(noAudit)
	}
	if noMark != nil {
		h.mend("state directory", noMark, h.core.WriteMark)
	}
}

func (h *Host) tryAgain() {
	m := &h.mender
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timer = nil; m.over {
		return
	}
	for about, again := range m.again {
		if again() == nil {
			delete(m.again, about)
			h.Warn(about, nil)
		}
	}
	if len(m.again) > 0 {
		m.timer = time.AfterFunc(mendEvery, h.tryAgain)
	}
}

// close ends the trying.
func (m *mender) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	if m.timer != nil {
		m.timer.Stop()
	}
}
