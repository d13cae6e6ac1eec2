package tty_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandemux/emulator"
	"tandemux/emulator/input"
	"tandemux/internal/leak"
	"tandemux/ui/tty"
)

func TestMain(m *testing.M) {
	leak.Main(m)
}

// words says in short what was decoded.
func words(in tty.Input) string {
	var out []string
	for _, msg := range in {
		switch m := msg.(type) {
		case tea.KeyPressMsg:
			out = append(out, m.Keystroke())
		case tea.KeyReleaseMsg:
			out = append(out, "up:"+m.Keystroke())
		case tty.Continued:
			out = append(out, "rest:"+m.Keystroke())
		case tty.Paste:
			out = append(out, fmt.Sprintf("paste(%q,%v,%v)", m.Text, m.First, m.Last))
		case tea.MouseMsg:
			mm := m.Mouse()
			out = append(out, fmt.Sprintf("mouse(%s,%d,%d)", mm.Button, mm.X, mm.Y))
		default:
			out = append(out, strings.TrimPrefix(reflect.TypeOf(msg).String(), "tea."))
		}
	}
	return strings.Join(out, " ")
}

// TestBytesAlone: a byte that comes alone, which may need no decoder, is what it is together
// with another.
func TestBytesAlone(t *testing.T) {
	for b := range 0x80 {
		if b == 0x1b { // begins a sequence
			continue
		}
		var one, two tty.Decoder
		alone, _ := one.Feed([]byte{byte(b)}, false)
		with, _ := two.Feed([]byte{byte(b), ' '}, false)
		if len(alone) != 1 || len(with) != 2 || !reflect.DeepEqual(alone[0], with[0]) {
			t.Errorf("%#x alone is %#v, and before a space %#v", b, alone, with)
		}
	}
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name  string
		in    string // reads are separated by "|"
		flush bool
		want  string
	}{
		{"text", "ab C", false, "a b space shift+c"},
		{"utf-8", "é日", false, "é 日"},
		{"utf-8 in two reads", "\xc3|\xa9", false, "é"},
		{"cluster", "🇩🇪x", false, "\U0001F1E9\U0001F1EA x"},
		{"control", "\x03\x00\x1a\r\t\x7f", false, "ctrl+c ctrl+space ctrl+z enter tab backspace"},
		{"esc at once", "\x1b", false, "esc"},
		{"esc esc", "\x1b\x1b", false, "esc esc"},
		{"esc esc x", "\x1b\x1bx", false, "esc alt+x"},
		{"alt", "\x1bx", false, "alt+x"},
		{"alt with esc in two reads", "\x1b|x", false, "esc x"},
		{"arrow", "\x1b[A\x1bOB\x1b[1;5C", false, "up down ctrl+right"},
		{"arrow in two reads", "\x1b[|A", false, "up"},
		{"arrow behind a lone esc", "\x1b|[A", false, "esc rest:up"},
		{"alt+[", "\x1b[", true, "alt+["},
		{"alt+O", "\x1bO", true, "alt+shift+o"},
		{"alt+] at once", "\x1b]", false, "alt+]"},
		{"function keys", "\x1bOP\x1b[15~\x1b[24;2~", false, "f1 f5 shift+f12"},
		{"linux console", "\x1b[[A\x1b[[E", false, "f1 f5"},
		{"kitty", "\x1b[27u\x1b[13;2u\x1b[97;5u\x1b[57399u", false, "esc shift+enter ctrl+a 0"},
		{"kitty release", "\x1b[97;1:3u", false, "up:a"},
		{"other keys", "\x1b[27;5;9~", false, "ctrl+tab"},
		{"mouse", "\x1b[<0;5;10M\x1b[<0;5;10m\x1b[<64;1;1M", false, "mouse(left,4,9) mouse(left,4,9) mouse(wheelup,0,0)"},
		{"mouse in two reads", "\x1b[<0;5|;10M", false, "mouse(left,4,9)"},
		{"focus", "\x1b[I\x1b[O", false, "FocusMsg BlurMsg"},
		{"paste", "\x1b[200~a\nb\x1b[201~c", false, `paste("a\nb",true,true) c`},
		{"paste in pieces", "x\x1b[200~a|b\x1b[2|01~c", false, `x paste("a",true,false) paste("b",false,false) paste("",false,true) c`},
		{"paste with a character in two reads", "\x1b[200~\xc3|\xa9\x1b[201~", false, `paste("é",true,true)`},
		{"paste with a sequence", "\x1b[200~\x1b[A\x1b[201~", false, `paste("\x1b[A",true,true)`},
		{"mode report", "\x1b[?2026;2$y", false, "ModeReportMsg"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d tty.Decoder
			var all tty.Input
			for _, read := range strings.Split(c.in, "|") {
				in, _ := d.Feed([]byte(read), true)
				all = append(all, in...)
			}
			if c.flush {
				all = append(all, d.Flush()...)
			}
			if got := words(all); got != c.want {
				t.Errorf("%q is %s, want %s", c.in, got, c.want)
			}
		})
	}
}

func TestAnswersAreReadWhileExpected(t *testing.T) {
	d := tty.Decoder{Expecting: true}
	in, more := d.Feed([]byte("\x1b[?2026;2$y\x1b[?0u\x1bP>|kitty(0.40)\x1b\\\x1b[?62;c"), false)
	if got := words(in); got != "ModeReportMsg KeyboardEnhancementsMsg TerminalVersionMsg tty.Fence" || more {
		t.Errorf("answers are %s, more %v", got, more)
	}
	in, more = d.Feed([]byte("\x1bP>|kit"), false)
	if len(in) > 0 || !more {
		t.Errorf("half an answer is %s, more %v", words(in), more)
	}
	in, _ = d.Feed([]byte("ty\x1b\\k"), true)
	if got := words(in); got != "TerminalVersionMsg k" {
		t.Errorf("the rest is %s", got)
	}
}

func TestCaps(t *testing.T) {
	guess := func(env ...string) tty.Caps { return tty.Guess(env) }
	if c := guess("TERM=xterm-256color", "LANG=de_DE.UTF-8"); c.Profile.Colors != emulator.Colors256 || !c.UTF8 {
		t.Errorf("xterm-256color: %+v", c)
	}
	if c := guess("TERM=xterm-256color", "COLORTERM=truecolor", "LC_ALL=C"); c.Profile.Colors != emulator.TrueColor || c.UTF8 {
		t.Errorf("truecolor, C locale: %+v", c)
	}
	if c := guess("TERM=linux", "LANG=C.UTF-8"); !c.Console || c.Profile.Colors != emulator.Colors16 || c.Profile.Hyperlinks {
		t.Errorf("linux: %+v", c)
	}
	if c := guess("TERM=xterm-256color", "NO_COLOR=1"); c.Profile.Colors != emulator.NoColors {
		t.Errorf("NO_COLOR: %+v", c)
	}
	c := guess("TERM=xterm-256color", "NO_COLOR=1")
	c.Learn(tea.TerminalVersionMsg{Name: "kitty(0.40)"})
	if c.Profile.Colors != emulator.NoColors {
		t.Error("a terminal's answer overrules NO_COLOR")
	}
	c = guess("TERM=xterm-256color")
	if write, changed := c.Learn(tea.KeyboardEnhancementsMsg{}); write != "\x1b[>1u" || !changed || !c.Kitty {
		t.Errorf("kitty keyboard: %q %v %+v", write, changed, c)
	}
	c = guess("TERM=xterm-256color")
	c.Learn(tea.TerminalVersionMsg{Name: "XTerm(379)"})
	if write, _ := c.Learn(tty.Fence{}); write != "\x1b[>4;1m" {
		t.Errorf("xterm gets %q", write)
	}
	// It draws no underline styles, and hides text for some colours of underlines.
	if c.Profile.Underlines || c.Profile.Colors != emulator.TrueColor {
		t.Errorf("xterm: %+v", c)
	}
	c = guess("TERM=xterm")
	c.Learn(tea.TerminalVersionMsg{Name: "XTerm(320)"})
	if c.Profile.Colors != emulator.Colors16 {
		t.Errorf("an old xterm: %+v", c)
	}
}

// A terminal that can measure grapheme clusters is told to, and told to stop at the
// end only where it was.
func TestClusterMode(t *testing.T) {
	for _, c := range []struct {
		value ansi.ModeSetting
		write string
		has   bool
	}{
		{ansi.ModeNotRecognized, "", false},
		{ansi.ModeReset, "\x1b[?2027h", true},
		{ansi.ModeSet, "", true},
		{ansi.ModePermanentlySet, "", true},
		{ansi.ModePermanentlyReset, "", false},
	} {
		caps := tty.Guess([]string{"TERM=xterm-256color"})
		if !strings.Contains(tty.EnterSequence(caps), "\x1b[?2027$p") {
			t.Fatal("mode 2027 is not asked for")
		}
		write, _ := caps.Learn(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: c.value})
		if write != c.write || caps.Clusters != c.has {
			t.Errorf("answer %d: writes %q, has it: %v", c.value, write, caps.Clusters)
		}
		if undone := strings.Contains(tty.LeaveSequence(caps), "\x1b[?2027l"); undone != (c.write != "") {
			t.Errorf("answer %d: switched off at the end: %v", c.value, undone)
		}
	}
}

func TestLeaveUndoesEnter(t *testing.T) {
	for _, c := range []tty.Caps{{}, {Kitty: true}, {Other: true}, {Console: true}} {
		enter, leave := tty.EnterSequence(c), tty.LeaveSequence(c)
		for _, mode := range []string{"1049", "2004", "1004", "1000", "1002", "1006"} {
			if !strings.Contains(enter, "\x1b[?"+mode+"h") || !strings.Contains(leave, "\x1b[?"+mode+"l") {
				t.Errorf("%+v: mode %s: enter %q, leave %q", c, mode, enter, leave)
			}
		}
		if !strings.Contains(leave, "\x1b[?7h") || !strings.Contains(leave, "\x1b[?25h") {
			t.Errorf("%+v: wrapping and cursor are not restored: %q", c, leave)
		}
		if c.Kitty != strings.Contains(leave, "\x1b[<u") {
			t.Errorf("%+v: keyboard: %q", c, leave)
		}
		if c.Console == strings.Contains(leave, "\x1b]22;\x1b\\") {
			t.Errorf("%+v: the pointer: %q", c, leave)
		}
		if c.Console && strings.Contains(enter, "$p") {
			t.Errorf("a console is asked: %q", enter)
		}
	}
}

// TestKeysSurviveTheRoundTrip writes keys as a kitty terminal does and reads
// them back.
func TestKeysSurviveTheRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	named := []rune{
		tea.KeyUp, tea.KeyDown, tea.KeyHome, tea.KeyEnd, tea.KeyInsert, tea.KeyDelete, tea.KeyPgUp, tea.KeyPgDown,
		tea.KeyF1, tea.KeyF2, tea.KeyF3, tea.KeyF4, tea.KeyF5, tea.KeyF12, tea.KeyF13, tea.KeyF20, tea.KeyEnter,
		tea.KeyTab, tea.KeyBackspace, tea.KeyEscape, 'a', 'z', '1', ';', 'ü', ' ',
	}
	for range 2000 {
		k := tea.Key{Code: named[r.IntN(len(named))], Mod: tea.KeyMod(r.IntN(8))}
		if k.Code < tea.KeyExtended && k.Code > ' ' && k.Code != tea.KeyBackspace && k.Mod&^tea.ModShift == 0 {
			k.Mod = 0
			k.Text = string(k.Code)
		}
		if k.Code == ' ' && k.Mod&^tea.ModShift == 0 {
			k.Mod, k.Text = 0, " "
		}
		seq := input.AppendKey(nil, k, input.Press, emulator.Modes{Kitty: 1})
		var d tty.Decoder
		in, _ := d.Feed(seq, false)
		if len(in) != 1 {
			t.Fatalf("%s is written as %q and read as %s", k.Keystroke(), seq, words(in))
		}
		got, ok := in[0].(tea.KeyPressMsg)
		if !ok || got.Keystroke() != k.Keystroke() {
			t.Fatalf("%s is written as %q and read as %s", k.Keystroke(), seq, words(in))
		}
	}
}

// FuzzDecode: whatever comes is consumed in bounded memory without a panic, and
// a paste is the same however the reads fall.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"a", "\x1b", "\x1b[A", "\x1b[200~x\x1b[201~", "\x1b[<0;1;1M", "\x1b[M   ", "\x1bP>|x\x1b\\", "\x1b]11;rgb:1/2/3\x07",
		"\x1b[1;1R", "\x1b[27;5;9~", "\x1b[57399;129:3;49u", "\xff\xfe", "\x1b[?997;1n", "\x1b[48;1;2;3;4t", "\x1b_Gi=1;OK\x1b\\",
	} {
		f.Add([]byte(s), uint8(1), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, cut uint8, expecting bool) {
		d := tty.Decoder{Expecting: expecting, Due: expecting && cut%2 == 0}
		n := int(cut)%max(len(b), 1) + 0
		d.Feed(b[:min(n, len(b))], false)
		d.Feed(b[min(n, len(b)):], true)
		d.Flush()
		if _, more := d.Feed([]byte("z"), false); more && !strings.Contains(string(b), "\x1b") {
			t.Errorf("after %q and a flush a letter is incomplete", b)
		}
	})
}

// What a terminal answers about pictures: whether it takes sixel, in how many colours, how
// large a cell is, which counts more than what the window's size says.
func TestPictureAnswers(t *testing.T) {
	d := tty.Decoder{Expecting: true}
	in, more := d.Feed([]byte("\x1b[?1;0;16S\x1b[?1;3;0S\x1b[6;19;10t\x1b[?63;1;2;4;6c"), false)
	c := tty.Guess([]string{"TERM=xterm-256color"})
	c.Learn(tty.CellSize{W: 6, H: 13, Guessed: true})
	for _, msg := range in {
		c.Learn(msg)
	}
	c.Learn(tty.CellSize{W: 6, H: 13, Guessed: true})
	if more || c.Colors != 16 || c.Cell != (tty.CellSize{W: 10, H: 19}) || c.Pictures != tty.SixelPictures || tty.AskCell(c) == "" {
		t.Errorf("%v, %v: %+v", in, more, c)
	}
	in, _ = d.Feed([]byte("\x1b[?64;6;22c"), false)
	for _, msg := range in {
		c.Learn(msg)
	}
	if c.Pictures != tty.NoPictures || tty.AskCell(c) != "" {
		t.Errorf("without sixel: %q", c.Pictures)
	}
	c.Learn(tea.TerminalVersionMsg{Name: "iTerm2 3.5.0"})
	if c.Pictures != tty.InlinePictures {
		t.Errorf("iTerm2: %q", c.Pictures)
	}
}
