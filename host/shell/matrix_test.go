package shell

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// dialect is how things are said in a shell.
type dialect struct{ rc, status, last string }

var dialects = map[string]dialect{
	"bash": {".bashrc", "$?", "$_"},
	"zsh":  {".zshrc", "$?", "$_"},
	"fish": {".config/fish/config.fish", "$status", ""},
}

// controls are what a shell itself puts around a command's output: fish sets the
// title and resets the colours.
var controls = regexp.MustCompile("\x1b\\][^\a\x1b]*(\a|\x1b\\\\)|\x1b\\[[0-9;?=>]*[a-zA-Z]|\x1b[(][A-Z]|\x1b\\[[0-9] q|\x1b[=>]|\r")

func text(s string) string { return controls.ReplaceAllString(s, "") }

// scenario is a way that people set up their shells.
type scenario struct {
	name  string
	shell string
	args  []string
	rc    string
	files map[string]string
	env   []string
	// screen: bash may not know the line, and then it is on the screen.
	screen bool
	// unsure: bash may not know the line, and PS1 can't have marks. It is all there
	// is to be had before 5.0.
	unsure bool
	// early is the session's.
	early bool
	// unlast: the user's own trap changes $_.
	unlast bool
	// noise is what the user's own hooks put before the end of the output.
	noise string
}

func TestSetups(t *testing.T) {
	for i, sc := range scenarios {
		if i > 3 && i%5 > 0 && testing.Short() {
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			each(t, sc.shell, func(t *testing.T, shell string) { playScenario(t, sc, shell) })
		})
	}
}

func playScenario(t *testing.T, sc scenario, shell string) {
	files := map[string]string{dialects[filepath.Base(shell)].rc: sc.rc}
	for name, text := range sc.files {
		files[name] = text
	}
	s := begin(t, setup{shell: shell, args: sc.args, files: files, env: sc.env, early: sc.early}).ready()
	battery(s, shell, sc)
}

// battery is what has to hold in every setup.
func battery(s *session, shell string, sc scenario) {
	t := s.t
	t.Helper()
	d := dialects[filepath.Base(shell)]
	check := func(line, exit, output string) {
		t.Helper()
		c := s.run(line)
		got, ok := c.line, c.known
		if sc.screen && !ok {
			got, ok = strings.TrimRight(text(c.shown), "\n"), true
		}
		if sc.unsure && !ok {
			got, ok = line, true
		}
		if !ok || got != line {
			t.Errorf("%q: command line %q, known %v, shown %q", line, c.line, c.known, c.shown)
		}
		if c.exit != exit {
			t.Errorf("%q: exit %s, want %s", line, c.exit, exit)
		}
		if got := text(c.output); got != output+sc.noise {
			t.Errorf("%q: output %q, want %q", line, got, output+sc.noise)
		}
	}
	check("echo hi", "0", "hi\n")
	check("sh -c 'exit 7'", "7", "")
	check("echo "+d.status, "0", "7\n")
	check("printf 'no newline'", "0", "no newline")
	if d.last != "" && !sc.unlast {
		check("true one two", "0", "")
		check("echo "+d.last, "0", "two\n")
	}
	check(`printf '%s\\;\n' 'a;b\x41' "ü 日本 🙂"`, "0", `a;b\x41\;`+"\n"+`ü 日本 🙂\;`+"\n")
	check("false; true | false", "1", "")
	before := s.total(Executed)
	s.idle("\r")
	if n := s.total(Executed); n != before {
		t.Errorf("an empty line: %d commands", n-before)
	}
	s.send("echo never")
	if filepath.Base(shell) == "fish" {
		s.send("\x15") // It discards what comes with Ctrl-C.
	} else {
		s.until("never", 0)
		prompts := s.total(PromptStart)
		s.send("\x03")
		// A shell that is still at it would take up what is typed. The prompt may be
		// dropped, too; see sync.
		s.within(time.Second, func() bool { return s.count(PromptStart) > prompts && s.reads() })
	}
	s.sync()
	s.mu.Lock()
	for _, e := range s.events {
		if strings.Contains(e.CommandLine, "never") {
			t.Errorf("%v, but it was interrupted", e.Event)
		}
	}
	s.mu.Unlock()
	check("cd /usr", "0", "")
	s.mu.Lock()
	var dir string
	for _, e := range s.events {
		if e.Kind == Cwd && e.Trusted {
			dir = e.Dir
		}
	}
	s.mu.Unlock()
	if dir != "/usr" {
		t.Errorf("directory %q, want /usr", dir)
	}
	check("env | grep -c -e "+s.nonce+" -e SHELL_NONCE -e SHELL_KEPT", "1", "0\n")
	if n := s.total(Available); n != 1 {
		t.Errorf("available %d times", n)
	}
}

// sync runs a command until it is seen to have run. After Ctrl-C the kernel
// drops what is in the queues of the terminal, both ways, at no certain time.
func (s *session) sync() {
	s.t.Helper()
	s.mu.Lock()
	from := len(s.events)
	s.mu.Unlock()
	line := ": synchronise\x15: synchronise\r"
	s.send(line)
	again := time.NewTicker(time.Second)
	defer again.Stop()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-again.C:
				s.pty.WriteString(line)
			case <-stop:
				return
			}
		}
	}()
	s.wait("command after Ctrl-C", func() bool {
		seen := false
		for _, e := range s.events[from:] {
			seen = seen || e.Kind == Executed && (e.CommandLine == ": synchronise" || !e.Known)
			if seen && e.Kind == PromptStart && s.reads() {
				return true
			}
		}
		return false
	})
}

// idle types what makes the shell prompt again without a command.
func (s *session) idle(keys string) {
	s.t.Helper()
	s.mu.Lock()
	from := len(s.events)
	s.mu.Unlock()
	s.send(keys)
	s.wait("prompt", func() bool {
		for _, e := range s.events[from:] {
			if e.Kind == PromptStart {
				return s.reads()
			}
		}
		return false
	})
}

var scenarios = []scenario{
	{name: "plain", shell: "bash zsh fish"},
	{name: "interactive", shell: "bash zsh fish", args: []string{"-i"}},
	{name: "login", shell: "bash zsh fish", args: []string{"-l"}},
	{name: "login-long", shell: "bash zsh fish", args: []string{"--login", "-i"}},
	{name: "norc", shell: "bash", args: []string{"--norc"}, rc: "exit 3"},
	{name: "noprofile", shell: "bash", args: []string{"--noprofile", "-l"}, files: map[string]string{".bash_profile": "exit 3"}},
	{name: "rcfile", shell: "bash", args: []string{"--rcfile", "mine", "-i"}, rc: "exit 3", files: map[string]string{"mine": "PS1='mine> '"}},
	{name: "options", shell: "bash", args: []string{"-o", "vi", "+O", "histappend", "-fTu"}},
	{name: "norc", shell: "zsh", args: []string{"-f"}, rc: "exit 3", files: map[string]string{".zshenv": "exit 4"}},
	{name: "options", shell: "zsh", args: []string{"-du", "-o", "vi"}},
	{name: "norc", shell: "fish", args: []string{"--no-config"}, rc: "exit 3"},
	{name: "options", shell: "fish", args: []string{"-P", "-C", "set -g mine 1"}},
	{name: "no-home", shell: "bash zsh fish", env: []string{"HOME=/nonexistent"}},
	{name: "dumb", shell: "bash zsh fish", env: []string{"TERM=dumb"}},
	{name: "latin", shell: "bash", env: []string{"LANG=C"}, screen: true},

	{name: "ignoreboth", shell: "bash", rc: "HISTCONTROL=ignoreboth", screen: true},
	{name: "no-history", shell: "bash", rc: "set +o history", screen: true},
	{name: "histsize-zero", shell: "bash", rc: "HISTSIZE=0", screen: true},
	{name: "histsize-small", shell: "bash", rc: "HISTSIZE=3 HISTTIMEFORMAT='%F %T '"},
	{name: "history-sync", shell: "bash", rc: "PROMPT_COMMAND='history -a; history -c; history -r'", screen: true},
	{name: "strict", shell: "bash", rc: "set -u; shopt -s failglob nocasematch extglob; set -C; IFS=_", screen: false},
	{name: "posix", shell: "bash", rc: "set -o posix"},
	{name: "noglob", shell: "bash", rc: "set -f"},
	{name: "xtrace-off-fd", shell: "bash", rc: "exec 9>/dev/null; BASH_XTRACEFD=9; set -x"},
	{name: "functrace", shell: "bash", rc: "set -T; trap 'last=$BASH_COMMAND' DEBUG", unlast: true},
	{name: "err-trap", shell: "bash", rc: "set -E; trap 'errs=x$errs' ERR"},
	{name: "prompt-string", shell: "bash", rc: "PROMPT_COMMAND='last=$?; (exit 9)'"},
	{name: "prompt-semicolon", shell: "bash", rc: "PROMPT_COMMAND='true;'"},
	{name: "prompt-array", shell: "bash", rc: "PROMPT_COMMAND=(true false ':')"},
	{name: "prompt-readonly", shell: "bash", rc: "PROMPT_COMMAND='true'; readonly PROMPT_COMMAND"},
	{name: "prompt-exported", shell: "bash", rc: "export PROMPT_COMMAND='true'"},
	{name: "ps1-exported", shell: "bash", rc: "export PS1='> ' PS2='. '", unsure: true},
	{name: "both-exported", shell: "bash", rc: "export PS1='> ' PROMPT_COMMAND=true"},
	{name: "ps1-readonly", shell: "bash", rc: "PS1='> '; readonly PS1", unsure: true},
	{name: "ps1-unset", shell: "bash", rc: "unset PS1 PS2", unsure: true, early: true},
	{name: "ps0", shell: "bash", rc: `PS0='[\t]\n'`},
	{name: "multi-line-prompt", shell: "bash", rc: `PS1='\[\e[1m\]日本 \w\[\e[0m\]\n└─🙂\$ '`},
	{name: "aliases", shell: "bash", rc: "shopt -s expand_aliases; alias local=false builtin=false if=false history=false shopt=false"},
	{name: "functions", shell: "bash", rc: "history() { :; }; shopt() { false; }"},
	{name: "direnv", shell: "bash", rc: `_direnv_hook() { local previous=$?; trap -- '' SIGINT; trap - SIGINT; return $previous; }
PROMPT_COMMAND="_direnv_hook${PROMPT_COMMAND:+;$PROMPT_COMMAND}"`},
	{name: "starship", shell: "bash", rc: `starship_precmd() { STATUS=$?; PS1="\[\e[32m\]$STATUS ❯\[\e[0m\] "; return $STATUS; }
PROMPT_COMMAND="starship_precmd"
starship_preexec() { :; }; trap 'starship_preexec "$_"' DEBUG; PS0='$(:)'`, unsure: true, early: true},
	{name: "bash-preexec", shell: "bash", rc: bashPreexec},
	{name: "vte", shell: "bash", rc: `PS0=$(printf '\e]133;C\e\\'); PS1='\[\e]133;D;$?\e\\\e]133;A\e\\\]$ \[\e]133;B\e\\\]'
PROMPT_COMMAND=__vte_prompt_command; __vte_prompt_command() { printf '\e]0;title\e\\\e]7;file://elsewhere/tmp\e\\'; }`},
	{name: "osc-context", shell: "bash", rc: `PROMPT_COMMAND+=(ctx); ctx() { printf '\e]3008;end=1\e\\\e]3008;start=2\e\\'; }; PS0='\e]3008;start=3\e\\'`},

	{name: "oh-my-zsh", shell: "zsh", rc: ohMyZsh},
	{name: "instant-prompt", shell: "zsh", rc: instantPrompt},
	{name: "hist-ignore", shell: "zsh", rc: "setopt hist_ignore_space hist_ignore_all_dups hist_no_store; HISTSIZE=100 SAVEHIST=100 HISTFILE=$HOME/h"},
	{name: "no-history", shell: "zsh", rc: "HISTSIZE=0; unset HISTFILE"},
	{name: "strict", shell: "zsh", rc: "setopt nounset warn_create_global warn_nested_var noclobber ksh_arrays sh_word_split no_equals rc_expand_param glob_subst"},
	{name: "no-prompt-sp", shell: "zsh", rc: "unsetopt prompt_sp"},
	{name: "no-prompt-percent", shell: "zsh", rc: "unsetopt prompt_percent prompt_sp"},
	{name: "eol-mark", shell: "zsh", rc: "PROMPT_EOL_MARK="},
	{name: "subst", shell: "zsh", rc: "setopt prompt_subst prompt_bang; PROMPT='$(true)> '"},
	{name: "zdotdir-env", shell: "zsh", rc: "exit", env: []string{"ZDOTDIR=@HOME@/z"}, files: map[string]string{"z/.zshrc": "X=1"}},
	{name: "zdotdir-zshenv", shell: "zsh", files: map[string]string{
		".zshenv": "ZDOTDIR=$HOME/z", "z/.zshrc": "PROMPT='in z> '",
	}},
	{name: "aliases", shell: "zsh", files: map[string]string{".zshenv": "alias -g local=false print=false; alias setopt=false"}},
	{name: "precmd-function", shell: "zsh", rc: "precmd() { print -n before }; preexec() { print -n after }"},
	{name: "vi", shell: "zsh", rc: "bindkey -v; zle-keymap-select() { zle reset-prompt }; zle -N zle-keymap-select"},
	{name: "transient", shell: "zsh", rc: `setopt prompt_subst; PROMPT='long %~ > '
zle-line-finish() { local PROMPT='> '; zle reset-prompt }; zle -N zle-line-finish`},

	{name: "prompts", shell: "fish", rc: "function fish_prompt; set_color red; printf '日本\\n> '; end; function fish_right_prompt; date; end"},
	{name: "vi", shell: "fish", rc: "fish_vi_key_bindings"},
	{name: "events", shell: "fish", rc: "function a --on-event fish_preexec; true; end; function b --on-event fish_postexec; false; end"},
	{name: "private", shell: "fish", rc: "set -g fish_history ''"},
	{name: "rc-errors", shell: "fish", rc: "nosuchcommand; )"},
}

// ohMyZsh does what such frameworks do: hooks, substitution, a title, a git
// prompt that is made anew each time.
const ohMyZsh = `autoload -Uz add-zsh-hook colors; setopt prompt_subst
title_precmd() { print -Pn '\e]0;%~\a' }
title_preexec() { print -n "\e]2;${1//[^a-z]/}\a" }
git_prompt() { RET=$?; PROMPT='%F{green}➜%f %c $(true) '; RPROMPT="%(?..$RET)" }
add-zsh-hook precmd title_precmd
add-zsh-hook preexec title_preexec
precmd_functions+=(git_prompt)`

// instantPrompt does what powerlevel10k does: a prompt is shown at once, what
// the startup files print is kept, and shown at the first prompt.
const instantPrompt = `print -n 'instant> '
exec {saved_out}>&1 {saved_err}>&2 >$HOME/out 2>&1
print 'printed while starting'
restore() { exec >&$saved_out 2>&$saved_err; print -n '\r\e[J'; cat $HOME/out; precmd_functions=(${precmd_functions:#restore}) }
precmd_functions=($precmd_functions restore)
PROMPT='real> '`

// bashPreexec does to PROMPT_COMMAND and DEBUG what bash-preexec does.
const bashPreexec = `bash_preexec_imported=defined
precmd_functions+=(user_precmd); preexec_functions+=(user_preexec)
user_precmd() { :; }; user_preexec() { :; }
__bp_set_ret_value() { return ${1:-}; }
__bp_precmd() { __bp_last=$?; local f; for f in "${precmd_functions[@]}"; do __bp_set_ret_value "$__bp_last"; "$f"; done; __bp_ready=1; __bp_set_ret_value "$__bp_last"; }
__bp_debug() { [[ $__bp_ready ]] || return 0; __bp_ready=; local f; for f in "${preexec_functions[@]}"; do "$f" "$(history 1)"; done; }
__bp_install() { PROMPT_COMMAND=__bp_precmd; trap '__bp_debug "$_"' DEBUG; __bp_precmd; }
PROMPT_COMMAND=$'__bp_install'; HISTCONTROL=`

// A line that begins with a space is kept out of bash's history, and one that
// repeats the last one too. Neither must be taken for another.
func TestLinesOutsideHistory(t *testing.T) {
	each(t, "bash", func(t *testing.T, shell string) {
		s := begin(t, setup{shell: shell, files: map[string]string{".bashrc": "HISTCONTROL=ignoreboth PS1='$ '"}}).ready()
		s.expect("echo one", "0", "one\n")
		for _, line := range []string{"  echo one two", "echo one", " false ; true", "echo one"} {
			c := s.run(line)
			if c.known || c.line != "" {
				t.Errorf("%q: known as %q", line, c.line)
			}
			if got := strings.TrimRight(text(c.shown), "\n"); got != line {
				t.Errorf("%q: the screen shows %q", line, got)
			}
		}
		// What is between the secondary prompts' marks is not what was typed.
		s.mu.Lock()
		from := len(s.events)
		s.mu.Unlock()
		s.keys(" for i in 1 2\rdo echo $i\rdone\r")
		s.mu.Lock()
		defer s.mu.Unlock()
		var typed strings.Builder
		at := -1
		for _, e := range s.events[:] {
			switch e.Kind {
			case PromptEnd:
				typed.Reset()
				at = e.at
			case ContinuationStart:
				typed.Write(s.data[at:e.at])
			case ContinuationEnd:
				at = e.at
			case Executed:
				typed.Write(s.data[at:e.at])
			}
			if e.Kind == Executed && len(s.events) > from && e.at >= s.events[from].at {
				break
			}
		}
		if got, want := text(typed.String()), " for i in 1 2\ndo echo $i\ndone\n"; !strings.HasPrefix(got, want) {
			t.Errorf("typed %q, want %q", got, want)
		}
	})
}

// Exact command lines: several lines, heredocs, controls, long ones.
func TestExactLines(t *testing.T) {
	long := "echo " + strings.Repeat("0123456789", 300)
	each(t, "bash zsh fish", func(t *testing.T, shell string) {
		s := begin(t, setup{shell: shell}).ready()
		kind := filepath.Base(shell)
		lines := []struct{ keys, line, output string }{
			{`echo "$(echo nested; echo twice)" \; \\` + "\r", `echo "$(echo nested; echo twice)" \; \\`, "nested\ntwice ; \\\n"},
			{"echo a\x16\tb\r", "echo a\tb", "a b\n"},
			{long + "\r", long, long[5:] + "\n"},
		}
		switch kind {
		case "bash":
			lines = append(lines, []struct{ keys, line, output string }{
				{"for i in 1 2; do\recho $i\rdone\r", "for i in 1 2; do echo $i; done", "1\n2\n"}, // cmdhist
				{"cat <<E\r a;b\rE\r", "cat <<E\n a;b\nE", " a;b\n"},
				{"echo x\x16\x1by | tr -d '\\033'\r", "echo x\x1by | tr -d '\\033'", "xy\n"},
			}...)
		case "zsh":
			lines = append(lines, []struct{ keys, line, output string }{
				{"for i in 1 2; do\recho $i\rdone\r", "for i in 1 2; do\necho $i\ndone", "1\n2\n"},
				{"cat <<E\r a;b\rE\r", "cat <<E\n a;b\nE", " a;b\n"},
				{"echo x\x16\x1by | tr -d '\\033'\r", "echo x\x1by | tr -d '\\033'", "xy\n"},
				{"  echo spaced\r", "  echo spaced", "spaced\n"},
			}...)
		case "fish":
			lines[1].keys, lines[1].line, lines[1].output = "echo 'a\x1b\rb'\r", "echo 'a\nb'", "a\nb\n"
			lines = append(lines, []struct{ keys, line, output string }{
				{"for i in 1 2\recho $i\rend\r", "for i in 1 2\necho $i\nend", "1\n2\n"},
				{"  echo spaced\r", "  echo spaced", "spaced\n"},
			}...)
		}
		for _, l := range lines {
			c := s.keys(l.keys)
			if !c.known || c.line != l.line {
				t.Errorf("%.60q: known %v, line %.80q, want %.80q", l.keys, c.known, c.line, l.line)
			}
			if got := text(c.output); got != l.output {
				t.Errorf("%.60q: output %.80q, want %.80q", l.keys, got, l.output)
			}
		}
	})
}

// Programs that print marks change nothing, as was measured of others.
func TestForgery(t *testing.T) {
	each(t, "bash zsh fish", func(t *testing.T, shell string) {
		fakes := `\033]633;E;fake;BAD\007\033]633;D;0\007\033]133;D;0\007\033]133;A\007\033]133;C\007\033]7501;BAD;D;0\007\033]7501;;A\007`
		s := begin(t, setup{shell: shell, files: map[string]string{".zshrc": "", "evil": "printf '" + fakes + "'; echo still; exit 5"}}).ready()
		s.expect2("sh evil", "5", "still\n")
		s.expect2("echo ok", "0", "ok\n")
	})
}

// expect2 is expect without what shells put around the output.
func (s *session) expect2(line, exit, output string) {
	s.t.Helper()
	c := s.run(line)
	if !c.known || c.line != line || c.exit != exit || text(c.output) != output {
		s.t.Errorf("%q: line %q (known %v), exit %s, output %q; want exit %s, output %q", line, c.line, c.known, c.exit, text(c.output), exit, output)
	}
}

// A shell inside, with an integration of its own or without, is one command.
func TestNestedShells(t *testing.T) {
	each(t, "bash zsh fish", func(t *testing.T, shell string) {
		s := begin(t, setup{shell: shell, files: map[string]string{
			".zshrc": "", ".inner": "PS1='inner> '; PROMPT_COMMAND='printf \"\\e]133;D;3\\a\\e]133;A\\a\"'; PS0='\\e]133;C\\a'",
		}}).ready()
		before := s.total(Executed)
		s.send("bash --rcfile ~/.inner\r")
		at := s.until("inner> ", 0)
		s.send("false\r")
		at = s.until("inner> ", at)
		s.send("echo $(( 40 + 2 ))\r")
		at = s.until("42\r\n", at)
		s.until("inner> ", at)
		if n := s.total(Executed) - before; n != 1 {
			t.Errorf("%d commands, want the nested shell only", n)
		}
		c := s.keys2("exit 4\r")
		if c != "4" {
			t.Errorf("the nested shell's exit is %s", c)
		}
		s.expect2("echo ok", "0", "ok\n")
	})
}

// keys2 types and returns the exit code that is told next.
func (s *session) keys2(keys string) string {
	s.t.Helper()
	before, prompts := s.total(Finished), s.total(PromptStart)
	s.send(keys)
	s.wait("end", func() bool { return s.count(Finished) > before && s.count(PromptStart) > prompts })
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.events) - 1; ; i-- {
		if s.events[i].Kind == Finished {
			return exitText(s.events[i].ExitCode)
		}
	}
}

// What runs when the shell ends, by exit or exec, is finished then.
func TestExec(t *testing.T) {
	each(t, "bash zsh fish", func(t *testing.T, shell string) {
		s := begin(t, setup{shell: shell}).ready()
		s.send("exec sh -c 'echo replaced'\r")
		s.gone()
		s.mu.Lock()
		defer s.mu.Unlock()
		last := s.events[len(s.events)-1]
		if last.Kind != Finished || last.ExitCode != nil || s.count(Executed) != 1 {
			t.Errorf("last event %v", last.Event)
		}
	})
}

// gone waits until the shell's terminal has ended.
func (s *session) gone() {
	s.t.Helper()
	late := time.AfterFunc(patience, func() { s.mu.Lock(); s.changed.Broadcast(); s.mu.Unlock() })
	defer late.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for start := time.Now(); !s.ended; s.changed.Wait() {
		if time.Since(start) > patience {
			s.t.Fatal("the shell does not end")
		}
	}
}

// Files of the user are read as the shell reads them, and nothing of ours is
// written next to them.
func TestHomeIsLeftAlone(t *testing.T) {
	each(t, "bash zsh fish", func(t *testing.T, shell string) {
		s := begin(t, setup{shell: shell, args: []string{"-l"}, env: []string{"XDG_CONFIG_HOME=@"}}).ready()
		s.expect2("echo x", "0", "x\n")
		entries, err := os.ReadDir(s.home)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.Contains(strings.ToLower(e.Name()), "tandemux") {
				t.Errorf("there is %s", e.Name())
			}
		}
	})
}
