package host_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/terminals"
	"tandemux/internal/soak"
)

// shells gives the path of each shell that is there.
func shells(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range []string{"bash", "zsh", "fish"} {
		if path, err := exec.LookPath(name); err == nil {
			found[name] = path
		}
	}
	if found["bash"] == "" {
		t.Fatal("there is no bash")
	}
	return found
}

// startShell makes a terminal with a shell of its own home, and watches it.
func startShell(w *fixture, p *peer, uri ahp.URI, path string) {
	w.t.Helper()
	home := filepath.Join(w.dir, "home")
	// Else fish reads all manual pages, in the background, for minutes.
	if err := os.MkdirAll(filepath.Join(home, "fish/generated_completions"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".zshrc"), []byte("PS1='%# '\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	p.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: p.name}, Cwd: "file://" + home, Meta: &ahp.CreateMeta{
			Shell: path, Env: map[string]string{"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home, "LC_ALL": "C.UTF-8", "SHELL": path},
		},
	}, nil)
	p.subscribe(uri)
}

// A thousand quick commands in a row: as many pairs of executed and finished,
// with the right exit codes, in order, in each shell.
func TestManyCommands(t *testing.T) {
	t.Parallel()
	count := soak.Size(t, soak.Short(8, 20), 1000)
	for name, path := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			p := w.connect("one")
			p.initialize()
			const uri = "ahp-terminal:/many"
			startShell(w, p, uri, path)
			begin := time.Now()
			var story []string
			note := func(e ahp.Envelope) bool {
				switch a := e.Action.(type) {
				case ahp.TerminalCommandExecuted:
					story = append(story, fmt.Sprintf("%s %q", a.CommandID, a.CommandLine))
				case ahp.TerminalCommandFinished:
					code := "?"
					if a.ExitCode != nil {
						code = strconv.Itoa(*a.ExitCode)
					}
					story = append(story, fmt.Sprintf("%s ends %s", a.CommandID, code))
					return true
				}
				return false
			}
			for i := range count {
				p.lastID++
				p.send(map[string]any{"jsonrpc": "2.0", "id": p.lastID, "method": ahp.MethodRun, "params": ahp.RunParams{
					Channel: uri, Command: []string{"sh", "-c", fmt.Sprintf("exit %d", i%200)},
				}})
				p.envelope(fmt.Sprintf("the end of command %d", i), note)
			}
			t.Logf("%s: %d commands in %v", name, count, time.Since(begin))
			if len(story) != 2*count {
				t.Fatalf("%d actions for %d commands: %q", len(story), count, story)
			}
			for i := range count {
				line, end := fmt.Sprintf(`c%d "sh -c 'exit %d'"`, i+1, i%200), fmt.Sprintf("c%d ends %d", i+1, i%200)
				if story[2*i] != line || story[2*i+1] != end {
					t.Fatalf("command %d: %s, %s; want %s, %s", i, story[2*i], story[2*i+1], line, end)
				}
			}
		})
	}
}

// Typed ahead of the prompt, as a person or a paste does, commands are as many
// and in order.
func TestTypedAhead(t *testing.T) {
	t.Parallel()
	count := soak.Short(30, 100)
	w := start(t)
	p := w.connect("one")
	p.initialize()
	const uri = "ahp-terminal:/ahead"
	startShell(w, p, uri, shells(t)["bash"])
	p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Command: []string{"true"}}, nil)
	p.ended(uri)
	for i := range count {
		p.dispatch(uri, int64(i+1), ahp.TerminalInput{Data: fmt.Sprintf("(exit %d)\r", i)})
	}
	next := 0
	p.envelope("the last end", func(e ahp.Envelope) bool {
		if a, ok := e.Action.(ahp.TerminalCommandFinished); ok {
			if a.ExitCode == nil || *a.ExitCode != next || a.CommandID != fmt.Sprint("c", next+2) {
				t.Fatalf("%+v after %d", a, next)
			}
			next++
		}
		return next == count
	})
}

// A run right after a line that was typed waits until the shell has read that, and is
// not taken for it; Enter that began nothing does not keep it for long.
func TestRunAfterEnter(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.connect("one")
	p.initialize()
	const uri = "ahp-terminal:/after"
	startShell(w, p, uri, shells(t)["bash"])
	p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Line: "echo $$ >pid; bind '\"\\C-x\\C-m\": \"x\\C-h\"'"}, nil)
	p.ended(uri)
	text, err := os.ReadFile(filepath.Join(w.dir, "home", "pid"))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid == 0 {
		t.Fatalf("the shell's pid is %q: %v", text, err)
	}
	run := func(line string) int {
		p.lastID++
		p.send(map[string]any{"jsonrpc": "2.0", "id": p.lastID, "method": ahp.MethodRun, "params": ahp.RunParams{Channel: uri, Line: line}})
		p.must(ahp.MethodPing, ahp.SubscribeParams{Channel: ahp.RootURI}, nil) // It was dealt with.
		return p.lastID - 1
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("nothing says here when a process has stopped")
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.until("the shell has stopped", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return strings.Contains(string(stat), ") T ")
	})
	p.dispatch(uri, 1, ahp.TerminalInput{Data: "echo one\r"})
	id := run("echo two")
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if r := answered[ahp.RunResult](p, id); r.CommandID != "c3" || r.CommandLine != "echo two" {
		t.Errorf("the run became %+v", r)
	}
	p.output(uri, "\rtwo\r\n\x1b[?2004h")                 // It reads keys again.
	p.dispatch(uri, 2, ahp.TerminalInput{Data: "\x18\r"}) // A key that leaves nothing.
	p.output(uri, "x\b\x1b[K")                            // Between these something is typed.
	if r := answered[ahp.RunResult](p, run("echo three")); r.CommandID != "c4" {
		t.Errorf("the run became %+v", r)
	}
}

// Whatever the arguments are, each shell passes them on as they are.
func TestArguments(t *testing.T) {
	t.Parallel()
	rounds := soak.Size(t, soak.Short(3, 8), 300)
	for name, path := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			p := w.connect("one")
			p.initialize()
			const uri = "ahp-terminal:/args"
			startShell(w, p, uri, path)
			r := rand.New(rand.NewPCG(7, uint64(len(name))))
			for range rounds {
				args := randomArgs(r)
				argv := append([]string{"sh", "-c", `printf '%s\0' "$@" | od -An -v -tx1`, "x"}, args...)
				var begun ahp.RunResult
				p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Command: argv}, &begun)
				p.must(ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitCommand}, nil)
				var got ahp.CommandResult
				p.must(ahp.MethodCommand, ahp.CommandParams{Channel: uri, ID: begun.CommandID}, &got)
				b, err := hex.DecodeString(strings.Join(strings.Fields(got.Output), ""))
				if want := strings.Join(args, "\x00") + "\x00"; err != nil || string(b) != want {
					t.Fatalf("the command got %q, %v; want %q\noutput %q", b, err, want, got.Output)
				}
			}
		})
	}
}

// Words that begin a compound command leave no shell waiting for its end, neither
// as a command's name nor as a line: they fail, and the next command runs.
func TestOpeningWords(t *testing.T) {
	soak.Long(t, "each word in each shell")
	t.Parallel()
	for name, path := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			p := w.connect("one")
			p.initialize()
			const uri = "ahp-terminal:/words"
			startShell(w, p, uri, path)
			code := func(params ahp.RunParams) int {
				t.Helper()
				params.Channel = uri
				var begun ahp.RunResult
				p.must(ahp.MethodRun, params, &begun)
				p.must(ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitCommand}, nil)
				var got ahp.CommandResult
				p.must(ahp.MethodCommand, ahp.CommandParams{Channel: uri, ID: begun.CommandID}, &got)
				if got.ExitCode == nil {
					t.Fatalf("%+v ended without an exit code", params)
				}
				return *got.ExitCode
			}
			for _, line := range []string{"if true", "while true", "for i in a b", "function f", "begin", "switch a", "case a in"} {
				if got := code(ahp.RunParams{Command: strings.Fields(line)}); got != 127 {
					t.Errorf("the arguments of %q ended with %d, want 127: there is no such command", line, got)
				}
				if line == "while true" || line == "function f" {
					continue // zsh has short forms: these are complete.
				}
				if got := code(ahp.RunParams{Line: line}); got == 0 {
					t.Errorf("the line %q ended with 0, want an error", line)
				}
			}
			if got := code(ahp.RunParams{Line: "sh -c 'exit 5'"}); got != 5 {
				t.Errorf("the last command ended with %d, want 5", got)
			}
		})
	}
}

func randomArgs(r *rand.Rand) []string {
	const strange = "'\\\"$`!#&*()[]{}<>|;?~^%=@ \t\n\r\x01\x03\x04\x1b\x7f-+,:/żæ日🙂abcXYZ019"
	pool := []rune(strange)
	args := make([]string, 1+r.IntN(4))
	for i := range args {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteRune(pool[r.IntN(len(pool))])
		}
		args[i] = b.String()
	}
	return args
}

// A command reads what is fed, all of it, and its end.
func TestFeed(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.connect("one")
	p.initialize()
	const uri = "ahp-terminal:/fed"
	startShell(w, p, uri, shells(t)["bash"])
	data := bytes.Repeat([]byte{0, 1, 2, 3, 4, 0xff, '\n'}, 60_000)
	feed := func(who *peer, d []byte, end bool) (r ahp.FeedResult) {
		t.Helper()
		who.must(ahp.MethodFeed, ahp.FeedParams{Channel: uri, Data: d, End: end}, &r)
		return r
	}
	p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Command: []string{"wc", "-c"}, Stdin: true}, nil)
	stranger := w.connect("two")
	stranger.initialize()
	if feed(stranger, []byte("x"), true).Open {
		t.Error("a stranger feeds")
	}
	for range 3 {
		if !feed(p, data, false).Open {
			t.Error("the command reads no more")
		}
	}
	if feed(p, nil, true).Open {
		t.Error("open after its end")
	}
	p.output(uri, fmt.Sprint(3*len(data)))
	p.must(ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitCommand}, nil)
	// A command that ends, a client that goes: nothing is left, nothing hangs.
	p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Command: []string{"sh", "-c", "sleep 0.1; echo unread"}, Stdin: true}, nil)
	for open := true; open; {
		open = feed(p, data, false).Open
	}
	p.output(uri, "unread\r\n")
	p.must(ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitCommand}, nil)
	p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Command: []string{"sh", "-c", "cat; echo at its end"}, Stdin: true}, nil)
	piped := func() bool { // a pipe that is open has no name
		left, err := os.ReadDir(filepath.Join(w.dir, "run", terminals.FeedDir))
		return err == nil && len(left) == 0
	}
	w.until("the command reads", piped)
	p.hangUp()
	stranger.subscribe(uri)
	stranger.output(uri, "at its end\r\n")
	w.until("the pipes are gone", piped)
}

// A shell without marks, and one that is told to come up as it is, can't be
// given commands; a missing or broken one comes up as it would.
func TestWithoutMarks(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) { c.NoShellIntegration = true })
	p := w.connect("one")
	p.initialize()
	yes, bash := true, shells(t)["bash"]
	for uri, meta := range map[ahp.URI]*ahp.CreateMeta{"ahp-terminal:/off": {Shell: bash}, "ahp-terminal:/sh": {Shell: "/bin/sh", ShellIntegration: &yes}} {
		p.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "one"}, Meta: meta}, nil)
		err := p.call(ahp.MethodRun, ahp.RunParams{Channel: uri, Command: []string{"true"}}, nil)
		if err == nil || !strings.Contains(err.Error(), "does not mark its commands") {
			t.Errorf("%s: %v", uri, err)
		}
	}
	p.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: "ahp-terminal:/on", Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "one"}, Meta: &ahp.CreateMeta{Shell: bash, ShellIntegration: &yes},
	}, nil)
	p.must(ahp.MethodRun, ahp.RunParams{Channel: "ahp-terminal:/on", Command: []string{"true"}}, nil)
}

// A shell that was given as a command is a shell, unless it is told to come up as it
// is, or has a pipe to read; what is given a line or a script is one command.
func TestShellAsCommand(t *testing.T) {
	t.Parallel()
	w := start(t)
	p := w.connect("one")
	p.initialize()
	no := false
	for i, c := range []struct {
		meta  ahp.CreateMeta
		shell bool
	}{
		{ahp.CreateMeta{Command: []string{"bash"}}, true},
		{ahp.CreateMeta{Command: []string{shells(t)["bash"], "--norc", "-i"}}, true},
		{ahp.CreateMeta{Command: []string{"bash"}, ShellIntegration: &no}, false},
		{ahp.CreateMeta{Command: []string{"bash"}, Stdin: true}, false},
		{ahp.CreateMeta{Command: []string{"bash", "-c", "read x"}}, false},
		{ahp.CreateMeta{Command: []string{"sh", "-i"}}, false},
	} {
		uri := fmt.Sprintf("ahp-terminal:/%d", i)
		p.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "one"}, Meta: &c.meta}, nil)
		p.subscribe(uri)
		var r ahp.RunResult
		if err := p.call(ahp.MethodRun, ahp.RunParams{Channel: uri, Line: "exit 3"}, &r); (err == nil) != c.shell {
			t.Errorf("%v: %v", c.meta.Command, err)
		}
		if c.shell {
			p.must(ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitExit, TimeoutMs: patience.Milliseconds()}, nil)
		}
		var root ahp.RootState
		var sub ahp.SubscribeResult
		if p.must(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: ahp.RootURI}, &sub); json.Unmarshal(sub.Snapshot.State, &root) != nil {
			t.Fatal("the root's state can't be read")
		}
		if l := root.Terminals[i].Lifecycle; c.shell && (l.ExitCode == nil || *l.ExitCode != 3) {
			t.Errorf("%v: %+v", c.meta.Command, l)
		}
		m := root.Terminals[i].Meta
		if m.RunsShell() != c.shell || !slices.Equal(m.Command, c.meta.Command) {
			t.Errorf("%v is listed as %v, a shell: %v", c.meta.Command, m.Command, m.RunsShell())
		}
	}
}

// A line is called what it is in the list, in the marks and when it is read, though
// it is typed as an argument of eval; a command that is fed, without its pipe.
func TestRunLinesAreShownAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, path := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			p := w.connect("one")
			p.initialize()
			const uri = "ahp-terminal:/lines"
			startShell(w, p, uri, path)
			for _, line := range []string{"echo one; echo 'two three' | cat", "true", "echo \"it's\" $HOME >/dev/null"} {
				var r ahp.RunResult
				p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Line: line}, &r)
				if r.CommandLine != line {
					t.Errorf("%q runs as %q", line, r.CommandLine)
				}
				p.must(ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitCommand, TimeoutMs: 20_000}, nil)
				var c ahp.CommandResult
				p.must(ahp.MethodCommand, ahp.CommandParams{Channel: uri, ID: r.CommandID}, &c)
				if c.CommandLine != line {
					t.Errorf("%q is read as %q", line, c.CommandLine)
				}
			}
			var r ahp.RunResult
			p.must(ahp.MethodRun, ahp.RunParams{Channel: uri, Command: []string{"cat"}, Stdin: true}, &r)
			if r.CommandLine != "cat" {
				t.Errorf("a command that is fed runs as %q", r.CommandLine)
			}
			p.must(ahp.MethodFeed, ahp.FeedParams{Channel: uri, End: true}, nil)
			p.must(ahp.MethodWait, ahp.WaitParams{Channel: uri, Until: ahp.WaitCommand, TimeoutMs: 20_000}, nil)
			// What a person types with eval, says eval.
			w.until("the prompt", func() bool {
				return p.call(ahp.MethodRun, ahp.RunParams{Channel: uri, Line: "eval 'true'", Typed: true}, &r) == nil
			})
			if r.CommandLine != "eval 'true'" {
				t.Errorf("a typed eval runs as %q", r.CommandLine)
			}
			var list ahp.CommandsResult
			p.must(ahp.MethodCommands, ahp.CommandsParams{Channel: uri}, &list)
			if list.Items[0].CommandLine != "echo one; echo 'two three' | cat" {
				t.Errorf("the list says %q", list.Items[0].CommandLine)
			}
		})
	}
}
