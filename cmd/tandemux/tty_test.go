package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/internal/cli"
	"tandemux/internal/pty"
)

// tty is a program on a pty whose output goes into an emulator: what a person
// would see.
type tty struct {
	cmd  *exec.Cmd
	ptmx *os.File
	done chan struct{}

	mu      sync.Mutex // guards the following
	screen  emulator.Emulator
	changed chan struct{} // closed at the next output
	exit    string        // how the program ended; empty while it runs
	printed func([]byte)  // hears of output, if not nil
}

type (
	ttysKey struct{}
	ttys    map[string]*tty
)

func startTty(dir string, env []string, cols, rows int, argv []string) (*tty, error) {
	screen, err := engine.New(engine.Default, emulator.Options{Cols: cols, Rows: rows})
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	for _, kv := range env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok && !strings.Contains(argv[0], "/") {
			for _, d := range strings.Split(path, ":") {
				if _, err := os.Stat(d + "/" + argv[0]); err == nil {
					cmd.Path, cmd.Err = d+"/"+argv[0], nil
					break
				}
			}
		}
	}
	ptmx, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		return nil, err
	}
	t := &tty{cmd: cmd, ptmx: ptmx, screen: screen, done: make(chan struct{}), changed: make(chan struct{})}
	go t.read()
	return t, nil
}

func (t *tty) read() {
	defer close(t.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := t.ptmx.Read(buf)
		t.mu.Lock()
		t.screen.Write(buf[:n])
		if t.printed != nil {
			t.printed(buf[:n])
		}
		t.answer()
		if err != nil {
			t.exit = "exit 0"
			if werr := t.cmd.Wait(); werr != nil {
				t.exit = strings.Replace(werr.Error(), "exit status", "exit", 1)
			}
		}
		close(t.changed)
		t.changed = make(chan struct{})
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// answer tells the program what its terminal has to say. The lock must be held.
func (t *tty) answer() {
	for _, e := range t.screen.Events() {
		if e.Kind == emulator.EventReply {
			t.ptmx.WriteString(e.Text) //nolint:errcheck // a program that went away asks no more
		}
	}
}

// waitUntil returns when ok says yes to what is on the screen, or the text of
// the screen when the time is over.
func (t *tty) waitUntil(ok func(screen, exit string) bool) (string, bool) {
	limit := time.NewTimer(waitLimit)
	defer limit.Stop()
	for {
		t.mu.Lock()
		screen, exit, changed := emulator.ScreenText(t.screen), t.exit, t.changed
		t.mu.Unlock()
		if ok(screen, exit) {
			return screen, true
		}
		select {
		case <-changed:
		case <-limit.C:
			return screen, false
		}
	}
}

func (t *tty) close() {
	t.cmd.Process.Kill() //nolint:errcheck // gone already is fine
	t.ptmx.Close()
	<-t.done
}

// cmdTty drives programs on ptys of their own:
//
//	tty start NAME COLSxROWS CMD [ARG...]
//	tty type NAME 'Go-quoted text'      keys as bytes: "\x00" is ctrl+space
//	[!] tty screen NAME REGEXP          waits until the screen (does not) match
//	tty exit NAME TEXT                  waits until it ended like "exit 0"
//	tty resize NAME COLSxROWS
//	tty signal NAME NUMBER
//	tty colors NAME TEXT BACKGROUND     what it shows, each rrggbb; asked or not, the program hears of it
//	tty show NAME                       writes the screen to stdout
func cmdTty(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: tty VERB NAME ...")
	}
	all := ts.Value(ttysKey{}).(ttys)
	verb, name, rest := args[0], args[1], args[2:]
	if verb == "start" {
		cols, rows, err := cli.Size(rest[0])
		ts.Check(err)
		t, err := startTty(ts.Getenv("WORK"), ttyEnv(ts), cols, rows, rest[1:])
		ts.Check(err)
		all[name] = t
		return
	}
	t := all[name]
	if t == nil {
		ts.Fatalf("no tty %s was started", name)
	}
	f, ok := ttyVerbs[verb]
	if !ok {
		ts.Fatalf("unknown verb %s", verb)
	}
	f(ts, t, neg, strings.Join(rest, " "))
}

var ttyVerbs = map[string]func(ts *testscript.TestScript, t *tty, neg bool, arg string){
	"type": func(ts *testscript.TestScript, t *tty, _ bool, arg string) {
		text, err := strconv.Unquote(`"` + arg + `"`)
		ts.Check(err)
		_, err = t.ptmx.WriteString(text)
		ts.Check(err)
	},
	"screen": func(ts *testscript.TestScript, t *tty, neg bool, arg string) {
		re, err := regexp.Compile("(?m)" + arg)
		ts.Check(err)
		screen, ok := t.waitUntil(func(screen, _ string) bool { return re.MatchString(screen) != neg })
		if !ok {
			ts.Fatalf("waited %v for the screen to match (not: %v) %q; it shows:\n%s", waitLimit, neg, arg, screen)
		}
	},
	"exit": func(ts *testscript.TestScript, t *tty, _ bool, arg string) {
		screen, ok := t.waitUntil(func(_, exit string) bool { return exit != "" })
		if !ok || t.exit != arg {
			ts.Fatalf("ended with %q, want %q; the screen shows:\n%s", t.exit, arg, screen)
		}
	},
	"resize": func(ts *testscript.TestScript, t *tty, _ bool, arg string) {
		cols, rows, err := cli.Size(arg)
		ts.Check(err)
		t.mu.Lock()
		t.screen.Resize(cols, rows)
		t.mu.Unlock()
		ts.Check(pty.Setsize(t.ptmx, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}))
	},
	"signal": func(ts *testscript.TestScript, t *tty, _ bool, arg string) {
		n, err := strconv.Atoi(arg)
		ts.Check(err)
		ts.Check(t.cmd.Process.Signal(syscall.Signal(n)))
	},
	"colors": func(ts *testscript.TestScript, t *tty, _ bool, arg string) {
		var c emulator.Colors
		for i, s := range strings.Fields(arg) {
			n, err := strconv.ParseUint(s, 16, 24)
			ts.Check(err)
			*[]*emulator.Color{&c.FG, &c.BG}[i] = emulator.RGB(uint8(n>>16), uint8(n>>8), uint8(n))
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.screen.SetColors(c)
		t.answer()
	},
	"show": func(ts *testscript.TestScript, t *tty, _ bool, _ string) {
		screen, _ := t.waitUntil(func(string, string) bool { return true })
		fmt.Fprintln(ts.Stdout(), screen)
	},
}

// ttyEnv is the script's environment.
func ttyEnv(ts *testscript.TestScript) []string {
	var env []string
	for _, k := range []string{
		"PATH", "HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME",
		"SHELL", "TERM", "COLORTERM", "LANG", "LC_ALL", "WORK", "NO_COLOR", "TANDEMUX_TOKEN", "TANDEMUX_TERMINAL", "TANDEMUX_SSH", "TANDEMUX_HOST", "VISUAL", "DISPLAY",
	} {
		if v := ts.Getenv(k); v != "" {
			env = append(env, k+"="+v)
		}
	}
	return env
}
