package terminal

import (
	"fmt"
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
				t := build(Config{Process: idlePty(b), Cols: 80, Rows: 24, Child: Child{Nonce: "n"}, Emulator: e.new(emulator.Options{Cols: 80, Rows: 24})})
				defer t.Close()
				stream := emutest.Streams()[name]
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
				if err := os.WriteFile(file, emutest.Streams()[name], 0o600); err != nil {
					b.Fatal(err)
				}
				h := start(b, fmt.Sprintf("stty -opost -echo; read x; for ((i=0;i<%d;i++)); do cat %s; done", b.N, file), startOptions{
					onData: func(string) {}, config: func(c *Config) { c.Emulator = em() },
				})
				b.SetBytes(int64(len(emutest.Streams()[name])))
				b.ResetTimer()
				h.input("\n")
				h.exited()
			})
		}
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
	for rest := emutest.Streams()["sgr"]; len(rest) > 0; {
		n := copy(buf[headroom:], rest)
		t.process(buf[:headroom+n])
		rest = rest[n:]
	}
	t.kept.lose()
	b.ReportAllocs()
	for b.Loop() {
		t.Content(MaxWire)
	}
}
