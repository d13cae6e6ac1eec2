package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Whatever a startup file does, the shell comes up as it would without us.
func TestBadStartupFiles(t *testing.T) {
	for _, c := range []struct{ name, shell, rc string }{
		{"errors", "bash", "nosuchcommand; if; then\nfi )\nnosuchcommand2"},
		{"errors", "zsh", "nosuchcommand; if; then\nfi )\nnosuchcommand2"},
		{"errors", "fish", "nosuchcommand; if; )\nnosuchcommand2"},
		{"returns", "bash", "return 3"},
		{"returns", "zsh", "return 3"},
		{"returns", "fish", "return 3"},
		{"fails", "bash", "(exit 9)"},
		{"binary", "bash", "\x00\x01\xff\xfe"},
		{"unset", "bash", "set -u; unset PROMPT_COMMAND PS0 PS2 HISTFILE HISTCONTROL"},
		{"prints", "bash", "printf '\\e]633;A\\a\\e]633;C\\a\\e]'; printf 'printed'"},
		{"nounset", "zsh", "setopt nounset err_return"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			each(t, c.shell, func(t *testing.T, shell string) {
				s := begin(t, setup{shell: shell, files: map[string]string{dialects[c.shell].rc: c.rc}, early: true}).ready()
				s.expect2("echo hi", "0", "hi\n")
				s.expect2("sh -c 'exit 4'", "4", "")
			})
		})
	}
}

// A startup file that ends the shell ends it, without a mark.
func TestStartupFileExits(t *testing.T) {
	each(t, "bash zsh fish", func(t *testing.T, shell string) {
		if filepath.Base(shell) == "fish" {
			t.Skip("fish goes on after an exit in its configuration")
		}
		s := begin(t, setup{shell: shell, files: map[string]string{dialects[filepath.Base(shell)].rc: "exit 6"}})
		s.gone()
		if len(s.events) != 0 {
			t.Errorf("events %v", s.events)
		}
		if err := s.cmd.Wait(); s.cmd.ProcessState.ExitCode() != 6 {
			t.Errorf("ended with %v", err)
		}
	})
}

// With errexit a failing command ends the shell, and only that.
func TestErrexit(t *testing.T) {
	each(t, "bash zsh", func(t *testing.T, shell string) {
		s := begin(t, setup{shell: shell, files: map[string]string{dialects[filepath.Base(shell)].rc: "set -eu"}}).ready()
		s.expect2("echo hi", "0", "hi\n")
		s.expect2("! true", "1", "")
		s.expect2("sh -c 'exit 3' || echo $?", "0", "3\n")
		s.idle("\r")
		s.send("false\r")
		s.gone()
		s.mu.Lock()
		defer s.mu.Unlock()
		if last := s.events[len(s.events)-1]; last.Kind != Finished || last.ExitCode != nil {
			t.Errorf("last: %v", last.Event)
		}
	})
}

// What is done to the hooks later leaves the marks right or absent.
func TestHooksLost(t *testing.T) {
	each(t, "bash", func(t *testing.T, shell string) {
		t.Run("PROMPT_COMMAND cleared", func(t *testing.T) {
			s := begin(t, setup{shell: shell, files: map[string]string{".bashrc": "PROMPT_COMMAND=true"}}).ready()
			s.run("PROMPT_COMMAND=")
			s.expect2("sh -c 'exit 7'", "7", "")
			s.expect2("echo hi", "0", "hi\n")
			s.expect2("cd /", "0", "")
		})
		t.Run("PROMPT_COMMAND unset", func(t *testing.T) {
			s := begin(t, setup{shell: shell}).ready()
			s.run("unset PROMPT_COMMAND")
			s.expect2("sh -c 'exit 7'", "7", "")
		})
		t.Run("PS0, PS1 and PS2 replaced", func(t *testing.T) {
			s := begin(t, setup{shell: shell}).ready()
			s.expect2("PS0= PS1='new> ' PS2=", "0", "")
			s.expect2("sh -c 'exit 7'", "7", "")
		})
		t.Run("all replaced, as by a startup file read again", func(t *testing.T) {
			s := begin(t, setup{shell: shell}).ready()
			n := s.total(Executed)
			s.send("PS1='new> ' PROMPT_COMMAND=true\r")
			at := s.until("new> ", s.until("PROMPT_COMMAND", 0))
			s.send("echo h''i\r")
			at = s.until("new> ", s.until("hi\r\n", at))
			s.send("false\r")
			s.until("new> ", at)
			s.mu.Lock()
			defer s.mu.Unlock()
			if got := s.count(Executed) - n; got != 1 || s.count(Finished) != s.count(Executed) {
				t.Errorf("%d executed, %d finished in all", got, s.count(Finished))
			}
		})
		t.Run("promptvars off", func(t *testing.T) {
			s := begin(t, setup{shell: shell, files: map[string]string{".bashrc": "PS1='> '"}}).ready()
			s.run("shopt -u promptvars")
			from := len(s.data)
			s.send("echo h''i\r")
			s.until("hi\r\n", from)
			s.send("echo d''one\r")
			s.until("> ", s.until("done\r\n", from))
			s.mu.Lock()
			defer s.mu.Unlock()
			if strings.Contains(string(s.data), "tandemux") {
				t.Error("our part of a prompt is shown")
			}
		})
		t.Run("trace", func(t *testing.T) {
			s := begin(t, setup{shell: shell, files: map[string]string{".bashrc": "set -x"}}).ready()
			s.expect2("echo hi", "0", "+ echo hi\nhi\n")
			s.mu.Lock()
			defer s.mu.Unlock()
			if i := strings.Index(string(s.data), "__tandemux_precmd"); i >= 0 {
				t.Errorf("our hooks are traced: %q", s.data[max(0, i-40):i+60])
			}
		})
	})
	each(t, "zsh", func(t *testing.T, shell string) {
		t.Run("either hook lost", func(t *testing.T) {
			s := begin(t, setup{shell: shell}).ready()
			s.send("precmd_functions=()\r")
			s.wait("end", func() bool { return s.count(Finished) == 1 })
			s.run("preexec_functions=()")
			s.expect2("sh -c 'exit 7'", "7", "")
			s.run("PROMPT_EOL_MARK=x")
			s.expect2("printf x", "0", "x")
			s.expect2("echo $PROMPT_EOL_MARK | tail -c 2", "0", "x\n")
		})
		t.Run("trace", func(t *testing.T) {
			s := begin(t, setup{shell: shell, files: map[string]string{".zshrc": "setopt xtrace"}}).ready()
			if c := s.run("echo hi"); strings.Contains(c.output, "tandemux") {
				t.Errorf("our hooks are traced: %q", c.output)
			}
		})
		t.Run("never there", func(t *testing.T) {
			s := begin(t, setup{shell: shell, files: map[string]string{".zshrc": "precmd_functions=(); PROMPT='> '"}})
			at := s.until("> ", 0)
			s.send("env | grep -c TANDEMUX_SHELL\r")
			s.until("> ", s.until("0\r\n", at))
			if s.total(Executed) != 0 {
				t.Error("half of the hooks mark commands")
			}
		})
	})
}

// Binary output, and output that ends within a sequence, end where they end.
func TestBinaryOutput(t *testing.T) {
	each(t, "bash zsh fish", func(t *testing.T, shell string) {
		junk := make([]byte, 64<<10)
		x := uint32(1)
		for i := range junk {
			x = x*1664525 + 1013904223
			if junk[i] = byte(x >> 24); junk[i] == 0x1b && i > 0 {
				junk[i-1] = ' '
			}
		}
		s := begin(t, setup{shell: shell, files: map[string]string{".zshrc": "", "junk": string(junk), "open": "x\x1b]0;title"}}).ready()
		s.expect2("sh -c 'cat junk; exit 3' >/dev/null", "3", "")
		if c := s.run("sh -c 'cat junk; exit 3'"); c.exit != "3" {
			t.Errorf("exit %s", c.exit)
		}
		s.expect2("echo hi", "0", "hi\n")
		if c := s.run("cat open"); c.exit != "0" {
			t.Errorf("exit %s", c.exit)
		}
		s.expect2("echo hi", "0", "hi\n")
	})
}

// A background job writes after its command's end: it is not a command's output.
func TestBackgroundJob(t *testing.T) {
	each(t, "bash zsh fish", func(t *testing.T, shell string) {
		s := begin(t, setup{shell: shell, files: map[string]string{".zshrc": "", "job": "while [ ! -e go ]; do sleep 0.02; done; echo late output"}}).ready()
		c := s.run("sh job &")
		if c.exit != "0" || c.line != "sh job &" {
			t.Errorf("%+v", c)
		}
		s.mu.Lock()
		end := len(s.data)
		s.mu.Unlock()
		if err := os.WriteFile(filepath.Join(s.home, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s.until("late output", end)
		if s.total(Executed) != s.total(Finished) {
			t.Error("a command is open")
		}
		// Some shells tell now, before or behind what the command writes, that the job is done.
		if c := s.run("echo hi"); c.exit != "0" || !strings.Contains("\n"+text(c.output), "\nhi\n") || strings.Contains(text(c.output), "late") {
			t.Errorf("%+v", c)
		}
	})
}

// Ctrl-C ends a command, with the code of the signal.
func TestInterrupt(t *testing.T) {
	each(t, "bash zsh fish", func(t *testing.T, shell string) {
		s := begin(t, setup{shell: shell}).ready()
		s.send("sh -c 'echo go; read x; exec sleep 1000'\r")
		s.until("go\r\n", s.until("exec sleep", 0))
		again := time.AfterFunc(time.Second, func() { s.pty.WriteString("\r") })
		defer again.Stop()
		if code := s.keys2("\x03"); code != "130" {
			t.Errorf("exit %s, want 130", code)
		}
	})
}

// bash promises the end of a prompt where it can tell it, and only there.
func TestPromptEndIsPromised(t *testing.T) {
	each(t, "bash", func(t *testing.T, shell string) {
		for rc, want := range map[string]bool{
			"PS1='> '":                                      true,
			"PS1='> '; PROMPT_COMMAND=true":                 true,
			"PROMPT_COMMAND=\"PS1='> '\"":                   true,
			"export PS1='> '":                               false,
			"trap 'x=1' DEBUG; PROMPT_COMMAND=\"PS1='> '\"": false,
		} {
			s := begin(t, setup{shell: shell, files: map[string]string{".bashrc": rc}}).ready()
			s.run("echo hi")
			s.run("false")
			s.mu.Lock()
			for i, e := range s.events {
				if e.Kind != PromptStart {
					continue
				}
				if e.Ends != want {
					t.Errorf("%s: prompt at %d promises its end: %v", rc, e.at, e.Ends)
				}
				if e.Ends && i+1 < len(s.events) && s.events[i+1].Kind != PromptEnd && s.events[i+1].Kind != Cwd {
					t.Errorf("%s: after the promise at %d: %v", rc, e.at, s.events[i+1].Event)
				}
			}
			s.mu.Unlock()
		}
	})
}
