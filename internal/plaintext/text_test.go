package plaintext

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestString(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"lines", "one\r\ntwo\r\n", "one\ntwo\n"},
		{"no end", "one\r\ntwo", "one\ntwo"},
		{"bare line feeds", "one\ntwo\n", "one\ntwo\n"},
		{"CR CR LF", "one\r\r\ntwo\r\r\n", "one\ntwo\n"},
		{"blanks stay", "  a \t b  \r\n\r\n", "  a \t b  \n\n"},
		{"colours", "\x1b[1;31mred\x1b[m \x1b[38:2::1:2:3mx\x1b[0m\r\n", "red x\n"},
		{"progress", "10%\r50%\r100%\r\n", "100%\n"},
		{"shorter over longer", "downloading\rdone\r\n", "doneloading\n"},
		{"erased first", "downloading\r\x1b[Kdone\r\n", "done\n"},
		{"whole line erased", "abc\x1b[2K\rx\r\n", "x\n"},
		{"end of line erased", "abc\x1b[K\r\n", "abc\n"},
		{"backspace", "abcd\b\bX\r\n", "abXd\n"},
		{"spinner", "|\b/\b-\b\\\bdone\r\n", "done\n"},
		{"back to a column", "abcdef\x1b[3GX\r\n", "abXdef\n"},
		{"right", "a\x1b[3Cb\r\n", "a   b\n"},
		{"deleted, inserted", "abcdef\r\x1b[2Pxy\x1b[1@\r\n", "xy ef\n"},
		{"wide over", "日本語\rab\r\n", "ab本語\n"},
		{"half of a wide one", "日本\rx\r\n", "x 本\n"},
		{"second half", "日本\x1b[2Gx\r\n", " x本\n"},
		{"combining", "e\u0301\ra\r\n", "a\n"},
		{"combining kept", "xe\u0301\rX\r\n", "Xe\u0301\n"},
		{"tab over", "a\tb\rX\r\n", "X\tb\n"},
		{"into a tab", "a\tb\x1b[3GX\r\n", "a X     b\n"},
		{"title", "\x1b]0;title\x07text\x1b]2;x\x1b\\\r\n", "text\n"},
		{"link", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\r\n", "link\n"},
		{"strings", "\x1bPq~~\x1b\\a\x1b_x\x1b\\b\x1b^y\x1b\\c\r\n", "abc\n"},
		{"charset, keypad", "\x1b(0a\x1b=\x1b>b\r\n", "ab\n"},
		{"bell and others", "a\x07b\x0e\x0f\x00c\x7f\r\n", "abc\n"},
		{"C1 as UTF-8", "a\u009bb\u00a0ż\r\n", "ab\u00a0ż\n"},
		{"alternate screen", "before\r\n\x1b[?1049hvim\r\n~\x1b[?1049lafter\r\n", "before\nafter\n"},
		{"cursor up", "a\r\nb\x1b[A\r\n", "a\nb\n"},
		{"cancelled", "a\x1b[3\x18b\x1b]0;x\x1ac\r\n", "abc\n"},
		{"cut short", "a\x1b[3\x1b[1mb\x1b]0;x\x1b[1mc\r\n", "abc\n"},
		{"trailing CR", "abc\r", "abc"},
		{"private CSI with a mover's letter", "ab\x1b[?1K\x1b[>1GX\r\n", "abX\n"},
	} {
		if got := Convert(tt.in); got != tt.want {
			t.Errorf("%s: %q becomes %q; want %q", tt.name, tt.in, got, tt.want)
		}
		var text Writer
		var out []byte
		for _, r := range tt.in {
			out = text.Write(out, []byte(string(r)))
		}
		if out = text.Flush(out); string(out) != tt.want {
			t.Errorf("%s, one by one: %q; want %q", tt.name, out, tt.want)
		}
	}
}

// The present line is there before it ends.
func TestLine(t *testing.T) {
	t.Parallel()
	var text Writer
	if out := text.Write(nil, []byte("a\r\nPassword: ")); string(out) != "a\n" {
		t.Errorf("complete lines: %q", out)
	}
	if line := text.AppendLine(nil); string(line) != "Password: " {
		t.Errorf("line = %q", line)
	}
	text.Write(nil, []byte("\rPIN"))
	if line := text.AppendLine(nil); string(line) != "PINsword: " {
		t.Errorf("line = %q", line)
	}
}

// A line without an end takes bounded memory, and loses nothing.
func TestLongLine(t *testing.T) {
	t.Parallel()
	in := strings.Repeat("żółw", MaxLine)
	var text Writer
	var out []byte
	for rest := in; len(rest) > 0; {
		n := min(len(rest), 4001)
		for !utf8.ValidString(rest[:n]) {
			n--
		}
		out = text.Write(out, []byte(rest[:n]))
		rest = rest[n:]
		if len(text.line) > MaxLine+4001 {
			t.Fatalf("%d bytes held", len(text.line))
		}
	}
	if out = text.Flush(out); string(out) != in {
		t.Errorf("%d bytes of %d came out", len(out), len(in))
	}
	text = Writer{}
	out = text.Write(nil, []byte("\rx"+strings.Repeat("y", 10*MaxLine)))
	if len(text.edit.cells) > MaxLine {
		t.Errorf("%d cells held", len(text.edit.cells))
	}
	if out = text.Flush(out); len(out) != 10*MaxLine+1 {
		t.Errorf("%d bytes came out", len(out))
	}
}

// check holds for any input: how it is split does not matter, no control is
// left, and what has none comes out as it was.
func check(in []byte, r *rand.Rand) error {
	in = bytes.ToValidUTF8(in, []byte("\uFFFD"))
	want := Convert(string(in))
	for _, c := range want {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 {
			return fmt.Errorf("%q has %q left", want, c)
		}
	}
	if !bytes.ContainsFunc(in, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 }) && want != string(in) {
		return fmt.Errorf("%q becomes %q", in, want)
	}
	var text Writer
	var out []byte
	for rest := in; len(rest) > 0; {
		n := 1 + r.IntN(len(rest))
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n++
		}
		out = text.Write(out, rest[:n])
		rest = rest[n:]
	}
	if out = text.Flush(out); string(out) != want {
		return fmt.Errorf("in pieces %q; whole %q", out, want)
	}
	return nil
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"a\rb\n", "日\x1b[2GX\t\x1b[1K", "\x1b[?1049hx\x1b[?1049l", "\u009bx", "a\tb\x1b[@"} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		if err := check(in, rand.New(rand.NewPCG(seed, 2))); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkText(b *testing.B) {
	for name, line := range map[string]string{
		"lines":    "the quick brown fox jumps over the lazy dog\r\n",
		"colours":  "\x1b[1;32mok\x1b[m a test that passed \x1b[2m0.01s\x1b[m\r\n",
		"progress": "\r\x1b[K 42% [======>      ] 12.3 MB/s",
	} {
		b.Run(name, func(b *testing.B) {
			in := bytes.Repeat([]byte(line), 1<<20/len(line))
			var text Writer
			var out []byte
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				out = text.Write(out[:0], in)
			}
		})
	}
}

// TestTail: whole lines where one begins close to the cut, or else whole characters.
func TestTail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		most int
		want string
	}{{"one\ntwo\n", 8, "one\ntwo\n"}, {"one\ntwo\n", 6, "two\n"}, {"ééé", 3, "é"}, {strings.Repeat("x", 3*lineWithin), 2 * lineWithin, strings.Repeat("x", 2*lineWithin)}} {
		if got := Tail(c.text, c.most); got != c.want {
			t.Errorf("tail of %q, %d: %q", c.text, c.most, got)
		}
	}
}
