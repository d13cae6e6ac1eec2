package terminal

import (
	"errors"

	"cotty/ahp"
	"cotty/host/journal"
)

// Saved is what a journal has of a terminal.
type Saved struct {
	// State are the records of the checkpoint and After those that follow it.
	// Records that are not this package's are skipped.
	State, After []journal.Record
	// Actions are those of the terminal's channel that follow the checkpoint,
	// in order; actions that others made may be among them.
	Actions []ahp.Action
	// Notice, when not empty, is put on the screen as a line of its own before
	// anything new, as what is wrong with the journal.
	Notice string
}

// Restore makes a terminal of what an earlier host left: Config as for New, with
// a fresh emulator of the size c.Cols by c.Rows, which is overridden by the size
// that was saved, as are Command, Nonce, PromptEnds and Dir. What the earlier
// host had read into Landing and not taken is processed as if it were just read,
// except that questions that were answered stay unanswered; it is pending then.
// Nothing runs yet, and Wake is not called, before Start. On an error the
// terminal was not made and the pty is the caller's.
func Restore(c Config, s Saved) (*Terminal, error) {
	return nil, errors.New("restore a terminal: not yet")
}

// Start begins to read and write, and calls Wake if something is pending. Only
// for what Restore made, once.
func (t *Terminal) Start() {}

// Checkpoint gives the actions still pending, as Take does, and the records of a
// checkpoint of the state after them, of the same instant. A hasty one has the
// screen without history, and costs little. The records' Data is the caller's.
func (t *Terminal) Checkpoint(hasty bool) (actions []ahp.Action, k Taken, records []journal.Record) {
	return nil, Taken{}, nil
}
