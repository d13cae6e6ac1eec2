package terminal

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"tandemux/emulator"
	"tandemux/host/journal"
	"tandemux/host/keeper"
	"tandemux/host/terminal/filter"
	"tandemux/host/terminal/medium"
	"tandemux/host/terminal/source"
)

// Errors that callers branch on.
var (
	ErrInputFull = errors.New("the program does not read its input and the input queue is full; try again later")
	ErrExited    = errors.New("the terminal's process has ended")
	ErrClosed    = errors.New("the terminal is closed")
	// ErrNoDetection is Submit's where the shell does not mark its commands.
	ErrNoDetection = errors.New("its shell does not mark its commands")
	// ErrNoPrompt is Submit's where the shell shows no prompt yet.
	ErrNoPrompt = errors.New("its shell does not show a prompt")
)

const (
	// defaultContent is Config.MaxContent when it is 0.
	defaultContent = 1 << 20
	// maxPending bounds output in bytes that waits for Take; the reader waits
	// with it.
	maxPending = 1 << 20
	// maxActions bounds actions that wait for Take, as a flood of marks makes.
	maxActions = 4096
	// chunk is how much the reader collects before it processes.
	chunk = 64 << 10
	// slice is how much is processed before others may have the screen.
	slice = 16 << 10
	// leastSlice is how little of it may be processed at once to fill a block of the
	// store.
	leastSlice = 4 << 10
	// loneEscape is how long an ESC at the end of the output is held back.
	loneEscape = 50 * time.Millisecond
	// silence is how long the pty must be quiet after the child's exit for the
	// exit to be reported although another process holds the pty.
	silence = 200 * time.Millisecond
	// graceTime is how long a child may take over its end (docs/contributing/decisions.md §16).
	graceTime = 5 * time.Second
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
	// something: at once after a pause, then at most once in 8 ms, except when
	// output has piled up to its bound. It is not called again before Take. Nil
	// is allowed.
	Wake func()
	// Throttle may block the reader while the holder's own front is behind; its
	// context ends at Close. Nil means never.
	Throttle func(context.Context)
	// Signal delivers a signal to the child, as keeper.Client.Signal does; nil
	// signals the process groups from here.
	Signal func(context.Context, syscall.Signal) error
	Child
	// Before is text that is shown before the child's first byte, as output of
	// nobody; it has no control characters but \n and \t. New only.
	Before string
	// Landing is what the pty is read into; nil means memory of the terminal's
	// own. It belongs to the terminal until Done is closed, but for Release,
	// which is the holder's, through Released.
	Landing *journal.Landing
	// Spool is what is typed goes to the pty through; nil means that a next host
	// can't tell all of the time how much of it was taken.
	Spool *journal.Spool
	// Renew makes a fresh emulator after a panic of the one before, or returns
	// nil; it is called with the screen locked, so it must take no lock of the
	// holder's. Nil means that the terminal shows nothing then.
	Renew func(cols, rows int) emulator.Emulator
	// Failed is told, with no lock held, what went wrong in this terminal alone:
	// a *Panic of its own code or its emulator, after which it goes on with an
	// empty screen, or journal.ErrFenced, after which it reads no more. Nil
	// means that it is only logged.
	Failed func(error)
	// Resizes says that the emulator allows them: the program sets the size.
	Resizes bool
	// Media reads the pictures that programs name instead of sending, for viewers and for
	// the emulator, whose Options.Read is its Take; nil reads none.
	Media *medium.Reader
	// MaxContent bounds retained output in bytes; 0 means 1 MiB.
	MaxContent int

	// Home is the directory that titles call "~"; may be empty.
	Home string

	delays delays
}

// delays are for tests to set.
type delays struct {
	escape time.Duration // 0 means loneEscape
	title  time.Duration // 0 means titleDelay
}

// Child is what is known of what runs in a terminal.
type Child struct {
	// Command is the command line of a terminal that was started with a command:
	// it is one command then, from start to exit. Empty means a shell.
	Command string
	// Nonce is what the shell's trusted marks have in them (shell.Inject); empty
	// when the shell was started as it is. It is a secret of the terminal.
	Nonce string
	// PromptEnds says that the shell's marks tell where its prompts end, before
	// one has.
	PromptEnds bool
	// Dir is the working directory at the start, as a file URI; may be empty.
	Dir string
	// Title is what the terminal is called as long as nothing better is known: the
	// shell, or the command that it was started with.
	Title string
}

// Terminal is one terminal. All methods may be called from any goroutine.
type Terminal struct {
	cfg Config
	log *slog.Logger

	life

	// screen guards the emulator and all that must be of one instant with it.
	screen sync.Mutex
	display
	stream
	given
	cmds     commands
	titles   titling
	cwd      string // last one the child reported
	told     bool   // TerminalExited is queued
	escTimer *time.Timer
	learnt   atomic.Bool // facts have changed since they were published

	source source.Source
	queue
	input
	exit
}

// life is that of a terminal's goroutines.
type life struct {
	ctx    context.Context // ends at Close
	cancel context.CancelFunc
	work   sync.WaitGroup
	done   chan struct{}
	closed atomic.Bool
}

// display is the emulator and what it was told. Guarded by screen.
type display struct {
	emu        emulator.Emulator
	cols, rows int
	colors     emulator.Colors // as SetColors told
	panics     int
}

// stream is how far the child's output is processed. Guarded by screen.
type stream struct {
	filter    filter.Filter
	decoder   filter.Decoder
	offset    uint64 // of the output that is fed
	feeding   uint64 // offset behind what is being fed; 0 outside of feed
	quiet     uint64 // questions before it were answered by an earlier host
	replaying bool   // nothing that the emulator says counts
}

// New starts the terminal's goroutines. Close ends them.
func New(c Config) *Terminal {
	t := build(c)
	t.Start()
	return t
}

// Start begins to read and write; Wake comes soon, not before it returns, if
// something is pending. Only for what Restore made, once.
func (t *Terminal) Start() {
	if t.input.raw != nil {
		t.input.now = t.writeNow
	}
	t.work.Go(t.read)
	t.work.Go(t.write)
	context.AfterFunc(t.ctx, func() {
		t.work.Wait()
		close(t.done)
	})
	t.queue.mu.Lock()
	t.running.Store(!t.closed.Load())
	t.due(true)
	t.queue.mu.Unlock()
}

// build makes a terminal that does not run yet.
func build(c Config) *Terminal {
	t := empty(c)
	t.cmds.tellsInput = c.PromptEnds
	t.precede(c.Before)
	if t.cwd = c.Dir; c.Command != "" {
		t.executed(c.Command)
	}
	t.learnt.Store(true)
	t.publish(false)
	return t
}

// empty makes a terminal in which nothing has happened yet.
func empty(c Config) *Terminal {
	if c.MaxContent <= 0 {
		c.MaxContent = defaultContent
	}
	c.delays.escape = cmp.Or(c.delays.escape, loneEscape)
	c.delays.title = cmp.Or(c.delays.title, titleDelay)
	t := &Terminal{cfg: c, log: c.Log, life: life{done: make(chan struct{})}}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	t.display = display{emu: c.Emulator, cols: c.Cols, rows: c.Rows}
	t.filter.Sizes = c.Resizes
	if c.Media != nil {
		c.Media.Foreground, t.filter.Media = t.Foreground, c.Media.Read
	}
	t.input.log = t.log
	t.line.changed, t.entered.changed = &t.input.changed, &t.input.changed
	t.call, t.queue.in, t.own = c.Wake, &t.input, c.Landing == nil
	t.exit.process, t.send = c.Process, c.Signal
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.room.L, t.bound = &t.queue.mu, math.MaxInt
	t.input.ready.L = &t.input.mu
	t.ended = make(chan struct{})
	t.kept = kept{whole: true, max: c.MaxContent, blank: c.Emulator.Snapshot(nil, -1)}
	t.escTimer = stopped(t.flushEscape)
	t.titles.timer = stopped(t.look)
	t.titles.shown = c.Title
	t.wake.timer = stopped(t.wakeLate)
	t.exit.timer = stopped(t.exitQuiet)
	if err := t.open(); err != nil {
		t.log.Error("use the pty", "process", c.Process.ID, "err", err)
		t.Close()
	}
	return t
}

// ownSlots is how many slots the landing of a terminal without a journal has:
// room for more than may be pending.
const ownSlots = 20

// open makes the pty ready to be read into the landing and written to.
func (t *Terminal) open() error {
	raw, err := t.cfg.Process.Pty.SyscallConn()
	if err != nil {
		return err
	}
	l := t.cfg.Landing
	if l == nil {
		o := journal.Options{Area: 1, Slots: ownSlots}
		if _, l, err = journal.Create(make([]byte, o.Size()), o); err != nil {
			return err
		}
	}
	t.source.Begin(raw, l, t.exit.known)
	t.exit.raw, t.queue.landing, t.half = raw, l, l.Size()/2
	t.input.begin(t.cfg, raw, l)
	cerr := raw.Control(func(fd uintptr) { _, err = l.Prepare(int(fd)) })
	return errors.Join(cerr, err)
}

// stopped makes a timer that does not run yet.
func stopped(fn func()) *time.Timer {
	timer := time.AfterFunc(time.Hour, fn)
	timer.Stop()
	return timer
}

// Close stops reading and closes the pty. It waits for nothing, so it may be
// called under the holder's lock; Done is closed when the goroutines have
// ended. The child is not signalled, except that the kernel hangs up when no
// one else holds the pty.
func (t *Terminal) Close() {
	if t.closed.Swap(true) {
		return
	}
	t.running.Store(false)
	t.cancel()
	t.input.mu.Lock()
	t.input.over = ErrClosed // before the pty is, so that what it does not take then is not counted
	t.input.ready.Broadcast()
	t.input.mu.Unlock()
	t.cfg.Process.Pty.Close()
	t.queue.end()
	t.exit.mu.Lock()
	t.exit.timer.Stop()
	t.exit.mu.Unlock()
	t.escTimer.Stop()
	t.titles.timer.Stop()
}

// Done is closed when Close was called and the goroutines have ended.
func (t *Terminal) Done() <-chan struct{} { return t.done }
