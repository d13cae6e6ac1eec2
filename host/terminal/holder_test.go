package terminal

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/native"
	"tandemux/host/keeper"
)

// holder is what a host is to a terminal: it takes under a lock of its own when
// woken, and remembers everything in order.
type holder struct {
	t    testing.TB
	term *Terminal
	proc keeper.Process

	mu      sync.Mutex
	changed *sync.Cond
	actions []ahp.Action
	data    strings.Builder
	wakes   []time.Time
	keep    bool // keep data
	onData  func(string)
	busy    bool // does not take when woken
}

type startOptions struct {
	cols, rows int
	config     func(*Config)
	onData     func(string) // instead of keeping it; under the holder's lock
	manual     bool         // the holder does not take by itself
}

// start runs a script in a terminal, with a keeper of its own.
func start(t testing.TB, script string, o startOptions) *holder {
	t.Helper()
	return startArgv(t, []string{"bash", "--norc", "--noprofile", "-c", script}, o)
}

func startArgv(t testing.TB, argv []string, o startOptions) *holder {
	t.Helper()
	if o.cols == 0 {
		o.cols, o.rows = 80, 24
	}
	k := startKeeper(t)
	p, err := k.Spawn(context.Background(), keeper.Spec{
		ID: "it", Argv: argv, Dir: "/", Cols: o.cols, Rows: o.rows,
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color", "PS1=$ ", "LC_ALL=C.UTF-8", "HOME=/"},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := &holder{t: t, proc: p, keep: o.onData == nil, onData: o.onData, busy: o.manual}
	h.changed = sync.NewCond(&h.mu)
	c := Config{
		Process: p, Cols: o.cols, Rows: o.rows, Hostname: "here",
		Emulator: native.New(emulator.Options{Cols: o.cols, Rows: o.rows}),
		Wake: func() {
			h.mu.Lock()
			h.wakes = append(h.wakes, time.Now())
			h.changed.Broadcast()
			if !h.busy {
				h.take()
			}
			h.mu.Unlock()
		},
		Signal: nil, delays: delays{title: time.Hour},
	}
	if o.config != nil {
		o.config(&c)
	}
	h.mu.Lock() // Wake waits until term is set
	h.term = New(c)
	h.mu.Unlock()
	go func() {
		for e := range k.Exits() {
			h.term.Exit(e)
		}
	}()
	t.Cleanup(func() {
		h.term.Close()
		select {
		case <-h.term.Done():
		case <-time.After(10 * time.Second):
			t.Error("the terminal's goroutines do not end after Close")
		}
	})
	return h
}

// startKeeper runs a keeper for one test, in this process.
func startKeeper(t testing.TB) *keeper.Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "term")
	if err != nil {
		t.Fatal(err)
	}
	ln, err := keeper.Listen(filepath.Join(dir, "k"))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- keeper.Serve(context.Background(), ln, nil) }()
	k, err := keeper.Dial(context.Background(), filepath.Join(dir, "k"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// What the test left running need not be asked politely.
		list, _ := k.List(context.Background())
		for _, c := range list {
			k.Signal(context.Background(), c.ID, 9)
		}
		k.Shutdown(context.Background())
		if err := <-served; err != nil {
			t.Errorf("keeper: %v", err)
		}
		os.RemoveAll(dir)
	})
	return k
}

// take takes what is pending. The caller holds mu.
func (h *holder) take() {
	actions, _ := h.term.Take()
	h.note(actions)
}

func (h *holder) note(actions []ahp.Action) {
	for _, a := range actions {
		if d, ok := a.(ahp.TerminalData); ok {
			if h.onData != nil {
				h.onData(d.Data)
			}
			if !h.keep {
				continue
			}
			h.data.WriteString(d.Data)
		}
		h.actions = append(h.actions, a)
	}
	h.changed.Broadcast()
}

// await waits until ok, which is called with mu held whenever something came.
func (h *holder) await(what string, ok func() bool) {
	h.t.Helper()
	late := false
	timer := time.AfterFunc(time.Minute, func() {
		h.mu.Lock()
		late = true
		h.changed.Broadcast()
		h.mu.Unlock()
	})
	defer timer.Stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	for !ok() {
		if late {
			text := h.data.String()
			h.t.Fatalf("waited too long for %s; %d bytes came, the last are %q", what, len(text), text[max(0, len(text)-200):])
		}
		h.changed.Wait()
	}
}

// poll waits for a state that nothing announces, looking often.
func (h *holder) poll(what string, ok func() bool) {
	h.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	give := time.After(time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-give:
			h.t.Fatalf("waited too long for %s", what)
		}
	}
}

// see waits for text in the output.
func (h *holder) see(text string) {
	h.t.Helper()
	h.await(fmt.Sprintf("%q", text), func() bool { return strings.Contains(h.data.String(), text) })
}

// exited waits for the exit and gives it.
func (h *holder) exited() ahp.TerminalExited {
	h.t.Helper()
	var e ahp.TerminalExited
	h.await("the exit", func() bool {
		for _, a := range h.actions {
			if x, ok := a.(ahp.TerminalExited); ok {
				e = x
				return true
			}
		}
		return false
	})
	return e
}

// output is all data so far.
func (h *holder) output() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.data.String()
}

func (h *holder) input(s string) {
	h.t.Helper()
	if err := h.term.Input(s); err != nil {
		h.t.Fatal(err)
	}
}

// taken is what Take gives but for what it tells of the echo.
func taken(t *Terminal) []ahp.Action {
	actions, _ := t.Take()
	return slices.DeleteFunc(actions, func(a ahp.Action) bool {
		_, echo := a.(ahp.TerminalEchoChanged)
		return echo
	})
}
