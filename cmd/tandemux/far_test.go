package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/termios"
	"golang.org/x/sys/unix"

	"tandemux/emulator"
	"tandemux/internal/soak"
)

// oneWay is how long the line of these tests takes each way.
const oneWay = 35 * time.Millisecond

// farther is an interface on a host behind a slow line.
type farther struct {
	*tty
	t   *testing.T
	net *network

	mu  sync.Mutex
	all bytes.Buffer // all that it has drawn
}

// startFar starts a host, a line to it and an interface behind that, whose configuration
// has a line.
func startFar(t *testing.T, config string) *farther {
	t.Helper()
	home, _, bin := aHome(t, "tandemux")
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	for k, v := range map[string]string{
		"SHELL": bash, "TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PATH": bin + ":" + os.Getenv("PATH"),
		"TANDEMUX": "", "TANDEMUX_TERMINAL": "", "TANDEMUX_HOST": "", "TANDEMUX_TOKEN": "",
	} {
		t.Setenv(k, v)
	}
	write := func(path, text string) {
		path = filepath.Join(home, path)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write(".bashrc", "PS1='$ '\nunset PROMPT_COMMAND\n")
	write("config/tandemux/config.toml", config+"\n")
	run := func(argv ...string) string {
		cmd := exec.Command(filepath.Join(bin, "tandemux"), argv...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("tandemux %q: %v", argv, err)
		}
		return string(out)
	}
	run("host", "--listen", "127.0.0.1:0")
	at := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(run("doctor"))
	write("token", run("token", "new", "far"))
	f := &farther{t: t}
	if f.net, err = startNetwork(at); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.net.end)
	f.net.slow(oneWay)
	f.tty, err = startTty(home, os.Environ(), 80, 24, []string{
		filepath.Join(bin, "tandemux"), "--host", "ws://" + f.net.ln.Addr().String(), "--token-file", filepath.Join(home, "token"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.close)
	f.tty.mu.Lock()
	f.printed = func(b []byte) {
		f.mu.Lock()
		f.all.Write(b)
		f.mu.Unlock()
	}
	f.tty.mu.Unlock()
	f.see("^\\$")
	return f
}

func (f *farther) keys(s string) {
	f.t.Helper()
	if _, err := f.ptmx.WriteString(s); err != nil {
		f.t.Fatal(err)
	}
}

// see waits for the screen to match.
func (f *farther) see(re string) {
	f.t.Helper()
	r := regexp.MustCompile("(?m)" + re)
	if screen, ok := f.waitUntil(func(screen, _ string) bool { return r.MatchString(screen) }); !ok {
		f.t.Fatalf("waited for %q; the screen shows:\n%s", re, screen)
	}
}

// line is the line that the cursor is on, and where.
func (f *farther) line() (text string, x int) {
	f.tty.mu.Lock()
	defer f.tty.mu.Unlock()
	cur := f.screen.Cursor()
	return string(emulator.AppendText(nil, f.screen.Line(cur.Y, nil))), cur.X
}

// prompt waits until the cursor is behind a prompt that has a line of its own.
func (f *farther) prompt(text string) {
	f.t.Helper()
	if screen, ok := f.waitUntil(func(string, string) bool {
		line, x := f.line()
		return x == len(text) && strings.TrimRight(line, " ") == strings.TrimRight(text, " ")
	}); !ok {
		f.t.Fatalf("waited for the prompt %q; the screen shows:\n%s", text, screen)
	}
}

// drawn is all that has been.
func (f *farther) drawn() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all.String()
}

// TestEchoAhead: over a slow line what is typed at a shell's prompt, or into a program whose
// pty echoes, shows while nothing comes through at all; it is there once, and right, when
// all has come.
func TestEchoAhead(t *testing.T) {
	if beside(t) {
		return
	}
	f := startFar(t, "")
	f.keys("e")
	f.see(`^\$ e$`)
	f.net.set("swallow")
	f.keys("cho on")
	f.see(`^\$ echo on$`)
	f.keys("\x7f\x7fup")
	f.see(`^\$ echo up$`)
	f.net.set("mend")
	f.keys(" the-$((1+1))\r")
	f.see(`^up the-2$`)

	f.keys("cat\r")
	f.see(`^ main  1 cat `) // sooner, and the pty gives it to cat at once: it can't be taken back
	f.keys("x")
	f.see(`^x$`)
	f.keys("\x15") // ^U, after which nothing shows before its echo: with the o all has come
	f.prompt("")
	f.keys("o")
	f.see(`^o$`)
	f.net.set("swallow")
	f.keys("ne")
	f.see(`^one$`)
	f.net.set("mend")
	f.keys("\r")
	f.see(`^one\none$`)
	f.keys("\x04")
	f.see(`^one\none\n\$`)
	if all := f.drawn(); strings.Contains(all, "ccho") || strings.Contains(all, "eecho") {
		t.Error("something was shown twice")
	}
}

// TestEchoNeverOfSecrets: no character of a password is in anything that is ever drawn,
// however it is asked for; nor one that was typed at a shell's prompt whose pty was told not
// to echo.
func TestEchoNeverOfSecrets(t *testing.T) {
	if beside(t) {
		return
	}
	f := startFar(t, `predict-echo = "always"`)
	f.keys("tty\r")
	f.see(`^/dev/pts/\d+$`)
	screen, _ := f.waitUntil(func(string, string) bool { return true })
	pts, err := os.OpenFile(regexp.MustCompile(`/dev/pts/\d+`).FindString(screen), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pts.Close()
	ask := func(command, prompt string) {
		t.Helper()
		f.keys("clear\r")
		f.see(`\A\$\s+\n`)
		f.keys(command + "\r")
		f.prompt(prompt)
		for { // what is typed before that is echoed by the pty
			mode, err := termios.GetTermios(int(pts.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			if mode.Lflag&unix.ECHO == 0 && mode.Lflag&unix.ICANON != 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		for range 5 {
			f.keys("Ψ")
			time.Sleep(oneWay) // as people do
		}
		f.keys("\r")
		f.see(`^it has 5$`)
	}
	ask(`read -s p; echo "it has ${#p}"`, ``)
	ask(`read -rsp 'Password: ' p; echo; echo "it has ${#p}"`, `Password: `)
	ask(`sh -c 'printf "[sudo] password: "; stty -echo; read p; stty echo; echo'; echo "it has $((2+3))"`, `[sudo] password: `)
	ask(`stty -echo; read p; stty echo; echo "it has ${#p}"`, ``)
	f.keys("stty -echo\r")
	f.see(`^\$ stty -echo.*\n\$`)
	f.prompt("$ ")
	f.keys("ΨΨ")
	f.keys("\x7f\x7fstty echo\r")
	f.see(`^\$ stty -echo.*\n\$.*\n\$`)
	if all := f.drawn(); strings.Contains(all, "Ψ") {
		i := strings.Index(all, "Ψ")
		t.Errorf("what was typed while the pty did not echo was drawn: %q", all[max(0, i-300):i+10])
	}
}

// TestEchoTimes says how long a key's glyph takes over the line, predicted or not.
func TestEchoTimes(t *testing.T) {
	soak.Only(t, "it measures, and fails for nothing")
	for name, config := range map[string]string{"predicted": "", "not": `predict-echo = "never"`} {
		t.Run(name, func(t *testing.T) {
			f := startFar(t, config)
			var all []time.Duration
			for range 2 {
				text := ""
				for _, r := range ": the quick brown fox" {
					text += string(r)
					want := "$ " + strings.TrimRight(text, " ")
					begun := time.Now()
					f.keys(string(r))
					f.waitUntil(func(string, string) bool {
						line, x := f.line()
						return strings.HasPrefix(line, want) && x == len(text)+2
					})
					all = append(all, time.Since(begun))
					time.Sleep(80*time.Millisecond - min(time.Since(begun), 80*time.Millisecond)) // as people do
				}
				f.keys("\r")
				time.Sleep(4 * oneWay)
			}
			slices.Sort(all)
			t.Logf("%d keys over %v: p50 %v, p90 %v, p99 %v, worst %v", len(all), 2*oneWay, all[len(all)/2], all[len(all)*9/10], all[len(all)*99/100], all[len(all)-1])
		})
	}
}
