package filter

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/emulator/native"
)

// filterAll filters pieces, as they come.
func filterAll(pieces ...string) string {
	var f Filter
	var out []byte
	for _, p := range pieces {
		out = f.Add(out, []byte(p))
	}
	return string(f.Flush(out))
}

// A flood is filtered without garbage.
func TestAddAllocatesNothing(t *testing.T) {
	var f Filter
	dst, p := make([]byte, 0, 4<<10), []byte(strings.Repeat("words \x1b[1mof\x1b[m a flood\r\n", 99))
	if n := testing.AllocsPerRun(100, func() { f.Add(dst, p) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"text", "plain text\r\n", "plain text\r\n"},
		{"styles", "\x1b[1;31mred\x1b[m", "\x1b[1;31mred\x1b[m"},
		{"DA1", "a\x1b[cb\x1b[0cc", "abc"},
		{"DA2, DA3, DECID", "a\x1b[>c\x1b[=0c\x1bZb", "ab"},
		{"DSR", "a\x1b[5nb\x1b[6nc\x1b[?6nd\x1b[?996ne", "abcde"},
		{"XTMODKEYS off is no question", "\x1b[>4n", "\x1b[>4n"},
		{"DECRQM", "\x1b[?2026$p\x1b[4$p", ""},
		{"soft reset, DECSCL", "\x1b[!p\x1b[61\"p", "\x1b[!p\x1b[61\"p"},
		{"XTVERSION", "\x1b[>q\x1b[>0q", ""},
		{"DECSCUSR, DECSCA", "\x1b[2 q\x1b[1\"q", "\x1b[2 q\x1b[1\"q"},
		{"kitty keyboard", "\x1b[?u\x1b[>1u\x1b[<u\x1b[=1;1u\x1b[u", "\x1b[>1u\x1b[<u\x1b[=1;1u\x1b[u"},
		{"modifyOtherKeys", "\x1b[?4m\x1b[>4;2m", "\x1b[>4;2m"},
		{"window reports", "\x1b[18t\x1b[14;2t\x1b[21t\x1b[22;0t\x1b[8;24;80t\x1b[t", "\x1b[22;0t\x1b[8;24;80t\x1b[t"},
		{"graphics attributes", "\x1b[?1;1;0S\x1b[3S", "\x1b[3S"},
		{"DECREQTPARM, DECFRA", "\x1b[1x\x1b[65;1;1;2;2$x", "\x1b[65;1;1;2;2$x"},
		{"DECRQCRA", "\x1b[1;1;1;1;2;2*y", ""},
		{"DECRQSS", "a\x1bP$qm\x1b\\b", "ab"},
		{"XTGETTCAP", "a\x1bP+q544e\x1b\\b", "ab"},
		{"sixel", "\x1bPq#0;2;0;0;0~-\x1b\\", "\x1bPq#0;2;0;0;0~-\x1b\\"},
		{"kitty graphics", "\x1b_Ga=d\x1b\\\x1b_Gm=1;AA\x1b\\\x1b_Ga=p,q\x1b[31m\x1b_x;a=q\x1b\\", "\x1b_Ga=d\x1b\\\x1b_Gm=1;AA\x1b\\\x1b_Ga=p,q\x1b[31m\x1b_x;a=q\x1b\\"},
		{"kitty graphics that ask", "a\x1b_Gi=1,a=q;AAAA\x1b\\b\x1b_Ga=q,i=1\x1b\\c\x1b_Ga=q,i=1;\x1b[mA", "abc\x1b[mA"},
		{"kitty graphics that would be answered", "\x1b_Gi=1;AAAA\x1b\\\x1b_Ga=p,I=7,x=1\x1b\\\x1b_Gi=1\x18", "\x1b_Gi=1,q=2;AAAA\x1b\\\x1b_Ga=p,I=7,x=1,q=2\x1b\\\x1b_Gi=1\x18"},
		{"nothing inside DCS", "\x1bPx\x07;[6n]133;A\x07\x1b\\ok", "\x1bPx\x07;[6n]133;A\x07\x1b\\ok"},
		{"tmux passthrough", "\x1bPtmux;\x1b\x1b]133;A\x07\x1b\x1b[6n\x1b\\a\x1b[6n", "\x1bPtmux;\x1b\x1b]133;A\x07\x1b\x1b[6n\x1b\\a"},
		{"titles", "\x1b]0;a\x07\x1b]2;b\x1b\\\x1b]1;c\x07", "\x1b]0;a\x07\x1b]2;b\x1b\\\x1b]1;c\x07"},
		{"links", "\x1b]8;;http://x/\x1b\\l\x1b]8;;\x1b\\", "\x1b]8;;http://x/\x1b\\l\x1b]8;;\x1b\\"},
		{"marks", "\x1b]133;A\x07$ \x1b]133;B\x1b\\ls\x1b]633;E;ls;n\x07\x1b]133;C\x07out\x1b]133;D;0\x07\x1b]7501;x\x07", "$ lsout"},
		{"cwd", "\x1b]7;file://h/tmp\x1b\\", ""},
		{"other numbers with the same start", "\x1b]13;#fff\x07\x1b]1330;A\x07\x1b]77;x\x07\x1b]777;notify;a;b\x07", "\x1b]13;#fff\x07\x1b]1330;A\x07\x1b]77;x\x07\x1b]777;notify;a;b\x07"},
		{"iTerm2 marks", "\x1b]1337;SetMark\x07\x1b]1337;CurrentDir=/x\x07\x1b]1337;ReportCellSize\x07", ""},
		{"iTerm2 files", "\x1b]1337;File=inline=1:AAAA\x07", "\x1b]1337;File=inline=1:AAAA\x07"},
		{"colour questions", "\x1b]10;?\x07\x1b]11;?\x1b\\\x1b]12;?\x07\x1b]4;1;?\x07\x1b]4;1;?;2;?\x07\x1b]10;?;?\x07", ""},
		{"colours", "\x1b]10;#fff\x07\x1b]4;1;#123456\x07\x1b]110\x07\x1b]104;1\x07", "\x1b]10;#fff\x07\x1b]4;1;#123456\x07\x1b]110\x07\x1b]104;1\x07"},
		{"colours set and asked at once", "\x1b]4;1;?;2;red\x07\x1b]10;?;#abc\x07", "\x1b]4;2;red\x1b\\\x1b]11;#abc\x1b\\"},
		{"kitty's colours", "\x1b]21;foreground=?\x07\x1b]21;cursor=red;foreground=?\x07\x1b]21;cursor=red\x07", "\x1b]21;cursor=red\x1b\\\x1b]21;cursor=red\x07"},
		{"clipboard", "\x1b]52;c;?\x07\x1b]52;c;aGk=\x07\x1b]52;;?\x1b\\", "\x1b]52;c;aGk=\x07"},
		{"pointer, font, notification", "\x1b]22;?__current__\x07\x1b]22;text\x07\x1b]50;?\x07\x1b]99;i=1:p=?;\x07\x1b]99;i=1;hello\x07", "\x1b]22;text\x07\x1b]99;i=1;hello\x07"},
		{"cancelled mark", "\x1b]133;A\x18a\x1b]7;x\x1ab", "\x1b]133;A\x18a\x1b]7;x\x1ab"},
		{"mark ended by another sequence", "\x1b]133;A\x1b[1mb\x1b[6", "\x1b[1mb\x1b[6"},
		{"control inside CSI", "\x1b[3\n1m\x1b[6\rn", "\n\x1b[31m\r"},
		{"character inside CSI", "\x1b[6é n", "\x1b[6é n"},
		{"ESC inside CSI", "\x1b[6\x1b[31mn", "\x1b[31mn"},
		{"a question inside a CSI", "\x1b[6\x1b[5nm", "m"},
		{"a question inside a string that stays", "\x1b]0;t\x1b[5nm", "\x1b]0;t\x18m"},
		{"malformed questions stay", "\x1b[6?n\x1b[?$4p", "\x1b[6?n\x1b[?$4p"},
		{"designations", "\x1b(0\x1b)B\x1b#8\x1b=\x1b7", "\x1b(0\x1b)B\x1b#8\x1b=\x1b7"},
		{"UTF-8 that looks like C1", "\xc2\x9b6n\xe2\x94\x9c", "\xc2\x9b6n\xe2\x94\x9c"},
		{"unfinished", "a\x1b]133;A", "a\x1b]133;A"},
	} {
		if got := filterAll(tt.in); got != tt.want {
			t.Errorf("%s: %q becomes %q; want %q", tt.name, tt.in, got, tt.want)
		}
		if got := filterAll(strings.Split(tt.in, "")...); got != tt.want {
			t.Errorf("%s, byte by byte: %q becomes %q; want %q", tt.name, tt.in, got, tt.want)
		}
		for i := range tt.in {
			if got := filterAll(tt.in[:i], tt.in[i:]); got != tt.want {
				t.Errorf("%s, split at %d: %q becomes %q; want %q", tt.name, i, tt.in, got, tt.want)
			}
		}
	}
}

// What stays is not held back: only an undecided sequence is.
func TestFilterHoldsLittle(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, now string }{
		{"text", "text"},
		{"a\x1b", "a"},
		{"a\x1b[3", "a"},
		{"\x1b]0;tit", "\x1b]0;tit"},
		{"\x1b]5", ""},
		{"\x1b]52;c", ""},
		{"\x1b]52;c;aG", "\x1b]52;c;aG"},
		{"\x1b]1337;File=na", "\x1b]1337;File=na"},
		{"\x1b_Gf=100;AAA", "\x1b_Gf=100;AAA"},
		{"\x1b_Gi=1", ""},
		{"\x1b_Gi=1;AA", "\x1b_Gi=1,q=2;AA"},
		{"\x1b_x", "\x1b_x"},
		{"\x1bPq~~", "\x1bPq~~"},
		{"\x1bPq~~\x1b", "\x1bPq~~"},
		{"\x1bP$qm", ""},
	} {
		var f Filter
		if got := f.Add(nil, []byte(tt.in)); string(got) != tt.now {
			t.Errorf("%q: %q is passed on at once; want %q", tt.in, got, tt.now)
		}
	}
}

// Overlong sequences are passed on, and memory stays bounded.
func TestFilterBounds(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"\x1b]133;" + strings.Repeat("x", maxHeld+100) + "\x07after",
		"\x1bP$q" + strings.Repeat("x", maxHeld+100) + "\x1b\\after",
		"\x1b[" + strings.Repeat("1;", maxHeld) + "nafter",
		"\x1bP" + strings.Repeat("1;", maxHeld) + "q~\x1b\\after",
		"\x1b" + strings.Repeat("(", maxHeld+9) + "Bafter",
		"\x1b]" + strings.Repeat("0", maxHeld+9) + ";x\x07after",
		"\x1b]4;1;?;" + strings.Repeat("2;red;", maxHeld/4) + "\x07after",
	} {
		for _, piece := range []int{1, 1000, maxHeld, len(in)} {
			var f Filter
			var out []byte
			for rest := in; len(rest) > 0; {
				n := min(piece, len(rest))
				out = f.Add(out, []byte(rest[:n]))
				rest = rest[n:]
				if len(f.held) > maxHeld || len(f.begun) > maxBegun {
					t.Fatalf("%.8q… in pieces of %d: %d held, %d begun", in, piece, len(f.held), len(f.begun))
				}
			}
			if string(out) != in {
				t.Errorf("%.8q… in pieces of %d: %d bytes of %d came out", in, piece, len(out), len(in))
			}
			if f.state != ground || len(f.begun) > 0 {
				t.Errorf("%.8q… in pieces of %d: state %d, %d begun at the end", in, piece, f.state, len(f.begun))
			}
		}
	}
}

// A lone ESC that was flushed is taken back when it turns out to ask.
func TestFilterFlush(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ rest, want string }{
		{"[31mx", "a\x1b[31mx"},
		{"[6nx", "a\x1b\x18x"},
		{"]133;A\x07x", "a\x1b\x18x"},
		{"]133;A\x1b\\x", "a\x1b\x18x"},
		{"]0;t\x07x", "a\x1b]0;t\x07x"},
		{"]10;?;#abc\x07", "a\x1b\x18\x1b]11;#abc\x1b\\"},
		{"P$qm\x1b\\x", "a\x1b\x18x"},
		{"[?2026$px", "a\x1b\x18x"},
		{"Zx", "a\x1b\x18x"},
		{"\x1b[6nx", "a\x1b\x18x"},
		{"(Bx", "a\x1b(Bx"},
	} {
		for _, split := range [][]string{{tt.rest}, strings.Split(tt.rest, "")} {
			var f Filter
			out := f.Add(nil, []byte("a\x1b"))
			if !f.Lone() {
				t.Fatal("a lone ESC is not seen")
			}
			out = f.Flush(out)
			if f.Lone() {
				t.Fatal("still lone after flush")
			}
			for _, s := range split {
				out = f.Add(out, []byte(s))
			}
			if string(out) != tt.want {
				t.Errorf("flushed before %q: %q; want %q", split, out, tt.want)
			}
		}
	}
	var f Filter
	out := f.Add(nil, []byte("\x1b]0;t\x1b"))
	if !f.Lone() {
		t.Error("a lone ESC in a string is not seen")
	}
	out = f.Flush(out)
	if out = f.Add(out, []byte("[6nx")); string(out) != "\x1b]0;t\x1b\x18x" {
		t.Errorf("flushed in a string: %q", out)
	}
}

// asks collects what a viewer would answer or report, were it asked.
func asks(e emulator.Emulator) (found []string) {
	for _, ev := range e.Events() {
		switch ev.Kind {
		case emulator.EventReply, emulator.EventMark, emulator.EventCwd:
			if strings.HasPrefix(ev.Text, "\x1b[48;") {
				continue // The report that goes with setting mode 2048 is no answer.
			}
			found = append(found, fmt.Sprintf("%d %q", ev.Kind, ev.Text))
		}
	}
	return found
}

// checkFilter holds for any input: the split doesn't matter, no question or
// mark is left, and a viewer's screen is the same.
func checkFilter(in []byte, cuts *rand.Rand) error {
	var whole Filter
	want := whole.Flush(whole.Add(nil, in))
	for _, most := range []int{1, 3, 40} {
		var f Filter
		var got []byte
		for rest := in; len(rest) > 0; {
			n := min(len(rest), 1+cuts.IntN(most))
			got = f.Add(got, bytes.Clone(rest[:n]))
			rest = rest[n:]
		}
		if got = f.Flush(got); !bytes.Equal(got, want) {
			return fmt.Errorf("in pieces of up to %d: %q; whole: %q", most, got, want)
		}
	}
	sized := Filter{Settings: Settings{Sizes: true}}
	got := sized.Add(nil, in)
	for i, m := range sized.Marks {
		if m.At > len(got) || m.In > len(in) || i > 0 && (m.At < sized.Marks[i-1].At || m.In <= sized.Marks[i-1].In) {
			return fmt.Errorf("mark %d of %+v in %q, of %q", i, sized.Marks, got, in)
		}
	}
	if got = sized.Flush(got); !bytes.Equal(got, want) {
		return fmt.Errorf("with requests for a size: %q; without: %q", got, want)
	}
	o := emulator.Options{Cols: 20, Rows: 6, History: 40}
	all, left := native.New(o), native.New(o)
	all.Write(in)
	left.Write(want)
	// What is doubled for tmux is for the terminal outside of it.
	if found := asks(left); found != nil && !bytes.Contains(in, []byte("\x1bPtmux;")) {
		return fmt.Errorf("%q is left, in which a viewer finds %s", want, found)
	}
	if d := emutest.Diff(emutest.Dump(left), emutest.Dump(all)); d != "" {
		return fmt.Errorf("a viewer of %q sees something else:\n%s", want, d)
	}
	return nil
}

func TestFilterProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		in := repaired(emutest.Program(r, 20, 6, 1+r.IntN(80), emutest.All))
		if err := checkFilter(in, r); err != nil {
			small := emutest.Shrink(in, func(b []byte) bool {
				return checkFilter(repaired(b), rand.New(rand.NewPCG(seed, 8))) != nil
			})
			t.Fatalf("seed %d: %v\nsmall: %q: %v", seed, err, small, checkFilter(repaired(small), rand.New(rand.NewPCG(seed, 8))))
		}
	}
}

func FuzzFilter(f *testing.F) {
	for _, s := range []string{
		"a\x1b[6nb", "\x1b]133;A\x07", "\x1bP$qm\x1b\\", "\x1b]4;1;?;2;red\x07", "\x1bPtmux;\x1b\x1b[c\x1b\\",
		"\x1b]52;c;?\x07", "\x1b[3\n1m", "\x1b]0;a\x1b\x1b[c",
	} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		if err := checkFilter(repaired(in), rand.New(rand.NewPCG(seed, 1))); err != nil {
			t.Fatal(err)
		}
	})
}

// repaired is the input as the filter and the emulator get it.
func repaired(in []byte) []byte {
	var d Decoder
	return append(d.Decode(append(make([]byte, Headroom, Headroom+len(in)), in...)), d.Flush()...)
}

// REP repeats the character before it, unless something is between: a mark or
// question that viewers don't get must count for them, too.
func TestRepeatAfterMark(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"x\x1b[2b":                        "x\x1b[2b",
		"x\x1b]133;C\a\x1b[2b":            "x\x18\x1b[2b",
		"x\x1b[6n\x1b[2b":                 "x\x18\x1b[2b",
		"x\x1b[6n\x1b[4h\x1b[2b":          "x\x1b[4h\x18\x1b[2b",
		"x\x1b[6ny\x1b[2b":                "xy\x1b[2b",
		"x\x1b[6n\x1b]8;;a\x1b[2b":        "x\x1b]8;;a\x18\x18\x1b[2b",
		"x\x1b]633;A\x1b\\\x1b[2b\x1b[3b": "x\x18\x1b[2b\x18\x1b[3b",
	} {
		for cut := range len(in) {
			var f Filter
			if got := string(f.Add(f.Add(nil, []byte(in[:cut])), []byte(in[cut:]))); got != want {
				t.Errorf("%q cut at %d gives %q, want %q", in, cut, got, want)
			}
		}
	}
}

// What a graphics command names is in its place for viewers, however the output is
// split, also across hosts; a question goes, and what can't be had stays as it is.
func TestNamedData(t *testing.T) {
	t.Parallel()
	asked := ""
	set := Settings{Media: func(command []byte) []byte {
		asked += string(command) + "|"
		if bytes.Contains(command, []byte("no")) {
			return nil
		}
		return []byte("\x1b_Gt=d,m=1;AAAA\x1b\\\x1b_Gm=0;BBBB\x1b\\")
	}}
	in := "a\x1b_Gi=1,t=f,a=T;cGF0aA==\x1b\\b\x1b_Ga=q,i=1,t=t;cGF0aA==\x1b\\c\x1b_Gi=2,t=s;no\x1b\\d\x1b_Gt=f;no\x1b\\e\x1b_Gt=f;cut\x1b[31m\x1b_Gi=3,t=d;AAAA\x1b\\"
	want := "a\x1b_Gt=d,m=1;AAAA\x1b\\\x1b_Gm=0;BBBB\x1b\\bc\x1b_Gi=2,t=s,q=2;no\x1b\\d\x1b_Gt=f;no\x1b\\e\x1b[31m\x1b_Gi=3,t=d,q=2;AAAA\x1b\\"
	for _, size := range []int{1, 2, 7, len(in)} {
		f := Filter{Settings: set}
		var d Decoder
		var out []byte
		asked = ""
		for p := []byte(in); len(p) > 0; p = p[min(size, len(p)):] {
			out = f.Add(out, p[:min(size, len(p))])
			if err := SetState(AppendState(nil, &d, &f), &d, &f); err != nil {
				t.Fatal(err)
			}
		}
		if string(out) != want {
			t.Errorf("in pieces of %d:\n%q, want\n%q", size, out, want)
		}
		if asked != "i=1,t=f,a=T;cGF0aA==|a=q,i=1,t=t;cGF0aA==|i=2,t=s;no|t=f;no|" {
			t.Errorf("asked for %q", asked)
		}
	}
	var plain Filter
	if out := plain.Add(nil, []byte("\x1b_Gt=f;cGF0aA==\x1b\\")); string(out) != "\x1b_Gt=f;cGF0aA==\x1b\\" {
		t.Errorf("where nothing is read: %q", out)
	}
}

// What may ask for a size is marked where it ends: what follows is for the new one.
func TestSizesAreMarked(t *testing.T) {
	f := Filter{Settings: Settings{Sizes: true}}
	var got []string
	at := 0
	for _, p := range []string{"a\x1bcb\x1b[8;5;9tc\x1b[?40;3hd\x1b[80$|e\x1b[5*|f\x1b[m\x1b[6n\x1b[?1$pg\x1b[8;", "1;1th"} {
		out := f.Add(nil, []byte(p))
		at = 0
		for _, m := range f.Marks {
			got = append(got, string(out[at:m.At]))
			at = m.At
		}
		got = append(got, string(out[at:]))
	}
	want := []string{"a\x1bc", "b\x1b[8;5;9t", "c\x1b[?40;3h", "d\x1b[80$|", "e\x1b[5*|", "f\x1b[mg", "\x1b[8;1;1t", "h"}
	if !slices.Equal(got, want) {
		t.Errorf("the pieces are %q", got)
	}
}
