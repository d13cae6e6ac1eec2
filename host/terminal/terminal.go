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
	// ErrNoDetection says that the shell does not mark its commands (Keys, Submit).
	ErrNoDetection = errors.New("its shell does not mark its commands")
	// ErrNoPrompt says that the shell shows no prompt yet (Keys, Submit).
	ErrNoPrompt = errors.New("its shell does not show a prompt")
)

const (
	// defaultContent is Config.MaxContent when it is 0.
	defaultContent = 1 << 20
	// maxPending bounds the output that waits for Take, in bytes. At the bound the
	// reader waits.
	maxPending = 1 << 20
	// maxActions bounds the actions that wait for Take; a flood of marks makes many.
	maxActions = 4096
	// chunk is how many bytes the reader collects before it processes them.
	chunk = 64 << 10
	// slice is how many bytes are processed before screen is unlocked.
	slice = 16 << 10
	// leastSlice is the shortest slice that is made to fill a block of the store.
	leastSlice = 4 << 10
	// loneEscape is how long an ESC at the end of the output is held back.
	loneEscape = 50 * time.Millisecond
	// silence is how long the pty must be quiet after the child's exit before the exit
	// is reported although another process has the pty open.
	silence = 200 * time.Millisecond
	// graceTime is how long a child has to end before SIGKILL (docs/contributing/decisions.md §16).
	graceTime = 5 * time.Second
)

// Config makes a Terminal.
type Config struct {
	// Process has the pty, which the terminal owns from now on.
	Process keeper.Process
	// Cols and Rows are the size of pty and emulator, in cells.
	Cols, Rows int
	// Emulator is a fresh one of that size. The terminal owns it from now on.
	Emulator emulator.Emulator
	// Hostname is this machine's; an OSC 7 that names another host is ignored.
	Hostname string
	// Log may be nil.
	Log *slog.Logger
	// Wake is called when something is pending, on any goroutine and with no lock held:
	// at once after a pause, then at most once in 8 ms, except when pending output has
	// reached its bound. It is not called again before Take. Nil is allowed.
	Wake func()
	// Throttle may block the reader while the claim holder's connection is behind; its
	// context ends at Close. Nil means never.
	Throttle func(context.Context)
	// Signal delivers a signal to the child, as keeper.Client.Signal does; nil
	// signals the process groups from here.
	Signal func(context.Context, syscall.Signal) error
	Child
	// Before is text that is shown before the child's first byte, as output of no
	// command. It has no control characters but \n and \t. Only New uses it, and
	// Restore of a Fresh terminal.
	Before string
	// Landing is what the pty is read into; nil means memory of the terminal's own. The
	// terminal owns it until Done is closed. The holder releases it through Released only.
	Landing *journal.Landing
	// Spool is what typed input goes to the pty through. Without it a next host can't
	// always tell how much of the input was written.
	Spool *journal.Spool
	// Renew makes a fresh emulator after a panic, or returns nil. It is called with
	// screen locked, so it must take no lock of the holder's. Without it the terminal
	// shows nothing after a panic.
	Renew func(cols, rows int) emulator.Emulator
	// Failed is called, with no lock held, for an error of this terminal alone: a *Panic
	// of its own code or its emulator, after which it continues with an empty screen, or
	// journal.ErrFenced, after which it reads no more. Nil means that errors are only
	// logged.
	Failed func(error)
	// Resizes says that programs may set the size.
	Resizes bool
	// Media reads the pictures that programs name instead of sending, for viewers and for
	// the emulator, whose Options.Read is Media.Take. Nil reads none.
	Media *medium.Reader
	// MaxContent bounds retained output in bytes; 0 means 1 MiB.
	MaxContent int

	// Home is the directory that titles show as "~"; it may be empty.
	Home string

	delays delays
}

// delays are for tests to set.
type delays struct {
	escape time.Duration // 0 means loneEscape
	title  time.Duration // 0 means titleDelay
}

// Child is what is known of the process in a terminal.
type Child struct {
	// Command is the command line of a terminal that was started with a command; all its
	// output then belongs to that command. Empty means a shell.
	Command string
	// Nonce is in the shell's trusted marks (shell.Inject); empty when the shell was
	// started without our script. It must stay secret.
	Nonce string
	// PromptEnds says, before the first prompt, that the shell marks the ends of prompts.
	PromptEnds bool
	// Dir is the initial working directory, as a file URI; it may be empty.
	Dir string
	// Title is the title while nothing better is known: the shell, or the command that
	// the terminal was started with.
	Title string
}

// Terminal is one terminal. All methods may be called from any goroutine.
type Terminal struct {
	cfg Config
	log *slog.Logger

	life

	// screen guards the emulator and all that must change together with it.
	screen sync.Mutex
	display
	stream
	given
	cmds     commands
	titles   titling
	cwd      string // the last one that the child reported
	told     bool   // TerminalExited is queued
	escTimer *time.Timer
	learnt   atomic.Bool // facts have changed since they were published

	source source.Source
	queue
	input
	exit
}

// life is the lifetime of a terminal's goroutines.
type life struct {
	ctx    context.Context // ends at Close
	cancel context.CancelFunc
	work   sync.WaitGroup
	done   chan struct{}
	closed atomic.Bool
}

// display is the emulator and its settings. screen guards it.
type display struct {
	emu        emulator.Emulator
	cols, rows int
	colors     emulator.Colors // of SetColors
	panics     int
}

// stream is how far the child's output is processed. screen guards it.
type stream struct {
	filter    filter.Filter
	decoder   filter.Decoder
	offset    uint64 // end of the processed output
	feeding   uint64 // end of what is being fed; 0 outside of feed
	quiet     uint64 // queries before this offset were answered by an earlier host
	replaying bool   // events of the emulator are ignored
}

// New starts the terminal's goroutines. Close ends them.
func New(c Config) *Terminal {
	t := build(c)
	t.Start()
	return t
}

// Start starts the goroutines of a terminal that Restore made. It is called once. If
// something is pending, Wake is called soon, but not before Start returns.
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

// build makes a terminal without starting it.
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

// empty makes a terminal without output.
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

// ownSlots is how many slots the landing of a terminal without a journal has: more than
// may be pending.
const ownSlots = 20

// open prepares the pty for reading and writing.
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

// stopped makes a stopped timer.
func stopped(fn func()) *time.Timer {
	timer := time.AfterFunc(time.Hour, fn)
	timer.Stop()
	return timer
}

// Close stops reading and closes the pty. It waits for nothing, so it may be called under
// the holder's lock; Done is closed when the goroutines have ended. It sends the child no
// signal, but the kernel sends SIGHUP if nothing else has the pty open.
func (t *Terminal) Close() {
	if t.closed.Swap(true) {
		return
	}
	t.running.Store(false)
	t.cancel()
	t.input.mu.Lock()
	t.input.over = ErrClosed // before the pty is closed, so that failed writes are not counted
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
