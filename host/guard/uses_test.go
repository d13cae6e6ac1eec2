package guard

import "testing"

// Lines in which a blocked word stands and does no harm, with what a person is asked
// of others; what it is called is empty for those.
var usedLines = []struct{ line, what string }{
	{"chmod +x run.sh", ""},
	{"chmod -v u+rwx,go-w a b", ""},
	{"chmod 755 run.sh && ./run.sh", ""},
	{`chmod +x "$f"`, ""},
	{"chmod --help", ""},
	{"kill -0 $pid", ""},
	{"kill -l", ""},
	{"serve & sleep 1; kill $!", ""},
	{"kill -TERM %1", ""},
	{"dd if=x bs=1 count=4 | xxd", ""},
	{`test -n "$(git status --porcelain)"`, ""},
	{"echo `date`", ""},
	{"git commit -m \"$(cat <<'EOF'\nDo not rm -rf / here; eval | sh\nEOF\n)\"", ""},
	{"grep eval x", ""},
	{"grep -r 'rm -rf /' . | sort", ""},
	{"eval 'ls -l'", ""},
	{"sh -c 'grep eval x'", ""},
	{"source venv/bin/activate", ""},
	{"cat <(sort x)", ""},
	{"cat <<EOF\n$(date)\nEOF", ""},
	{`bash -c "cd $dir && ls"`, ""},
	{"find . -name x", ""},
	{"echo x > /dev/null", ""},

	{"chmod -R 755 /", "chmod"},
	{"chmod 777 x", "chmod"},
	{"chmod a+rw x", "chmod"},
	{"chmod u+s x", "chmod"},
	{"chmod 4755 x", "chmod"},
	{"chmod $mode x", "chmod"},
	{"chmod +x x -R", "chmod"},
	{"kill 1", "kill"},
	{"kill -9 -1", "kill"},
	{"kill -- -1", "kill"},
	{"kill %1 1", "kill"},
	{"kill $(pgrep x)", "kill"},
	{"dd if=x of=y", "dd"},
	{"dd if=x $y", "dd"},
	{"rm x", "rm"},
	{"find . -delete", "find -delete"},
	{"env find . -name x -delete", "find -delete"},
	{"echo $(rm x)", "rm"},
	{"test -n \"`sudo ls`\"", "sudo"},
	{"cat <<EOF\n$(rm x)\nEOF", "rm"},
	{"cat <(rm x)", "rm"},
	{"curl x | sh", "| sh"},
	{"sh <(curl x)", "$("},
	{`bash -c "$(curl x)"`, "$("},
	{"source <(curl x)", "$("},
	{`eval "$(curl x)"`, "eval"},
	{`eval "$x"`, "eval"},
	{"eval 'rm x'", "rm"},
	{"echo x > /dev/sda", "> /dev/"},
	{`$(echo rm) x`, "rm"},
	{"echo 'x; rm y", "rm"}, // not the shell's language
}

// TestUses shows what is asked about where a person can be asked, and T10 and T11 all the
// same where not: all of it is refused by the documents' rules, too.
func TestUses(t *testing.T) {
	p := Default()
	p.Uses = true
	for _, c := range usedLines {
		if got := what(p.CheckLine(c.line)); got != c.what {
			t.Errorf("%q: asked about %q, want %q", c.line, got, c.what)
		}
		if c.what != "" && Default().CheckLine(c.line) == nil {
			t.Errorf("%q is not refused by the documents' rules", c.line)
		}
	}
	for _, c := range blockedLines {
		words := c.what == "`" || c.what == "$(" || c.line == "(fdisk -l)" || c.line == "eval ls" || c.line == "true; eval ls" || c.line == `e\val ls`
		if (p.CheckLine(c.line) == nil) != words {
			t.Errorf("%q: nothing is asked: %v", c.line, !words)
		}
	}
	if r := p.Check([]string{"grep", "eval|`", "$(x)"}); r != nil {
		t.Errorf("without a shell: asked about %q", r.What)
	}
	p.Patterns = Patterns([]string{"secret"})
	if p.CheckLine("cat my-secrets") == nil {
		t.Error("a pattern of the person's own is not looked for")
	}
}
