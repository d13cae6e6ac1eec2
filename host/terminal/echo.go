package terminal

import (
	"sync/atomic"

	"tandemux/ahp"
	"tandemux/internal/rawio"
)

// echo is whether what is typed shows, for viewers that would show it before its echo
// has come. Nothing says when a program changes its terminal's modes, so they are looked
// at when something is typed, before it is written, and when output was read. told is
// guarded by queue.mu.
type echo struct {
	prompt atomic.Bool // a shell edits a command line
	flood  atomic.Bool // so much was read last that more follows: the modes are looked at then
	told   ahp.Echo
}

// lookAtEcho queues what has changed, behind all that is published; typed says that it is
// for what is typed next. The caller holds mu.
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

// LookAtEcho finds whether the pty echoes what is typed next. It reports whether that has
// changed: then Take has it.
func (q *queue) LookAtEcho() (changed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running.Load() && q.lookAtEcho(true)
}

// echoes reports whether the pty does; a closed one does not.
func (in *input) echoes() (is bool) {
	in.raw.Control(func(fd uintptr) { is = rawio.Echoes(fd) }) //nolint:errcheck // as above
	return is
}
