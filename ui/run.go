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

// Exit is how the interface ended. Note is one line for the user, to be
// printed after the terminal was restored, Layout what was on the screen.
type Exit struct {
	Reason Reason
	Note   string
	Layout string
}

// ended is the message that something from outside ends the interface, and
// why.
type ended string

// stuckTime is how long a signal waits for the loop before it ends it hard.
const stuckTime = time.Second

// Run shows the interface on the terminal in and out until the user leaves, the
// context ends, or SIGINT, SIGTERM or SIGHUP arrives. The terminal is restored
// when it returns, also after a panic. The error is not nil when the interface
// could not start (in or out is no terminal, TERM is dumb, the configuration
// names what does not exist) or broke.
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
	var p *tea.Program // set before anything can send to it
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
				runtime.Gosched() // drawing goes before the next read
			default: // a wake-up waits already
			}
		},
	})
	if err != nil {
		return exit, err
	}
	defer c.Sink.Close()
	m.outer.Resize(w, h) // what Init opens has that size
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

// leaveHard ends the program unless it has ended: the loop may wait for a lock that
// what broke will never give back.
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

// wake hands wake-ups of the sink to the loop, so that the connection's
// goroutine never waits for it.
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

// heed hands on that the configuration may have changed.
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

// settled does what has to wait until the loop runs. The size may have changed
// before SIGWINCH was listened for. And the ticker that Bubble Tea starts for
// its renderer, even when it has none, has to go, as an idle program wakes for
// nothing: releasing the terminal, which Bubble Tea does not hold here, is the
// one way to stop it.
func settled(p *tea.Program, term *tty.Terminal) {
	p.Send(nil) // the loop takes it when everything is started, and drops it
	sendSize(p, term)
	_ = p.ReleaseTerminal()
}

// sendSize tells the model how large the terminal is, and its cells.
func sendSize(p *tea.Program, term *tty.Terminal) {
	if w, h, err := term.Size(); err == nil {
		p.Send(tty.Input{term.Cell()})
		p.Send(tea.WindowSizeMsg{Width: w, Height: h})
	}
}

// signals hands on what the system says: a new size, that it is time to go,
// that the program was stopped and goes on. It returns what undoes it.
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

// resumeTime is how long after stopping a program may still run: one that nothing
// can continue is not stopped at all.
const resumeTime = 300 * time.Millisecond

// suspend gives the terminal back and stops the program with all of its job, as
// Ctrl-Z does to others. Where there is no shell that could let it go on, the
// system does not stop it.
func suspend(p *tea.Program, term *tty.Terminal) {
	term.Restore()
	_ = syscall.Kill(0, syscall.SIGTSTP)
	time.AfterFunc(resumeTime, func() {
		time.Sleep(resumeTime / 4) // after a stop SIGCONT is due in the same instant
		if !term.Entered() {
			resume(p, term, false)
		}
	})
}

// resume takes the terminal again.
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
		fallthrough // it may have been resized meanwhile
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
