package terminal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/emulator/native"
	"tandemux/emulator/vt10x"
)

// null is an emulator that costs nothing.
type null struct{}

func (null) Write([]byte)                                    {}
func (null) Resize(int, int)                                 {}
func (null) Size() (int, int)                                { return 80, 24 }
func (null) LimitHistory(int)                                {}
func (null) HistoryLen() int                                 { return 0 }
func (null) Line(_ int, buf []emulator.Cell) []emulator.Cell { return buf }
func (null) Wrapped(int) bool                                { return false }
func (null) Cursor() emulator.Cursor                         { return emulator.Cursor{} }
func (null) Modes() emulator.Modes                           { return emulator.Modes{} }
func (null) Title() string                                   { return "" }
func (null) Palette() emulator.Palette                       { return emulator.Palette{} }
func (null) Damage() emulator.Damage                         { return emulator.Damage{} }
func (null) Events() []emulator.Event                        { return nil }
func (null) SetColors(emulator.Colors)                       {}
func (null) Mark(uint64)                                     {}
func (null) Marks(buf []emulator.Mark) []emulator.Mark       { return buf }
func (null) Snapshot(buf []byte, _ int) []byte               { return buf }
func (null) SnapshotMarks(buf []byte, _ int) ([]byte, []emulator.Cut) {
	return buf, nil
}

// streams are what terminals show, about 1 MB each.
var streams = map[string][]byte{
	"ascii": fill(func(b *bytes.Buffer, r *rand.Rand) {
		fmt.Fprintf(b, "%-70.*s\r\n", r.IntN(70), "the quick brown fox jumps over the lazy dog and then some more of it all")
	}),
	"sgr": fill(func(b *bytes.Buffer, r *rand.Rand) {
		for range 8 {
			fmt.Fprintf(b, "\x1b[%d;%dmword%d\x1b[m ", r.IntN(2), 30+r.IntN(8), r.IntN(100))
		}
		b.WriteString("\r\n")
	}),
	"tui": fill(func(b *bytes.Buffer, r *rand.Rand) {
		fmt.Fprintf(b, "\x1b[%d;%dH\x1b[38;5;%dmcell\x1b[K\x1b[m", 1+r.IntN(24), 1+r.IntN(80), r.IntN(256))
	}),
	"shell": fill(func(b *bytes.Buffer, r *rand.Rand) {
		fmt.Fprintf(b, "\x1b]7501;n;A\a$ \x1b]7501;n;B\amake test\r\n\x1b]7501;n;E;make test\a\x1b]7501;n;C;%d\a", r.IntN(1000000))
		for range r.IntN(40) {
			b.WriteString("ok   some/package   0.123s\r\n")
		}
		b.WriteString("\x1b]7501;n;D;0\a")
	}),
	"unicode": fill(func(b *bytes.Buffer, r *rand.Rand) {
		b.WriteString("zażółć 日本語 текст ✓ ")
		if r.IntN(4) == 0 {
			b.WriteString("\r\n")
		}
	}),
}

func fill(line func(*bytes.Buffer, *rand.Rand)) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	var b bytes.Buffer
	for b.Len() < 1<<20 {
		line(&b, r)
	}
	return b.Bytes()
}

// BenchmarkPipeline is everything between the read and Take, in chunks as a
// flood has them; the pty itself is left out.
func BenchmarkPipeline(b *testing.B) {
	engines := []struct {
		name string
		new  emutest.New
	}{
		{"null", func(emulator.Options) emulator.Emulator { return null{} }},
		{"native", native.New},
		{"vt10x", vt10x.New},
	}
	for _, e := range engines {
		for _, name := range []string{"ascii", "sgr", "tui", "unicode", "shell"} {
			b.Run(e.name+"/"+name, func(b *testing.B) {
				t := build(Config{Process: idlePty(b), Cols: 80, Rows: 24, Nonce: "n", Emulator: e.new(emulator.Options{Cols: 80, Rows: 24})})
				defer t.Close()
				stream := streams[name]
				buf := make([]byte, headroom+chunk)
				b.SetBytes(int64(len(stream)))
				b.ReportAllocs()
				for b.Loop() {
					for rest := stream; len(rest) > 0; {
						n := copy(buf[headroom:], rest)
						t.process(buf[:headroom+n])
						rest = rest[n:]
						t.Take()
					}
				}
			})
		}
	}
}

// BenchmarkPty is the way from a program's write to Take, through a real pty.
func BenchmarkPty(b *testing.B) {
	for _, name := range []string{"ascii", "sgr"} {
		for engine, em := range map[string]func() emulator.Emulator{
			"null":   func() emulator.Emulator { return null{} },
			"native": func() emulator.Emulator { return native.New(emulator.Options{Cols: 80, Rows: 24}) },
		} {
			b.Run(engine+"/"+name, func(b *testing.B) {
				file := filepath.Join(b.TempDir(), "stream")
				if err := os.WriteFile(file, streams[name], 0o600); err != nil {
					b.Fatal(err)
				}
				h := start(b, fmt.Sprintf("stty -opost -echo; read x; for ((i=0;i<%d;i++)); do cat %s; done", b.N, file), startOptions{
					onData: func(string) {}, config: func(c *Config) { c.Emulator = em() },
				})
				b.SetBytes(int64(len(streams[name])))
				b.ResetTimer()
				h.input("\n")
				h.exited()
			})
		}
	}
}

// BenchmarkFilter is the filter alone.
func BenchmarkFilter(b *testing.B) {
	for _, name := range []string{"ascii", "sgr", "tui", "unicode", "shell"} {
		b.Run(name, func(b *testing.B) {
			var f filter
			dst := make([]byte, 0, 2<<20)
			b.SetBytes(int64(len(streams[name])))
			b.ReportAllocs()
			for b.Loop() {
				dst = f.add(dst[:0], streams[name])
			}
		})
	}
}

// BenchmarkKeystroke is one byte's way, as an echo comes.
func BenchmarkKeystroke(b *testing.B) {
	t := build(Config{Process: idlePty(b), Cols: 80, Rows: 24, Emulator: native.New(emulator.Options{Cols: 80, Rows: 24})})
	defer t.Close()
	buf := append(make([]byte, headroom), 'x')
	b.ReportAllocs()
	for b.Loop() {
		t.process(buf)
		t.Take()
	}
}

// BenchmarkContent is a late subscriber's snapshot, with history.
func BenchmarkContent(b *testing.B) {
	t := build(Config{Process: idlePty(b), Cols: 80, Rows: 24, Emulator: native.New(emulator.Options{Cols: 80, Rows: 24})})
	defer t.Close()
	buf := make([]byte, headroom+chunk)
	for rest := streams["sgr"]; len(rest) > 0; {
		n := copy(buf[headroom:], rest)
		t.process(buf[:headroom+n])
		rest = rest[n:]
	}
	t.kept.lose()
	b.ReportAllocs()
	for b.Loop() {
		t.Content()
	}
}
