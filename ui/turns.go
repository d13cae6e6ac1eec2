package ui

import (
	"io"
	"runtime/debug"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// turns has the Model handle one message at a time: on Bubble Tea's loop, or for keys and their
// echo directly on the goroutine that read them, because handing them to the loop would wake
// another thread. It implements tea.Model.
type turns struct {
	m     *Model
	term  screenWriter
	loop  func(tea.Msg) // sends the loop a message, later
	broke func(v any, stack []byte)

	mu    sync.Mutex // guards m and all below
	tries bool       // this turn must not wait for the terminal
	rest  []byte     // output that the terminal has not taken yet
	runs  bool       // Init was called, and end was not
}

type screenWriter interface {
	io.Writer
	// TryWrite writes what the terminal takes at once and returns its length.
	TryWrite(p []byte) int
}

// also is a message with a command that the loop must run.
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

// now handles a message on the caller's goroutine, and reports whether it did. If wait is false,
// it waits neither for another turn nor for the terminal.
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
			t.loop(Wake{}) // to write the rest, which may have to wait for the terminal
		}
		t.rest = append(t.rest, p...)
		return
	}
	if _, err := t.term.Write(p); err != nil {
		t.loop(ended("the terminal is gone: " + err.Error()))
	}
}

// flush writes the output that the terminal has not taken yet.
func (t *turns) flush() {
	if rest := t.rest; len(rest) > 0 {
		t.rest = nil
		t.write(rest)
	}
}

// end allows no more turns except the loop's, and waits up to stuckTime/10 for one that runs.
func (t *turns) end() {
	for deadline := time.Now().Add(stuckTime / 10); !t.mu.TryLock(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return
		}
	}
	t.runs = false
	t.mu.Unlock()
}
