package ui

import (
	"context"
	"errors"
	"log/slog"
	"os"
)

// Config says what to show and how.
type Config struct {
	// Required.
	Host Host
	Sink *Sink // the one that the connection feeds

	// What.
	Layout  string   // name of the layout; empty means "main"
	Cwd     string   // absolute directory of the first terminal; empty means the host's default
	Command []string // argv of the first terminal of an empty layout; empty means the user's shell

	// How.
	Keymap string   // name of a keymap preset; empty means "default"
	Theme  string   // name of a theme; empty means the default one
	Engine string   // name of an emulator engine; empty means engine.Default
	Env    []string // the outer terminal's environment (TERM, COLORTERM, LANG, NO_COLOR, HOME); nil means os.Environ()

	// Log may be nil.
	Log *slog.Logger
}

// Reason says why the interface ended.
type Reason uint8

// The reasons.
const (
	// Detached means that the user left; everything runs on.
	Detached Reason = iota
	// Emptied means that the last pane of the last tab closed.
	Emptied
	// HostGone means that the connection is gone for good.
	HostGone
	// Ended means that a signal or the context ended it.
	Ended
)

// Exit is how the interface ended. Note is one line for the user, to be
// printed after the terminal was restored.
type Exit struct {
	Reason Reason
	Note   string
}

// Run shows the interface on the terminal in and out until the user leaves, the
// context ends, or SIGINT, SIGTERM or SIGHUP arrives. The terminal is restored
// when it returns. The error is not nil when the interface could not start (in
// or out is no terminal, TERM=dumb, a window that is too small to start is fine)
// or broke.
func Run(ctx context.Context, c Config, in, out *os.File) (Exit, error) {
	return Exit{}, errors.New("not written yet")
}
