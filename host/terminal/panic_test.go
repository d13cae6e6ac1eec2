package terminal

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/native"
	"tandemux/host/keeper"
)

// fragile is an engine with a defect: it panics when it is written a word, and
// in what calls need more of it when that word is in it.
type fragile struct {
	emulator.Emulator
	word   string
	broken bool // every call panics
}

func (f *fragile) Write(p []byte) {
	if bytes.Contains(p, []byte(f.word)) {
		panic("a defect")
	}
	f.Emulator.Write(p)
}

func (f *fragile) Resize(cols, rows int) {
	f.check()
	f.Emulator.Resize(cols, rows)
}

func (f *fragile) Line(y int, buf []emulator.Cell) []emulator.Cell {
	f.check()
	return f.Emulator.Line(y, buf)
}

func (f *fragile) SnapshotMarks(buf []byte, history int) ([]byte, []emulator.Cut) {
	f.check()
	return f.Emulator.SnapshotMarks(buf, history)
}

func (f *fragile) Mark(id uint64) {
	f.check()
	f.Emulator.Mark(id)
}

func (f *fragile) SetColors(c emulator.Colors) {
	f.check()
	f.Emulator.SetColors(c)
}

func (f *fragile) check() {
	if f.broken {
		panic("broken")
	}
}

// fragileConfig is for a terminal with such an engine. Failures are in failed.
func fragileConfig(renew bool) (c Config, failed chan error) {
	failed = make(chan error, 20)
	fresh := func(cols, rows int) *fragile {
		return &fragile{Emulator: native.New(emulator.Options{Cols: cols, Rows: rows}), word: "BOOM"}
	}
	c = Config{Cols: 80, Rows: 24, Emulator: fresh(80, 24), Failed: func(err error) { failed <- err }}
	if renew {
		c.Renew = func(cols, rows int) emulator.Emulator { return fresh(cols, rows) }
	}
	return c, failed
}

// A panic in one terminal's emulator costs its screen, and is told with its
// stack; the program runs on and what it writes then is shown, to viewers as to
// those that come later.
func TestPanicOnOutput(t *testing.T) {
	t.Parallel()
	var failed chan error
	h := start(t, `stty -opost; printf 'before '; read x; printf 'one BOOM two'; read x; printf '\033[1mafter'; read x; exit 3`, startOptions{
		config: func(c *Config) {
			var f Config
			f, failed = fragileConfig(true)
			c.Emulator, c.Renew, c.Failed = f.Emulator, f.Renew, f.Failed
		},
	})
	h.see("before ")
	h.input("\n")
	var p *Panic
	if err := <-failed; !errors.As(err, &p) || p.Value != "a defect" || !strings.Contains(string(p.Stack), "fragile") || !strings.Contains(err.Error(), "process output") {
		t.Errorf("told of %v", err)
	}
	h.see(reset + apology)
	h.input("\n")
	h.see("after")
	h.mu.Lock()
	cleared := false
	viewer := native.New(emulator.Options{Cols: 80, Rows: 24})
	for _, a := range h.actions {
		switch a := a.(type) {
		case ahp.TerminalCleared:
			cleared = true
		case ahp.TerminalData:
			viewer.Write([]byte(a.Data))
		}
	}
	_, _, parts := h.term.Content(MaxWire)
	h.mu.Unlock()
	late := native.New(emulator.Options{Cols: 80, Rows: 24})
	late.Write([]byte(text(parts)))
	h.term.screen.Lock()
	screen := emulator.ScreenText(h.term.emu)
	h.term.screen.Unlock()
	if !cleared || !strings.Contains(screen, "failed") || !strings.Contains(screen, "after") || strings.Contains(screen, "before") {
		t.Errorf("cleared %v; the screen is %q", cleared, screen)
	}
	for who, e := range map[string]emulator.Emulator{"viewer": viewer, "late": late} {
		if got := emulator.ScreenText(e); got != screen {
			t.Errorf("%s sees %q, not %q", who, got, screen)
		}
	}
	h.input("\n")
	if e := h.exited(); *e.ExitCode != 3 {
		t.Errorf("exit %+v", e)
	}
}

// A panic in what others call is contained, too, and they get an answer.
func TestPanicInCalls(t *testing.T) {
	t.Parallel()
	calls := map[string]func(*Terminal) bool{
		"resize":     func(t *Terminal) bool { return t.Resize(30, 5) == nil },
		"clear":      func(t *Terminal) bool { t.Clear(); return true },
		"read":       func(t *Terminal) bool { _, err := t.Read(ahp.ReadScreen); return err == nil },
		"content":    func(t *Terminal) bool { _, _, parts := t.Content(0); return parts != nil },
		"checkpoint": func(t *Terminal) bool { _, _, records := t.Checkpoint(true, new([]byte)); return records == nil },
		"line":       func(t *Terminal) bool { t.PresentLine(); return true },
		"colors":     func(t *Terminal) bool { t.SetColors(emulator.Colors{FG: emulator.RGB(1, 2, 3)}); return true },
	}
	for name, call := range calls {
		c, failed := fragileConfig(true)
		c.Process = idlePty(t)
		term := build(c)
		term.process(append(make([]byte, headroom), strings.Repeat("some text\r\n", slice/8)...))
		term.Take()
		term.emu.(*fragile).broken = true
		if !call(term) {
			t.Errorf("%s gives no answer", name)
		}
		if err := <-failed; !strings.Contains(err.Error(), "broken") {
			t.Errorf("%s: %v", name, err)
		}
		term.process(append(make([]byte, headroom), "more"...))
		viewer := native.New(emulator.Options{Cols: 80, Rows: 24})
		for _, a := range taken(term) {
			if d, ok := a.(ahp.TerminalData); ok {
				viewer.Write([]byte(d.Data))
			}
		}
		if got := emulator.ScreenText(viewer); !strings.Contains(got, "failed") || !strings.Contains(got, "more") {
			t.Errorf("after %s viewers see %q", name, got)
		}
		term.Close()
	}
}

// A terminal that can't be mended shows nothing but why, and goes on.
func TestPanicAgain(t *testing.T) {
	t.Parallel()
	for _, renew := range []bool{true, false} {
		c, failed := fragileConfig(renew)
		c.Process = idlePty(t)
		term := build(c)
		for range maxPanics + 3 {
			term.process(append(make([]byte, headroom), "BOOM"...))
			term.Take()
		}
		told := len(failed)
		want := 1
		if renew {
			want = maxPanics + 1
		}
		for range want {
			<-failed
		}
		if told > want {
			t.Errorf("%d panics", told)
		}
		if _, ok := term.emu.(blank); !ok {
			t.Errorf("the emulator is a %T", term.emu)
		}
		if _, _, parts := term.Content(MaxWire); !strings.HasPrefix(text(parts), strings.TrimSpace(apology)) {
			t.Errorf("the content is %q", text(parts))
		}
		if err := term.Resize(20, 5); err != nil {
			t.Error(err)
		}
		term.Close()
	}
}

// What makes the emulator panic costs a restored terminal its screen only.
func TestPanicInRestore(t *testing.T) {
	t.Parallel()
	good := build(Config{Process: idlePty(t), Cols: 80, Rows: 24, Emulator: native.New(emulator.Options{Cols: 80, Rows: 24}), Child: Child{Nonce: "n"}})
	defer good.Close()
	good.process(append(make([]byte, headroom), own("A")+"$ "+own("B")+own("E;make")+own("C;1")+"\x1b]0;title\aBOOM"...))
	actions, k, records := good.Checkpoint(false, new([]byte))
	if len(actions) == 0 || k.Offset == 0 {
		t.Fatal("nothing was taken")
	}
	c, failed := fragileConfig(true)
	c.Process = keeper.Process{ID: "x", Pty: idlePty(t).Pty}
	term, err := Restore(c, Saved{State: records})
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if err := <-failed; !strings.Contains(err.Error(), "restore") {
		t.Error(err)
	}
	if got := emulator.ScreenText(term.emu); !strings.Contains(got, "failed") {
		t.Errorf("the screen is %q", got)
	}
	if cmd, ok := term.Running(); !ok || cmd.CommandLine != "make" || term.titles.program != "title" || term.offset != k.Offset {
		t.Errorf("running %+v, %v; title %q, at %d", cmd, ok, term.titles.program, term.offset)
	}
}

// A panic at the end of a terminal's process keeps neither its exit nor its last
// words from being told.
func TestPanicAtExit(t *testing.T) {
	t.Parallel()
	c, failed := fragileConfig(true)
	c.Process, c.Command = idlePty(t), "make"
	term := build(c)
	defer term.Close()
	term.process(append(make([]byte, headroom), "out \xe4"...))
	term.emu.(*fragile).broken = true
	term.Exit(keeper.Exit{ID: "idle", Code: 4})
	term.endOfOutput()
	if err := <-failed; !strings.Contains(err.Error(), "end a command") {
		t.Error(err)
	}
	all := taken(term)
	if e, ok := all[len(all)-1].(ahp.TerminalExited); !ok || *e.ExitCode != 4 {
		t.Errorf("the last of %d actions is %+v", len(all), all[len(all)-1])
	}
	if d, ok := all[1].(ahp.TerminalData); !ok || d.Data != "out \uFFFD" {
		t.Errorf("the output is %+v", all)
	}
}
