package shell

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dumps write all that a shell can say of itself to ~/dump.
var dumps = map[string]string{
	"bash": `{ declare -p; declare -F; shopt; set -o; trap; alias; export -p; enable; echo "flags $- args $0 $#"; env; history; hash; ulimit -a; umask; complete; bind -v; bind -p; } >~/dump 2>&1
printf 'DUM%s\n' PED`,
	"zsh": `{ typeset -p; print -l ${(ok)functions}; setopt; unsetopt; trap; alias -L; export; print "flags $- args $0 $#"; env; fc -l 1; umask; bindkey; zle -l; zmodload } >~/dump 2>&1
printf 'DUM%s\n' PED`,
	"fish": `begin; set; functions -a -n; bind; abbr; env; status; umask; complete | sort; end >~/dump 2>&1
printf 'DUM%s\n' PED`,
}

// ours (with the rest of a PROMPT_COMMAND of two lines) and volatile are the lines of a dump that may differ. With PS0, PS1, PS2,
// PROMPT_COMMAND, zsh's hooks and its PROMPT_EOL_MARK the first has all that is
// left in a shell.
var (
	ours = regexp.MustCompile(`__tandemux|^f"$|^(declare -\S+|typeset( -\S+)*) (PS[0124]|PROMPT_COMMAND|PROMPT_EOL_MARK|precmd_functions|preexec_functions)\b`)

	volatile = regexp.MustCompile(`^(declare -\S+ |typeset( -\S+)* |export |)` +
		`(BASHPID|PPID|RANDOM|SRANDOM|SECONDS|EPOCH\w+|LINENO|HISTCMD|_|BASH_(ARGC|ARGV|LINENO|SOURCE|COMMAND|MONOSECONDS)|` +
		`FUNCNAME|PIPESTATUS|TTYIDLE|TTY|fish_pid|last_pid|CMD_DURATION|fish_kill_signal|history|funcstack|functrace|` +
		`funcfiletrace|funcsourcetrace|zsh_eval_context|parameters|status|pipestatus|historywords|userdirs|usergroups|` +
		`fish_function_path|jobstates|__fish_tmp\w*)([= ]|$)`)
)

// dump is what a shell says of itself, without what may differ.
func dump(t *testing.T, s setup) []string {
	t.Helper()
	kind := filepath.Base(s.shell)
	s.files["dumper"] = dumps[kind]
	se := begin(t, s)
	se.send(". ~/dumper\r")
	se.until("DUMPED", 0)
	text, err := os.ReadFile(filepath.Join(se.home, "dump"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(string(text), se.home, "HOME"), "\n") {
		if !volatile.MatchString(line) && !ours.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// richRC uses much of what an integration could get in the way of.
var richRC = map[string]string{
	"bash": `set -C; set -o vi; shopt -s extglob failglob histappend autocd; trap 'true exit' EXIT; trap 'true err' ERR; trap 'true int' INT
HISTCONTROL=ignorespace:erasedups HISTIGNORE='x*' HISTFILE=~/h HISTSIZE=77 HISTTIMEFORMAT='%F '; alias l=ls; f() { :; }
PROMPT_COMMAND=f; PS1='$ '; PS2='. '; PS0=; PS3='? '; PS4='+ '; IFS=$' \t\n:'; set -- a b; umask 027; export FOO=bar`,
	"zsh": `setopt extended_glob no_clobber vi prompt_subst share_history hist_ignore_space; TRAPINT() { return 1 }; trap 'true' EXIT USR1
HISTFILE=~/h HISTSIZE=77 SAVEHIST=77; alias l=ls; alias -g G=grep; f() { :; }; precmd() { :; }; autoload -Uz add-zsh-hook; add-zsh-hook precmd f; umask 027
PROMPT='$ '; RPROMPT=r; export FOO=bar; IFS=$' \t\n:'; fpath+=(~/functions); bindkey -v; zle -N f`,
	"fish": `set -gx FOO bar; set -g fish_greeting; abbr -a l ls; function f --on-event fish_prompt; true; end; function fish_prompt; echo '> '; end
fish_vi_key_bindings; umask 027; set -g fish_history mine`,
}

// norc has each shell read no startup files.
var norc = map[string][]string{"bash": {"--norc"}, "zsh": {"-f"}, "fish": {"-N"}}

// A new user of zsh is asked what it always asks, and has marks.
func TestZshWithoutFiles(t *testing.T) {
	each(t, "zsh", func(t *testing.T, shell string) {
		for _, plain := range []bool{true, false} {
			s := begin(t, setup{shell: shell, files: map[string]string{"other": ""}, plain: plain})
			if os.Getuid() != 0 { // It does not ask root.
				s.until("(q)", 0)
				s.send("q")
			}
			s.until("\x1b[?2004h", 0)
			if !plain {
				s.ready().expect("echo hi", "0", "hi\n")
			}
			if _, err := os.Stat(filepath.Join(s.home, ".zshrc")); err == nil {
				t.Error("there is a .zshrc")
			}
		}
	})
}

// Nothing of the user's is changed: what a shell says of itself is the same with
// marks and without.
func TestNothingIsTouched(t *testing.T) {
	profiles := map[string]string{".bash_profile": "BASH_PROFILE=read; . ~/.bashrc\n", ".zprofile": "ZPROFILE=read\n", ".zlogin": "ZLOGIN=read\n", ".zshenv": "ZSHENV=read\n"}
	each(t, "bash zsh fish", func(t *testing.T, shell string) {
		kind := filepath.Base(shell)
		rich := map[string]string{dialects[kind].rc: richRC[kind]}
		for name, text := range profiles {
			rich[name] = text
		}
		for _, c := range []struct {
			name  string
			args  []string
			files map[string]string
			env   []string
		}{
			{"bare", nil, map[string]string{dialects[kind].rc: ""}, nil},
			{"empty home", nil, map[string]string{"z/.zlogin": ""}, []string{"ZDOTDIR=@HOME@/z"}},
			{"login", []string{"-l"}, map[string]string{".zshrc": ""}, nil},
			{"norc", norc[kind], rich, []string{"ENV=/dev/null"}},
			{"rich", nil, rich, nil},
			{"rich login", []string{"--login"}, rich, []string{"ENV=/dev/null", "HISTFILE=/tmp/none", "PS1=inherited"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				if (c.name == "empty home" || c.name == "login" || c.name == "rich") && testing.Short() {
					t.Skip("rich login reads all of the files: make test-long runs each of them")
				}
				one := setup{shell: shell, args: c.args, files: c.files, env: c.env, plain: true}
				two := one
				two.plain = false
				want, got := dump(t, one), dump(t, two)
				if len(want) < 50 {
					t.Fatalf("only %d lines: %q", len(want), want)
				}
				for _, line := range want {
					if !slices.Contains(got, line) {
						t.Errorf("gone:  %.200q", line)
					}
				}
				for _, line := range got {
					if !slices.Contains(want, line) {
						t.Errorf("added: %.200q", line)
					}
				}
			})
		}
	})
}
