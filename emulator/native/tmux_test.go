package native

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/internal/pty"
	"tandemux/internal/soak"
)

// tmuxServer is a tmux of our own; nothing of the user's is read or touched.
type tmuxServer struct {
	socket string
	conf   string
	n      atomic.Int32
}

func startTmux(t *testing.T) *tmuxServer {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed: nothing to compare with")
	}
	s := &tmuxServer{socket: fmt.Sprintf("tandemux-native-%d-%d", os.Getpid(), time.Now().UnixNano())}
	s.conf = filepath.Join(t.TempDir(), "conf")
	if err := os.WriteFile(s.conf, []byte("set -g status off\nset -g history-limit 5000\nset -g exit-empty off\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.run(t, "kill-server") })
	return s
}

func (s *tmuxServer) run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("tmux", append([]string{"-L", s.socket, "-f", s.conf}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil && args[0] != "kill-server" {
		t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// capture feeds a pane of the given size and returns its screen with styles.
func (s *tmuxServer) capture(t *testing.T, cols, rows int, input []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(file, input, 0o600); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("w%d", s.n.Add(1))
	done := "done-" + name
	s.run(t, "new-session", "-d", "-s", name, "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows),
		fmt.Sprintf("stty raw -echo; cat %s; printf '\\033]2;%s\\033\\\\'; exec sleep 600", file, done))
	defer s.run(t, "kill-session", "-t", name)
	for deadline := time.Now().Add(20 * time.Second); ; {
		if strings.TrimSpace(s.run(t, "display-message", "-p", "-t", name, "#{pane_title}")) == done {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("tmux did not finish reading")
		}
	}
	return s.run(t, "capture-pane", "-p", "-e", "-t", name)
}

// compare says where tmux's screen and ours differ.
func (s *tmuxServer) compare(t *testing.T, cols, rows int, input []byte) string {
	t.Helper()
	e := newEngine(emulator.Options{Cols: cols, Rows: rows})
	e.Write(input)
	theirs := newEngine(emulator.Options{Cols: cols, Rows: rows})
	capture := strings.TrimSuffix(s.capture(t, cols, rows, input), "\n")
	theirs.Write([]byte(strings.ReplaceAll(capture, "\n", "\r\n")))
	if d := emutest.Diff(emulator.ScreenText(e), emulator.ScreenText(theirs)); d != "" {
		return d
	}
	var b strings.Builder
	for y := range rows {
		ours, them := e.Line(y, nil), theirs.Line(y, nil)
		for x := range ours {
			if ours[x].Rune == 0 || ours[x].Rune == ' ' {
				continue // capture-pane cuts blanks at the end.
			}
			o, t := ours[x].Style, them[x].Style
			if o != t {
				fmt.Fprintf(&b, "%d,%d %q: %+v, tmux %+v\n", x, y, ours[x].Rune, o, t)
			}
		}
	}
	return b.String()
}

// notTmux are sequences in which tmux 3.3 differs from xterm: it has no CHT,
// HPR and 1048, IL and DL leave the cursor's column, ECH spares a last column
// and RI ends no wait to wrap, a region down to line 0 is none.
var notTmux = regexp.MustCompile(`\x1bM|\x1b\[(\?1048[hl]|\d*[ILMXa]|\d*;0r)`)

// Random programs of what tmux does, too, show the same in a tmux pane.
func TestTmuxPrograms(t *testing.T) {
	s := startTmux(t)
	n := 30
	if testing.Short() {
		n = 3
	}
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 21))
		cols, rows := 20+r.IntN(60), 4+r.IntN(20)
		features := emutest.Region | emutest.Saved | emutest.Tabs
		input := notTmux.ReplaceAll(emutest.Program(r, cols, rows, 120, features), nil)
		if d := s.compare(t, cols, rows, input); d != "" {
			until := time.Now().Add(10 * time.Second)
			small := emutest.Shrink(input, func(b []byte) bool {
				return time.Now().Before(until) && !notTmux.Match(b) && s.compare(t, cols, rows, b) != ""
			})
			t.Errorf("seed %d, %dx%d, %q:\n%.800s", seed, cols, rows, small, s.compare(t, cols, rows, small))
		}
	}
}

// The benchmark's streams show the same in a tmux pane.
func TestTmuxStreams(t *testing.T) {
	s := startTmux(t)
	for _, st := range streams {
		if st.name == "unicode" {
			continue // tmux 3.3 does not know emoji sequences.
		}
		input := []byte(st.make(rand.New(rand.NewPCG(5, 6)), 80, 24))[:soak.Short(15000, 60000)]
		if i := strings.LastIndexByte(string(input), 0x1b); i > 0 && len(input)-i < 20 {
			input = input[:i]
		}
		if d := s.compare(t, 80, 24, input); d != "" {
			t.Errorf("%s:\n%.3000s", st.name, d)
		}
	}
}

// key is a step of a recorded session: wait for a text on the screen, then type.
type key struct{ wait, send string }

// sessions are real programs, run until the last wait is met.
var sessions = []struct {
	name string
	argv []string
	keys []key
}{
	{"vim", []string{"vim", "-u", "NONE", "-N", "-c", "syntax on|set nu hls", "FILE"}, []key{
		{"func main", "/line\r"},
		{"/line", "jjjdd"},
		{"", ":vsplit\r"},
		{"", "\x06\x06ggO"},
		{"-- INSERT --", "inserted text\x1b"},
		{"inserted text", ":split\r"},
		{"", "Gzz"},
		{"", ":echo 'the end'\r"},
		{"the end", ""},
	}},
	{"less", []string{"less", "-N", "FILE"}, []key{
		{"package main", " "}, {"", "/line 7\r"}, {"line 7", "bk"}, {"", "G"}, {"(END)", "y"}, {":", ""},
	}},
	{"fzf", []string{"sh", "-c", "seq 1 500 | fzf --no-mouse"}, []key{
		{"500/500", "12"}, {"> 12", "\x0b\x0b"}, {"> 12", ""},
	}},
	{"htop", []string{"htop", "-d", "600"}, []key{{"F10", "\x1b[B\x1b[B"}, {"Quit", ""}}},
	{"top", []string{"top", "-d", "600"}, []key{{"PID", "c"}, {"COMMAND", ""}}},
	{"git", []string{"sh", "-c", gitLog}, []key{{"commit", " "}, {":", "  "}, {":", ""}}},
	{"bash", []string{"bash", "--norc", "--noprofile"}, []key{
		{"$", "PS1='> '\r"},
		{"> ", "echo " + strings.Repeat("a long line ", 15) + "\x01\x05\x02\x02XY\x0b\x19"},
		{"XY", "\r"},
		{"XY", "printf '\\033[31mred\\033[m\\n'\r"},
		{"red\n", "\x12echo"},
		{"reverse", "\x07for i in 1 2 3; do echo $i; done\r"},
		{"3\n>", ""},
	}},
	{"zsh", []string{"zsh", "-f"}, []key{
		{"$", "autoload -U compinit; compinit -u -D\r"}, {"$", "ls /etc/\t\t"}, {"/etc/", "\x15echo done-$((40+2))\r"}, {"done-42", ""},
	}},
	{"tmux", []string{"tmux", "-L", "SOCKET", "-f", "/dev/null", "new-session", "PS1='> ' sh"}, []key{
		{">", "\x02%"}, {"│", "\x02\""}, {"─", "seq 30\r"}, {"30", "\x02["}, {"[0/", ""},
	}},
}

// needs are the programs of a session besides its own.
var needs = map[string][]string{"fzf": {"fzf"}, "git": {"git", "less"}}

// gitLog shows the history of a repository that it makes.
const gitLog = `cd && git init -q . && for i in 1 2 3 4 5 6 7 8 9; do
	seq $i 9 >f$i && git add . && git -c user.name=n -c user.email=e commit -qm "commit $i" || exit
done && git log --graph --color=always --stat | less -R`

// record runs a program on a pty whose terminal is an engine, and returns what
// it wrote.
func record(t *testing.T, argv []string, keys []key) []byte {
	dir := t.TempDir()
	file := filepath.Join(dir, "file.go")
	var src strings.Builder
	src.WriteString("package main\n\nimport \"fmt\"\n\nfunc main() {\n")
	for i := range 90 {
		fmt.Fprintf(&src, "\tfmt.Println(\"line %d äöü 日本語\", %d) // comment\n", i, i*i)
	}
	src.WriteString("}\n")
	if err := os.WriteFile(file, []byte(src.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	socket := fmt.Sprintf("tandemux-inner-%d-%d", os.Getpid(), time.Now().UnixNano())
	args := append([]string{}, argv...)
	for i, a := range args {
		args[i] = strings.NewReplacer("FILE", file, "SOCKET", socket).Replace(a)
	}
	if args[0] == "tmux" {
		t.Cleanup(func() { exec.Command("tmux", "-L", socket, "kill-server").Run() })
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "TMUX=", "HOME="+dir, "HISTFILE=", "PS1=$ ", "FZF_DEFAULT_OPTS=", "LESS=")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	defer f.Close()
	chunks := make(chan []byte, 64)
	go func() {
		defer close(chunks)
		for {
			buf := make([]byte, 8192)
			n, err := f.Read(buf)
			if n > 0 {
				chunks <- buf[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	e := newEngine(emulator.Options{Cols: 80, Rows: 24})
	var out []byte
	deadline := time.After(30 * time.Second)
	// settled reads until the text shows and nothing more came for a while: a
	// program has no other way to say that it is done.
	settled := func(text string) {
		for {
			quiet := time.NewTimer(150 * time.Millisecond)
			select {
			case c, ok := <-chunks:
				quiet.Stop()
				if !ok {
					t.Fatalf("%s ended early:\n%s", args[0], emulator.ScreenText(e))
				}
				out = append(out, c...)
				e.Write(c)
				for _, ev := range e.Events() {
					if ev.Kind == emulator.EventReply {
						f.WriteString(ev.Text)
					}
				}
			case <-quiet.C:
				if strings.Contains(emulator.ScreenText(e), text) {
					return
				}
			case <-deadline:
				t.Fatalf("%s never showed %q:\n%s", args[0], text, emulator.ScreenText(e))
			}
		}
	}
	for _, k := range keys {
		settled(k.wait)
		f.WriteString(k.send)
	}
	settled("")
	return out
}

// Real programs look the same here and in a tmux pane that is fed the same
// bytes, and a snapshot of what they left rebuilds it.
func TestRealPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	s := startTmux(t)
	for _, p := range sessions {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for _, name := range append([]string{p.argv[0]}, needs[p.name]...) {
				if _, err := exec.LookPath(name); err != nil {
					t.Skipf("%s is not installed", name)
				}
			}
			input := record(t, p.argv, p.keys)
			if d := s.compare(t, 80, 24, input); d != "" {
				t.Errorf("differs from tmux:\n%.4000s", d)
			}
			e := newEngine(emulator.Options{Cols: 80, Rows: 24})
			e.Write(input)
			if d := rebuilt(e); d != "" {
				t.Errorf("snapshot:\n%.4000s", d)
			}
		})
	}
}
