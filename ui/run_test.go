package ui_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/internal/pty"
	"tandemux/ui"
	"tandemux/ui/link"
)

// patience is how long a state is waited for.
const patience = 20 * time.Second

// lockedHost makes a test's host one that many goroutines may call.
type lockedHost struct {
	*Host // of whose methods those below are called at the same time

	mu sync.Mutex
	// dispatched and creating, if not nil, hear of such.
	dispatched func(ahp.Action)
	creating   func()
}

func (l *lockedHost) ClientID() string { return ClientID }

func (l *lockedHost) Create(ctx context.Context, p ahp.CreateTerminalParams) error {
	if l.creating != nil {
		l.creating()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Host.Create(ctx, p)
}

func (l *lockedHost) Call(ctx context.Context, method string, params, result any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Host.Call(ctx, method, params, result)
}

func (l *lockedHost) Subscribe(ctx context.Context, uri ahp.URI) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Host.Subscribe(ctx, uri)
}

func (l *lockedHost) Unsubscribe(uri ahp.URI) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Host.Unsubscribe(uri)
}

func (l *lockedHost) Dispatch(uri ahp.URI, a ahp.Action) (int64, error) {
	if l.dispatched != nil {
		l.dispatched(a)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Host.Dispatch(uri, a)
}

func (l *lockedHost) do(f func(*Host)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l.Host)
}

// window is an outer terminal: a pty whose master an emulator reads.
type window struct {
	t           testing.TB
	master, tty *os.File
	before      *term.State

	mu     sync.Mutex
	cond   *sync.Cond
	screen emulator.Emulator
	heard  func([]byte)
	done   chan struct{}
}

func newWindow(t testing.TB, cols, rows int) *window {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	w := &window{t: t, master: master, tty: tty, done: make(chan struct{})}
	w.cond = sync.NewCond(&w.mu)
	w.size(cols, rows)
	if w.screen, err = engine.New("", emulator.Options{Cols: cols, Rows: rows, History: -1}); err != nil {
		t.Fatal(err)
	}
	if w.before, err = term.GetState(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	go w.show()
	t.Cleanup(func() {
		w.tty.Close()
		w.master.Close()
		<-w.done
	})
	return w
}

func (w *window) size(cols, rows int) {
	// Not by File.Fd, which would make the reads of master block for good.
	conn, err := w.master.SyscallConn()
	if err != nil {
		w.t.Fatal(err)
	}
	err = conn.Control(func(fd uintptr) {
		err := unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(cols), Row: uint16(rows)})
		if err != nil {
			w.t.Error(err)
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// show reads what is written to the window, and answers.
func (w *window) show() {
	defer close(w.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := w.master.Read(buf)
		if err != nil {
			return
		}
		w.mu.Lock()
		w.screen.Write(buf[:n])
		var replies []string
		for _, ev := range w.screen.Events() {
			if ev.Kind == emulator.EventReply {
				replies = append(replies, ev.Text)
			}
		}
		heard := w.heard
		w.cond.Broadcast()
		w.mu.Unlock()
		if heard != nil {
			heard(buf[:n])
		}
		for _, r := range replies {
			_, _ = w.master.WriteString(r)
		}
	}
}

func (w *window) press(s string) {
	if _, err := w.master.WriteString(s); err != nil {
		w.t.Error(err)
	}
}

// wait waits until the window is in a state.
func (w *window) wait(what string, ok func(emulator.Emulator) bool) {
	w.t.Helper()
	late := false
	timer := time.AfterFunc(patience, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		late = true
		w.cond.Broadcast()
	})
	defer timer.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	for !ok(w.screen) {
		if late {
			w.t.Fatalf("waited for %s; the screen is\n%s", what, emulator.ScreenText(w.screen))
		}
		w.cond.Wait()
	}
}

func (w *window) waitFor(text string) {
	w.t.Helper()
	w.wait("the text "+text, func(e emulator.Emulator) bool {
		return strings.Contains(emulator.ScreenText(e), text)
	})
}

// restored fails the test unless the terminal is as it was found.
func (w *window) restored() {
	w.t.Helper()
	after, err := term.GetState(int(w.tty.Fd()))
	if err != nil {
		w.t.Fatal(err)
	}
	if !reflect.DeepEqual(w.before, after) {
		w.t.Errorf("the line discipline is not restored: %+v, want %+v", after, w.before)
	}
	w.wait("the main screen", func(e emulator.Emulator) bool {
		m := e.Modes()
		return !m.AltScreen && !m.BracketedPaste && !m.FocusEvents && m.Mouse == 0 && m.Kitty == 0 && e.Cursor().Visible
	})
}

type result struct {
	exit ui.Exit
	err  error
}

// run runs an interface in a window.
func run(t testing.TB, w *window, prepare func(*lockedHost)) (*lockedHost, context.CancelFunc, chan result) {
	t.Helper()
	sink := link.NewSink()
	l := &lockedHost{Host: NewHost(t, sink)}
	if prepare != nil {
		prepare(l)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	ended := make(chan result, 1)
	go func() {
		exit, err := ui.Run(ctx, ui.Config{
			Host: l, Sink: sink, Cwd: "/home/ann", Env: []string{"TERM=xterm-256color", "LANG=C.UTF-8", "HOME=/home/ann"},
		}, w.tty, w.tty)
		ended <- result{exit, err}
	}()
	return l, cancel, ended
}

func finish(t testing.TB, ended chan result) result {
	t.Helper()
	select {
	case r := <-ended:
		return r
	case <-time.After(patience):
		buf := make([]byte, 1<<20)
		t.Fatalf("the interface does not end:\n%s", buf[:runtime.Stack(buf, true)])
		return result{}
	}
}

func TestRun(t *testing.T) {
	w := newWindow(t, 80, 24)
	_, _, ended := run(t, w, nil)
	w.waitFor("1 sh1")
	w.press("echo hi")
	w.waitFor("$ echo hi")
	w.press("\x1b[32;5u|") // the prefix, as the kitty keyboard has it
	w.waitFor("│")
	w.size(60, 20)
	w.mu.Lock()
	w.screen.Resize(60, 20)
	w.mu.Unlock()
	if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	w.wait("60 columns", func(e emulator.Emulator) bool {
		rows := strings.Split(emulator.ScreenText(e), "\n")
		return len(rows) == 20 && strings.HasPrefix(rows[19], " main ") && strings.Contains(rows[0], "┬")
	})
	w.press("\x00d")
	r := finish(t, ended)
	if r.err != nil || r.exit.Reason != ui.Detached {
		t.Errorf("ended with %+v", r)
	}
	w.restored()
}

func TestRunEndsOnSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		w := newWindow(t, 80, 24)
		_, _, ended := run(t, w, nil)
		w.waitFor("1 sh1")
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		if r := finish(t, ended); r.err != nil || r.exit.Reason != ui.Ended || r.exit.Note != "ended by "+unix.SignalName(s) {
			t.Errorf("%v: ended with %+v", s, r)
		}
		w.restored()
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	w := newWindow(t, 80, 24)
	_, cancel, ended := run(t, w, nil)
	w.waitFor("1 sh1")
	cancel()
	if r := finish(t, ended); r.err != nil || r.exit.Reason != ui.Ended {
		t.Errorf("ended with %+v", r)
	}
	w.restored()
}

func TestRunEndsWithItsHost(t *testing.T) {
	w := newWindow(t, 80, 24)
	sink := link.NewSink()
	l := &lockedHost{Host: NewHost(t, sink)}
	ended := make(chan result, 1)
	go func() {
		exit, err := ui.Run(context.Background(), ui.Config{Host: l, Sink: sink, Env: []string{"TERM=xterm"}}, w.tty, w.tty)
		ended <- result{exit, err}
	}()
	w.waitFor("1 sh1")
	sink.Status(link.Closed, errors.New("it was stopped"))
	if r := finish(t, ended); r.err != nil || r.exit.Reason != ui.HostGone || !strings.Contains(r.exit.Note, "it was stopped") {
		t.Errorf("ended with %+v", r)
	}
	w.restored()
}

func TestRunRestoresAfterPanics(t *testing.T) {
	for name, prepare := range map[string]func(*lockedHost){
		"in the loop": func(l *lockedHost) {
			l.dispatched = func(a ahp.Action) {
				if in, ok := a.(ahp.TerminalInput); ok && in.Data == "!" {
					panic("boom in the loop")
				}
			}
		},
		"in a call": func(l *lockedHost) {
			first := true
			l.creating = func() {
				if !first {
					panic("boom in a call")
				}
				first = false
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWindow(t, 80, 24)
			_, _, ended := run(t, w, prepare)
			w.waitFor("1 sh1")
			w.press("!")
			if name == "in a call" {
				w.press("\x00|")
			}
			if r := finish(t, ended); r.err == nil || !strings.Contains(r.err.Error(), "boom") {
				t.Errorf("ended with %+v", r)
			}
			w.restored()
		})
	}
}

// TestRunRestoresAfterAPanicOfTheConnection: what breaks where nobody could give
// the terminal back ends the interface in order.
func TestRunRestoresAfterAPanicOfTheConnection(t *testing.T) {
	w := newWindow(t, 80, 24)
	sink := link.NewSink()
	l := &lockedHost{Host: NewHost(t, sink)}
	ended := make(chan result, 1)
	go func() {
		exit, err := ui.Run(context.Background(), ui.Config{Host: l, Sink: sink, Env: []string{"TERM=xterm"}}, w.tty, w.tty)
		ended <- result{exit, err}
	}()
	w.waitFor("1 sh1")
	func() {
		defer sink.Fence()
		panic("boom on the connection")
	}()
	if r := finish(t, ended); r.err == nil || !strings.Contains(r.err.Error(), "boom on the connection") {
		t.Errorf("ended with %+v", r)
	}
	w.restored()
}

func TestRunEndsWithItsTerminal(t *testing.T) {
	w := newWindow(t, 80, 24)
	l, _, ended := run(t, w, nil)
	w.waitFor("1 sh1")
	w.master.Close()
	// The read under way ends with the next output; then the window is gone.
	l.do(func(h *Host) { h.Terminal("sh1").Print("bye") })
	if r := finish(t, ended); r.err != nil || r.exit.Reason != ui.Ended {
		t.Errorf("ended with %+v", r)
	}
}

// TestRunEndsWithAStuckTerminal ends an interface whose window takes nothing
// any more.
func TestRunEndsWithAStuckTerminal(t *testing.T) {
	w := newWindow(t, 80, 24)
	l, _, ended := run(t, w, nil)
	w.waitFor("1 sh1")
	stuck := make(chan struct{})
	free := make(chan struct{})
	w.mu.Lock()
	once := sync.Once{}
	w.heard = func([]byte) { once.Do(func() { close(stuck) }); <-free }
	w.mu.Unlock()
	t.Cleanup(func() { close(free) })
	// Print until the painter waits for the window.
	buf := make([]byte, 1<<20)
	deadline := time.Now().Add(patience)
	for i := 0; ; i++ {
		l.do(func(h *Host) {
			h.Terminal("sh1").Print("\x1b[H" + strings.Repeat(string(rune('a'+i%26)), 79*23))
		})
		if i%50 == 0 && slices.ContainsFunc(strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n"), func(g string) bool {
			return strings.Contains(g, "pollDesc).waitWrite") || strings.Contains(g, "pollDesc).wait") && strings.Contains(g, "rawio.(*descriptor).writeBuffers")
		}) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the window never gets full")
		}
	}
	<-stuck
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if r := finish(t, ended); r.err != nil || r.exit.Reason != ui.Ended {
		t.Errorf("ended with %+v", r)
	}
}

func TestRunNeedsATerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	sink := link.NewSink()
	c := ui.Config{Host: &lockedHost{Host: NewHost(t, sink)}, Sink: sink}
	if _, err := ui.Run(context.Background(), c, null, null); err == nil || !strings.Contains(err.Error(), "not a terminal") {
		t.Errorf("without a terminal: %v", err)
	}
	w := newWindow(t, 80, 24)
	c.Env = []string{"TERM=dumb"}
	if _, err := ui.Run(context.Background(), c, w.tty, w.tty); err == nil || !strings.Contains(err.Error(), "dumb") {
		t.Errorf("TERM=dumb: %v", err)
	}
	w.restored()
}

// TestRunIdlesWithoutTimers looks for the ticker that Bubble Tea starts for its
// renderer: it has to be gone.
func TestRunIdlesWithoutTimers(t *testing.T) {
	w := newWindow(t, 80, 24)
	_, cancel, ended := run(t, w, nil)
	w.waitFor("1 sh1")
	deadline := time.Now().Add(patience)
	buf := make([]byte, 1<<20)
	for {
		stacks := string(buf[:runtime.Stack(buf, true)])
		if !strings.Contains(stacks, "startRenderer") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the renderer's ticker still runs:\n%s", stacks)
		}
		runtime.Gosched()
	}
	cancel()
	finish(t, ended)
}

// BenchmarkKeyEcho is the way of a key from the outer terminal to the host's
// terminal and of its echo back, through two ptys' worth of goroutines but
// without processes.
func BenchmarkKeyEcho(b *testing.B) {
	w := newWindow(b, 120, 40)
	heard := make(chan struct{}, 1)
	var at time.Time
	var keys time.Duration
	l, cancel, ended := run(b, w, func(l *lockedHost) {
		l.Host.Program = func(t *Terminal, in string) { t.Print("\r\x1b[K" + in) }
		l.dispatched = func(a ahp.Action) {
			if _, ok := a.(ahp.TerminalInput); ok {
				keys += time.Since(at)
			}
		}
	})
	_ = l
	w.waitFor("1 sh1")
	w.mu.Lock()
	w.heard = func([]byte) {
		select {
		case heard <- struct{}{}:
		default:
		}
	}
	w.mu.Unlock()
	n := 0
	var echoes []time.Duration
	for b.Loop() {
		time.Sleep(10 * time.Millisecond) // a person's pause, longer than a frame
		select {
		case <-heard:
		default:
		}
		at = time.Now()
		w.press(string(rune('a' + n%26)))
		<-heard
		echoes = append(echoes, time.Since(at))
		n++
	}
	slices.Sort(echoes)
	b.ReportMetric(float64(keys.Microseconds())/float64(n), "µs/key-to-host")
	b.ReportMetric(float64(echoes[n/2].Microseconds()), "µs/echo-p50")
	b.ReportMetric(float64(echoes[n*99/100].Microseconds()), "µs/echo-p99")
	cancel()
	finish(b, ended)
}
