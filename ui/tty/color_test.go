package tty_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/ui/tty"
)

// colors picks the answers about colours out of what was decoded; rest is all
// else, in words.
func colors(in tty.Input) (out []tty.Color, rest string) {
	var other tty.Input
	for _, msg := range in {
		if c, ok := msg.(tty.Color); ok {
			out = append(out, c)
		} else {
			other = append(other, msg)
		}
	}
	return out, words(other)
}

// TestColorAnswers: the forms that terminals answer OSC 4, 10, 11 and 12 in.
func TestColorAnswers(t *testing.T) {
	rgb := emulator.RGB
	for _, c := range []struct {
		in   string
		want tty.Color
	}{
		{"\x1b]11;rgb:f/8/0\x07", tty.Color{Code: 11, Value: rgb(255, 136, 0)}},
		{"\x1b]10;rgb:ff/80/00\x1b\\", tty.Color{Code: 10, Value: rgb(255, 128, 0)}},
		{"\x1b]12;rgb:fff/800/001\a", tty.Color{Code: 12, Value: rgb(255, 128, 0)}},
		{"\x1b]11;rgb:fdfd/f6f6/e3e3\x1b\\", tty.Color{Code: 11, Value: rgb(0xfd, 0xf6, 0xe3)}},
		{"\x1b]11;rgba:0000/2b2b/3636/ffff\x1b\\", tty.Color{Code: 11, Value: rgb(0, 0x2b, 0x36)}},
		{"\x1b]4;0;rgb:0000/0000/0000\x1b\\", tty.Color{Code: 4, Value: rgb(0, 0, 0)}},
		{"\x1b]4;15;rgb:ffff/ffff/ffff\x07", tty.Color{Code: 4, Index: 15, Value: rgb(255, 255, 255)}},
		{"\x1b]10;#ff8000\x07", tty.Color{Code: 10, Value: rgb(255, 128, 0)}},
	} {
		d := tty.Decoder{Expecting: true}
		in, more := d.Feed([]byte(c.in), false)
		if got, rest := colors(in); more || rest != "" || !slices.Equal(got, []tty.Color{c.want}) {
			t.Errorf("%q is %+v and %q, more %v", c.in, got, rest, more)
		}
	}
}

// TestOddAnswers: what names no colour is no message, and no key either while
// answers are expected.
func TestOddAnswers(t *testing.T) {
	for _, in := range []string{
		"\x1b]11;?\x07", "\x1b]11;rgb:1/2\x07", "\x1b]11;rgb:12345/1/1\x07", "\x1b]4;16;rgb:1/1/1\x07", "\x1b]4;;rgb:1/1/1\x07",
		"\x1b]4;-1;rgb:1/1/1\x07", "\x1b]13;rgb:1/1/1\x07", "\x1b]11;rgb:g/1/1\x07", "\x1b]11;rgb:/1/1\x07", "\x1b]11\x07", "\x1b]\x07",
		"\x1b]11;#12345\x07", "\x1b]52;c;aGk=\x07", "\x1b]11;rgb:" + strings.Repeat("0", 100) + "/1/1\x07",
	} {
		d := tty.Decoder{Expecting: true}
		if got, _ := d.Feed([]byte(in), false); len(got) > 0 {
			t.Errorf("%q is %s", in, words(got))
		}
	}
}

func TestSchemeReports(t *testing.T) {
	var d tty.Decoder
	in, _ := d.Feed([]byte("\x1b[?997;1n\x1b[?997;2n"), false)
	if len(in) != 2 || in[0] != (tty.Scheme{Dark: true}) || in[1] != (tty.Scheme{}) {
		t.Errorf("the reports are %#v", in)
	}
}

// TestAnswersSplitAnywhere: however the reads fall, answers are answers and keys
// keys.
func TestAnswersSplitAnywhere(t *testing.T) {
	var all strings.Builder
	for i, end := range []string{"\a", "\x1b\\"} {
		fmt.Fprintf(&all, "a\x1b]1%d;rgb:1%d/22/3333%sb\x1b]4;%d;rgb:1/2/3%s", i, i, end, i, end)
	}
	all.WriteString("\x1b[?997;1n\x1b[?62;22c\x1b[Ac")
	whole := all.String()
	d := tty.Decoder{Expecting: true, Due: true}
	in, _ := d.Feed([]byte(whole), false)
	want, wantRest := colors(in)
	if len(want) != 4 || wantRest != "a b a b tty.Scheme tty.Fence up c" {
		t.Fatalf("the whole is %+v and %q", want, wantRest)
	}
	r := rand.New(rand.NewPCG(3, 1))
	for range 2000 {
		d := tty.Decoder{Expecting: true, Due: true}
		var in tty.Input
		var reads []string
		for rest := whole; rest != ""; {
			n := min(1+r.IntN(1+r.IntN(20)), len(rest))
			got, _ := d.Feed([]byte(rest[:n]), true)
			in = append(in, got...)
			reads = append(reads, rest[:n])
			rest = rest[n:]
		}
		if got, rest := colors(in); !slices.Equal(got, want) || rest != wantRest {
			t.Fatalf("%q is %+v and %q", reads, got, rest)
		}
	}
}

// TestLateAnswers: an answer that nobody waits for any more is no key; Alt with
// a bracket still is one.
func TestLateAnswers(t *testing.T) {
	for _, c := range []struct {
		in, rest string
		n        int
	}{
		{"\x1b]11;rgb:ffff/ffff/ffff\x1b\\x", "x", 1},
		{"\x1b]1|1;rgb:ffff/ffff/ffff\a", "", 1},
		{"\x1b]4;1|5;rgb:1/1/1\x1b|\\y", "y", 1},
		{strings.Repeat("\x1b]4;7;rgb:ffff/ffff/ffff\x1b\\", 19), "", 19},
		{"\x1b]", "alt+]", 0},
		{"\x1b]|1", "alt+] 1", 0},
		{"\x1b]x", "alt+] x", 0},
		{"\x1b]4", "alt+] 4", 0},
		{"\x1b]11;rgb", "alt+] 1 1 ; r g b", 0},
		{"\x1b]1\x1b[A", "alt+] 1 up", 0},
		{"\x1b]11;rgb:" + strings.Repeat("1", 100), "alt+] 1 1 ; r g b :" + strings.Repeat(" 1", 100), 0},
	} {
		var d tty.Decoder
		var in tty.Input
		for _, read := range strings.Split(c.in, "|") {
			got, _ := d.Feed([]byte(read), true)
			in = append(in, got...)
		}
		in = append(in, d.Flush()...)
		if got, rest := colors(in); len(got) != c.n || rest != c.rest {
			t.Errorf("%q is %d colours and %q, want %d and %q", c.in, len(got), rest, c.n, c.rest)
		}
	}
}

// TestEscapeWhileAnswersAreDue: Escape comes through, with the wait of an
// incomplete sequence.
func TestEscapeWhileAnswersAreDue(t *testing.T) {
	d := tty.Decoder{Expecting: true, Due: true}
	in, more := d.Feed([]byte("\x1b"), false)
	if len(in) > 0 || !more {
		t.Errorf("an ESC is %s at once, more %v", words(in), more)
	}
	if got := words(d.Flush()); got != "esc" {
		t.Errorf("an ESC alone is %q", got)
	}
}

// TestQueries: everything is asked before the fence, consoles nothing.
func TestQueries(t *testing.T) {
	enter := tty.EnterSequence(tty.Caps{})
	fence := strings.Index(enter, "\x1b[c")
	for _, q := range []string{"\x1b]10;?", "\x1b]11;?", "\x1b]12;?", "\x1b]4;0;?", "\x1b]4;15;?", "\x1b[?996n", "\x1b[?2031h", "\x1b[?2031$p"} {
		if i := strings.Index(enter, q); i < 0 || i > fence {
			t.Errorf("%q is at %d of %q, the fence at %d", q, i, enter, fence)
		}
	}
	if !strings.Contains(tty.LeaveSequence(tty.Caps{}), "\x1b[?2031l") {
		t.Error("mode 2031 stays on")
	}
	if enter := tty.EnterSequence(tty.Caps{Console: true}); strings.ContainsAny(enter, "?\x1b]") && strings.Contains(enter, "]1") {
		t.Errorf("a console is asked: %q", enter)
	}
	again := tty.AskColors(tty.Caps{})
	if strings.Contains(again, "996") || !strings.HasSuffix(again, "\x1b[c") || strings.Count(again, ";?\x1b\\") != tty.ColorCount {
		t.Errorf("asked again with %q", again)
	}
	if q := tty.AskColors(tty.Caps{Console: true}); q != "" {
		t.Errorf("a console is asked again: %q", q)
	}
}

func TestDark(t *testing.T) {
	for c, want := range map[emulator.Color]bool{
		emulator.RGB(0, 0, 0): true, emulator.RGB(0, 0x2b, 0x36): true, emulator.RGB(0x1e, 0x1e, 0x2e): true,
		emulator.RGB(255, 255, 255): false, emulator.RGB(0xfd, 0xf6, 0xe3): false, emulator.RGB(0, 255, 0): false,
	} {
		if dark, known := tty.Dark(c); dark != want || !known {
			t.Errorf("%x is dark: %v, known: %v", c, dark, known)
		}
	}
	if _, known := tty.Dark(0); known {
		t.Error("no colour is known to be dark or light")
	}
}
