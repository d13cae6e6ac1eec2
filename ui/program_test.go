package ui_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/input"
	"tandemux/keymap"
	"tandemux/ui"
	"tandemux/ui/link"
	"tandemux/ui/look"
)

// silent is a program that prints nothing by itself.
func silent(*Terminal, string) {}

// program starts an interface on a program that printed something.
func program(t *testing.T, output string) (*UI, *Terminal) {
	t.Helper()
	u := New(t, Options{Host: func(h *Host) { h.Program = silent }})
	sh := u.Host.Terminal("sh1")
	sh.Print(output)
	u.WaitIdle()
	return u, sh
}

func TestKeysFollowTheProgramsModes(t *testing.T) {
	for _, c := range []struct{ name, output, keys, want string }{
		{"plain", "", "up home f1 ctrl+c alt+x shift+tab enter backspace", "\x1b[A\x1b[H\x1bOP\x03\x1bx\x1b[Z\r\x7f"},
		{"application cursor", "\x1b[?1h", "up left ctrl+up", "\x1bOA\x1bOD\x1b[1;5A"},
		{"modify other keys", "\x1b[>4;2m", "ctrl+i shift+enter", "\x1b[27;5;105~\x1b[27;2;13~"},
		{"kitty", "\x1b[>1u", "esc ctrl+i shift+enter up", "\x1b[27u\x1b[105;5u\x1b[13;2u\x1b[A"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, sh := program(t, c.output)
			u.Press(c.keys)
			if got := sh.Typed(); got != c.want {
				t.Errorf("%s sends %q, want %q", c.keys, got, c.want)
			}
		})
	}
}

func TestEscGoesAtOnce(t *testing.T) {
	u := New(t, Options{
		Env:  []string{"TERM=linux", "LANG=C.UTF-8"}, // no kitty keyboard
		Host: func(h *Host) { h.Program = silent },
	})
	sh := u.Host.Terminal("sh1")
	before := u.Timers()
	u.Read("\x1b")
	if sh.Typed() != "\x1b" || u.Timers() != before {
		t.Errorf("ESC alone sends %q; %d timers run", sh.Typed(), u.Timers()-before)
	}
	// The rest of an arrow key whose ESC came alone.
	sh.Print("\x1b[?1h")
	u.ReadSoon("[A")
	if got := sh.Typed(); got != "\x1bOA" {
		t.Errorf("an arrow in two reads sends %q", got)
	}
}

func TestPasteIsMarkedWhenAskedFor(t *testing.T) {
	u, sh := program(t, "")
	u.Paste("a\nb")
	u.Host.Terminal("sh1").Print("\x1b[?2004h")
	u.WaitIdle()
	u.Paste("c\nd\x1b[201~")
	if got := sh.Typed(); got != "a\rb\x1b[200~c\rd\x1b[201~" {
		t.Errorf("sent %q", got)
	}
	big := strings.Repeat("0123456789é\n", 20000)
	sh.Input = nil
	u.Paste(big)
	if got := sh.Typed(); got != "\x1b[200~"+strings.ReplaceAll(big, "\n", "\r")+"\x1b[201~" {
		t.Errorf("a large paste arrives with %d bytes", len(got))
	}
	for _, piece := range sh.Input {
		if len(piece) > 33<<10 {
			t.Errorf("a piece of %d bytes", len(piece))
		}
	}
}

func TestMouseGoesToTheProgram(t *testing.T) {
	u, sh := program(t, "\x1b[?1002h\x1b[?1006h")
	u.Press("ctrl+space |")
	sh.Input = nil
	u.Click(4, 5)
	if got := sh.Typed(); got != "\x1b[<0;5;5M\x1b[<0;5;5m" {
		t.Errorf("a click below the title sends %q", got)
	}
	sh.Input = nil
	u.Wheel(true, 0, 1)
	if got := sh.Typed(); got != "\x1b[<64;1;1M" {
		t.Errorf("the wheel sends %q", got)
	}
	sh.Input = nil
	u.Drag(2, 3, 60, 3)
	if got := sh.Typed(); got != "\x1b[<0;3;3M\x1b[<32;40;3M\x1b[<0;40;3m" {
		t.Errorf("a drag out of the pane sends %q", got)
	}
	if got := u.Host.Terminal("sh2").Typed(); got != "" {
		t.Errorf("the pane beside got %q", got)
	}
}

func TestMouseMotionIsAskedForOnDemand(t *testing.T) {
	u := New(t, Options{
		Host: func(h *Host) { h.Program = silent },
	})
	sh := u.Host.Terminal("sh1")
	if got := u.Outer().Modes().Mouse; got != emulator.MouseButton {
		t.Errorf("mouse mode %d", got)
	}
	sh.Print("\x1b[?1003h\x1b[?1006h")
	u.WaitIdle()
	if got := u.Outer().Modes().Mouse; got != emulator.MouseAny {
		t.Errorf("mouse mode %d for a program that follows the mouse", got)
	}
	u.Mouse(input.MouseMotion, tea.MouseNone, 7, 8)
	if got := sh.Typed(); got != "\x1b[<35;8;9M" {
		t.Errorf("a motion sends %q", got)
	}
	sh.Print("\x1b[?1003l")
	u.WaitIdle()
	if got := u.Outer().Modes().Mouse; got != emulator.MouseButton {
		t.Errorf("mouse mode %d afterwards", got)
	}
}

// The focused program's pointer is the outer terminal's; a shape that is not known is none.
func TestPointerOfTheFocusedProgram(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) { h.Program = silent }})
	pointer := func(want string) {
		t.Helper()
		u.WaitIdle()
		if got := u.Outer().Modes().Pointer; got != want {
			t.Errorf("the pointer is %q, not %q", got, want)
		}
	}
	u.Host.Terminal("sh1").Print("\x1b]22;hand2\a")
	pointer("pointer")
	u.Press("ctrl+space |")
	pointer("")
	u.Host.Terminal("sh2").Print("\x1b]22;wait\a\x1b]22;\u009b31m;x\a")
	pointer("wait")
	u.Press("ctrl+space :")
	pointer("")
	u.Press("esc")
	pointer("wait")
	u.Host.Terminal("sh2").Print("\x1bc")
	pointer("")
}

func TestMouseArrangesPanes(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space -")
	u.Click(5, 5)
	if got := focusTitle(t, u); got != "sh1" {
		t.Errorf("a click focuses %s", got)
	}
	u.Drag(40, 5, 20, 5)
	if cols, _ := u.Host.Terminal("sh1").Size(); cols != 20 {
		t.Errorf("after dragging the border the left pane has %d columns", cols)
	}
	u.Drag(30, 12, 30, 6)
	if _, rows := u.Host.Terminal("sh2").Size(); rows != 5 {
		t.Errorf("after dragging the title up the pane above has %d rows", rows)
	}
	u.Golden("dragged")
}

func TestWheel(t *testing.T) {
	u, sh := program(t, "")
	for i := range 50 {
		sh.Print(fmt.Sprintf("line %d\r\n", i))
	}
	u.WaitIdle()
	u.Wheel(true, 3, 3)
	u.Golden("wheel")
	sh.Print("more\r\n")
	u.WaitIdle()
	u.Shows("line 25", "4/29")
	u.Hides("more")
	u.Type("x")
	u.Shows("more")
	if sh.Typed() != "x" {
		t.Errorf("typed %q", sh.Typed())
	}
	u.Wheel(true, 3, 3)
	u.Wheel(false, 3, 3)
	u.Shows("more")

	sh.Input = nil
	sh.Print("\x1b[?1049h\x1b[Hfull screen")
	u.WaitIdle()
	u.Wheel(true, 3, 3)
	if got := sh.Typed(); got != "\x1b[A\x1b[A\x1b[A" {
		t.Errorf("in a full-screen program the wheel sends %q", got)
	}
	sh.Input = nil
	sh.Print("\x1b[?1007l")
	u.WaitIdle()
	u.Wheel(true, 3, 3)
	if got := sh.Typed(); got != "" {
		t.Errorf("in one that doesn't want arrows the wheel sends %q", got)
	}
}

func TestFocusReports(t *testing.T) {
	u, sh := program(t, "\x1b[?1004h")
	u.Press("ctrl+space |")
	if got := sh.Typed(); got != "\x1b[O" {
		t.Errorf("leaving the pane sends %q", got)
	}
	u.Press("ctrl+space h")
	u.Read("\x1b[O")
	u.Read("\x1b[I")
	if got := sh.Typed(); got != "\x1b[O\x1b[I\x1b[O\x1b[I" {
		t.Errorf("sent %q", got)
	}
}

func TestOuterTerminalIsSetUp(t *testing.T) {
	u, sh := program(t, "")
	m := u.Outer().Modes()
	if !m.AltScreen || !m.BracketedPaste || !m.FocusEvents || m.Mouse != emulator.MouseButton || m.MouseEncoding != emulator.MouseSGR {
		t.Errorf("modes %+v", m)
	}
	if m.Kitty != 1 {
		t.Errorf("keyboard flags %d, want disambiguation", m.Kitty)
	}
	if got := u.Outer().Title(); got != "sh1" {
		t.Errorf("window title %q", got)
	}
	sh.Print("\x1b[>11u") // the program wants events and all keys
	u.WaitIdle()
	if got := u.Outer().Modes().Kitty; got != 1|2|8|16 {
		t.Errorf("keyboard flags %d for a program that wants all", got)
	}
	u.Press("ctrl+space")
	u.Press("?")
	if got := u.Outer().Modes().Kitty; got != 1 {
		t.Errorf("keyboard flags %d under an overlay", got)
	}
	u.Press("q")
	u.Type("a")
	u.Write(u.LeaveSequence())
	m = u.Outer().Modes()
	if m.AltScreen || m.BracketedPaste || m.FocusEvents || m.Mouse != 0 || m.Kitty != 0 || !u.Outer().Cursor().Visible {
		t.Errorf("left behind: %+v, cursor %+v", m, u.Outer().Cursor())
	}
}

func TestKeyReleases(t *testing.T) {
	u, sh := program(t, "\x1b[>3u")
	u.Read("\x1b[97;5u\x1b[97;5:3u")
	if got := sh.Typed(); got != "\x1b[97;5u\x1b[97;5:3u" {
		t.Errorf("sent %q", got)
	}
	// The release of a key that tandemux used stays with tandemux.
	sh.Input = nil
	u.Read("\x1b[32;5u\x1b[32;5:3u")
	u.Read("\x1b[27u\x1b[27;1:3u")
	if got := sh.Typed(); got != "" {
		t.Errorf("sent %q", got)
	}
}

func TestLooks(t *testing.T) {
	u, sh := program(t, "\x1b[38;2;1;2;3mrgb\x1b[m \x1b[4:3;58:2::9:8:7mcurl\x1b[m \x1b]8;id=1;http://x\x1b\\link\x1b]8;;\x1b\\ 日本\r\n")
	sh.Print("\x1b[5 q")
	u.WaitIdle()
	u.GoldenStyled("looks")
	if cur := u.Outer().Cursor(); cur.Shape != emulator.CursorBar || !cur.Blink {
		t.Errorf("cursor %+v", cur)
	}
	cells := u.Outer().Line(0, nil)
	if cells[9].Link != "http://x" {
		t.Errorf("the link is %q", cells[9].Link)
	}
	sh.Print("\x1b[?25l")
	u.WaitIdle()
	if u.Outer().Cursor().Visible {
		t.Error("the cursor shows although the program hid it")
	}
}

func TestClippedWideCharacters(t *testing.T) {
	u, sh := program(t, "")
	u.Type("x")
	sh.Resize(100, 23)
	sh.Print("\x1b[2J\x1b[H" + strings.Repeat("x", 79) + "日本")
	u.WaitIdle()
	// The cursor is out of sight to the right, so the view moved along.
	if row := u.Row(0); !strings.HasSuffix(strings.TrimRight(row, " "), "日本") {
		t.Errorf("row %q", row)
	}
	sh.Print("\x1b[5;1H")
	u.WaitIdle()
	if row := u.Row(0); row != strings.Repeat("x", 79) {
		t.Errorf("half a character shows in %q", row)
	}
}

func TestBellAndClipboardPassThrough(t *testing.T) {
	u, sh := program(t, "")
	n := len(u.Raw)
	sh.Print("\a")
	u.WaitIdle()
	if got := string(u.Raw[n:]); !strings.Contains(got, "\a") {
		t.Errorf("a bell writes %q", got)
	}
	n = len(u.Raw)
	sh.Print("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte("hello")) + "\x1b\\")
	u.WaitIdle()
	if got := string(u.Raw[n:]); !strings.Contains(got, "\x1b]52;c;aGVsbG8=\x1b\\") {
		t.Errorf("a clipboard write writes %q", got)
	}
}

// TestClipboardPolicy: which programs set the clipboard is the person's to say, and how
// often and to how much is bounded.
func TestClipboardPolicy(t *testing.T) {
	const set = "\x1b]52;c;aGVsbG8=\x1b\\"
	sets := func(u *UI, n int) int { return strings.Count(string(u.Raw[n:]), "\x1b]52;c;") }
	for _, may := range []string{"focused", "off"} {
		t.Run(may, func(t *testing.T) {
			u := New(t, Options{Config: func(c *ui.Config) { c.ProgramClipboard = may }})
			u.Press("ctrl+space |")
			u.WaitIdle()
			n := len(u.Raw)
			u.Host.Terminal("sh1").Print(set) // beside
			u.WaitIdle()
			if got := sets(u, n); got != 0 {
				t.Errorf("a pane without the focus set the clipboard %d times", got)
			}
			u.Host.Terminal("sh2").Print(set)
			u.WaitIdle()
			if got, want := sets(u, n), map[string]int{"focused": 1}[may]; got != want {
				t.Errorf("the focused pane set it %d times", got)
			}
		})
	}
	u := start(t)
	n := len(u.Raw)
	u.Host.Terminal("sh1").Print(strings.Repeat(set, 50))
	u.WaitIdle()
	u.Shows("sets the clipboard too often, or to too much")
	if got := sets(u, n); got != 20 {
		t.Errorf("it was set %d times at once", got)
	}
	u.Advance(11 * time.Second)
	u.Host.Terminal("sh1").Print("\x1b]52;c;" + strings.Repeat("aGk", 4<<18) + "aGk=\x1b\\" + set)
	u.WaitIdle()
	if got := sets(u, n); got != 21 {
		t.Errorf("later it was set %d times", got-20)
	}
}

func TestOldEventsAreNotRepeated(t *testing.T) {
	u, sh := program(t, "")
	sh.Print("\a")
	u.WaitIdle()
	n := len(u.Raw)
	u.Host.Reconnect(nil)
	u.WaitIdle()
	if got := string(u.Raw[n:]); strings.Contains(got, "\a") {
		t.Errorf("attaching again rings: %q", got)
	}
}

func TestSynchronisedOutput(t *testing.T) {
	u, sh := program(t, "old")
	sh.Print("\x1b[?2026h\x1b[2J\x1b[Hhalf")
	u.WaitIdle()
	u.Shows("old")
	sh.Print(" whole\x1b[?2026l")
	u.WaitIdle()
	u.Shows("half whole")
	sh.Print("\x1b[?2026h\x1b[2J\x1b[Hstuck")
	u.WaitIdle()
	u.Hides("stuck")
	u.Advance(150 * time.Millisecond)
	u.Shows("stuck")
}

func TestIdleIsSilent(t *testing.T) {
	u, sh := program(t, "some text")
	u.Press("ctrl+space |")
	u.Advance(time.Minute)
	n, timers := u.Written, u.Timers()
	if timers != 0 {
		t.Errorf("%d timers run", timers)
	}
	u.Advance(time.Hour)
	if u.Written != n {
		t.Errorf("an idle hour writes %d bytes", u.Written-n)
	}
	// Output that changes nothing writes nothing.
	sh.Print("\x1b[m")
	u.WaitIdle()
	if u.Written != n {
		t.Errorf("no change writes %d bytes", u.Written-n)
	}
}

func TestEchoIsSmall(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |")
	u.Advance(time.Second)
	n := u.Written
	u.Type("a")
	if got := u.Written - n; got > 40 {
		t.Errorf("the echo of a key writes %d bytes: %q", got, u.Raw[len(u.Raw)-got:])
	}
}

func TestFloodIsPaced(t *testing.T) {
	u, sh := program(t, "")
	u.Advance(time.Second)
	n := len(u.Raw)
	for i := range 100 {
		sh.Print(fmt.Sprintf("%d\r\n", i))
	}
	frames := strings.Count(string(u.Raw[n:]), "\x1b[?2026h")
	u.WaitIdle()
	u.Shows("99")
	if all := strings.Count(string(u.Raw[n:]), "\x1b[?2026h"); frames != 0 || all > 2 {
		t.Errorf("%d frames, %d before the loop ran", all, frames)
	}
}

func TestCopyMode(t *testing.T) {
	u, sh := program(t, "")
	for i := range 40 {
		sh.Print(fmt.Sprintf("line %d word\r\n", i))
	}
	u.WaitIdle()
	u.Press("ctrl+space [")
	u.Golden("copy-mode")
	u.Press("ctrl+b", "ctrl+b")
	u.Press("H", "0", "w")
	u.Press("v", "e")
	u.GoldenStyled("copy-selection")
	n := len(u.Raw)
	u.Press("y")
	if got := string(u.Raw[n:]); !strings.Contains(got, "\x1b]52;c;"+base64.StdEncoding.EncodeToString([]byte("0 word"))) {
		t.Errorf("copying writes %q", got)
	}
	u.Shows("sent 6 characters to the terminal's clipboard")
	u.Press("ctrl+space [", "g")
	u.Shows("line 0 word")
	u.Press("V", "j", "j")
	n = len(u.Raw)
	u.Press("y")
	want := base64.StdEncoding.EncodeToString([]byte("line 0 word\nline 1 word\nline 2 word\n"))
	if got := string(u.Raw[n:]); !strings.Contains(got, want) {
		t.Errorf("copying lines writes %q", got)
	}
	u.Press("ctrl+space [", "g", "q")
	u.Shows("line 39 word")
	u.Press("ctrl+space [", "Z")
	if got := sh.Typed(); got != "" {
		t.Errorf("copy mode's keys were typed: %q", got)
	}
	u.Press("esc")
	u.Type("x")
	if got := sh.Typed(); got != "x" {
		t.Errorf("typed %q", got)
	}
}

func TestSearch(t *testing.T) {
	u, sh := program(t, "")
	for i := range 60 {
		sh.Print(fmt.Sprintf("row %d\r\n", i))
	}
	u.WaitIdle()
	u.Press("ctrl+space [", "?")
	u.Type("row 7\r")
	u.GoldenStyled("search")
	u.Press("/")
	u.Type("row 5\r")
	cur := u.Outer().Cursor()
	first := u.Row(cur.Y)
	u.Press("n")
	second := u.Row(u.Outer().Cursor().Y)
	if !strings.HasPrefix(first, "row 5") || !strings.HasPrefix(second, "row 5") || first == second {
		t.Errorf("matches %q, then %q", first, second)
	}
	u.Press("N")
	if got := u.Row(u.Outer().Cursor().Y); got != first {
		t.Errorf("back at %q, want %q", got, first)
	}
	u.Press("/")
	u.Type("absent\r")
	u.Shows(`"absent" is not there`)
}

func TestMouseSelection(t *testing.T) {
	u, sh := program(t, "hello world\r\nsecond line")
	n := len(u.Raw)
	u.Drag(6, 0, 5, 1)
	want := base64.StdEncoding.EncodeToString([]byte("world\nsecond"))
	if got := string(u.Raw[n:]); !strings.Contains(got, want) {
		t.Errorf("dragging writes %q", got)
	}
	u.GoldenStyled("mouse-selection")
	sh.Print("\r\nmore")
	u.WaitIdle()
	u.Type("x")
	if attrs := u.Screen(); strings.Contains(attrs, "clipboard") {
		t.Errorf("typing leaves the message:\n%s", attrs)
	}
}

func TestSelectionStaysOnItsText(t *testing.T) {
	u, sh := program(t, "first\r\nsecond\r\nthird\r\n")
	u.Drag(0, 1, 5, 1)
	for range 30 {
		sh.Print("flow\r\n")
	}
	u.WaitIdle()
	u.Wheel(true, 1, 1)
	u.Wheel(true, 1, 1)
	u.Wheel(true, 1, 1)
	u.Wheel(true, 1, 1)
	u.Shows("second")
	u.GoldenStyled("selection-scrolled")
}

func TestPlainLooks(t *testing.T) {
	u := New(t, Options{W: 60, H: 16, Env: []string{"TERM=xterm-256color", "LANG=C.UTF-8", "NO_COLOR=1"}})
	u.Press("ctrl+space |")
	u.Host.Terminal("sh1").Print("\x1b[31mred\x1b[m")
	u.WaitIdle()
	u.GoldenStyled("no-color")
	u = New(t, Options{W: 60, H: 16, Env: []string{"TERM=linux", "LANG=C"}})
	u.Press("ctrl+space |", "ctrl+space -")
	u.Host.Terminal("sh1").Print("\x1b[38;2;255;0;0mrot\x1b[m äöü 日本 │")
	u.WaitIdle()
	u.GoldenStyled("ascii-16")
}

func TestPresets(t *testing.T) {
	u := New(t, Options{Config: func(c *ui.Config) { c.Keymap = "tmux" }})
	u.Press("ctrl+b %")
	u.Shows("│")
	u.Press("ctrl+b \"")
	if got := len(u.Host.Terminals()); got != 3 {
		t.Errorf("%d terminals", got)
	}
	_, err := ui.New(ui.Config{Host: u.Host, Sink: link.NewSink(), Look: ui.Look{Selection: keymap.Selection{Keymap: "emacs"}}}, ui.Env{})
	if err == nil || !strings.Contains(err.Error(), `no preset "emacs"`) {
		t.Errorf("an unknown keymap is %v", err)
	}
	_, err = ui.New(ui.Config{Host: u.Host, Sink: link.NewSink(), Look: ui.Look{Appearance: look.Appearance{Theme: "mud"}}}, ui.Env{})
	if err == nil || !strings.Contains(err.Error(), `no theme "mud"`) {
		t.Errorf("an unknown theme is %v", err)
	}
	own := New(t, Options{Config: func(c *ui.Config) {
		c.Prefix = "ctrl+a"
		c.Keys = map[string]string{"prefix v": "split-right", "alt+enter": "new-tab"}
	}})
	own.Press("ctrl+a v", "alt+enter")
	own.Shows("2 sh3")
}

func TestReloadConfiguration(t *testing.T) {
	next := ui.Reloaded{Look: ui.Look{Selection: keymap.Selection{Keymap: "tmux"}}}
	u := New(t, Options{Config: func(c *ui.Config) {
		c.Reload = func() (ui.Reloaded, error) { return next, nil }
	}})
	u.Press("ctrl+space :")
	u.Type("reload-config\r")
	u.Shows("configuration read")
	u.Press("ctrl+b %")
	u.Shows("│")
	next.Theme = "none such"
	u.Press("ctrl+b :")
	u.Type("reload-config\r")
	u.Shows("read configuration: choose theme")
	u.Press("ctrl+b c")
	u.Shows("2 sh3")
}

// TestScreenIsWhatAFreshOneShows draws piece by piece and compares with one
// whole redraw.
func TestScreenIsWhatAFreshOneShows(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 3))
		u := start(t)
		u.Press("ctrl+space |", "ctrl+space -")
		if seed%2 == 1 {
			u.Press("ctrl+space f")
		}
		for range 40 {
			sh := u.Host.Terminal(fmt.Sprintf("sh%d", 1+r.IntN(3)))
			switch r.IntN(6) {
			case 0:
				sh.Print(fmt.Sprintf("\x1b[%d;%dHtext %d", r.IntN(22), r.IntN(40), r.IntN(100)))
			case 1:
				sh.Print("a line\r\nanother 日本\r\n")
			case 2:
				sh.Print("\x1b[2J\x1b[H")
			case 3:
				u.Wheel(r.IntN(2) == 0, r.IntN(80), r.IntN(23))
			case 4:
				u.Drag(r.IntN(80), 1+r.IntN(20), r.IntN(80), 1+r.IntN(20))
			default:
				sh.Print(fmt.Sprintf("\x1b[%d;%dr\x1b[%d;1H\n\n\x1b[r", 2+r.IntN(4), 8+r.IntN(8), 6+r.IntN(4)))
			}
			u.WaitIdle()
		}
		u.Advance(time.Minute)
		before := u.Screen()
		u.Press("ctrl+space ctrl+l")
		if after := u.Screen(); after != before {
			t.Fatalf("seed %d: redrawing changes the screen from\n%s\nto\n%s", seed, before, after)
		}
	}
}

// TestOwnSizeAtClaim: a size that a program gives itself upon the key that claims its terminal
// stays, however fast it comes behind the claim; a holder who comes later has the pane's.
func TestOwnSizeAtClaim(t *testing.T) {
	u, sh := program(t, "")
	mine := sh.Holder()
	cols, rows := sh.Size()
	sh.Claim(ahp.Claim{Kind: ahp.ClaimClient, ClientID: "other"})
	u.WaitIdle()
	sh.Claim(mine)
	sh.do(ahp.TerminalResized{Cols: 132, Rows: 20})
	u.WaitIdle()
	if c, r := sh.Size(); c != 132 || r != 20 {
		t.Errorf("the size is %dx%d", c, r)
	}
	sh.Claim(ahp.Claim{Kind: ahp.ClaimClient, ClientID: "other"})
	sh.Claim(mine)
	u.WaitIdle()
	if c, r := sh.Size(); c != cols || r != rows {
		t.Errorf("after another claim the size is %dx%d", c, r)
	}
}
