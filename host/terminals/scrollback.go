package terminals

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
func (ts *Terminals) scrollbackOf(asked *int) int {
	if asked != nil {
		return history(*asked)
	}
	return int(ts.scrollback.Load())
}

// SetScrollback changes Config.Scrollback, also for the terminals that there are.
func (ts *Terminals) SetScrollback(lines int) {
	ts.scrollback.Store(int64(lines))
	tx := ts.Core.Lock()
	defer tx.Unlock()
	for _, t := range ts.all {
		if t.Meta.Scrollback == nil {
			t.Term.LimitHistory(lines)
		}
	}
}

func checkScrollback(lines *int) error {
	if lines != nil && (*lines < 0 || *lines > ahp.MaxScrollback) {
		return ahp.InvalidParams("create terminal: tandemux/scrollback: %d lines is out of range: use 0 to %d", *lines, ahp.MaxScrollback)
	}
	return nil
}
