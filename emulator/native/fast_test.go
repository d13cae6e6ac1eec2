package native

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/emulator/native/grapheme"
	"tandemux/internal/soak"
)

// slowly writes data a byte at a time, which no fast path takes.
func slowly(e *Engine, data []byte) {
	for i := range data {
		e.Write(data[i : i+1])
	}
}

// differ says how an engine that was given data whole differs from one that was
// given it slowly.
func differ(data []byte, cols, rows int) string {
	o := emulator.Options{Cols: cols, Rows: rows, History: 100}
	fast, slow, late := newEngine(o), newEngine(o), newEngine(o)
	fast.Write(data)
	slowly(slow, data)
	late.late.least = 1
	for rest := data; len(rest) > 0; { // Longer pieces and shorter ones, which end anywhere.
		n := min(len(rest), 1+len(data)*(len(rest)%7)/9)
		late.Write(rest[:n])
		if rest = rest[n:]; len(rest)%2 == 0 {
			settleLate(late)
		}
	}
	if a, b := late.Events(), slow.Events(); !slices.Equal(a, b) { // None waits until somebody looks.
		return fmt.Sprintf("late: events %+v, not %+v", a, b)
	}
	if err := invariants(late); err != nil {
		return "late: " + err.Error()
	}
	if d := emutest.Diff(emutest.Dump(late), emutest.Dump(slow)); d != "" {
		return "late: " + d
	}
	if d := differAtRest(late, slow); d != "" {
		return "late: " + d
	}
	if err := invariants(fast); err != nil {
		return err.Error()
	}
	return emutest.Diff(emutest.Dump(fast), emutest.Dump(slow))
}

// differAtRest says how what two engines have in history differs, to the byte.
func differAtRest(a, b *Engine) string {
	da, db := a.Damage(), b.Damage()
	if a.hist.n != b.hist.n || a.hist.used != b.hist.used || da.Scrolled != db.Scrolled || da.All != db.All {
		return fmt.Sprintf("%d lines of %d bytes, %d scrolled (%v); %d of %d, %d (%v)",
			a.hist.n, a.hist.used, da.Scrolled, da.All, b.hist.n, b.hist.used, db.Scrolled, db.All)
	}
	for i := range a.hist.n {
		la, lb := a.hist.at(i), b.hist.at(i)
		if x, y := a.hist.data(la), b.hist.data(lb); !bytes.Equal(x, y) || la.cells != lb.cells || la.flags != lb.flags {
			return fmt.Sprintf("line %d: %q of %d cells, flags %b; %q of %d, %b", i, x, la.cells, la.flags, y, lb.cells, lb.flags)
		}
	}
	return ""
}

// Lines that never were on the screen are in history as those that were.
func TestLinesGoBy(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 15))
	parts := []string{
		"漢字かな交じり文", "😀🚀", " naïve café", "Ελληνικά", "👩\u200d👩\u200d👧", "🇩🇪🇫", "👍🏽", "☁\ufe0f", "1\ufe0f\u20e3", "e\u0301", "한글", "ᄒ", "ᅡ", "ᆫ",
		"क्", "ष", "\u200d", "\u0600", "\u00ad", "\uff9e", "\ufffd", "─", "a", "b", "0123456789", "the quick brown fox ", "\t", " ", "\x1b[31m", "\x1b[1;38;5;208m",
		"\x1b[38;2;1;2;3m", "\x1b[4:3m", "\x1b[m", "\x1b[0m", "\x1b[7m",
	}
	rare := []string{
		"\xf0\x9f", "\xed\xa0\x80", "\x7f", "\x1b[41m", "\x1b[48;5;3m", "\x1b[3b", "\r", "\n", "\a", "\x1b[C", "\x1b]2;t\a", "\x1b[H", "\x1b[?1049h", "\x1b[?1049l",
		"\x1b[?7l", "\x1b[?7h", "\x1b[2;3r", "\x1b[r", "\x1b[99;1H", "\x1b[3g", "\x1b[21m", "\x1b[2J", "\x1bM", "\x1b[4h", "\x1b[4l", "\x1b[?2027l", "\x1b[?2027h", "\x1b]8;;a:b\a", "\x1b]8;;\a", "\x1b#6",
	}
	for i := range soak.Short(40, 1500) {
		var b bytes.Buffer
		odds := 1 + r.IntN(400)
		for range 30 + r.IntN(120) {
			for range r.IntN(12) {
				if r.IntN(odds) == 0 {
					b.WriteString(rare[r.IntN(len(rare))])
				}
				b.WriteString(parts[r.IntN(len(parts))])
			}
			if r.IntN(3) > 0 {
				b.WriteString("\x1b[m")
			}
			b.WriteString("\r\n")
		}
		cols, rows := 1+r.IntN(60), 1+r.IntN(12)
		if d := differ(b.Bytes(), cols, rows); d != "" {
			t.Fatalf("case %d, %dx%d, %q:\n%s", i, cols, rows, b.Bytes(), d)
		}
	}
}

// What a line began with that came long before its end holds in the lines behind it.
func TestLongLineGoesBy(t *testing.T) {
	t.Parallel()
	o := emulator.Options{Cols: 60, Rows: 3}
	late, slow := newEngine(o), newEngine(o)
	late.late.least = 1
	for _, p := range []string{"a\r\nb\r\n", "c\r\n\x1b[31m" + strings.Repeat("long ", maxAgain/4), "end\r\n\x1b[1mbold\r\n", strings.Repeat("\x1b[4mx\r\n", 6)} {
		late.Write([]byte(p))
		slowly(slow, []byte(p))
	}
	if d := emutest.Diff(emutest.Dump(late), emutest.Dump(slow)); d != "" {
		t.Error(d)
	}
}

// A sequence that is known does to any pen what it did when it was parsed.
func TestKnownSGR(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	var seqs []string
	for n := range 112 {
		seqs = append(seqs, fmt.Sprintf("\x1b[%dm", n))
	}
	seqs = append(seqs, "\x1b[m", "\x1b[;1m", "\x1b[1;;3m", "\x1b[4:m", "\x1b[4:9m", "\x1b[0;4:3m", "\x1b[58:5:9m", "\x1b[58:2::1:2:3m",
		"\x1b[38;5;300m", "\x1b[38;2;1;2m", "\x1b[48:2:9:8:7m", "\x1b[1;21m", "\x1b[24;21;1m", "\x1b[007m", "\x1b[38;5;208;22m",
		"\x1b[38;2;255;128;1m", "\x1b[38;2;255;255;255m", "\x1b[1;38;2;10;20;30m", "\x1b[22;23;24;25;27m", "\x1b[99999999999m", "\x1b[1\"q", "\x1b[0\"q")
	var b bytes.Buffer
	for range 20 * len(seqs) {
		b.WriteString(seqs[r.IntN(len(seqs))])
		if r.IntN(3) > 0 {
			b.WriteByte(byte('a' + r.IntN(26)))
		}
		if r.IntN(200) == 0 {
			b.WriteString("\x1b[")
			b.WriteByte(byte(0x80 | 'm')) // Not a known one: its last byte is no final byte.
		}
	}
	if d := differ(b.Bytes(), 60, 20); d != "" {
		t.Error(d)
	}
	e := newEngine(emulator.Options{Cols: 60, Rows: 20})
	e.Write(b.Bytes())
	known := 0
	for _, seq := range seqs {
		if e.memo.Apply([]byte(seq+strings.Repeat(" ", 20)), new(emulator.Style)) > 0 {
			known++
		}
	}
	if known < len(seqs)/2 {
		t.Errorf("%d of %d sequences known", known, len(seqs))
	}
}

// Runs of characters fall as they do one by one, over wide characters cut in two,
// at margins, in insert mode and without wrapping.
func TestRunsFallAsCharacters(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	parts := []string{
		"漢字かな交じり文", "😀🚀", " naïve café", "Ελληνικά", "👩\u200d👩\u200d👧", "🇩🇪🇫", "👍🏽", "☁\ufe0f", "e\u0301", "한글", "ᄒ", "ᅡ", "ᆫ",
		"क्", "ष", "\u200d", "\xf0\x9f", "\xed\xa0\x80", "\uff9e", "\ufffd", "─", "a", "0123456789", "\r\n", "\r", "\t", "\x1b[C", "\x1b[3D", "\x1b[4h", "\x1b[4l",
		"\x1b[?7l", "\x1b[?7h", "\x1b[?69h\x1b[4;11s", "\x1b[?69l", "\x1b[H", "\x1b[5;3H", "\x1b[41m", "\x1b[m", "\x1b(0", "\x1b(B", "\x1bN", "\x1b[3b", "\x1b[X", "\x1b[2P",
	}
	for i := range 400 {
		var b bytes.Buffer
		for range 80 {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		cols, rows := 1+r.IntN(24), 1+r.IntN(6)
		if d := differ(b.Bytes(), cols, rows); d != "" {
			t.Fatalf("case %d, %dx%d, %q:\n%s", i, cols, rows, b.Bytes(), d)
		}
	}
}

// What is remembered of clusters and styles goes when their tables are swept.
func TestSweepForgets(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 13))
	e := newEngine(emulator.Options{Cols: 20, Rows: 2, History: 10})
	for i := range 20000 {
		base := rune('a' + r.IntN(26))
		marks := string([]rune{rune(0x300 + r.IntN(12)), rune(0x300 + r.IntN(12))})
		fg := emulator.RGB(1, uint8(r.IntN(50)), uint8(r.IntN(50)))
		_, green, blue, _ := fg.RGB()
		e.Write(fmt.Appendf(nil, "\r\n\x1b[38;2;1;%d;%dm%c%s\x1b[m", green, blue, base, marks))
		for y := range 2 {
			if y == 1 {
				e.Write([]byte("\r\n\r\n"))
			}
			c := e.Line(1-2*y, nil)[0] // On the screen, then in history.
			if c.Rune != base || c.Combining != marks || c.Style != (emulator.Style{FG: fg}) {
				t.Fatalf("%d, line %d: %c%s in %v is %c%s in %v", i, 1-2*y, base, marks, fg, c.Rune, c.Combining, c.Style.FG)
			}
		}
	}
}

// What fillWide takes for wide without looking is.
func TestHanIsWide(t *testing.T) {
	for r := rune(firstHan); r <= lastHan; r++ {
		if grapheme.Of(r) != grapheme.Wide {
			t.Fatalf("%U is not", r)
		}
	}
}
