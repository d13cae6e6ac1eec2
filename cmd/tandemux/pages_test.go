package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// A block of a page, between fences. Those of sh are run, those of console are run and
// what they show is compared.
type block struct {
	line     int
	kind     string
	reason   string // why it is not run: <!-- not run: REASON --> in the line before it
	when     string // what counts seconds on the screen before it: <!-- when: REGEXP --> there
	commands []string
}

// kinds of blocks that pages have besides.
var shown = []string{"text", "toml", "json", "js"}

// pages are README.md and all below docs.
func pages(t *testing.T) []string {
	all := []string{"../../README.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/contributing/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(found), err)
		}
		all = append(all, found...)
	}
	return all
}

var (
	notRun = lazily(`^<!-- not run: (.+) -->$`)
	when   = lazily(`^<!-- when: (.+) -->$`)
)

func blocks(t *testing.T, page string) (all []block) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	open := -1
	for i, line := range lines {
		kind, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open < 0:
			open = i
			b := block{line: i + 1, kind: kind}
			if m := notRun().FindStringSubmatch(lines[max(i-1, 0)]); m != nil {
				b.reason = m[1]
			}
			if m := when().FindStringSubmatch(lines[max(i-1, 0)]); m != nil {
				b.when = m[1]
			}
			all = append(all, b)
		case fence:
			all[len(all)-1].commands = lines[open+1 : i]
			open = -1
		case open < 0 && strings.HasPrefix(line, "    ") && i > 0 && lines[i-1] == "":
			t.Errorf("%s:%d: a block without fences: write ```sh, ```console or ```text", page, i+1)
		}
	}
	return all
}

// needs is what pages with a word are run with.
var needs = [][2]string{
	{"curl ", "[!has:curl] skip 'there is no curl'\n"},
	{"python3", "[!exec:/usr/bin/python3] skip 'there is no python3'\n"},
	{"build ssh://", sshMachine},
	{"ssh ", sshMachine},
}

// sshMachine is the machine named machine.
const sshMachine = "[!sshd] skip 'there is no sshd that could log this user in'\nuser far\nmkdir farbin\nsymlink farbin/tandemux -> $TANDEMUXBIN\nuser near\nsshd far\nsshd known\n"

// TestPages runs the commands of README.md and docs as they are written: each page in an
// empty home of its own, in a small repository, with an agent named claude that says
// little, and in a task writes hello.txt. What runs until somebody ends it, such as
// tandemux watch, is ended. The machine named machine is this one, as another user, and
// port 7070 one that is free; the host listens there.
func TestPages(t *testing.T) {
	t.Parallel()
	dir, ran := t.TempDir(), 0
	around, err := os.ReadFile("testdata/page.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages(t) {
		if page == startPage { // TestStart does it, on a terminal
			continue
		}
		var script strings.Builder
		for _, b := range blocks(t, page) {
			switch {
			case b.reason != "" || slices.Contains(shown, b.kind):
				continue
			case b.kind == "sh":
				fmt.Fprintf(&script, "at %s:%d\n%s\n", filepath.Base(page), b.line, strings.Join(b.commands, "\n"))
			case b.kind == "console":
				console(&script, filepath.Base(page), b)
			default:
				t.Errorf("%s:%d: a block of kind %q", page, b.line, b.kind)
			}
			ran++
		}
		name, before := strings.TrimSuffix(filepath.Base(page), ".md"), ""
		if script.Len() == 0 || testing.Short() && name != "README" {
			continue
		}
		for _, need := range needs {
			if strings.Contains(script.String(), need[0]) {
				before += need[1]
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name+".txtar"), []byte(before+string(around)+"-- page.sh --\n"+script.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if ran < 18 {
		t.Errorf("%d blocks are run", ran)
	}
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			env.Setenv("AT", ln.Addr().String())
			return errors.Join(ln.Close(), setupScript(env))
		},
		Cmds:      map[string]func(*testscript.TestScript, bool, []string){"user": cmdUser, "sshd": cmdSSHD},
		Condition: func(cond string) (bool, error) { return holds(t, cond) },
	})
}

// console is a transcript: each line behind "$ " is run, and must print the lines below
// it, in which … stands for anything.
func console(script *strings.Builder, page string, b block) {
	for i, line := range b.commands {
		command, is := strings.CutPrefix(line, "$ ")
		if !is {
			continue
		}
		var want []string
		for _, shows := range b.commands[i+1:] {
			if strings.HasPrefix(shows, "$ ") {
				break
			}
			want = append(want, shows)
		}
		fmt.Fprintf(script, "at %s:%d\nshows <<'EOF'\n%s\n%s\nEOF\n", page, b.line+i+1, command, strings.Join(want, "\n"))
	}
}
