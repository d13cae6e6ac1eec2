package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"tandemux/ui/loop"
	"tandemux/ui/outer"
	"tandemux/ui/tty"
)

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

// Exit is how the interface ended. Note is one line for the user, which the caller prints after
// the terminal was restored. Layout is the layout that was shown.
type Exit struct {
	Reason Reason
	Note   string
	Layout string
}

// ended is the message that something outside ends the interface. Its text says why.
type ended string

// stuckTime is how long the loop may take to end after a signal or a panic.
const stuckTime = time.Second

// Run shows the interface on the terminal in and out until the user leaves, the context ends, or
// SIGINT, SIGTERM or SIGHUP arrives. The terminal is restored when it returns, also after a
// panic. It returns an error if the interface can't start (in or out is no terminal, TERM is
// dumb, the configuration names what does not exist) or panics.
func Run(ctx context.Context, c Config, in, out *os.File) (exit Exit, err error) {
	if c.Host == nil || c.Sink == nil {
		return exit, errors.New("start interface: Host and Sink are required")
	}
	term, err := tty.Open(in, out, c.env())
	if err != nil {
		return exit, err
	}
	w, h, err := term.Size()
	if err != nil {
		return exit, err
	}
	var p *tea.Program // set before anything sends to it
	wakes := make(chan struct{}, 1)
	turn := &turns{term: term, loop: func(msg tea.Msg) { go p.Send(msg) }}
	m, err := New(c, Env{
		Env:   outer.Env{Expect: term.Expect, Learned: term.SetCaps, Suspend: func() { suspend(p, term) }, Write: turn.write},
		Caps:  term.Caps(),
		Now:   time.Now,
		After: func(d time.Duration, msg tea.Msg) { time.AfterFunc(d, func() { p.Send(msg) }) },
		Wake: func() {
			if turn.now(Wake{}, false) {
				return
			}
			select {
			case wakes <- struct{}{}:
				runtime.Gosched() // lets the loop draw before the connection's next read
			default: // a wake-up is already waiting
			}
		},
	})
	if err != nil {
		return exit, err
	}
	defer c.Sink.Close()
	m.outer.Resize(w, h) // Init opens things at that size
	turn.m = m
	p = tea.NewProgram(turn,
		tea.WithContext(ctx), tea.WithEnvironment(c.env()), tea.WithWindowSize(w, h),
		tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithoutRenderer(), tea.WithFPS(1),
		tea.WithoutSignalHandler(), tea.WithoutCatchPanics())

	done := make(chan struct{})
	defer close(done)
	turn.broke = func(broke any, stack []byte) {
		m.log.Error("interface broke", "panic", broke, "stack", string(stack))
		time.AfterFunc(stuckTime, func() { leaveHard(term, broke, done) })
		turn.loop(loop.Crashed(broke))
	}
	c.Sink.Guard(turn.broke)
	go wake(p, wakes, done)
	go heed(p, c.Changes, done)

	defer func() {
		r := recover()
		turn.end()
		term.Restore()
		term.Close()
		if r != nil {
			m.log.Error("interface broke", "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("the interface broke, everything in it runs on: %v", r)
		}
	}()
	stop := signals(p, term, done)
	defer stop()
	if err := term.Enter(); err != nil {
		return exit, err
	}
	go settled(p, term)
	if err := term.Read(
		func(in tty.Input) {
			if !turn.now(in, true) {
				p.Send(in)
			}
		},
		func(err error) { p.Send(ended("the terminal is gone")) },
	); err != nil {
		return exit, err
	}
	if _, err := p.Run(); err != nil && !errors.Is(err, tea.ErrProgramKilled) {
		return exit, fmt.Errorf("run interface: %w", err)
	}
	return m.Exit(), nil
}

// leaveHard ends the process unless Run has returned: the loop may wait forever for a lock that
// the panicking goroutine held.
func leaveHard(term *tty.Terminal, broke any, done chan struct{}) {
	select {
	case <-done:
		return
	default:
	}
	term.Restore()
	fmt.Fprintf(os.Stderr, "tandemux: the interface broke, everything in it runs on: %v\n", broke)
	os.Exit(1)
}

// wake hands the Sink's wake-ups to the loop, so that the connection's goroutine never waits for
// the loop.
func wake(p *tea.Program, wakes, done chan struct{}) {
	for {
		select {
		case <-wakes:
			p.Send(Wake{})
		case <-done:
			return
		}
	}
}

// heed tells the loop that the configuration may have changed.
func heed(p *tea.Program, changes <-chan struct{}, done chan struct{}) {
	for {
		select {
		case _, ok := <-changes:
			if !ok {
				return
			}
			p.Send(Changed{})
		case <-done:
			return
		}
	}
}

// settled does what must wait until the loop runs. It sends the size, which may have changed
// before SIGWINCH was caught. And it stops the ticker that Bubble Tea starts for its renderer,
// even without one, as an idle program must not wake: only releasing the terminal, which Bubble
// Tea does not hold here, stops the ticker.
func settled(p *tea.Program, term *tty.Terminal) {
	p.Send(nil) // the loop drops it, once everything is started
	sendSize(p, term)
	_ = p.ReleaseTerminal()
}

// sendSize sends the model the terminal's size in cells, and a cell's size in pixels.
func sendSize(p *tea.Program, term *tty.Terminal) {
	if w, h, err := term.Size(); err == nil {
		p.Send(tty.Input{term.Cell()})
		p.Send(tea.WindowSizeMsg{Width: w, Height: h})
	}
}

// signals handles signals until stop is called: SIGWINCH, SIGCONT, and those that end the
// program.
func signals(p *tea.Program, term *tty.Terminal, done chan struct{}) (stop func()) {
	ch := make(chan os.Signal, 8)
	signal.Notify(ch, syscall.SIGWINCH, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGCONT)
	go func() {
		for {
			select {
			case <-done:
				return
			case s := <-ch:
				handleSignal(p, term, s, done)
			}
		}
	}()
	return func() { signal.Stop(ch) }
}

// resumeTime is how long after stopping itself a program may still run. If nothing could continue
// it, the system doesn't stop it.
const resumeTime = 300 * time.Millisecond

// suspend restores the terminal and stops the process group, as Ctrl-Z does. The system doesn't
// stop it if there is no shell that could continue it.
func suspend(p *tea.Program, term *tty.Terminal) {
	term.Restore()
	_ = syscall.Kill(0, syscall.SIGTSTP)
	time.AfterFunc(resumeTime, func() {
		time.Sleep(resumeTime / 4) // after a stop, SIGCONT comes at the same time
		if !term.Entered() {
			resume(p, term, false)
		}
	})
}

// resume enters the terminal again.
func resume(p *tea.Program, term *tty.Terminal, stopped bool) {
	if err := term.Enter(); err != nil {
		p.Send(ended("the terminal is gone: " + err.Error()))
		return
	}
	p.Send(Resumed{Stopped: stopped})
}

func handleSignal(p *tea.Program, term *tty.Terminal, s os.Signal, done chan struct{}) {
	switch s {
	case syscall.SIGCONT:
		resume(p, term, true)
		fallthrough // the size may have changed meanwhile
	case syscall.SIGWINCH:
		sendSize(p, term)
	default:
		hard := time.AfterFunc(stuckTime, func() {
			term.Unblock()
			p.Kill()
		})
		p.Send(ended("ended by " + unix.SignalName(s.(syscall.Signal))))
		go func() {
			<-done
			hard.Stop()
		}()
	}
}
