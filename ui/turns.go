package ui

import (
	"io"
	"runtime/debug"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// turns gives the Model one message at a time: on Bubble Tea's loop, and what a person
// waits for on the goroutine that brings it. Each hand-over to the loop wakes a thread,
// which a key and its echo would wait for.
// It implements tea.Model.
type turns struct {
	m     *Model
	term  screenWriter
	loop  func(tea.Msg) // has the loop take a message, later
	broke func(v any, stack []byte)

	mu    sync.Mutex // guards m and all below
	tries bool       // nothing waits for the terminal in this turn
	rest  []byte     // of frames, that the terminal did not take at once
	runs  bool       // Init was called, and end was not
}

type screenWriter interface {
	io.Writer
	// TryWrite writes what the terminal takes at once and gives its length.
	TryWrite(p []byte) int
}

// also is a message with a command for the loop.
type also tea.Cmd

func (t *turns) Init() tea.Cmd {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs = true
	return t.m.Init()
}

func (t *turns) View() tea.View { return t.m.View() }

func (t *turns) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if cmd, is := msg.(also); is {
		return t, tea.Cmd(cmd)
	}
	t.flush()
	_, cmd := t.m.Update(msg)
	return t, cmd
}

// now handles a message on the caller's goroutine. Without wait it neither waits for
// another turn nor for the terminal; it reports whether the message was handled.
func (t *turns) now(msg tea.Msg, wait bool) bool {
	switch {
	case wait:
		t.mu.Lock()
	case !t.mu.TryLock():
		return false
	}
	defer t.mu.Unlock()
	if !t.runs || !wait && len(t.rest) > 0 {
		return false
	}
	defer func() {
		t.tries = false
		if v := recover(); v != nil {
			t.runs = false
			t.broke(v, debug.Stack())
		}
	}()
	t.flush()
	t.tries = !wait
	if _, cmd := t.m.Update(msg); cmd != nil {
		t.loop(also(cmd))
	}
	return true
}

func (t *turns) write(p []byte) {
	if t.tries {
		if len(t.rest) == 0 {
			p = p[t.term.TryWrite(p):]
		}
		if len(p) == 0 {
			return
		}
		if len(t.rest) == 0 {
			t.loop(Wake{}) // it may wait for the terminal
		}
		t.rest = append(t.rest, p...)
		return
	}
	if _, err := t.term.Write(p); err != nil {
		t.loop(ended("the terminal is gone: " + err.Error()))
	}
}

// flush writes what the terminal did not take at once.
func (t *turns) flush() {
	if rest := t.rest; len(rest) > 0 {
		t.rest = nil
		t.write(rest)
	}
}

// end lets no turn begin any more but the loop's, and waits a moment for one that has.
func (t *turns) end() {
	for deadline := time.Now().Add(stuckTime / 10); !t.mu.TryLock(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return
		}
	}
	t.runs = false
	t.mu.Unlock()
}
