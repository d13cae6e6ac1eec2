package activity

import (
	"errors"
	"fmt"
	"strings"
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
	if v.warn != nil || tx.Closing() {
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
