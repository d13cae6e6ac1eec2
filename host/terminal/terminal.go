package terminal

import (
	"context"
	"errors"
	"log/slog"
	"syscall"

	"cotty/ahp"
	"cotty/emulator"
	"cotty/host/keeper"
)

// Errors that callers branch on.
var (
	ErrInputFull = errors.New("the program does not read its input and the input queue is full; try again later")
	ErrExited    = errors.New("the terminal's process has ended")
	ErrClosed    = errors.New("the terminal is closed")
)

// Config makes a Terminal.
type Config struct {
	// Process gives the pty, which the terminal owns from here on.
	Process keeper.Process
	// Cols and Rows is the size that the pty and the emulator have.
	Cols, Rows int
	// Emulator is fresh, of that size, and belongs to the terminal from here on.
	Emulator emulator.Emulator
	// Hostname is this machine's; an OSC 7 that names another host is ignored.
	Hostname string
	// Log may be nil.
	Log *slog.Logger
	// Wake is called, on any goroutine and with no lock held, when Take has
	// something: at once after a pause, then at most once in 8 ms.
	Wake func()
	// Throttle may block the reader while the holder's own front is behind; its
	// context ends at Close. Nil means never.
	Throttle func(context.Context)
	// Signal delivers a signal to the child, as keeper.Client.Signal does; nil
	// signals the process groups from here.
	Signal func(context.Context, syscall.Signal) error
	// MaxContent bounds retained raw output in bytes; 0 means 1 MiB.
	MaxContent int
}

// Terminal is one terminal. All methods may be called from any goroutine.
type Terminal struct{}

// New starts the terminal's goroutines. Close ends them.
func New(c Config) *Terminal { return &Terminal{} }

// Take returns everything pending, in stream order, and empties it: output
// (TerminalData, decoded and filtered), TerminalTitleChanged,
// TerminalCwdChanged, TerminalResized, TerminalCleared, TerminalExited. The
// holder calls it under its sequencing lock. Nil when nothing is pending.
func (t *Terminal) Take() []ahp.Action { return nil }

// Content returns the actions still pending, as Take does, and the parts that
// reproduce the state after them in a fresh emulator of the present size
// (design.md, rule 2). Both are of one instant, so the holder sequences the
// pending actions before it serves the parts. Never nil.
func (t *Terminal) Content() (pending []ahp.Action, content []ahp.Part) { return nil, nil }

// Input queues data for the child. It never blocks; ErrInputFull when the queue
// is full (nothing of data is taken then), ErrExited, ErrClosed.
func (t *Terminal) Input(data string) error { return nil }

// Resize sets the size of the pty and the emulator and queues TerminalResized
// with the size that was set, 1..emulator.MaxCols by 1..emulator.MaxRows.
func (t *Terminal) Resize(cols, rows int) error { return nil }

// Size is the present size in cells.
func (t *Terminal) Size() (cols, rows int) { return 0, 0 }

// Clear empties content and history, and the main screen but for the line that
// the cursor is on (the prompt), which moves to the top. The alternate screen
// is left alone: its program owns it. It queues TerminalCleared and then
// TerminalData that rebuilds what is left, so that every viewer, whatever it
// does about TerminalCleared, shows the same.
func (t *Terminal) Clear() {}

// Read gives the text of ahp.ReadScreen, ahp.ReadHistory or ahp.ReadRaw.
func (t *Terminal) Read(what string) (ahp.ReadResult, error) { return ahp.ReadResult{}, nil }

// Kill ends the child: SIGHUP and SIGTERM to its process groups, SIGKILL after
// five seconds (rulings.md, 16). It returns once Exit was called, or with ctx's
// error.
func (t *Terminal) Kill(ctx context.Context) error { return nil }

// Exit tells the terminal that its child has ended. TerminalExited becomes
// pending when the pty is read empty: at its end, or after 200 ms of silence
// when another process still holds it; later output is still taken.
func (t *Terminal) Exit(e keeper.Exit) {}

// Exited reports how the child ended; ok is false before Exit.
func (t *Terminal) Exited() (e keeper.Exit, ok bool) { return keeper.Exit{}, false }

// Close stops reading and closes the pty. It waits for nothing, so it may be
// called under the holder's lock; Done is closed when the goroutines have
// ended. The child is not signalled, except that the kernel hangs up when no
// one else holds the pty.
func (t *Terminal) Close() {}

// Done is closed when Close was called and the goroutines have ended.
func (t *Terminal) Done() <-chan struct{} { return nil }
