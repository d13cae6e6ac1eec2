package terminal

import (
	"sync/atomic"

	"tandemux/ahp"
	"tandemux/internal/rawio"
)

// echo is whether the pty echoes typed input, for viewers that show it before its echo
// comes. The kernel does not report when a program changes the pty's modes, so they are
// read before typed input is written, and after output was read. queue.mu guards told.
type echo struct {
	prompt atomic.Bool // a shell edits a command line
	flood  atomic.Bool // the last read was so large that more follows: the modes are read after that
	told   ahp.Echo
}

// lookAtEcho reads the modes and queues a change, behind all that is published. typed says
// that it is called before typed input is written. The caller holds mu.
func (q *queue) lookAtEcho(typed bool) (changed bool) {
	now := ahp.NoEcho
	switch {
	case q.echo.prompt.Load():
		now = ahp.EchoPrompt
	case q.echo.flood.Load() && !typed && q.echo.told != ahp.EchoPrompt:
		return false
	case q.in.echoes():
		now = ahp.EchoTty
	}
	if changed = now != q.echo.told; changed {
		q.echo.told = now
		q.pending.push(ahp.TerminalEchoChanged{By: now})
	}
	return changed
}

// LookAtEcho finds out whether the pty echoes what is typed next, and reports whether that
// has changed. A change is pending for Take.
func (q *queue) LookAtEcho() (changed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running.Load() && q.lookAtEcho(true)
}

// echoes reports whether the pty echoes input; a closed one does not.
func (in *input) echoes() (is bool) {
	in.raw.Control(func(fd uintptr) { is = rawio.Echoes(fd) }) //nolint:errcheck // as above
	return is
}
