package activity

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/host/core"
)

// Warn says what the host's owner has to see to, about something, until err is nil. It is
// called without the lock.
func (v *Activity) Warn(about string, err error) {
	if err != nil {
		v.Log.Error(about, "err", err)
	}
	v.core.Locked(func(tx core.Tx) { v.Trouble(tx, about, err) })
}

// Trouble is Warn with the lock.
func (v *Activity) Trouble(tx core.Tx, about string, err error) {
	if delete(v.troubles, about); err != nil {
		v.troubles[about] = err
	}
	v.WarnSoon(tx)
}

// Warning is what the host's owner has to see to, in a line; "" when all is well. Tokens
// is what Options.Tokens says, without the lock.
func (v *Activity) Warning(tx core.Tx, tokens error) string {
	all := []error{tokens, v.Losing(tx)}
	for about, err := range v.troubles {
		all = append(all, fmt.Errorf("%s: %w", about, err))
	}
	return OneLine(errors.Join(all...))
}

// OneLine is the text of several errors in one line, "" of nil.
func OneLine(err error) string {
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// WarnSoon tells the host's owner what there is to see to, when that has changed. It may
// be called in the middle of applying something.
func (v *Activity) WarnSoon(tx core.Tx) {
	if v.warn != nil || !v.revived || tx.Closing() {
		return
	}
	v.warn = time.AfterFunc(Interval, func() {
		tokens := v.Tokens()
		v.core.Do(func(tx core.Tx) {
			v.warn = nil
			if text := inLine(v.Warning(tx, tokens)); text != v.value.Warning && !tx.Closing() {
				tx.Apply(v.ch, ahp.HostWarned{Warning: text}, nil)
			}
		})
	})
}

// mendEvery is how often what could not be written, as on a full disk, is tried again.
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
// again until it can. It is called without the lock, as is again.
func (v *Activity) Mend(about string, err error, again func() error) {
	v.Warn(about, err)
	if err == nil {
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
