package ui_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tandemux/ui"
)

// clip is what was last written to the outer clipboard since n bytes.
func clip(u *UI, n int) string {
	raw := strings.ReplaceAll(string(u.Raw[n:]), "\x1b]52;cp;", "\x1b]52;c;") // selected with the mouse
	i := strings.LastIndex(raw, "\x1b]52;c;")
	if i < 0 {
		return ""
	}
	text, _, _ := strings.Cut(raw[i+7:], "\x1b\\")
	b, _ := base64.StdEncoding.DecodeString(text)
	return string(b)
}

// paper is a text with words, brackets, wide characters and an empty line.
const paper = "first line of text\r\n\r\nif (a[1] == b) { run('x, y') }\r\n一二 wide 三四\r\nlast-line here"

// TestCopyModeCommands presses the keys of every command of copy mode and looks
// where the cursor is or what is copied.
func TestCopyModeCommands(t *testing.T) {
	for _, c := range []struct {
		keys string
		x, y int // where the cursor is, -1 for anywhere
		text string
	}{
		{"g", 0, 0, ""},
		{"g l l", 2, 0, ""},
		{"g $", 17, 0, ""},
		{"g $ 0", 0, 0, ""},
		{"g $ home", 0, 0, ""},
		{"g $ h", 16, 0, ""},
		{"g w w", 11, 0, ""},
		{"g e", 4, 0, ""},
		{"g $ b", 14, 0, ""},
		{"G $ B", 10, 4, ""},
		{"G ^ W", 10, 4, ""},
		{"G ^ E", 8, 4, ""},
		{"g 3 w", 14, 0, ""},
		{"g 1 2 l", 12, 0, ""},
		{"3 G", 0, 2, ""},
		{"3 G %", 13, 2, ""},
		{"3 G % %", 3, 2, ""},
		{"g }", 0, 1, ""},
		{"G {", 0, 1, ""},
		{"g H", 0, 0, ""},
		{"g L", 0, 22, ""},
		{"g M", 0, 11, ""},
		{"g f o", 11, 0, ""},
		{"g f n ;", -1, 0, ""},
		{"g f i ; ,", 1, 0, ""},
		{"g $ F i", 7, 0, ""},
		{"g t o", 10, 0, ""},
		{"g $ T l", 7, 0, ""},
		{"g f esc l", 1, 0, ""},
		{"g m a G ' a", 0, 0, ""},
		{"3 G g ' '", 0, 2, ""},
		{"4 G l", 2, 3, ""},
		{"4 G $", 12, 3, ""},
		{"g v e y", -1, -1, "first"},
		{"g w v e o b y", -1, -1, "first line"},
		{"g V y", -1, -1, "first line of text\n"},
		{"g V j j j y", -1, -1, "first line of text\n\nif (a[1] == b) { run('x, y') }\n一二 wide 三四\n"},
		{"3 G l ctrl+v j l y", -1, -1, "f\n一二"},
		{"g v l ctrl+g l y", -1, -1, "first line of text\n"},
		{"g w v e Y", 9, 0, "line"},
		{"g v $ h h h h h h h h h h enter", -1, -1, "first li"},
		{"g y", -1, -1, "first line of text\n"},
		{"3 G z z", 0, 2, ""},
	} {
		u, _ := program(t, paper)
		n := len(u.Raw)
		u.Press("ctrl+space [")
		for _, k := range strings.Fields(c.keys) {
			u.Press(k)
		}
		cur := u.Outer().Cursor()
		if c.x >= 0 && (cur.X != c.x || cur.Y != c.y) || c.y >= 0 && cur.Y != c.y {
			t.Errorf("%s: the cursor is at %d,%d, want %d,%d", c.keys, cur.X, cur.Y, c.x, c.y)
		}
		if got := clip(u, n); got != c.text {
			t.Errorf("%s: copied %q, want %q", c.keys, got, c.text)
		}
		if got := u.Host.Terminal("sh1").Typed(); got != "" {
			t.Errorf("%s: typed %q", c.keys, got)
		}
	}
}

// TestEmacsKeys: the same with emacs's keys, where the prefix is another one.
func TestEmacsKeys(t *testing.T) {
	for _, preset := range []string{"default", "tmux", "screen"} {
		for _, c := range []struct{ keys, want string }{
			{"alt+< ctrl+space alt+f alt+w", "first"},
			{"alt+< space ctrl+f ctrl+f ctrl+w", "fir"},
			{"alt+< ctrl+n ctrl+n alt+3 ctrl+f space ctrl+e alt+w", "(a[1] == b) { run('x, y') }"},
			{"alt+< ctrl+e space ctrl+a alt+w", "first line of text"},
			{"alt+< space ctrl+f ctrl+g alt+w", "first line of text\n"},
			{"alt+> ctrl+a R ctrl+p ctrl+f ctrl+f alt+w", "一二\nlast-"},
		} {
			if preset == "default" {
				c.keys = strings.ReplaceAll(c.keys, "ctrl+space", "space") // the prefix there
			} else if preset == "screen" {
				c.keys = strings.ReplaceAll(c.keys, "ctrl+a", "home")
			}
			u := New(t, Options{
				Host:   func(h *Host) { h.Program = silent },
				Config: func(cfg *ui.Config) { cfg.Keymap, cfg.ModeKeys = preset, "emacs" },
			})
			u.Host.Terminal("sh1").Print(paper)
			u.WaitIdle()
			n := len(u.Raw)
			u.Press(map[string]string{"default": "ctrl+space [", "tmux": "ctrl+b [", "screen": "ctrl+a ["}[preset])
			u.Press(strings.Fields(c.keys)...)
			if got := clip(u, n); got != c.want {
				t.Errorf("%s: %s: copied %q, want %q", preset, c.keys, got, c.want)
			}
		}
	}
}

func TestCountShows(t *testing.T) {
	u, _ := program(t, paper)
	u.Press("ctrl+space [", "1", "2")
	u.Shows(" copy 12 ")
	u.Press("esc")
	u.Press("ctrl+space [", "f")
	u.Shows(" copy: go to character ")
	u.Press("esc")
	u.Shows(" copy ")
	u.Press("m", "a", "'", "z")
	u.Shows("mark z is not set")
}

func TestSearchWhileTyping(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {200, 50}} {
		u := New(t, Options{W: size[0], H: size[1], Host: func(h *Host) { h.Program = silent }})
		sh := u.Host.Terminal("sh1")
		for i := range 90 {
			sh.Print(fmt.Sprintf("row %d of Many\r\n", i))
		}
		u.WaitIdle()
		u.Press("ctrl+space /")
		u.Type("row 1")
		u.Shows("11/11")
		u.Type("7")
		u.Golden(fmt.Sprintf("search-typing-%d", size[0]))
		u.Press("backspace", "backspace")
		u.Shows("90/90")
		u.Press("esc")
		u.Hides(" copy ")
		u.Press("ctrl+space /")
		u.Type("[")
		u.Shows("no match")
		u.Press("ctrl+u")
		u.Type("many$")
		u.Press("ctrl+r")
		u.Shows("1/90, wrapped")
		u.Press("enter")
		u.Press("n")
		u.Shows("?many$ 90/90, wrapped")
		u.Press("3", "N")
		u.Shows("?many$ 3/90")
		u.Press("0", "*")
		u.Shows(`\brow\b 4/90`)
		u.Press("#")
		u.Shows(`\brow\b 3/90`)
		u.Press("/", "up")
		u.Shows("search", `\brow\b`)
		u.Press("up", "enter")
		u.Shows("/many$")
		u.Press("q", "ctrl+space /", "enter") // nothing typed: the last search again
		u.Shows("?many$")
		u.Press("/")
		u.Type("MANY")
		u.Press("enter")
		u.Shows(`"MANY" is not there`)
	}
}

func TestSearchTakesTextForWhatIsNoRegexp(t *testing.T) {
	u, _ := program(t, "call(x) [y]")
	u.Press("ctrl+space /")
	u.Type("call(")
	u.Shows("not a regexp, taken as text")
	u.GoldenStyled("search-literal")
}

func TestPasteBuffers(t *testing.T) {
	u, sh := program(t, "alpha beta\r\ngamma")
	u.Press("ctrl+space ]")
	u.Shows("Paste: nothing was copied yet")
	u.Press("ctrl+space #")
	u.Shows("Paste buffers: nothing was copied yet")
	u.Press("ctrl+space [", "g", "v", "e", "y", "ctrl+space [", "g", "V", "j", "y")
	u.Press("ctrl+space ]")
	if got := sh.Typed(); got != "alpha beta\rgamma\r" {
		t.Errorf("pasted %q", got)
	}
	sh.Print("\x1b[?2004h")
	u.WaitIdle()
	sh.Input = nil
	u.Press("ctrl+space #")
	u.Golden("buffers")
	u.Press("down", "enter")
	if got := sh.Typed(); got != "\x1b[200~alpha\x1b[201~" {
		t.Errorf("with marks it is %q", got)
	}
	u.Press("ctrl+space #")
	u.Type("gam")
	u.Hides("5 characters")
	u.Press("alt+x")
	u.Hides("2 lines")
	n := len(u.Raw)
	u.Press("ctrl+u", "alt+y")
	if got := clip(u, n); got != "alpha" {
		t.Errorf("copied again: %q", got)
	}
	u.Press("ctrl+space :")
	u.Type("delete-buffer\r")
	u.Shows("forgot 5 characters")
	u.Press("ctrl+space ]")
	u.Shows("nothing was copied yet")
	s := small(t)
	s.Type("word")
	s.Press("ctrl+space [", "y", "ctrl+space #")
	s.Golden("buffers-small")
	for w := range 12 { // however little room there is
		s.Resize(1+w, 12-w)
	}
}

// TestPasteLeavesCopyMode: what is pasted goes to the program, and shows.
func TestPasteLeavesCopyMode(t *testing.T) {
	u, sh := program(t, "alpha")
	u.Press("ctrl+space [")
	u.Shows(" copy ")
	u.Paste("beta")
	if got := sh.Typed(); got != "beta" {
		t.Errorf("pasted %q", got)
	}
	u.Hides(" copy ")
}

// TestPastedTextCannotEndThePaste: what was copied from a program's output is
// typed as it is but for the marks of a paste.
func TestPastedTextCannotEndThePaste(t *testing.T) {
	u, sh := program(t, "\x1b[?2004hmany words")
	u.Press("ctrl+space [", "y", "ctrl+space ]")
	if got := sh.Typed(); strings.Count(got, "\x1b") != 2 {
		t.Errorf("pasted %q", got)
	}
}

func TestBuffersAreBounded(t *testing.T) {
	u, sh := program(t, "")
	for i := range 60 {
		sh.Print(fmt.Sprintf("\x1b[2J\x1b[Hword%d", i))
		u.WaitIdle()
		u.Press("ctrl+space [", "y")
	}
	u.Press("ctrl+space #")
	u.Shows("word59")
	u.Press("end")
	u.Shows("word10 ")
	u.Hides("word9 ")
	u.Type("nothing")
	u.Shows("nothing matches")
}

func TestTooMuchForTheClipboard(t *testing.T) {
	u := New(t, Options{W: 200, H: 50, Host: func(h *Host) { h.Program = silent }})
	u.Host.Terminal("sh1").Print(strings.Repeat(strings.Repeat("x", 200)+"\r\n", 6000))
	u.WaitIdle()
	u.Press("ctrl+space [", "g", "V", "G")
	n := len(u.Raw)
	u.Press("y")
	u.Shows("to a paste buffer only: more than the terminal's clipboard")
	if got := clip(u, n); got != "" {
		t.Errorf("%d bytes were written", len(got))
	}
}

// TestCopyModeScrolls: the cursor's row and text after each, in 23 and 11 rows.
func TestCopyModeScrolls(t *testing.T) {
	for _, c := range []struct {
		keys       string
		rows       [2]int
		text, more string // where the cursor is in 23 and in 11 rows
	}{
		{"2 0 G z t", [2]int{0, 0}, "row 19", ""},
		{"2 0 G z z", [2]int{11, 5}, "row 19", ""},
		{"3 0 G z b", [2]int{22, 10}, "row 29", ""},
		{"3 0 G z t ctrl+e", [2]int{0, 0}, "row 30", ""},
		{"3 0 G z b ctrl+y", [2]int{22, 10}, "row 28", ""},
		{"3 0 G z z ctrl+e", [2]int{10, 4}, "row 29", ""},
		{"g ctrl+d", [2]int{0, 0}, "row 11", "row 5"},
		{"g ctrl+f", [2]int{0, 0}, "row 21", "row 9"},
		{"G ctrl+b", [2]int{22, 10}, "row 60", "row 72"},
		{"G ctrl+u", [2]int{22, 10}, "row 70", "row 76"},
		{"g pgdown pgup", [2]int{0, 0}, "row 0", ""},
		{"ctrl+home", [2]int{0, 0}, "row 0", ""},
		{"g 5 j", [2]int{5, 5}, "row 5", ""},
	} {
		for i, size := range [][2]int{{80, 24}, {40, 12}} {
			u := New(t, Options{W: size[0], H: size[1], Host: func(h *Host) { h.Program = silent }})
			for i := range 81 {
				u.Host.Terminal("sh1").Print(fmt.Sprintf("row %d\r\n", i))
			}
			u.WaitIdle()
			u.Press("ctrl+space [")
			u.Press(strings.Fields(c.keys)...)
			cur := u.Outer().Cursor()
			want := c.text
			if i == 1 && c.more != "" {
				want = c.more
			}
			if row := strings.Fields(u.Row(cur.Y) + " . ."); cur.Y != c.rows[i] || row[0]+" "+row[1] != want {
				t.Errorf("%s in %d rows: in row %d on %q, want %d on %q", c.keys, size[1], cur.Y, u.Row(cur.Y), c.rows[i], want)
			}
		}
	}
}

// TestEscapeTakesTheSelectionAwayFirst: as in vi.
func TestEscapeTakesTheSelectionAwayFirst(t *testing.T) {
	u, _ := program(t, paper)
	u.Press("ctrl+space [", "v", "h", "esc")
	u.Shows(" copy ")
	n := len(u.Raw)
	u.Press("g", "Y")
	if got := clip(u, n); got != "first line of text\n" {
		t.Errorf("copied %q", got)
	}
	u.Press("esc")
	u.Hides(" copy ")
}

// clipDesk is a desk with a program that sets the clipboard.
type clipDesk struct {
	papers
	program string
	running bool
	err     error
	got     []string
}

func (d *clipDesk) Clip(text string, _ bool) (string, bool, error) {
	d.got = append(d.got, text)
	return d.program, d.running, d.err
}

// TestClipboardProgram: a program sets the clipboard where there is one; "copied" is
// said when it has done so, else the terminal is asked and that is said.
func TestClipboardProgram(t *testing.T) {
	for _, c := range []struct {
		name  string
		desk  clipDesk
		shows string
		osc   string // what the terminal is sent
	}{
		{name: "done", desk: clipDesk{program: "xclip"}, shows: " copied 4 characters "},
		{name: "none", shows: "sent 4 characters to the terminal's clipboard", osc: "word\n"},
		{
			name: "failed", desk: clipDesk{program: "xclip", err: errors.New("xclip failed: no\x1b display")},
			shows: "sent 4 characters to the terminal's clipboard; xclip failed: no display", osc: "word\n",
		},
		{name: "stays", desk: clipDesk{program: "mine", running: true}, shows: "gave 4 characters to mine, which still runs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := New(t, Options{W: 120, H: 24, Host: func(h *Host) { h.Program = silent }, Config: func(conf *ui.Config) { conf.Desk = ui.Desk{Texts: &c.desk, Clipper: &c.desk} }})
			u.Host.Terminal("sh1").Print("word")
			u.WaitIdle()
			n := len(u.Raw)
			u.Press("ctrl+space [", "y")
			u.WaitIdle()
			u.Shows(c.shows)
			if got := clip(u, n); got != c.osc {
				t.Errorf("the terminal was sent %q, want %q", got, c.osc)
			}
			if !slices.Equal(c.desk.got, []string{"word\n"}) {
				t.Errorf("the program got %q", c.desk.got)
			}
			// What a program prints is for the terminal to allow or not.
			n = len(u.Raw)
			u.Host.Terminal("sh1").Print("\x1b]52;c;Ynk=\x1b\\")
			u.WaitIdle()
			if got := clip(u, n); got != "by" || len(c.desk.got) != 1 {
				t.Errorf("of a program's the terminal was sent %q, the clipboard's program %q", got, c.desk.got[1:])
			}
		})
	}
}

// TestClipboardProgramGetsTheNewest: programs run one at a time, so that the one for
// what was copied last is the last.
func TestClipboardProgramGetsTheNewest(t *testing.T) {
	d := &clipDesk{program: "xclip"}
	u := New(t, Options{Host: func(h *Host) { h.Program = silent }, Config: func(c *ui.Config) { c.Desk = ui.Desk{Texts: d, Clipper: d} }})
	sh := u.Host.Terminal("sh1")
	sh.Print("one\r\ntwo\r\nthree")
	u.WaitIdle()
	u.Host.Hold()
	for _, move := range []string{"", "j ", "j j "} {
		u.Press("ctrl+space [", "g", move+"y")
	}
	u.Host.Let()
	u.WaitIdle()
	if !slices.Equal(d.got, []string{"one\n", "three\n"}) {
		t.Errorf("it got %q", d.got)
	}
	u.Shows(" copied 5 characters ")
}
