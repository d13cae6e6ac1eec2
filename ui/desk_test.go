package ui_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/ui"
)

// papers is a desk for tests.
type papers struct {
	opened, edited, lent []string
	saved                map[string]string
	fails                error
}

func (d *papers) Open(uri string) error {
	d.opened = append(d.opened, uri)
	return d.fails
}

func (d *papers) Edit(text string, line int) ([]string, error) {
	d.edited = append(d.edited, fmt.Sprint(line, ": ", text))
	return []string{"edit", "file"}, d.fails
}

func (d *papers) EditFile(path string, line int) ([]string, error) {
	d.edited = append(d.edited, fmt.Sprint(path, " at ", line))
	return []string{"edit", path}, d.fails
}

func (d *papers) Lend(text string) (string, func(), error) {
	d.lent = append(d.lent, text)
	return "/lent", func() { d.lent = append(d.lent, "back") }, d.fails
}

func (d *papers) Save(path, text string) (string, error) {
	if d.saved == nil {
		d.saved = map[string]string{}
	}
	d.saved[path] = text
	return "/home/ann/" + strings.TrimPrefix(path, "~/"), d.fails
}

// desk starts an interface with a desk on a program that printed something.
func desk(t *testing.T, output string) (*UI, *Terminal, *papers) {
	t.Helper()
	d := &papers{}
	u := New(t, Options{
		Host:   func(h *Host) { h.Program = silent },
		Config: func(c *ui.Config) { c.Desk = ui.Desk{Texts: d} },
	})
	sh := u.Host.Terminal("sh1")
	sh.Print(output)
	u.WaitIdle()
	return u, sh, d
}

// press is a mouse report with ctrl, and with more modifiers in code.
func press(u *UI, code, x, y int) {
	u.Read(fmt.Sprintf("\x1b[<%d;%d;%dM\x1b[<%d;%d;%dm", 16+code, x+1, y+1, 16+code, x+1, y+1))
}

func TestLinks(t *testing.T) {
	u, sh, d := desk(t, "at https://example.org/x.\r\n\x1b]8;;https://hidden.example/?q\x1b\\text\x1b]8;;\x1b\\ none")
	u.Read("\x1b[<51;7;1M") // the mouse moves with ctrl held
	u.GoldenStyled("link-hover")
	u.Read("\x1b[<51;2;2M")
	u.Shows("https://hidden.example/?q")
	u.Press("x")
	u.Hides("hidden.example")
	sh.Input = nil
	u.Read("\x1b[<51;2;2M")
	u.Read("\x1b[<35;3;2M") // without ctrl
	u.Hides("hidden.example")
	press(u, 0, 6, 0)
	u.Shows("opened https://example.org/x")
	u.Read("\x1b[<51;2;2M") // what is pointed at matters more than what was done
	u.Shows("https://hidden.example/?q")
	press(u, 0, 1, 1)
	press(u, 0, 6, 1) // no link: nothing
	u.Read("\x1b[<35;3;5M")
	if got := strings.Join(d.opened, " "); got != "https://example.org/x https://hidden.example/?q" {
		t.Errorf("opened %s", got)
	}
	n := len(u.Raw)
	press(u, 8, 6, 0)
	if got := clip(u, n); got != "https://example.org/x" {
		t.Errorf("with alt it copies %q", got)
	}
	u.Press("ctrl+space O")
	if got := d.opened[len(d.opened)-1]; got != "https://hidden.example/?q" {
		t.Errorf("the last link is %s", got)
	}
	u.Press("ctrl+space [", "g", "w", "U")
	u.Shows("sent https://example.org/x to the terminal's clipboard")
	d.fails = errors.New("there is no program for links here")
	u.Press("O")
	u.Shows("there is no program for links here")
	u.Press("q")
	sh.Print("\x1b[2J\x1b[H")
	u.WaitIdle()
	u.Press("ctrl+space O")
	u.Shows("there is no link here")
	// A program that follows the mouse gets clicks with ctrl beside links.
	sh.Print("\x1b[?1002h\x1b[?1006hhttps://a.example/ and text")
	u.WaitIdle()
	press(u, 0, 22, 0)
	if got := sh.Typed(); got != "\x1b[<16;23;1M\x1b[<16;23;1m" {
		t.Errorf("the program got %q", got)
	}
}

func TestEditScrollback(t *testing.T) {
	u, sh, d := desk(t, "")
	for i := range 60 {
		sh.Print(fmt.Sprintf("row %d\r\n", i))
	}
	u.WaitIdle()
	u.Wheel(true, 3, 3)
	u.Press("ctrl+space E")
	if len(d.edited) != 1 || !strings.HasPrefix(d.edited[0], "36: row 0\nrow 1\n") || !strings.HasSuffix(d.edited[0], "row 59\n") {
		t.Fatalf("edits %.60q", d.edited)
	}
	if got := u.Host.Terminals(); len(got) != 2 {
		t.Fatalf("terminals %v", got)
	}
	_, tb := tab(t, u)
	if !tb.Zoom {
		t.Error("the editor does not show alone")
	}
	u.Host.Terminal("sh2").Exit(0, "")
	u.WaitIdle()
	if got := u.Host.Terminals(); len(got) != 1 {
		t.Errorf("the editor's pane stays: %v", got)
	}
	d.fails = errors.New("no space left")
	u.Press("ctrl+space E")
	u.Shows("edit scrollback: no space left")
}

func TestSaveScrollback(t *testing.T) {
	u, _, d := desk(t, "one\r\ntwo  \r\nthree")
	u.Press("ctrl+space :")
	u.Type("save-scrollback\r")
	u.Shows("save scrollback to", "~/tandemux-2026")
	u.Press("ctrl+u")
	u.Type("~/out.txt\r")
	u.Shows("saved 3 lines to /home/ann/out.txt")
	if got := d.saved["~/out.txt"]; got != "one\ntwo\nthree\n" {
		t.Errorf("saved %q", got)
	}
	u.Press("ctrl+space [", "g", "y", "ctrl+space :")
	u.Type("save-buffer /tmp/b\r")
	if got := d.saved["/tmp/b"]; got != "one\n" {
		t.Errorf("saved %q", got)
	}
	d.fails = errors.New("it is there already")
	u.Press("ctrl+space :")
	u.Type("save-scrollback x\r")
	u.Shows("save x: it is there already")
}

// TestOwnScrollback is a terminal that keeps another number of lines than the rest.
func TestOwnScrollback(t *testing.T) {
	u := New(t, Options{})
	lines := 5
	sh := u.Host.Terminal("sh1")
	sh.Describe(func(m *ahp.TerminalMeta) { m.Scrollback = &lines })
	sh.Print(strings.Repeat("text\r\n", 100))
	u.WaitIdle()
	u.Press("ctrl+space pgup")
	u.Shows("5/5")
}
