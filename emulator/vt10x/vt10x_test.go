package vt10x

import (
	"strings"
	"testing"
	"time"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
)

// TestHostile has the inputs that panic vt10x or make it spin.
func TestHostile(t *testing.T) {
	for _, input := range []string{
		"\x1b[-1P", "\x1b[-1@", "\x1b[-5X", "\x1b[-1L", "\x1b[-1M", "\x1b[-1S", "\x1b[-1T",
		"\x1b[9223372036854775807I", "\x1b[9223372036854775807Z", "\x1b[9223372036854775807b",
		"\x1b[99999999999@", "\x1b[99999999999P", "\x1b[4294967297L", "\x1b[2147483647M", "\x1b[9223372036854775807S",
		"\x1b[9223372036854775807;9223372036854775807H", "\x1b[9223372036854775807A", "\x1b[9223372036854775807C",
		"\x1b[1;9223372036854775807r", "\x1b[0;0r", "\x1b[5;2r", "\x1b[9223372036854775807X",
		"\x1b[?1049l", "\x1b[>1u", "\x1b[>4;2m", "\x1b[4:3m", "\x1b[38:2::1:2:3m",
		"\x1b]4;99999999999;?\a", "\x1b]10\a", "\x1b]4\a", "\x1b]104;-1\a",
		"\x1b[" + strings.Repeat("1;", 5000) + "m", "\x1b]" + strings.Repeat("x", 3<<20) + "\a",
	} {
		name := input[:min(len(input), 40)]
		e := New(emulator.Options{Cols: 20, Rows: 5})
		e.Write([]byte("before\r\nnext"))
		want := emutest.Dump(e)
		done := make(chan struct{})
		go func() {
			defer close(done)
			e.Write([]byte(input))
			e.Write([]byte("\x1b[m\x1b[1;1Hafter"))
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatalf("%q does not end", name)
		}
		if got := emulator.LineText(e.Line(0, nil)); !strings.HasPrefix(got, "after") {
			t.Errorf("%q: the screen begins with %q, was\n%s", name, got, want)
		}
	}
}

// TestFence breaks vt10x behind the front's back: the engine goes on with a
// fresh screen.
func TestFence(t *testing.T) {
	e := New(emulator.Options{Cols: 20, Rows: 5}).(*engine)
	e.Write([]byte("one\r\n\x1b[31m\x1b[?7l"))
	e.sendf("\x1b[-1P")
	e.Write([]byte("two" + strings.Repeat("x", 30)))
	if got, want := emulator.LineText(e.Line(0, nil)), "two"+strings.Repeat("x", 17); got != want {
		t.Errorf("line 0 is %q, want %q", got, want)
	}
	if c := e.Line(0, nil)[0]; c.Style.FG != emulator.Indexed(1) {
		t.Errorf("the pen was lost: %+v", c)
	}
}

func FuzzWrite(f *testing.F) {
	f.Add([]byte("hello\r\n\x1b[31mworld"), uint8(3))
	f.Add([]byte("\x1b[-1P\x1b[9223372036854775807I"), uint8(1))
	f.Add([]byte("\x1b[?1049h\x1b[2;3r\x1b[?6h世界\x1b[4h\xf0\x9f"), uint8(7))
	f.Fuzz(func(t *testing.T, p []byte, cut uint8) {
		if len(p) > 1<<14 {
			return
		}
		o := emulator.Options{Cols: 13, Rows: 4, History: 20}
		whole := New(o)
		whole.Write(p)
		e := New(o)
		n := min(int(cut), len(p))
		e.Write(p[:n])
		f := New(o)
		f.Write(e.Snapshot(nil, -1))
		if d := emutest.Diff(emutest.Dump(f), emutest.Dump(e)); d != "" {
			t.Fatalf("snapshot at %d:\n%s", n, d)
		}
		e.Write(p[n:])
		if d := emutest.Diff(emutest.Dump(e), emutest.Dump(whole)); d != "" {
			t.Fatalf("split at %d:\n%s", n, d)
		}
		if c := e.Cursor(); c.X < 0 || c.X > 12 || c.Y < 0 || c.Y > 3 {
			t.Fatalf("cursor %+v", c)
		}
	})
}
