package host

import (
	"errors"
	"fmt"
	"strings"

	"tandemux/host/core"
)

// warn notes what the host's owner has to see to.
func (h *Host) warn(about string, err error) {
	h.log.Error(about, "err", err)
	tx := h.core.Lock()
	defer tx.Unlock()
	if h.troubles == nil {
		h.troubles = map[string]error{}
	}
	h.troubles[about] = err
	h.activity.warnSoon(tx)
}

// warning is what the host's owner has to see to, in a line; "" when all is well.
func (h *Host) warning(tx core.Tx, tokens error) string {
	err := errors.Join(tokens, h.trouble(tx))
	if err == nil {
		return ""
	}
	return oneLine(err)
}

// oneLine is the text of several errors in one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// losing says what the end of the host would lose, nil when nothing.
func (h *Host) losing(tx core.Tx) error {
	return errors.Join(h.orphaned(tx), tx.Losing())
}

// trouble is losing, and what was warned of.
func (h *Host) trouble(tx core.Tx) error {
	all := []error{h.losing(tx)}
	for about, err := range h.troubles {
		all = append(all, fmt.Errorf("%s: %w", about, err))
	}
	return errors.Join(all...)
}
