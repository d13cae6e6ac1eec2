package host

import "tandemux/ahp"

// history gives a number of lines as emulator.Options.History has it.
func history(lines int) int {
	if lines == 0 {
		return -1
	}
	return lines
}

// scrollbackOf is how much history a terminal keeps of which that was asked; nil
// where nothing was.
func (h *Host) scrollbackOf(asked *int) int {
	if asked != nil {
		return history(*asked)
	}
	return int(h.scrollback.Load())
}

// SetScrollback changes Config.Scrollback, also for the terminals that there are.
func (h *Host) SetScrollback(lines int) {
	h.scrollback.Store(int64(lines))
	tx := h.core.Lock()
	defer tx.Unlock()
	for _, t := range h.terms {
		if t.meta.Scrollback == nil {
			t.t.LimitHistory(lines)
		}
	}
}

func checkScrollback(lines *int) error {
	if lines != nil && (*lines < 0 || *lines > ahp.MaxScrollback) {
		return ahp.InvalidParams("create terminal: tandemux/scrollback: %d lines is out of range: use 0 to %d", *lines, ahp.MaxScrollback)
	}
	return nil
}
