package terminal

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/internal/pace"
)

// echoes are what actions tell of the echo, with the output between.
func echoes(actions []ahp.Action) string {
	var b strings.Builder
	for _, a := range actions {
		switch a := a.(type) {
		case ahp.TerminalEchoChanged:
			fmt.Fprintf(&b, "%s ", a.By)
		case ahp.TerminalData:
			fmt.Fprintf(&b, "%q ", a.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

// Viewers are told behind a prompt's end, and when none waits any more; else of the pty's
// bits.
func TestEchoAtPrompts(t *testing.T) {
	t.Parallel()
	term := fed(t, nil)
	for _, s := range []string{
		own("A") + "$ " + own("B"), "l", "s\r\n" + own("E;ls") + own("C;1"), "one\r\n" + own("D;0") + own("A") + "$ " + own("B") + "x",
		"\r\n" + own("A") + "$ " + own("B"),
	} {
		term.give(s)
	}
	actions, _ := term.Take()
	want := `tty "$ " prompt "ls\r\n" tty "one\r\n" "$ x" prompt "\r\n$ "`
	if got := echoes(actions); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// So it is where shells do not say where their prompts end, as zsh and fish do not.
func TestEchoAtEndlessPrompts(t *testing.T) {
	t.Parallel()
	term := fed(t, nil)
	term.give(own("A") + "% ")
	term.give("ls\r\n" + own("C;1"))
	term.give(own("D;0") + own("A") + "% ")
	actions, _ := term.Take()
	if got, want := echoes(actions), `tty "% " prompt "ls\r\n" tty "% " prompt`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A password's prompt: that the pty does not echo is known when something is printed, and
// before anything is typed that does not show.
func TestEchoOff(t *testing.T) {
	t.Parallel()
	h := start(t, `read -r a; read -r -s b; printf '<%s>' "$b"; read -r c; stty -icanon; echo raw; read -r d`, startOptions{})
	told := func() []string {
		h.mu.Lock()
		defer h.mu.Unlock()
		var all []string
		for _, a := range h.actions {
			if e, is := a.(ahp.TerminalEchoChanged); is {
				all = append(all, string(e.By))
			}
		}
		return all
	}
	h.await("echo", func() bool { return len(h.actions) > 0 })
	h.input("a\n")
	for { // bash turns it off without a word: the next look tells
		if h.term.LookAtEcho(); slices.Equal(told(), []string{"tty", ""}) {
			break
		}
		h.mu.Lock()
		h.take()
		h.mu.Unlock()
	}
	h.input("secret\n")
	h.await("the secret's end", func() bool { return strings.Contains(h.data.String(), "<secret>") })
	h.input("c\n")
	h.await("the end", func() bool { return strings.Contains(h.data.String(), "raw") })
	h.mu.Lock()
	h.take()
	h.mu.Unlock()
	if got, want := told(), []string{"tty", "", "tty", ""}; !slices.Equal(got, want) {
		t.Errorf("echoes by %q, want %q", got, want)
	}
}

// The echo of input is written behind what the program prints upon it, and soon where it
// prints nothing.
func TestWithAnswer(t *testing.T) {
	t.Parallel()
	h := start(t, "echo ready; cat", startOptions{})
	h.see("ready")
	for deadline := time.Now().Add(20 * time.Second); ; {
		time.Sleep(2 * pace.Interval) // what comes sooner waits for the end of the frame
		h.mu.Lock()
		woken, flushed := len(h.wakes), -1
		h.mu.Unlock()
		if err := h.term.Input("x"); err != nil { // which the pty echoes
			t.Fatal(err)
		}
		done := make(chan struct{})
		h.term.WithAnswer(func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			flushed = len(h.wakes)
			close(done)
		})
		<-done
		if flushed > woken {
			break
		}
		if time.Now().After(deadline) { // 400 µs are short on a busy machine, but not each time
			t.Fatal("the echo of input was always written before the output")
		}
	}
	silent := start(t, "stty -echo; echo ready; exec sleep 100", startOptions{})
	silent.see("ready")
	done := make(chan struct{})
	if err := silent.term.Input("x"); err != nil {
		t.Fatal(err)
	}
	silent.term.WithAnswer(func() { close(done) })
	<-done
}

// Several who type read what answers them, and the terminal's own goroutine the rest: nothing is
// lost or out of order, and each echo is written.
func TestAnswersAreReadOnce(t *testing.T) {
	t.Parallel()
	const typists, keys = 3, 60
	h := start(t, `stty raw -echo; echo ready; i=0; while read -rn1 c; do i=$((i+1)); echo "<$i>"; [ $((i % 16)) = 0 ] && seq 5000; done`, startOptions{})
	h.see("ready")
	var flushed atomic.Int32
	var typing sync.WaitGroup
	for range typists {
		typing.Go(func() {
			for range keys {
				if err := h.term.Input("x"); err != nil {
					t.Error(err)
				}
				h.term.WithAnswer(func() { flushed.Add(1) })
			}
		})
	}
	typing.Wait()
	h.see(fmt.Sprintf("<%d>", typists*keys))
	h.poll("each echo", func() bool { return flushed.Load() == typists*keys })
	got, at := h.output(), 0
	for i := 1; i <= typists*keys; i++ {
		next := strings.Index(got[at:], fmt.Sprintf("<%d>", i))
		if next < 0 {
			t.Fatalf("the answer to key %d is not behind that of the one before", i)
		}
		at += next
	}
	if n := strings.Count(got, "5000\n"); n != typists*keys/16 {
		t.Errorf("%d of %d floods came to their end", n, typists*keys/16)
	}
}

// In a flood the pty's bits are not looked at, and nothing is allocated for that.
func TestEchoInFloods(t *testing.T) {
	term := fed(t, nil)
	term.echo.flood.Store(true)
	if n := testing.AllocsPerRun(100, func() { term.lookAtEcho(false) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
