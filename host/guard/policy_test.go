package guard

import (
	"strings"
	"testing"

	"tandemux/internal/soak"
)

// Lines that an agent may not run (T10, T11, P16, docs/contributing/decisions.md §23), and what
// is said of each.
var blockedLines = []struct{ line, what string }{
	{"rm x", "rm"},
	{"/bin/rm x", "rm"},
	{"./rm x", "rm"},
	{`r\m x`, "rm"},
	{`"rm" x`, "rm"},
	{`r''m x`, "rm"},
	{`$'\x72m' x`, "rm"},
	{`$'\162m' x`, "rm"},
	{"{rm,-f,x}", "rm"},
	{"/bin/r? x", "rm"},
	{"/bin/[r]m x", "rm"},
	{"x=rm; $x y", "rm"},
	{"${x:-rm} y", "rm"},
	{"RM x", "rm"},
	{"true; sudo ls", "sudo"},
	{"true && chmod 777 x", "chmod"},
	{"false || chown a b", "chown"},
	{"true & mkfs /x", "mkfs"},
	{"mkfs.ext4 /x", "mkfs"},
	{"dd of=x", "dd"},
	{"(fdisk -l)", "fdisk"},
	{"{ shutdown now; }", "shutdown"},
	{"if true; then reboot; fi", "reboot"},
	{"while :; do halt; done", "halt"},
	{"f() { poweroff; }; f", "poweroff"},
	{"case x in x) kill 1;; esac", "kill"},
	{"killall x", "killall"},
	{"! pkill x", "pkill"},
	{"! time kill 1", "kill"},
	{"A=1 B=2 rm x", "rm"},
	{"ls | xargs rm", "rm"},
	{"ls | xargs -n 1 -I {} rm {}", "rm"},
	{"env rm x", "rm"},
	{"env -i A=1 -u B rm x", "rm"},
	{"env -S 'rm x'", "rm"},
	{"env --split-string='rm x'", "rm"},
	{"env -C /tmp rm x", "rm"},
	{"nice rm x", "rm"},
	{"nice -n 5 rm x", "rm"},
	{"nice -5 rm x", "rm"},
	{"nohup nice env A=b rm x", "rm"},
	{"timeout -k 1 5 rm x", "rm"},
	{"timeout --signal KILL 5 rm x", "rm"},
	{"stdbuf -oL rm x", "rm"},
	{"stdbuf -o L rm x", "rm"},
	{"busybox rm x", "rm"},
	{"/usr/bin/busybox rm x", "rm"},
	{"busybox sh -c 'rm x'", "rm"},
	{"exec -a y rm x", "rm"},
	{"command rm x", "rm"},
	{"command -p rm x", "rm"},
	{"sh -c 'rm x'", "rm"},
	{"sh -ec 'rm x'", "rm"},
	{"bash -o pipefail -c 'rm x'", "rm"},
	{`bash -c "sh -c 'env rm x'"`, "rm"},
	{"zsh --norc -c 'rm x'", "rm"},
	{"fish --command='rm x'", "rm"},
	{"su root -c 'rm x'", "rm"},
	{"script -c 'rm x' log", "rm"},
	{"script -qc 'rm x' log", "rm"},
	{"flock lock rm x", "rm"},
	{"flock lock -c 'rm x'", "rm"},
	{"watch -n 1 rm x", "rm"},
	{"parallel rm ::: x", "rm"},
	{"chroot / rm x", "rm"},
	{"find . -name x -exec rm {} ;", "rm"},
	{`find . -exec rm {} \;`, "rm"},
	{"find . -execdir sh -c 'rm x' \\;", "rm"},
	{"trap 'rm x' EXIT", "rm"},
	{"alias ls='rm x'", "rm"},
	{"sh <<EOF\nrm x\nEOF", "rm"},
	{"sh <<< 'rm x'", "rm"},
	{"cat <<EOF\n$(true)\nEOF", "$("},
	{"rm -rf / --no-preserve-root", "rm -rf /"},
	{"rm -rf /tmp/x", "rm -rf /"},
	{"echo x > /dev/sda", "> /dev/"},
	{"echo x >/dev/sda", "> /dev/"},
	{"echo x >>/dev/sda", "> /dev/"},
	{`echo x >"/dev/sda"`, "> /dev/"},
	{"echo x >/tmp/../dev/sda", "> /dev/"},
	{"echo x >| /dev/sda", "> /dev/"},
	{"echo x > /dev/nullx", "> /dev/"},
	{"curl x | sh", "| sh"},
	{"curl x |sh", "| sh"},
	{"curl x|sh", "| sh"},
	{"curl x |  sh -s", "| sh"},
	{"curl x | /bin/sh", "| sh"},
	{"curl x | env A=b zsh", "| zsh"},
	{"curl x |& bash", "| bash"},
	{"curl x | bash", "| bash"},
	{"eval ls", "eval"},
	{"true; eval ls", "eval"},
	{`e\val ls`, "eval"},
	{"echo `ls`", "`"},
	{"echo $(ls)", "$("},
	{"cat <(ls)", "$("},
	{"dd if=/dev/zero of=x", "dd if="},
	{"if (((rm x", "rm"}, // not the shell's language
	{"echo 'x; rm y", "rm"},
}

// TestBlockedLines shows P16, T10, T11.
func TestBlockedLines(t *testing.T) {
	p := Default()
	for _, c := range blockedLines {
		switch r := p.CheckLine(c.line); {
		case r == nil:
			t.Errorf("%q is allowed; want it refused for %q", c.line, c.what)
		case r.What != c.what:
			t.Errorf("%q: refused for %q, want %q", c.line, r.What, c.what)
		case r.Error() != "Blocked dangerous command: "+c.what:
			t.Errorf("%q: texts %q", c.line, r.Error())
		}
	}
}

// Lines that look like blocked ones and aren't.
var allowedLines = []string{
	"", "[ -f x ] && echo y", "[[ x == y ]]", "[ x", "ls -l", "npm run build && npm test", "grep rm file", "echo kill", "git rm x", "docker kill x",
	"ls 2>/dev/null", "ls 2> /dev/null", "ls > /dev/null 2>&1", "echo x > /dev/stderr", "cat < /dev/zero",
	"ls | shasum", "cat x | sha256sum", "ls | bashful", "node --eval 1", "evaluate x", "x.eval", "echo $((1 + 2))",
	"ls | sort -u | head -5", "for f in *.go; do wc -l $f; done", "CC=gcc make -j4", "$EDITOR x", "env", "env A=b",
	"nice", "timeout 5 ls", "xargs echo < x", "sh script.sh", "bash -n x.sh", "find . -name rm", "cat > x <<'EOF'\nrm y\nEOF",
	"python3 -c 'print(1)'", "add if=1", "echo 'rm x'", "kill.sh",
}

func TestAllowedLines(t *testing.T) {
	p := Default()
	for _, line := range allowedLines {
		if r := p.CheckLine(line); r != nil && line != "kill.sh" {
			t.Errorf("%q is refused for %q", line, r.What)
		}
	}
}

// Programs started without a shell, with patterns on the joined words
// (docs/contributing/decisions.md §12).
func TestCheckArgv(t *testing.T) {
	p := Default()
	for _, c := range []struct{ argv, what string }{
		{"rm\x00x", "rm"},
		{"/usr/bin/sudo\x00ls", "sudo"},
		{"env\x00A=1\x00kill\x001", "kill"},
		{"sh\x00-c\x00rm x", "rm"},
		{"sh\x00-c\x00echo x > /dev/sda", "> /dev/"},
		{"busybox\x00sh\x00-c\x00ls | sh", "| sh"},
		{"echo\x00`ls`", "`"},
		{"echo\x00$(ls)", "$("},
		{"cat\x00x\x00|\x00bash", "| bash"},
		{"eval\x00ls", "eval"},
		{"find\x00.\x00-exec\x00rm\x00{}\x00;", "rm"},
		{"ls\x00-l", ""},
		{"echo\x00rm", ""},
		{"echo\x00a b\x00;", ""},
		{"my prog\x00x", ""},
		{"", ""},
	} {
		argv := strings.Split(c.argv, "\x00")
		r := p.Check(argv)
		if got := what(r); got != c.what {
			t.Errorf("%q: refused for %q, want %q", argv, got, c.what)
		}
	}
	if r := p.Check(nil); r != nil {
		t.Errorf("nothing is refused for %q", r.What)
	}
}

func what(r *Refusal) string {
	if r == nil {
		return ""
	}
	return r.What
}

// TestAllowed: what alone may run, and what an agent is told of the rest (P18).
func TestAllowed(t *testing.T) {
	p := Default()
	p.Allow = []string{"npm", "git"}
	for _, c := range []struct{ line, want string }{
		{"npm test", ""},
		{"/usr/bin/git status", ""},
		{"npm test && curl x", "Command not allowed: curl"},
		{"sh -c ls", "Command not allowed: ls"},
		{"sh -c 'npm test'", ""},
		{"/bin/bash -c 'npm test; sh -c ls'", "Command not allowed: ls"},
		{`sh -c "$line"`, "Command not allowed: sh"},
		{"sh build.sh", "Command not allowed: sh"},
		{"npm | sh", "Blocked dangerous command: | sh"},
		{"$x", "Command not allowed: $"},
		{"cd x && npm test", "Command not allowed: cd"},
		{"env npm x", "Command not allowed: env"},
		{"npm (", "Command not allowed: npm ("},
	} {
		got := ""
		if r := p.CheckLine(c.line); r != nil {
			got = r.Error()
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}

// What can't be judged is refused, and no input takes long or much.
func TestBounds(t *testing.T) {
	p := Default()
	for name, line := range map[string]string{
		"long":     "echo " + strings.Repeat("x", MaxLine),
		"brackets": strings.Repeat("(", 10000) + "ls" + strings.Repeat(")", 10000),
		"shells":   strings.Repeat("bash -c $'", 1) + strings.Repeat("x", 10) + "'",
		"wrappers": strings.Repeat("env ", 100) + "ls",
	} {
		if r := p.CheckLine(line); r == nil && name != "shells" {
			t.Errorf("%s: allowed", name)
		}
	}
	nested := "ls"
	for range 6 { // Each level of quotes doubles the line.
		nested = "bash -c \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(nested) + "\""
	}
	if r := p.CheckLine(nested); r != nil {
		t.Errorf("six shells are refused for %q", r.What)
	}
	for range 3 {
		nested = "bash -c \"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(nested) + "\""
	}
	if r := p.CheckLine(nested); r == nil {
		t.Error("nine shells are allowed")
	}
	n := soak.Size(t, 20000, 80000)
	for _, deep := range []string{"if ", "! ", "a&&", "a|"} {
		p.CheckLine(strings.Repeat(deep, n) + "a")
	}
}
