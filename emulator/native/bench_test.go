package native

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandemux/emulator"
	"tandemux/internal/soak"
)

// streams are what the study measured engines with, generated: a few MB of each
// kind for a screen of the given size.
var streams = []struct {
	name string
	make func(r *rand.Rand, cols, rows int) string
}{
	{"ascii", asciiStream},
	{"sgr", sgrStream},
	{"tui", tuiStream},
	{"unicode", unicodeStream},
	{"alt", altStream},
	{"words", wordsStream},
	{"scripts", scriptsStream},
}

const streamSize = 2 << 20

func words(r *rand.Rand, b *strings.Builder, n int) {
	for end := b.Len() + n; b.Len() < end; {
		for range 2 + r.IntN(8) {
			b.WriteByte(byte('a' + r.IntN(26)))
		}
		b.WriteByte(' ')
	}
}

// asciiStream is plain lines of 20 to cols+20 characters, as a build prints.
func asciiStream(r *rand.Rand, cols, rows int) string {
	var b strings.Builder
	for b.Len() < streamSize {
		words(r, &b, 20+r.IntN(cols))
		b.WriteString("\r\n")
	}
	return b.String()
}

func randomSGR(r *rand.Rand, b *strings.Builder) {
	switch r.IntN(6) {
	case 0:
		b.WriteString("\x1b[0m")
	case 1:
		fmt.Fprintf(b, "\x1b[1;%dm", 30+r.IntN(8))
	case 2:
		fmt.Fprintf(b, "\x1b[38;5;%dm", r.IntN(256))
	case 3:
		fmt.Fprintf(b, "\x1b[38;2;%d;%d;%dm", r.IntN(256), r.IntN(256), r.IntN(256))
	case 4:
		fmt.Fprintf(b, "\x1b[48;5;%dm", r.IntN(256))
	case 5:
		fmt.Fprintf(b, "\x1b[4:%dm", r.IntN(4))
	}
}

// sgrStream changes the style every few characters.
func sgrStream(r *rand.Rand, cols, rows int) string {
	var b strings.Builder
	for b.Len() < streamSize {
		for range cols / 6 {
			randomSGR(r, &b)
			words(r, &b, 3)
		}
		b.WriteString("\x1b[m\r\n")
	}
	return b.String()
}

// tuiStream repaints a full screen by cursor addressing, coloured runs, lines
// erased and rules drawn.
func tuiStream(r *rand.Rand, cols, rows int) string {
	var b strings.Builder
	for b.Len() < streamSize {
		b.WriteString("\x1b[?25l\x1b[H")
		for y := 1; y <= rows; y++ {
			fmt.Fprintf(&b, "\x1b[%d;1H", y)
			if y%8 == 0 {
				b.WriteString(strings.Repeat("─", cols))
				continue
			}
			for x := 0; x < cols-16; x += 12 {
				randomSGR(r, &b)
				words(r, &b, 6)
				fmt.Fprintf(&b, "\x1b[%dG", x+12)
			}
			b.WriteString("\x1b[m\x1b[K")
		}
		b.WriteString("\x1b[?25h")
	}
	return b.String()
}

// unicodeStream is CJK, accents and emoji sequences.
func unicodeStream(r *rand.Rand, cols, rows int) string {
	emoji := []string{"👩‍👩‍👧", "🇩🇪", "👍🏽", "☁️", "🙂", "e\u0301", "ñ", "1️⃣"}
	var b strings.Builder
	for b.Len() < streamSize {
		for n := 0; n < cols; {
			if r.IntN(12) == 0 {
				b.WriteString(emoji[r.IntN(len(emoji))])
			} else {
				b.WriteRune(rune(0x4e00 + r.IntN(0x5000)))
			}
			n += 2
		}
		b.WriteString("\r\n")
	}
	return b.String()
}

// altStream scrolls text through a region of the alternate screen, as an editor
// or pager does.
func altStream(r *rand.Rand, cols, rows int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\x1b[?1049h\x1b[1;%dr", rows-1)
	for b.Len() < streamSize {
		fmt.Fprintf(&b, "\x1b[%d;1H\n", rows-1)
		words(r, &b, cols-12)
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[7m", rows)
		words(r, &b, 20)
		b.WriteString("\x1b[m\x1b[K")
	}
	return b.String()
}

// wordsStream is the dense SGR of the comparison with other multiplexers: each
// word in another of 256 colours.
func wordsStream(*rand.Rand, int, int) string {
	var b strings.Builder
	for i := 0; b.Len() < streamSize; i++ {
		for k := range 14 {
			fmt.Fprintf(&b, "\x1b[38;5;%d;%dmword%d ", (i+k)%256, 22-k%2*21, k)
		}
		b.WriteString("\x1b[0m\r\n")
	}
	return b.String()
}

// scriptsStream is the Unicode of that comparison: short runs of many scripts.
func scriptsStream(*rand.Rand, int, int) string {
	var b strings.Builder
	for i := 0; b.Len() < streamSize; i++ {
		fmt.Fprintf(&b, "%d 漢字かな交じり文 😀🚀 naïve café Ελληνικά\r\n", i)
	}
	return b.String()
}

var benchSizes = [][2]int{{80, 24}, {120, 40}, {200, 50}}

// cpuTime is what this process has used, which tells more than the clock does on
// a busy machine.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWrite writes each stream in pieces of 16 KiB, with history on. It
// must not allocate.
func BenchmarkWrite(b *testing.B) {
	for _, size := range benchSizes {
		for _, s := range streams {
			b.Run(fmt.Sprintf("%dx%d/%s", size[0], size[1], s.name), func(b *testing.B) {
				data := []byte(s.make(rand.New(rand.NewPCG(1, 2)), size[0], size[1]))
				e := newEngine(emulator.Options{Cols: size[0], Rows: size[1]})
				write := func() {
					for p := data; len(p) > 0; {
						n := min(len(p), 16<<10)
						e.Write(p[:n])
						p = p[n:]
					}
				}
				for range 3 {
					write()
				}
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				used, n := cpuTime(), 0
				for b.Loop() {
					write()
					n++
				}
				if used = cpuTime() - used; used > 0 {
					b.ReportMetric(float64(n*len(data))/1e6/used.Seconds(), "MB/cpu-s")
				}
			})
		}
	}
}

// BenchmarkLinks writes lines of hyperlinks that all differ and are equally long,
// as a listing with links does.
func BenchmarkLinks(b *testing.B) {
	var data []byte
	for i := range 20000 {
		data = fmt.Appendf(data, "\x1b]8;;file:///srv/listing/%08d\x1b\\name%05d\x1b]8;;\x1b\\\r\n", i*7919, i)
	}
	e := newEngine(emulator.Options{Cols: 80, Rows: 24})
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		e.Write(data)
	}
}

// Styles with different links of one length have different hashes.
func TestLinkHashes(t *testing.T) {
	var l links
	seen := map[uint32]bool{}
	for i := range 1000 {
		st := style{link: internLink(&l, fmt.Sprintf("file:///%08d", i), "")}
		seen[st.hash()] = true
	}
	if len(seen) < 990 {
		t.Errorf("%d hashes of 1000 links", len(seen))
	}
}

// fullHistory is an engine of 200 columns with 10,000 full lines of history.
func fullHistory(coloured bool) *Engine {
	e := newEngine(emulator.Options{Cols: 200, Rows: 50})
	r := rand.New(rand.NewPCG(3, 4))
	for range 10050 {
		var b strings.Builder
		for n := 0; n < 200; n += 5 {
			if coloured {
				randomSGR(r, &b)
			}
			for range 5 {
				b.WriteByte(byte('a' + r.IntN(26)))
			}
		}
		b.WriteString("\x1b[m\r\n")
		e.Write([]byte(b.String()))
	}
	return e
}

func BenchmarkSnapshot(b *testing.B) {
	for _, coloured := range []bool{false, true} {
		b.Run(map[bool]string{false: "plain", true: "coloured"}[coloured], func(b *testing.B) {
			e := fullHistory(coloured)
			buf := e.Snapshot(nil, -1)
			b.ReportAllocs()
			used, n := cpuTime(), 0
			for b.Loop() {
				buf = e.Snapshot(buf[:0], -1)
				n++
			}
			used = cpuTime() - used
			b.ReportMetric(used.Seconds()*1e3/float64(n), "cpu-ms/op")
			b.ReportMetric(float64(len(buf))/1e6, "MB")
		})
	}
}

func BenchmarkReflow(b *testing.B) {
	for _, coloured := range []bool{false, true} {
		b.Run(map[bool]string{false: "plain", true: "coloured"}[coloured], func(b *testing.B) {
			e := fullHistory(coloured)
			cols := 199
			for b.Loop() {
				e.Resize(cols, 50)
				cols = 399 - cols
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// 10,000 lines of 200 columns take at most 12 MB plain and 24 MB coloured.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		name     string
		coloured bool
		most     uint64
	}{{"plain", false, 12 << 20}, {"coloured", true, 24 << 20}} {
		before := heap()
		e := fullHistory(c.coloured)
		used := heap() - before
		if e.HistoryLen() != emulator.DefaultHistory {
			t.Fatalf("%d lines of history", e.HistoryLen())
		}
		t.Logf("%s: %.1f MB", c.name, float64(used)/1e6)
		if used > c.most {
			t.Errorf("%s history takes %d bytes, at most %d", c.name, used, c.most)
		}
		runtime.KeepAlive(e)
	}
}

// Writing allocates nothing once the tables are warm.
func TestWriteAllocates(t *testing.T) {
	for _, s := range streams {
		data := []byte(s.make(rand.New(rand.NewPCG(1, 2)), 80, 24))[:256<<10]
		e := newEngine(emulator.Options{Cols: 80, Rows: 24, History: 200})
		e.Write(data)
		e.Write(data)
		if n := testing.AllocsPerRun(3, func() { e.Write(data) }); n > 0 {
			t.Errorf("%s: %v allocations a write of %d bytes", s.name, n, len(data))
		}
	}
}

// Writing is linear in its input whatever the sequences ask for: hostile input
// takes no longer than a generous bound a byte.
func TestHostileIsLinear(t *testing.T) {
	for _, s := range []string{
		"x\x1b[65535b", "\x1b[65535S", "\x1b[65535T", "\x1b[65535L", "\x1b[65535@", "\x1b[65535I", "\x1b[65535Z",
		"\x1b[65535D\x1b[?45h", "\x1b[65535X", "\x1b[2J", "\x1b#8", "\x1bc", "\x1b[?3h", "\x1b]2;", "\x1bP", "e\u0301\u0301\u0301\u0301",
		"\x1b[38;2;1;2;3m", "\x1b[1'}", "\x1b[?1049h\x1b[?1049l", "\x1b]8;;http://a/\a", "\x1b7\x1b8", "\x1b[22t", "\x1b[>1u",
		"\x1b_Ga=T,f=24,s=1,v=1,i=1,c=300,r=300;AAAA\x1b\\", "\x1b_Ga=T,f=24,s=1,v=1;AAAA\x1b\\\x1b_Ga=d\x1b\\",
		"\x1b_GI=1,f=24,s=1,v=1;AAAA\x1b\\", "\x1b_Ga=T,f=24,s=1,v=1;AAAA\x1b\\", "\x1b_Gi=1,m=1;AAAA\x1b\\",
	} {
		data := []byte(strings.Repeat(s, soak.Short(12, 64)<<10/len(s)))
		e := newEngine(emulator.Options{Cols: 80, Rows: 24})
		start := time.Now()
		e.Write(data)
		if d := time.Since(start); d > time.Minute {
			t.Errorf("%q: %v for %d bytes", s, d, len(data))
		}
	}
}
