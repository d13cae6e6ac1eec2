package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/emulator/native"
	"tandemux/internal/pace"
)

func code(n int) *int { return &n }

func TestShell(t *testing.T) {
	t.Parallel()
	h := startArgv(t, []string{"bash", "--norc", "--noprofile", "-i"}, startOptions{})
	h.input("echo $((6*7)) two words\n")
	h.see("\r42 two words\r\n")
	h.input("exit 7\n")
	if e := h.exited(); !reflect.DeepEqual(e, ahp.TerminalExited{ExitCode: code(7)}) {
		t.Errorf("exit = %+v", e)
	}
	if err := h.term.Input("x"); !errors.Is(err, ErrExited) {
		t.Errorf("input after the exit: %v", err)
	}
	r, err := h.term.Read(ahp.ReadHistory)
	if err != nil || !strings.Contains(r.Text, "\n42 two words\n") || !strings.HasSuffix(r.Text, "exit\n") || r.Cols != 80 || r.Rows != 24 {
		t.Errorf("history = %+v, %v", r, err)
	}
	if r, err = h.term.Read(ahp.ReadScreen); err != nil || strings.Count(r.Text, "\n") != 24 {
		t.Errorf("screen = %+v, %v", r, err)
	}
	if r, err = h.term.Read(ahp.ReadRaw); err != nil || r.Text != h.output() {
		t.Errorf("raw = %+v, %v; want %q", r, err, h.output())
	}
	if _, err = h.term.Read("x"); err == nil {
		t.Error(`read "x"`)
	}
}

func TestEndedBySignal(t *testing.T) {
	t.Parallel()
	h := start(t, "kill -KILL $$", startOptions{})
	if e := h.exited(); e.ExitCode != nil {
		t.Errorf("exit = %+v", e)
	}
	if e, ok := h.term.Exited(); !ok || e.Signal != "SIGKILL" {
		t.Errorf("Exited = %+v, %v", e, ok)
	}
}

func TestResize(t *testing.T) {
	t.Parallel()
	h := start(t, `trap 'echo signalled' WINCH
		while :; do s=$(stty size); [ "$s" = "$o" ] || echo "size $s"; o=$s; sleep 0.02; done`, startOptions{cols: 91, rows: 33})
	h.see("size 33 91\r\n")
	resize := func(cols, rows int, want ahp.TerminalResized) {
		t.Helper()
		h.mu.Lock()
		defer h.mu.Unlock()
		if err := h.term.Resize(cols, rows); err != nil {
			t.Error(err)
		}
		h.take()
		if last := h.actions[len(h.actions)-1]; last != want {
			t.Errorf("Resize to %d×%d queues %+v", cols, rows, last)
		}
	}
	resize(40, 12, ahp.TerminalResized{Cols: 40, Rows: 12})
	h.see("size 12 40\r\n")
	h.see("signalled")
	if c, r := sizeOf(h.term); c != 40 || r != 12 {
		t.Errorf("size = %d×%d", c, r)
	}
	resize(0, 100000, ahp.TerminalResized{Cols: 1, Rows: emulator.MaxRows})
	h.see("size 2000 1\r\n")
	resize(1, 2000, ahp.TerminalResized{Cols: 1, Rows: 2000}) // no change, but an answer
}

// A rune that comes in two reads is one character for everybody.
func TestSplitRune(t *testing.T) {
	t.Parallel()
	h := start(t, `stty -opost -echo; printf 'a\344'; read x; printf '\270\226b'; read x; printf '\377c\344'; exit`, startOptions{})
	h.see("a")
	h.input("\n")
	h.see("世b")
	h.input("\n")
	h.exited()
	if got := h.output(); got != "a世b\uFFFDc\uFFFD" {
		t.Errorf("output %q", got)
	}
}

// Ten megabytes arrive complete and in order, whether or not anybody takes them
// for a while, and nothing piles up.
func TestFlood(t *testing.T) {
	t.Parallel()
	const size = 10 << 20
	r := rand.New(rand.NewPCG(1, 2))
	var text bytes.Buffer
	for i := 0; text.Len() < size; i++ {
		fmt.Fprintf(&text, "%d é世🙂 \x1b[%dm%x\x1b[m\r\n", i, 31+i%7, r.Uint64())
	}
	file := filepath.Join(t.TempDir(), "flood")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	want := fnv.New64a()
	want.Write([]byte("ready\n"))
	want.Write(text.Bytes())
	got, n, most := fnv.New64a(), 0, 0
	h := start(t, "stty -opost -echo; echo ready; read x; cat "+file, startOptions{onData: func(s string) {
		got.Write([]byte(s))
		n += len(s)
		most = max(most, len(s))
	}, config: func(c *Config) { c.Emulator = null{} }})
	h.await("the start", func() bool { return n > 0 })
	h.input("\n")
	h.mu.Lock()
	h.busy = true
	h.mu.Unlock()
	h.poll("output to pile up", func() bool {
		h.term.queue.mu.Lock()
		held := h.term.pending.size
		h.term.queue.mu.Unlock()
		if held > maxPending+chunk {
			t.Errorf("%d bytes are pending", held)
		}
		return held >= maxPending
	})
	h.mu.Lock()
	h.busy = false
	h.take()
	h.mu.Unlock()
	h.exited()
	h.mu.Lock()
	defer h.mu.Unlock()
	if whole := text.Len() + len("ready\n"); n != whole {
		t.Errorf("%d bytes came of %d", n, whole)
	}
	if most > maxPending+chunk {
		t.Errorf("one action has %d bytes", most)
	}
	if got.Sum64() != want.Sum64() {
		t.Error("what came is not what was written")
	}
	h.term.screen.Lock()
	defer h.term.screen.Unlock()
	if h.term.kept.whole || h.term.kept.raw.Size() > 0 || len(h.term.filter.Held()) > 0 {
		t.Error("raw output is kept beyond its bound")
	}
}

// Content stays within its bound, with as much history as fits, and a line that
// says how many lines are left out (G16).
func TestContentBound(t *testing.T) {
	t.Parallel()
	const limit = 20 << 10
	h := start(t, "stty -opost; for ((i=0;i<3000;i++)); do printf 'line %d \\033[%dmcoloured\\033[m\\r\\n' $i $((31+i%7)); done", startOptions{
		config: func(c *Config) { c.MaxContent = 1 << 10 },
	})
	h.exited()
	_, _, parts := h.term.Content(limit)
	if n := wireSize([]byte(text(parts))); n > limit || n < limit*3/4 {
		t.Errorf("content of %d bytes; the limit is %d", n, limit)
	}
	late := native.New(emulator.Options{Cols: 80, Rows: 24})
	late.Write([]byte(text(parts)))
	if got, want := emulator.ScreenText(late), emulator.ScreenText(h.term.emu); got != want {
		t.Errorf("the screen is %q; want %q", got, want)
	}
	got, want := emulator.HistoryText(late, -1), emulator.HistoryText(h.term.emu, -1)
	note, got, _ := strings.Cut(got, "\n")
	if !strings.HasSuffix(want, got) || !strings.HasPrefix(got, "line ") || len(got) < 3000 {
		t.Errorf("history of %d bytes is no end of the %d", len(got), len(want))
	}
	if left := fmt.Sprintf("[tandemux: %d older lines: ", h.term.emu.HistoryLen()-late.HistoryLen()+1); !strings.HasPrefix(note, left) {
		t.Errorf("the first line is %q; want %q", note, left)
	}
}

// The line that says what is left out is whole, and followed by history, however
// narrow the screen.
func TestContentCutNarrow(t *testing.T) {
	t.Parallel()
	h := start(t, "stty -opost; for ((i=0;i<1000;i++)); do printf 'line %d\\r\\n' $i; done", startOptions{
		config: func(c *Config) { c.MaxContent = 1 << 10 },
	})
	h.exited()
	for _, size := range [][2]int{{20, 5}, {20, 1}, {65, 24}, {3, 2}} {
		if err := h.term.Resize(size[0], size[1]); err != nil {
			t.Fatal(err)
		}
		_, _, parts := h.term.Content(2 << 10)
		late := native.New(emulator.Options{Cols: size[0], Rows: size[1]})
		late.Write([]byte(text(parts)))
		note, rest, _ := strings.Cut(emulator.HistoryText(late, -1), "\n")
		if !strings.HasPrefix(note, "[tandemux: ") || !strings.HasSuffix(note, "]") || !strings.HasPrefix(rest, "line ") || !strings.HasSuffix(emulator.HistoryText(h.term.emu, -1), rest) {
			t.Errorf("%v: the first line is %q, then %.40q", size, note, rest)
		}
	}
}

// Whoever reads the screen is told the colours that it was last seen in.
func TestReadColors(t *testing.T) {
	t.Parallel()
	h := start(t, "true", startOptions{})
	if r, err := h.term.Read(ahp.ReadScreen); err != nil || r.Colors != nil {
		t.Errorf("before anybody has looked: %+v, %v", r.Colors, err)
	}
	h.term.SetColors(emulator.Colors{BG: emulator.RGB(1, 2, 3), Indexed: [16]emulator.Color{1: emulator.RGB(0xff, 0, 0)}})
	r, err := h.term.Read(ahp.ReadScreen)
	if err != nil || r.Colors == nil || r.Colors.BG != "#010203" || r.Colors.FG != "" || len(r.Colors.Palette) != 16 || r.Colors.Palette[1] != "#ff0000" {
		t.Errorf("read %+v, %v", r.Colors, err)
	}
	h.exited()
}

// A picture in trimmed content has its data, so that a newcomer sees it, and the
// history that fits beside it.
func TestContentHasPictures(t *testing.T) {
	t.Parallel()
	h := start(t, `printf '\033_Ga=T,i=5,f=24,s=64,v=64,q=2;'; head -c 12288 /dev/zero | base64 -w0; printf '\033\\\n'; seq 3000`, startOptions{
		config: func(c *Config) { c.MaxContent = 8 << 10 },
	})
	h.exited()
	h.term.screen.Lock()
	h.term.kept.lose()
	h.term.screen.Unlock()
	_, _, parts := h.term.Content(MaxWire)
	late := native.New(emulator.Options{Cols: 80, Rows: 24})
	late.Write([]byte(text(parts)))
	if late.HistoryLen() < 500 {
		t.Errorf("%d lines of history are left", late.HistoryLen())
	}
	late.Write([]byte("\x1b[2J\x1b[H\x1b_Ga=p,i=5\x1b\\"))
	pic, ok := emulator.PictureOf(late, emulator.Placeholder{Own: true, ID: 2})
	if !ok || pic.Image.Width != 64 || len(pic.Image.Data) == 0 {
		t.Errorf("the picture is %+v, %v", pic, ok)
	}
}

// A question is answered once, and no viewer hears of it.
func TestQuestion(t *testing.T) {
	t.Parallel()
	h := start(t, `stty raw -echo; printf 'ab\033[6n'; IFS= read -rs -d R x
		printf '<%q>' "$x"; printf '\033[5n\033P$qm\033\\'; IFS= read -rs -d '\' x; printf '<%q>' "$x"
		printf '\033[?1;2c\033[>4n\033]11;#000\007'; read -rs -t 0.3 x; printf '<%q>' "$x"`, startOptions{})
	h.exited()
	h.see(`<$'\E[1;3'><$'\E[0n\EP1$r0m\E'>`)
	want := `ab<$'\E[1;3'><$'\E[0n\EP1$r0m\E'>` + "\x1b[>4n\x1b]11;#000\a" + `<''>`
	if out := h.output(); out != want {
		t.Errorf("viewers got %q; want %q", out, want)
	}
}

func TestTitleAndDirectory(t *testing.T) {
	t.Parallel()
	h := start(t, `printf '\033]0;one\007a\033]2;two\033\\b'
		printf '\033]7;file://here/tmp/a%%20b\007'; read x
		printf '\033]7;file://elsewhere/x\007\033]2;two\007\033]7;kitty-shell-cwd:///100%%\033\\'; read x`, startOptions{config: func(c *Config) { c.Command = "sh" }})
	find := func(want ahp.Action) {
		t.Helper()
		h.await(fmt.Sprintf("%+v", want), func() bool {
			for _, a := range h.actions {
				if a == want {
					return true
				}
			}
			return false
		})
	}
	find(ahp.TerminalTitleChanged{Title: "two"})
	find(ahp.TerminalCwdChanged{Cwd: "file:///tmp/a%20b"})
	h.input("\n")
	find(ahp.TerminalCwdChanged{Cwd: "file:///100%25"})
	h.mu.Lock()
	defer h.mu.Unlock()
	titles := 0
	for _, a := range h.actions {
		switch a := a.(type) {
		case ahp.TerminalTitleChanged:
			titles++
		case ahp.TerminalCwdChanged:
			if strings.Contains(a.Cwd, "x") {
				t.Errorf("another host's directory: %+v", a)
			}
		}
	}
	if titles > 2 {
		t.Errorf("%d title changes for two titles", titles)
	}
	if out := h.data.String(); strings.Contains(out, "]7;") || !strings.Contains(out, "\x1b]2;two\x1b\\") {
		t.Errorf("viewers got %q", out)
	}
}

// Everything written before the exit comes before TerminalExited.
func TestExitAfterOutput(t *testing.T) {
	t.Parallel()
	h := start(t, "stty -opost; head -c 300000 /dev/zero | tr '\\0' x; exit 3", startOptions{manual: true})
	h.await("a wake-up", func() bool { return len(h.wakes) > 0 })
	// The exit is known long before the output is taken.
	<-h.term.exit.ended
	h.poll("the exit", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.take()
		_, exited := h.actions[len(h.actions)-1].(ahp.TerminalExited)
		return exited
	})
	if n := len(h.output()); n != 300000 {
		t.Errorf("%d bytes came before the exit", n)
	}
}

// A grandchild that holds the terminal open delays the exit only a little, and
// what it writes later still comes.
func TestGrandchild(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "go")
	h := start(t, `trap '' HUP; (while [ ! -e `+file+` ]; do sleep 0.02; done; echo late) & echo early; exit 4`, startOptions{})
	if e := h.exited(); e.ExitCode == nil || *e.ExitCode != 4 {
		t.Errorf("exit = %+v", e)
	}
	if out := h.output(); out != "early\r\n" {
		t.Errorf("output %q", out)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.see("late")
}

// A child that closes its terminal and opens it again is heard again.
func TestReopened(t *testing.T) {
	t.Parallel()
	h := start(t, `echo one; exec </dev/null >/dev/null 2>&1; sleep 0.2; exec </dev/tty >/dev/tty 2>&1; echo two; read x; exit 5`, startOptions{})
	h.see("one")
	h.see("two")
	h.input("\n")
	if e := h.exited(); e.ExitCode == nil || *e.ExitCode != 5 {
		t.Errorf("exit = %+v", e)
	}
}

// An ESC that nothing follows is passed on after a while, and all is right when
// something follows later.
func TestLoneEscape(t *testing.T) {
	t.Parallel()
	h := start(t, `stty -echo; printf 'a\033'; read x; printf '[31mb\033'; read x; printf '[6nc'; read x`, startOptions{})
	h.see("a\x1b")
	h.input("\n")
	h.see("a\x1b[31mb\x1b")
	h.input("\n")
	h.see("a\x1b[31mb\x1b\x18c")
}

// Output comes at once after a pause, then once in a frame, and idle means idle.
func TestCoalescing(t *testing.T) {
	t.Parallel()
	h := start(t, `stty -echo; echo ready; read x; for ((i=0;i<20000;i++)); do echo line $i; done; echo over; read x`, startOptions{})
	h.see("ready")
	h.poll("a rest", h.rested)
	h.mu.Lock()
	h.wakes = nil
	h.mu.Unlock()
	h.input("\n")
	h.see("over")
	h.mu.Lock()
	wakes := h.wakes
	h.mu.Unlock()
	span := wakes[len(wakes)-1].Sub(wakes[0])
	if most := int(span/pace.Interval) + 1 + pace.Burst; len(wakes) > most {
		t.Errorf("%d wake-ups in %v, at most %d expected", len(wakes), span, most)
	}
	h.poll("no timer", func() bool { return !h.armed() })
	h.mu.Lock()
	idle := len(h.wakes)
	h.mu.Unlock()
	h.input("x") // not echoed, so nothing happens
	if h.armed() {
		t.Error("a timer runs while nothing is to be done")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.wakes) != idle {
		t.Error("woken while idle")
	}
}

// rested reports that a whole burst of output comes at once.
func (h *holder) rested() bool {
	h.term.queue.mu.Lock()
	defer h.term.queue.mu.Unlock()
	return !h.term.wake.armed && h.term.wake.pace.Left(time.Now()) <= -(pace.Burst-1)*pace.Interval
}

func (h *holder) armed() bool {
	h.term.queue.mu.Lock()
	defer h.term.queue.mu.Unlock()
	return h.term.wake.armed
}

// Input to a program that does not read is bounded, never blocks, and comes
// complete and in order once it reads.
func TestInput(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "got")
	h := start(t, `stty raw -echo; echo ready; while [ ! -e `+file+`.go ]; do sleep 0.01; done; echo reading; head -c 1048576 >`+file+`; echo over`, startOptions{})
	h.see("ready")
	var sent bytes.Buffer
	for i := 0; ; i++ {
		line := fmt.Sprintf("%d é %0*d\n", i, i%3000, i)
		err := h.term.Input(line)
		if errors.Is(err, ErrInputFull) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		sent.WriteString(line)
		if sent.Len() > 2*maxInput {
			t.Fatal("input is not bounded")
		}
	}
	if err := os.WriteFile(file+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.see("reading")
	// The queue is below its bound again as soon as something was written.
	for sent.Len() < 1<<20 {
		if h.term.Input("x") == nil {
			sent.WriteString("x")
		}
	}
	h.see("over")
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, sent.Bytes()[:1<<20]) {
		t.Errorf("%d bytes came, not as sent: %v", len(got), err)
	}
}

// Throttle holds up the child and nothing else.
func TestThrottle(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	h := start(t, "echo one; read x; exit 2", startOptions{config: func(c *Config) {
		c.Throttle = func(ctx context.Context) {
			select {
			case <-gate:
			case <-ctx.Done():
			}
		}
	}})
	h.input("\n")
	h.mu.Lock()
	h.term.Resize(100, 30)
	h.take()
	h.mu.Unlock()
	if got := h.output(); got != "" {
		t.Errorf("output %q through the throttle", got)
	}
	close(gate)
	h.see("one\r\n")
	h.exited()
}

func TestCloseWhileThrottled(t *testing.T) {
	t.Parallel()
	h := start(t, "yes", startOptions{config: func(c *Config) {
		c.Throttle = func(ctx context.Context) { <-ctx.Done() }
	}})
	h.term.Close()
	<-h.term.Done()
	if err := h.term.Input("x"); !errors.Is(err, ErrClosed) {
		t.Errorf("Input: %v", err)
	}
	if err := h.term.Resize(10, 10); !errors.Is(err, ErrClosed) {
		t.Errorf("Resize: %v", err)
	}
	h.term.Close()
}

func TestCloseInFlood(t *testing.T) {
	t.Parallel()
	h := start(t, "yes", startOptions{manual: true}) // nobody takes
	h.await("a wake-up", func() bool { return len(h.wakes) > 0 })
	h.input(strings.Repeat("x", maxInput)) // and nobody reads
	h.term.Close()
	<-h.term.Done()
}

func TestKill(t *testing.T) {
	t.Parallel()
	t.Run("polite", func(t *testing.T) {
		t.Parallel()
		h := start(t, "trap 'exit 9' TERM HUP; echo up; while :; do sleep 0.02; done", startOptions{})
		h.see("up")
		if err := h.term.Kill(context.Background()); err != nil {
			t.Fatal(err)
		}
		if e := h.exited(); e.ExitCode == nil || *e.ExitCode != 9 {
			t.Errorf("exit = %+v", e)
		}
		if err := h.term.Kill(context.Background()); err != nil {
			t.Errorf("kill again: %v", err)
		}
	})
	t.Run("stubborn", func(t *testing.T) {
		t.Parallel()
		h := start(t, "trap '' TERM HUP; echo up; while :; do read x; done", startOptions{})
		h.see("up")
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		if err := h.term.Kill(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Kill with a short context: %v", err)
		}
		begin := time.Now()
		if err := h.term.Kill(context.Background()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d < graceTime {
			t.Errorf("killed after %v", d)
		}
		if h.exited(); true {
			if e, _ := h.term.Exited(); e.Signal != "SIGKILL" {
				t.Errorf("exit = %+v", e)
			}
		}
	})
}

// Clear leaves the prompt, the modes and nothing else, for all.
func TestClear(t *testing.T) {
	t.Parallel()
	h := start(t, `stty -echo; for i in $(seq 100); do echo old $i; done; printf '\033[?2004h\033[31mprompt> '; read x; clear; printf '\033[m\033[?2004l'; read x; echo new`, startOptions{})
	h.see("prompt> ")
	live := native.New(emulator.Options{Cols: 80, Rows: 24})
	live.Write([]byte(h.output()))
	h.mu.Lock()
	h.actions = nil
	h.term.Clear()
	h.take()
	after := h.actions
	_, _, parts := h.term.Content(MaxWire)
	h.mu.Unlock()
	if len(after) != 2 || after[0] != (ahp.TerminalCleared{}) {
		t.Fatalf("actions %+v", after)
	}
	late := native.New(emulator.Options{Cols: 80, Rows: 24})
	late.Write([]byte(text(parts)))
	live.Write([]byte(after[1].(ahp.TerminalData).Data))
	if d := emutest.Diff(emutest.Dump(late), emutest.Dump(live)); d != "" {
		t.Errorf("a late viewer and a live one differ:\n%s", d)
	}
	if got := strings.TrimSpace(emulator.HistoryText(late, -1)); got != "prompt>" || !late.Modes().BracketedPaste || late.Cursor().Y != 0 || late.Cursor().X != 8 {
		t.Errorf("%q is left, cursor %+v, modes %+v", got, late.Cursor(), late.Modes())
	}
	// When nothing is left, the content is empty.
	h.input("\n")
	h.see("\x1b[m\x1b[?2004l")
	h.term.Clear()
	if _, _, parts := h.term.Content(MaxWire); len(parts) != 0 {
		t.Errorf("content %q after clearing an empty screen", text(parts))
	}
	h.input("\n")
	h.exited()
	if _, _, parts := h.term.Content(MaxWire); text(parts) != "new\r\n" {
		t.Errorf("content %q", text(parts))
	}
}

// Content is what was pending and the state after it, however busy the
// terminal is: a viewer that joins in the middle of a flood misses nothing and
// gets nothing twice.
func TestJoinInFlood(t *testing.T) {
	t.Parallel()
	h := start(t, `stty -opost; read x; for ((i=0;i<3000;i++)); do printf 'line %d \033[3%dmcolour\033[m 世界\r\n' $i $((i%8)); done; printf 'over'; read x`, startOptions{cols: 60, rows: 20})
	h.input("\n")
	h.see("line 100 ")
	var viewers []*viewer
	for i := range 12 {
		h.await("more", func() bool {
			n := len(h.actions)
			if n == 0 {
				return false
			}
			pending, _, parts := h.term.Content(MaxWire)
			h.note(pending)
			v := &viewer{name: fmt.Sprint(i), emu: native.New(emulator.Options{Cols: 60, Rows: 20})}
			v.feed(parts)
			v.state.Content = nil
			v.apply(nil)
			viewers = append(viewers, v)
			v.name = fmt.Sprint(len(h.actions)) // where its tail begins
			return true
		})
	}
	h.see("over")
	h.mu.Lock()
	defer h.mu.Unlock()
	want := emutest.Dump(h.term.emu)
	for _, v := range viewers {
		from := 0
		fmt.Sscan(v.name, &from)
		v.apply(h.actions[from:])
		if d := emutest.Diff(emutest.Dump(v.emu), want); d != "" {
			t.Fatalf("a viewer that joined after action %d sees something else:\n%s", from, d)
		}
	}
}
