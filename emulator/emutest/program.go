package emutest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Features selects what a random program does beyond plain text, cursor moves,
// erasing, scrolling and the basic attributes.
type Features uint32

// The features.
const (
	Wide        Features = 1 << iota // wide characters
	Combining                        // combining marks and emoji sequences
	Styles                           // every attribute and colour
	Links                            // OSC 8
	AltScreen                        // to the alternate screen and back by 1049
	Insert                           // IRM
	Origin                           // DECOM
	NoWrap                           // DECAWM off
	Region                           // DECSTBM
	SideMargins                      // DECLRMM and DECSLRM
	Saved                            // DECSC, DECRC
	Tabs                             // HTS, TBC, CHT, CBT
	Charsets                         // line drawing, SO, SI
	Repeat                           // REP
	Private                          // modes that only input and drawing care for
	Keyboard                         // kitty's keyboard protocol, modifyOtherKeys
	AltAgain                         // 47, 1047 and 1049 in any order
	Strings                          // titles, colours, cwd, clipboard, marks
	Reports                          // queries
	Identity                         // queries for what the terminal is
	Protect                          // DECSCA and selective erase
	Rects                            // rectangle operations and what else a VT420 has
	Resets                           // RIS, DECSTR, DECALN
	Hostile                          // garbage, huge parameters, cut sequences, bad UTF-8
	Graphics                         // kitty's graphics
	Sizes                            // requests for a size, double-sized lines, OSC 66
	Stacks                           // colours and SGR that are pushed and popped, OSC 21

	All = Stacks<<1 - 1
)

// Program makes a random program of n steps for a grid of the given size.
func Program(r *rand.Rand, cols, rows, n int, f Features) []byte {
	return bytes.Join(Steps(r, cols, rows, n, f), nil)
}

// Steps is Program with its steps apart, for those that take some away.
func Steps(r *rand.Rand, cols, rows, n int, f Features) [][]byte {
	g := &generator{r: r, cols: cols, rows: rows}
	var ops []op
	for _, o := range operations {
		if o.needs&^f == 0 {
			for range o.weight {
				ops = append(ops, o)
			}
		}
	}
	steps := make([][]byte, n)
	for i := range steps {
		ops[r.IntN(len(ops))].do(g)
		steps[i] = []byte(g.b.String())
		g.b.Reset()
	}
	return steps
}

type generator struct {
	r          *rand.Rand
	cols, rows int
	b          strings.Builder
	alt        bool // the alternate screen shows
}

// op is a kind of step.
type op struct {
	needs  Features
	weight int
	do     func(*generator)
}

func (g *generator) f(format string, args ...any) { fmt.Fprintf(&g.b, format, args...) }

func (g *generator) pick(s ...string) { g.b.WriteString(g.r0(s)) }

// pick is a step that is one of these.
func pick(s ...string) func(*generator) { return func(g *generator) { g.pick(s...) } }

func (g *generator) r0(s []string) string { return s[g.r.IntN(len(s))] }

// count is mostly small, sometimes left out, sometimes beyond the grid.
func (g *generator) count() string {
	switch g.r.IntN(8) {
	case 0:
		return ""
	case 1:
		return fmt.Sprint(g.r.IntN(2 * g.cols))
	default:
		return fmt.Sprint(1 + g.r.IntN(4))
	}
}

const letters = "abcdefghijklmnopqrstuvwxyz0123456789ABCXYZ.,:;-_/|~`{}"

func (g *generator) word() {
	for range 1 + g.r.IntN(12) {
		g.b.WriteByte(letters[g.r.IntN(len(letters))])
	}
}

func (g *generator) paragraph() {
	for range 1 + g.r.IntN(12) {
		g.word()
		g.b.WriteString(" "[:g.r.IntN(2)])
	}
}

// switchScreen goes to the alternate screen or back.
func (g *generator) switchScreen() {
	g.alt = !g.alt
	if g.alt {
		g.f("\x1b[?1049h")
	} else {
		g.f("\x1b[?1049l")
	}
}

var operations = []op{
	{0, 12, (*generator).word},
	{0, 4, (*generator).paragraph},
	{0, 8, pick(" ", "  ", "\r\n", "\r\n", "\r\n", "\n", "\r", "\b", "\t", "\x1bD", "\x1bE", "\x1bM")},
	{0, 6, func(g *generator) { g.f("\x1b[%d;%dH", 1+g.r.IntN(g.rows), 1+g.r.IntN(g.cols)) }},
	{0, 6, func(g *generator) { g.f("\x1b[%s%c", g.count(), g.any("ABCDEFGd`")) }},
	{0, 4, func(g *generator) { g.f("\x1b[%s%c", g.count(), g.any("PX@")) }},
	{0, 4, func(g *generator) { g.f("\x1b[%d%c", g.r.IntN(3), g.any("JK")) }},
	{0, 3, func(g *generator) { g.f("\x1b[%s%c", g.count(), g.any("LMST")) }},
	{0, 6, pick("\x1b[m", "\x1b[1m", "\x1b[3m", "\x1b[4m", "\x1b[7m", "\x1b[22m", "\x1b[23m", "\x1b[24m", "\x1b[27m",
		"\x1b[31m", "\x1b[32;44m", "\x1b[39m", "\x1b[49m", "\x1b[91m", "\x1b[103m", "\x1b[38;5;196m", "\x1b[48;5;17m",
		"\x1b[38;2;1;2;3m", "\x1b[48;2;200;100;50m", "\x1b[0;1;4;35;42m")}, // what every engine draws alike
	{Styles, 6, pick("\x1b[2m", "\x1b[5m", "\x1b[8m", "\x1b[9m", "\x1b[53m", "\x1b[21m", "\x1b[4:3m", "\x1b[4:4m", "\x1b[4:5m", "\x1b[4:0m",
		"\x1b[25m", "\x1b[28m", "\x1b[29m", "\x1b[55m", "\x1b[58:5:9m", "\x1b[58:2::1:2:3m", "\x1b[58;5;3m", "\x1b[59m",
		"\x1b[38:5:200m", "\x1b[38:2:9:8:7m", "\x1b[48:2::7:8:9m", "\x1b[38;2;0;0;7m", "\x1b[1;2m", "\x1b[22;2m",
		"\x1b[;1m", "\x1b[38;5m", "\x1b[38;2;1m", "\x1b[48m", "\x1b[99;1m")},
	{Wide, 4, pick("世界", "漢", "한국어", "日本語テキスト", "🙂", "ａｂ")},
	{Combining, 4, pick("e\u0301", "\u0301", "a\u0300\u0323", "👩‍👩‍👧", "🇩🇪", "❤️", "✈\ufe0f", "👍🏽", "\u200d", "1️⃣", "नमस्ते",
		"น้ำ", "ำ", "ि", "क्षि", "🇩", "\u1161", "\u11a8", "\u1100", "\u00ad", "\u0600")},
	{Links, 2, pick("\x1b]8;;https://example.org/\x1b\\", "\x1b]8;id=a;file:///tmp\a", "\x1b]8;;\x1b\\", "\x1b]8;;\a", "\x1b]8;bad\a")},
	{AltScreen, 2, (*generator).switchScreen},
	{AltAgain, 1, func(g *generator) { g.f("\x1b[?%s%c", g.r0([]string{"1049", "1049", "1047", "47"}), g.any("hl")) }},
	{Insert, 1, pick("\x1b[4h", "\x1b[4l", "\x1b[4l")},
	{Origin | Region, 1, pick("\x1b[?6h", "\x1b[?6l", "\x1b[?6l")},
	{NoWrap, 1, pick("\x1b[?7l", "\x1b[?7h", "\x1b[?7h")},
	{Region, 2, func(g *generator) { g.f("\x1b[%d;%dr", g.r.IntN(g.rows+1), g.r.IntN(g.rows+2)) }},
	{Region, 1, pick("\x1b[r")},
	{SideMargins, 1, pick("\x1b[?69h", "\x1b[?69l")},
	{SideMargins, 1, func(g *generator) { g.f("\x1b[%d;%ds", g.r.IntN(g.cols), 1+g.r.IntN(g.cols)) }},
	{Saved, 2, pick("\x1b7", "\x1b8", "\x1b[s", "\x1b[u", "\x1b[?1048h", "\x1b[?1048l")},
	{Tabs, 2, pick("\x1bH", "\x1b[g", "\x1b[3g", "\x1b[2I", "\x1b[Z", "\t", "\t")},
	{Charsets, 2, pick("\x1b(0", "\x1b(B", "\x1b)0", "\x0e", "\x0f", "\x1b*0", "\x1bn", "\x1b(0lqqk\x1b(B")},
	{Charsets | Rects, 1, pick("\x1b[?42h", "\x1b(K{|}", "\x1b-A\x0e!IMy\x0f", "\x1b)>", "\x1b.A", "\x1b%5", "\x1b+<\x1bO)x", "\x1b(B")},
	{Repeat, 1, func(g *generator) { g.f("x\x1b[%sb", g.count()) }},
	{Private, 2, func(g *generator) {
		modes := []string{"1", "5", "12", "25", "66", "67", "9", "1000", "1002", "1003", "1004", "1005", "1006", "1007", "1015", "1016", "2004", "2026", "2031"}
		g.f("\x1b[?%s%c", g.r0(modes), g.any("hl"))
	}},
	{Private, 1, pick("\x1b=", "\x1b>", "\x1b[20h", "\x1b[20l", "\x1b[3 q", "\x1b[6 q", "\x1b[ q")},
	{Keyboard, 1, pick("\x1b[>4;2m", "\x1b[>4m", "\x1b[>1u", "\x1b[<u", "\x1b[=5;1u", "\x1b[>31u")},
	{Strings, 2, pick("\x1b]0;title\a", "\x1b]2;tïtle\x1b\\", "\x1b]4;7;#102030\a", "\x1b]104;7\a", "\x1b]10;#ffeedd\a", "\x1b]110\a",
		"\x1b]7;file://host/tmp\a", "\x1b]52;c;aGk=\a", "\x1b]133;A\a", "\x1b]9;note\a", "\x1b]777;notify;a;b\a", "\x1b]9;4;1;50\a",
		"\x1b[22;0t", "\x1b[23;0t", "\x1bPq#0;2;0;0;0~-\x1b\\", "\x1b_Gi=1,a=q;AAAA\x1b\\", "\a")},
	{Reports, 2, pick("\x1b[5n", "\x1b[6n", "\x1b[?6n", "\x1b[?2004$p", "\x1b[?25$p", "\x1b[4$p",
		"\x1b[18t", "\x1b]10;?\a", "\x1b]11;?\x1b\\", "\x1b]4;1;?\a", "\x1bP$qm\x1b\\", "\x1bP$qr\x1b\\", "\x05")},
	{Combining, 1, pick("\x1b[?2027l", "\x1b[?2027h")},
	{Identity, 1, pick("\x1b[c", "\x1b[>c", "\x1b[=c", "\x1b[>q", "\x1b[?u", "\x1bP+q544e\x1b\\")},
	{Protect, 1, pick("\x1b[1\"q", "\x1b[0\"q", "\x1b[2\"q", "\x1b[?J", "\x1b[?1K", "\x1b[?2K", "\x1bV", "\x1bW")},
	{Rects, 2, (*generator).rect},
	{Rects, 1, pick("\x1b[0*x", "\x1b[2*x", "\x1b[63;1\"p", "\x1b[64;1\"p", "\x1b[65\"p", "\x1b[?41h",
		"\x1b[1;1;1;1;9;9*y", "\x1b[?2048h", "\x1b[?3h", "\x1b[3j", "\x1b[2k", "\x1bZ")},
	{Resets, 1, pick("\x1b[!p", "\x1b#8", "\x1b[3J", "\x1bc", "\x1b[!p", "\x1b[2J")},
	{Hostile, 3, (*generator).hostile},
	{Graphics, 6, (*generator).graphics},
	{Sizes, 1, pick("\x1b[8;5;30t", "\x1b[8;3t", "\x1b[8;;12t", "\x1b[4;64;160t", "\x1b[24t", "\x1b[40$|", "\x1b[7*|", "\x1b[?40h\x1b[?3h", "\x1b[?3l", "\x1b[?40l", "\x1b[?40h\x1b[?3hwide\x1bcafter\r\nthat")},
	{Sizes, 4, pick("\x1b#3", "\x1b#4", "\x1b#5", "\x1b#6", "\x1b#6", "\x1b#6wide\r\n", "\x1b#3top\r\n\x1b#4top")},
	{Sizes, 2, func(g *generator) {
		g.f("\x1b]66;%s;%s\x1b\\", g.r0([]string{"", "w=1", "w=2", "s=2", "s=3:w=2", "n=1:d=2:w=1", "w=7", "s=9", "s=2:w="}), g.r0([]string{"ab", "世", "👩‍👩‍👧 x", "e\u0301", "", "\u0301", " "}))
	}},
	{Stacks, 3, pick("\x1b[#P", "\x1b[#Q", "\x1b[3#P", "\x1b[2#Q", "\x1b]30001\a", "\x1b]30101\a", "\x1b[#{", "\x1b[1;4;31#{", "\x1b[#}", "\x1b[30#p", "\x1b[#q")},
	{Stacks, 2, pick("\x1b]21;foreground=#123;3=red;cursor_text=blue\a", "\x1b]21;foreground;3=;cursor=\a", "\x1b]5;0;red\a", "\x1b]105\a",
		"\x1b]17;rgb:1/2/3\a", "\x1b]117\a", "\x1b]13;red;blue;green\a", "\x1b]4;258;red\a", "\x1b]22;pointer\a", "\x1b]22;>wait,text\a", "\x1b]22;<\a", "\x1b]22;\a")},
	{Reports | Stacks, 1, pick("\x1b[#R", "\x1b[1;1;2;2#|", "\x1b]21;foreground=?;nonsense=?\a", "\x1b]5;1;?\a", "\x1b]18;?\a", "\x1b]22;?wait,no\a")},
}

// graphics transmits, shows and deletes a few images again and again.
func (g *generator) graphics() {
	id := 1 + g.r.IntN(4)
	switch g.r.IntN(9) {
	case 0:
		g.f("\x1b_Ga=T,i=%d,f=32,o=z,s=%d,v=%d,q=%d;eJw=\x1b\\", id, 1+g.r.IntN(80), 1+g.r.IntN(80), g.r.IntN(3))
	case 1:
		g.f("\x1b_Ga=T,f=24,o=z,s=30,v=30,c=%d,r=%d,C=%d,z=%d;eJw=\x1b\\", g.r.IntN(9), g.r.IntN(5), g.r.IntN(2), g.r.IntN(3)-1)
	case 2:
		g.f("\x1b_Ga=p,i=%d,p=%d,x=%d,w=%d,r=%d\x1b\\", id, g.r.IntN(3), g.r.IntN(20), g.r.IntN(20), g.r.IntN(4))
	case 3:
		g.f("\x1b_Ga=d,d=%c,i=%d,x=%d,y=%d\x1b\\", g.any("aAiInNcCpPqrRxXyYzZ"), id, g.r.IntN(4), g.r.IntN(4))
	case 4:
		g.f("\x1b_Ga=%c,i=%d,f=24,s=2,v=2,m=1;AAAA\x1b\\", g.any("tT"), id)
	case 5:
		g.f("\x1b_Gm=%d;AAAAAAAAAAAA\x1b\\", g.r.IntN(2))
	case 6:
		g.f("\x1b_Ga=p,U=1,i=%d,p=%d,c=3,r=2\x1b\\", id, g.r.IntN(2))
		g.f("\x1b[38;5;%dm\U0010eeee\u0305\u030d\U0010eeee\U0010eeee\x1b[39m", id)
	case 7:
		g.pick("\x1b_GI=7,f=24,s=1,v=1;AAAA\x1b\\", "\x1b_Ga=p,I=7\x1b\\", "\x1b_Ga=d,d=N,I=7\x1b\\", "\x1b_Ga=q,i=3,s=1,v=1,f=24;AAAA\x1b\\")
	case 8:
		g.pick("\x1b_Ga=f,i=1,f=24,s=1,v=1,z=40;AAAA\x1b\\", "\x1b_Ga=f,i=2,r=1,x=1,f=24,s=1,v=1,m=1;AAAA\x1b\\", "\x1b_Ga=c,i=1,r=1,c=2\x1b\\",
			"\x1b_Ga=a,i=1,s=3,v=1\x1b\\", "\x1b_Ga=a,i=1,r=1,z=50,c=2\x1b\\",
			"\x1bP9q\"1;1;20;20#1;2;0;0;99!30~-~\x1b\\", "\x1bPq@\x1b\\", "\x1b]1337;File=inline=1;width=3:R0lGODlhEAAQAAAAACw=\a", "\x1b[c", "\x1b[?2;1S",
			"\x1b_Ga=t,i=1,t=f;L2V0Yw==\x1b\\", "\x1b_Gi=1,I=1;\x1b\\", "\x1b_G=\x1b\\", "\x1b_Ga=f,i=1;AAAA\x1b\\", "\x1b_Gm=1,a=T;!\x1b\\", "\x1b_Ga=T,P=1,i=9,f=24,s=1,v=1;AAAA\x1b\\")
	}
}

func (g *generator) any(s string) byte { return s[g.r.IntN(len(s))] }

// rect writes a rectangle operation, of which some are inside out.
func (g *generator) rect() {
	y, x := 1+g.r.IntN(g.rows), 1+g.r.IntN(g.cols)
	area := fmt.Sprintf("%d;%d;%d;%d", y, x, y+g.r.IntN(g.rows)-1, x+g.r.IntN(g.cols)-1)
	to := fmt.Sprintf("%d;%d", 1+g.r.IntN(g.rows), 1+g.r.IntN(g.cols))
	g.f(g.r0([]string{"\x1b[%s$z", "\x1b[%s${", "\x1b[88;%s$x", "\x1b[233;%s$x", "\x1b[%s;1;" + to + ";1$v", "\x1b[%s;1;" + to + "$v", "\x1b[%s;1;7$r", "\x1b[%s;0;4$r", "\x1b[%s;1;4$t", "\x1b[%s$t"}), area)
}

// hostile writes what a broken or malicious program might.
func (g *generator) hostile() {
	switch g.r.IntN(8) {
	case 0:
		for range g.r.IntN(24) {
			g.b.WriteByte(byte(g.r.Uint32()))
		}
	case 1:
		g.f("\x1b[%s%c", g.r0([]string{"-1", "0", "9223372036854775807", "99999999999999999999", "4294967295", "65536", "1;2;3;4;5", ";;;;", ":::"}), byte(0x40+g.r.IntN(0x3f)))
	case 2:
		g.f("\x1b[%s", strings.Repeat("1;", g.r.IntN(300)))
	case 3:
		g.pick("\x1b]", "\x1bP", "\x1b_", "\x1b[", "\x1b", "\x1b]8;;", "\x1b[?", "\x1b(", "\x1bk", "\x1b^", "\x1bX", "\x1bPq", "\x1b]52;c;")
	case 4:
		g.pick("\xe4\xb8", "\xf0\x9f", "\xc3", "\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xc2\x9b1m")
	case 5:
		g.pick("\x18", "\x1a", "\x1b\\", "\x00", "\x7f", "\x0c", "\x0b")
	case 6:
		g.f("\x1b[%s%c%c", g.r0([]string{"", "?", ">", "<", "="}), byte(0x20+g.r.IntN(16)), byte(0x40+g.r.IntN(0x3f)))
	case 7:
		g.f("\x1b[%s%d%c", g.r0([]string{"", "?", ">", "=", "<"}), g.r.IntN(3000), byte(0x40+g.r.IntN(0x3f)))
	}
}

// Shrink removes pieces of a failing program, bytes or steps, while it still
// fails.
func Shrink[P ~[]E, E any](program P, fails func(P) bool) P {
	tries := 0
	for size := len(program) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(program) && tries < 3000; {
			cut := slices.Delete(slices.Clone(program), at, at+size)
			tries++
			if fails(cut) {
				program = cut
			} else {
				at += size
			}
		}
	}
	return program
}
