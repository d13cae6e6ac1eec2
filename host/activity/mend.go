package activity

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

// Mend warns the owner about something that could not be written, and tries it
// again if that was for want of room. It is called without the lock, as is again.
func (v *Activity) Mend(about string, err error, again func() error) {
	v.Warn(about, err)
	if !statefile.Full(err) {
		return
	}
	m := &v.mender
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return
	}
	m.again[about] = again
	if m.timer == nil {
		m.timer = time.AfterFunc(mendEvery, v.tryAgain)
	}
}

func (v *Activity) tryAgain() {
	m := &v.mender
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timer = nil; m.over {
		return
	}
	for about, again := range m.again {
		if again() == nil {
			delete(m.again, about)
			v.Warn(about, nil)
		}
	}
	if len(m.again) > 0 {
		m.timer = time.AfterFunc(mendEvery, v.tryAgain)
	}
}

// Close ends the trying. It is called without the lock.
func (v *Activity) Close() {
	m := &v.mender
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	if m.timer != nil {
		m.timer.Stop()
	}
}
