package terminal

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/ahp"
	"tandemux/host/keeper"
)

// exit is whether and how the child has ended.
type exit struct {
	mu     sync.Mutex
	ended  chan struct{} // closed by Exit
	how    *keeper.Exit
	queued atomic.Bool // TerminalExited was queued
	last   time.Time   // when output was read last, after Exit
	timer  *time.Timer

	process keeper.Process
	raw     syscall.RawConn
	send    func(context.Context, syscall.Signal) error // Config.Signal
}

func (x *exit) known() bool {
	select {
	case <-x.ended:
		return true
	default:
		return false
	}
}

// heard notes that output was read.
func (x *exit) heard() {
	if !x.known() {
		return
	}
	x.mu.Lock()
	x.last = time.Now()
	x.mu.Unlock()
}

// Exit tells the terminal that its child has ended. TerminalExited becomes pending when
// the pty is empty: at its end, or after 200 ms without output if another process still
// has it open. Later output is still read. Only the first call counts.
func (t *Terminal) Exit(e keeper.Exit) {
	x := &t.exit
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.how != nil {
		return
	}
	x.how = &e
	x.last = time.Now()
	close(x.ended)
	t.input.end(ErrExited)
	if t.closed.Load() {
		return
	}
	x.timer.Reset(silence)
	// Wake the reader: it may wait for output at what is now the end.
	t.cfg.Process.Pty.SetReadDeadline(time.Unix(1, 0))
}

// Exited reports how the child ended; ok is false before Exit.
func (x *exit) Exited() (e keeper.Exit, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.how == nil {
		return keeper.Exit{}, false
	}
	return *x.how, true
}

// exitQuiet is called by a timer after the exit, to see whether the pty has been silent
// for long enough.
func (t *Terminal) exitQuiet() {
	x := &t.exit
	x.mu.Lock()
	wait := silence - time.Since(x.last)
	if x.queued.Load() || t.closed.Load() {
		x.mu.Unlock()
		return
	}
	if wait <= 0 && !(t.source.Parked() && t.readEmpty()) {
		wait = silence // the reader has not caught up, or Throttle blocks it
	}
	if wait > 0 {
		x.timer.Reset(wait)
		x.mu.Unlock()
		return
	}
	x.mu.Unlock()
	t.reportExit()
}

// readEmpty reports that the pty has nothing to read.
func (x *exit) readEmpty() bool {
	empty := false
	x.raw.Control(func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, 0)
		empty = err == nil && (n == 0 || p[0].Revents&unix.POLLIN == 0)
	})
	return empty
}

// reportExit queues TerminalExited, once.
func (t *Terminal) reportExit() {
	x := &t.exit
	x.mu.Lock()
	again := x.queued.Swap(true)
	x.timer.Stop()
	a := ahp.TerminalExited{}
	if x.how.Signal == "" && !x.how.Unknown {
		a.ExitCode = new(x.how.Code)
	}
	x.mu.Unlock()
	if again {
		return
	}
	t.screen.Lock()
	t.endCommand()
	t.told = true
	t.push(a)
	handOn(t)
}

// endCommand ends the command that ran when the process ended. It has the process's exit
// code, as after exec or exit 3. If a signal ended a shell, its command's end is not known.
// The caller holds screen.
func (t *Terminal) endCommand() {
	defer t.guard("end a command")
	var code *int
	if how := *t.exit.how; !how.Unknown && (how.Signal == "" || t.cfg.Command != "") {
		code = &how.Code
	}
	t.finished(code)
}

// Kill ends the child: SIGHUP and SIGTERM to its process groups, SIGKILL after
// five seconds (docs/contributing/decisions.md §16). It returns once Exit was called, or with
// ctx's error.
func (x *exit) Kill(ctx context.Context) error {
	steps := []struct {
		signals []syscall.Signal
		wait    time.Duration
	}{
		// SIGCONT, so that a stopped job gets the other signals.
		{[]syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGCONT}, graceTime},
		{[]syscall.Signal{syscall.SIGKILL}, graceTime},
	}
	for _, step := range steps {
		for _, sig := range step.signals {
			if x.known() {
				return nil
			}
			if err := x.signal(ctx, sig); err != nil {
				return fmt.Errorf("end process %d with %v: %w", x.process.Pid, sig, err)
			}
		}
		select {
		case <-x.ended:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("end process %d: %w", x.process.Pid, ctx.Err())
		case <-time.After(step.wait):
		}
	}
	return fmt.Errorf("end process %d: it outlives SIGKILL", x.process.Pid)
}

// Foreground is the process group in the terminal's foreground, 0 when there is
// none. It may be called from any goroutine.
func (x *exit) Foreground() (group int) {
	x.raw.Control(func(fd uintptr) { group, _ = unix.IoctlGetInt(int(fd), unix.TIOCGPGRP) })
	return group
}

// signal signals the child's process group and the terminal's foreground group.
func (x *exit) signal(ctx context.Context, sig syscall.Signal) error {
	if x.send != nil {
		return x.send(ctx, sig)
	}
	pid := x.process.Pid
	err := syscall.Kill(-pid, sig)
	if fg := x.Foreground(); fg > 0 && fg != pid {
		if ferr := syscall.Kill(-fg, sig); err != nil {
			err = ferr
		}
	}
	if err == syscall.ESRCH {
		return nil
	}
	return err
}
