package native

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tandemux/emulator"
	"tandemux/internal/pty"
)

// XTGETTCAP is answered with bytes, not with the way terminfo writes them: the
// values are those of `infocmp -x xterm-256color`, resolved.
func TestCapabilities(t *testing.T) {
	for name, want := range map[string]string{
		"TN": "xterm-256color", "Co": "256", "colors": "256", "RGB": "8", "am": "", "bce": "", "XT": "", "AX": "",
		"PS": "\x1b[200~", "PE": "\x1b[201~", "BE": "\x1b[?2004h", "BD": "\x1b[?2004l",
		"fe": "\x1b[?1004h", "fd": "\x1b[?1004l", "E3": "\x1b[3J", "Ms": "\x1b]52;%p1%s;%p2%s\x07",
		"Ss": "\x1b[%p1%d q", "Se": "\x1b[2 q", "rep": "%p1%c\x1b[%p2%{1}%-%db",
		"smxx": "\x1b[9m", "rmxx": "\x1b[29m", "sitm": "\x1b[3m", "ritm": "\x1b[23m",
		"kbs": "\x7f", "ku": "\x1b[A", "kcub1": "\x1b[D", "khome": "\x1b[H", "@7": "\x1b[F", "li": "24", "cols": "80",
	} {
		e := newEngine(emulator.Options{Cols: 80, Rows: 24})
		if got := askCap(e, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	e := newEngine(emulator.Options{Cols: 80, Rows: 24})
	e.Write([]byte("\x1b[?1h"))
	if got := askCap(e, "kcuu1"); got != "\x1bOA" {
		t.Errorf("with DECCKM kcuu1 is %q", got)
	}
	for name := range caps {
		if got := askCap(e, name); strings.Contains(got, `\`) {
			t.Errorf("%s is %q: an escape is not resolved", name, got)
		}
	}
}

// askCap asks for a capability; "none" is an answer without one.
func askCap(e *Engine, name string) string {
	key := strings.ToUpper(hex.EncodeToString([]byte(name)))
	e.Write([]byte("\x1bP+q" + key + "\x1b\\"))
	for _, ev := range e.Events() {
		value, ok := strings.CutPrefix(ev.Text, "\x1bP1+r"+key)
		if !ok {
			continue
		}
		if b, err := hex.DecodeString(strings.TrimPrefix(strings.TrimSuffix(value, "\x1b\\"), "=")); err == nil {
			return string(b)
		}
	}
	return "none"
}

// Text pasted into vim in insert mode is inserted, after vim has asked for the
// bytes that begin and end a paste and was answered.
func TestVimPaste(t *testing.T) {
	if _, err := exec.LookPath("vim"); err != nil {
		t.Skip("vim is not installed")
	}
	if out, _ := exec.Command("vim", "--version").Output(); !bytes.Contains(out, []byte("+termresponse")) {
		t.Skip("this vim asks its terminal nothing (no +termresponse)")
	}
	cmd := exec.Command("vim", "--clean", "-n") // -n: no swap file
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "HOME="+cmd.Dir)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(20*time.Second, func() { f.Close() })
	defer func() { timer.Stop(); cmd.Process.Kill(); cmd.Wait(); f.Close() }()
	e := newEngine(emulator.Options{Cols: 80, Rows: 24})
	asked := false
	until := func(what string, done func() bool) {
		t.Helper()
		buf := make([]byte, 8192)
		for !done() {
			n, err := f.Read(buf)
			e.Write(buf[:n])
			for _, ev := range e.Events() {
				if ev.Kind == emulator.EventReply {
					asked = asked || strings.Contains(ev.Text, fmt.Sprintf("%X", "PE"))
					f.WriteString(ev.Text)
				}
			}
			if err != nil {
				t.Fatalf("vim: %v before %s:\n%s", err, what, emulator.ScreenText(e))
			}
		}
	}
	shows := func(text string) {
		t.Helper()
		until("it showed "+text, func() bool { return strings.Contains(emulator.ScreenText(e), text) })
	}
	until("it asked for PE", func() bool { return asked })
	f.WriteString(":echo 'all ' . 'read'\r")
	shows("all read") // The answers came before it.
	f.WriteString("i")
	shows("-- INSERT --")
	f.WriteString("\x1b[200~hello ddd world\x1b[201~")
	shows("hello ddd world")
}
