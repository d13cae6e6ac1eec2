package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandemux/host/shell"
	"tandemux/internal/tmux/pane"
)

// said is a command line of tmux's and what came of it.
type said struct {
	Args      []string
	Out, Errs string
	Code      int
}

// run runs it by the tmux that comes first on PATH, or by a program that is called so.
func (s said) run(program string) said {
	cmd := exec.Command("tmux")
	if program != "" {
		cmd = &exec.Cmd{Path: program, Args: []string{"tmux"}}
	}
	var out, errs bytes.Buffer
	cmd.Args, cmd.Stdin, cmd.Stdout, cmd.Stderr = append([]string{"tmux"}, s.Args...), os.Stdin, &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return said{Args: s.Args, Errs: err.Error(), Code: -1}
	}
	return said{s.Args, out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// The variables of recordTmux: into which file, and the program that answers.
const recordEnv, recordedEnv = "TANDEMUX_RECORD", "TANDEMUX_RECORDED"

// recordTmux runs the tmux that is to answer, and adds to a file what came of it.
func recordTmux(file string) {
	s := said{Args: os.Args[1:]}.run(os.Getenv(recordedEnv))
	line, err := json.Marshal(s)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
			_, err = f.Write(append(line, '\n'))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		s.Code = 1
	}
	fmt.Print(s.Out)
	fmt.Fprint(os.Stderr, s.Errs)
	os.Exit(s.Code)
}

var tmuxIDs = lazily(`[%@$][0-9]+`)

// talk is commands and answers as text. Ids are numbered by where they come first, from 1
// on; what else differs from run to run has names.
type talk struct {
	names *strings.Replacer
	known map[string]string // an id, and its number
	ids   map[string]string // the other way
}

func newTalk(own string, names ...string) *talk {
	t := &talk{strings.NewReplacer(names...), map[string]string{}, map[string]string{}}
	t.numbered(own)
	return t
}

// numbered is a text with the numbers of its ids.
func (t *talk) numbered(text string) string {
	return tmuxIDs().ReplaceAllStringFunc(text, func(id string) string {
		if t.known[id] == "" {
			n := 1
			for t.ids[fmt.Sprint(id[:1], n)] != "" {
				n++
			}
			t.known[id] = fmt.Sprint(id[:1], n)
			t.ids[t.known[id]] = id
		}
		return t.known[id]
	})
}

// text is one command with its answer: "! " begins what went to stderr.
func (t *talk) text(s said) string {
	var b strings.Builder
	fmt.Fprintln(&b, "$ tmux", shell.Quote(s.Args, ""))
	b.WriteString(s.Out)
	for line := range strings.Lines(s.Errs) {
		b.WriteString("! " + line)
	}
	if s.Code != 0 {
		fmt.Fprintln(&b, "exit", s.Code)
	}
	return t.numbered(t.names.Replace(b.String()))
}

// replayMain sends the commands of a file to the tmux that answers here, and writes to
// another one what came of it.
func replayMain() {
	from, to := os.Args[1], os.Args[2]
	text, err := os.ReadFile(from)
	socket, _, _ := strings.Cut(os.Getenv("TMUX"), ",")
	dir, _ := os.Getwd()
	t := newTalk(os.Getenv("TMUX_PANE"), socket, "SOCKET", dir, "DIR")
	actual := strings.NewReplacer("SOCKET", socket, "DIR", dir, "PROGRAM", "./stays")
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			out.WriteString(line)
		}
		line, is := strings.CutPrefix(line, "$ tmux ")
		if !is {
			continue
		}
		sent := tmuxIDs().ReplaceAllStringFunc(actual.Replace(line), func(id string) string { return t.ids[id] })
		words, err := exec.Command("sh", "-c", `for w in `+strings.TrimSpace(sent)+`; do printf '%s\0' "$w"; done`).Output()
		if err != nil {
			panic(err)
		}
		s := said{Args: strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00")}.run("")
		s.Args = nil
		_, answer, _ := strings.Cut(t.text(s), "\n")
		out.WriteString("$ tmux " + line + answer)
	}
	if err == nil {
		err = os.WriteFile(to+".new", []byte(out.String()), 0o600)
	}
	if err == nil {
		err = os.Rename(to+".new", to)
	}
	if err != nil {
		panic(err)
	}
}

// teams are recordings of agents that make a team, by TestRealAgentsTeam.
func teams(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/teams/*.txt")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for i := range all {
		if all[i], err = filepath.Abs(all[i]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// replayed waits for what a replay has written.
func replayed(t *testing.T, file string) string {
	t.Helper()
	for until := time.Now().Add(waitLimit); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if text, err := os.ReadFile(file); err == nil {
			return string(text)
		}
	}
	t.Fatal("the replay does not end")
	return ""
}

// stays is what a teammate is in a replay.
func stays(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "stays"), []byte("#!/bin/sh\necho \"$@\"\nexec cat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestTeams answers what agents have sent for their teams as when it was recorded.
func TestTeams(t *testing.T) {
	if beside(t) {
		return
	}
	for _, file := range teams(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			home, run, bin := aHome(t, "tandemux", "replay")
			if err := os.MkdirAll(filepath.Join(home, "config/tandemux"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, "config/tandemux/config.toml"), []byte("tmux-for-agents = \"on\"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			t.Setenv("SHELL", "/bin/sh")
			t.Setenv("PS1", "$ ")
			t.Setenv("TERM", "xterm-256color")
			dir := stays(t)
			tt, err := startTty(dir, os.Environ(), 160, 50, []string{filepath.Join(bin, "tandemux")})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(tt.close)
			if screen, ok := tt.waitUntil(func(screen, _ string) bool { return strings.HasPrefix(screen, "$") }); !ok {
				t.Fatal(screen)
			}
			out := filepath.Join(run, pane.Dir+".out")
			fmt.Fprintf(tt.ptmx, "replay %s %s\r", file, out)
			got := replayed(t, out)
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// answersOf are what a recording has, by the commands.
func answersOf(text string) (all [][2]string) {
	for _, one := range strings.Split("\n"+text, "\n$ tmux ")[1:] {
		command, answer, _ := strings.Cut(one, "\n")
		all = append(all, [2]string{command, strings.TrimSpace(answer)})
	}
	return all
}

// TestTeamsInTmux: tmux itself answers the same, but for what is refused here.
func TestTeamsInTmux(t *testing.T) {
	if beside(t) {
		return
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	for _, file := range teams(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			home, run, bin := aHome(t, "replay")
			t.Setenv("TMUX_TMPDIR", run)
			t.Setenv("TMUX", "")
			dir, out := stays(t), filepath.Join(home, "out")
			tmux := func(args ...string) {
				t.Helper()
				cmd := exec.Command("tmux", append([]string{"-L", "team", "-f", "/dev/null"}, args...)...)
				cmd.Dir = dir
				if text, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v %s", args, err, text)
				}
			}
			tmux("new-session", "-d", "-s", "main", "-x", "160", "-y", "50", "sh", "-c", `"$@"; cat`, "sh", filepath.Join(bin, "replay"), file, out)
			t.Cleanup(func() { tmux("kill-server") })
			ours, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			here, there := answersOf(string(ours)), answersOf(replayed(t, out))
			if len(here) != len(there) {
				t.Fatalf("%d answers, tmux has %d", len(here), len(there))
			}
			for i, a := range here {
				if b := there[i]; a != b && !strings.HasSuffix(a[1], "exit 1") {
					t.Errorf("tmux %s\n here: %s\n tmux: %s", a[0], a[1], b[1])
				}
			}
		})
	}
}
