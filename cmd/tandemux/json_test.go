package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"tandemux/internal/cli"
	"tandemux/internal/soak"
)

// jsonLines are command lines that are run with --json, in order: each ends with 0, or
// behind ! with something else and an error. A task and a terminal can be named by
// what the line before them printed as id: %.
const jsonLines = `
session ls
ls
agent ls
! ls extra
! read nothing
! wait nothing --exit
! ls --host unix:///nowhere/at-all
new --name build -- sh
new --name brief -- true
! new --name brief -- no-such-program-anywhere
do new-tab -- cat
do popup -- true
do
! do copy-mode
! do zoom --pane p99
layout ls
run --cwd / -- echo hello
run -- sh -c 'exit 3'
! run --timeout 0.1s -- sleep 100
wait brief --exit
wait build --idle 1ms
! wait build --text never --timeout 10ms
ls
read build
read build --history
read brief --command last
history
search .
watch brief --snapshots
token new phone --expires 1h
token ls
hosts ls
hosts check
share build --no-qr
share ls
web --no-qr
web --passkeys
web --off
doctor
prompt --agent-command 'scripted-agent hello.txt' hello
session ls
agent ls
! prompt --session nothing hello
init --template hooks counter
! init --template hooks counter
deploy --config counter --branch main --yes --note first
deploy --config counter --branch main --yes --redeploy
rollback --config counter --branch main --yes
versions counter
versions counter --events --branch main
! versions nothing
agent ls --deployed
agent show counter
! agent show nothing
env set MODEL -v large -a counter -e preview
env import variables.env -a counter -e preview
env ls -a counter
env show MODEL -a counter -e preview
! env show NOTHING -a counter -e preview
env rm MODEL -a counter -e preview
logs counter
apikey new ci --scope agent:*:viewer --expires 1h
apikey ls
whoami
apikey show ci
apikey set ci --scope agent:*:executor
apikey rm ci
apikey ls --all
! apikey show nothing
project new site --dir .
project ls
project show site
project set site --description ours
project rm site
! project show nothing
ws new --name corpus --dir files
ws ls
ws ls corpus
ws show corpus
ws show corpus one.txt
! ws show corpus nothing
ws push corpus files
ws pull corpus pulled
ws rm corpus
task new --no-sandbox --agent hello --name t --workspace copy:files -m hello --wait
task new --no-sandbox --agent counter --branch main --name c --workspace none
task ls
task show t
! task show nothing
task send t again
task send t more --wait
task budget t --max-tokens 100000 --max-cost 2.50 --max-time 30m
task budget t
! task budget t --max-tokens -1
! task budget nothing
task watch t
task progress --task t 40 halfway
task say --task t done
task new --no-sandbox --agent asks --name a --workspace none -m x
task show a
! task answer a yes
task answer a no
ws diff t
ws merge t --yes
task new --no-sandbox --agent writes --name u --workspace worktree:repo -m hello --wait
ws update u
ws push u ../remote
! ws push u nowhere
ws update t
! ws update nothing
ws resolve t
ws new --name shared
task new --no-sandbox --agent hello --name s --filesystem shared -m hello --wait
ws resolve s --keep task
! ws resolve u --keep task
task pull t --out out
! task push t out
task migrate c --latest
task cancel c
task rm c
task cleanup --all
agent rm counter
! task rm nothing
`

// jsonRun runs command lines for the test below.
type jsonRun struct {
	*testing.T
	dir  string
	doc  *jsonschema.Schema
	root *cobra.Command
	seen map[string]map[reflect.Type]bool // by command

	resolved map[*jsonschema.Schema]*jsonschema.Resolved
}

// sandboxLines are run where there can be sandboxes.
const sandboxLines = `task new --agent counter --branch main --name boxed --workspace none -m hello --wait
task push boxed home
task rm boxed
`

// TestJSON: what each command prints with --json, and says when it fails, has the form
// that `tandemux schema cli` describes, and no other member.
func TestJSON(t *testing.T) {
	soak.Long(t, "every command with --json")
	if beside(t) {
		return
	}
	home, _, bin := aHome(t, "tandemux", "scripted-agent")
	sandboxes() // by the PATH that the tests have, once for all of them
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	root := newRoot()
	x := &jsonRun{T: t, dir: t.TempDir(), root: root, doc: cli.Schema(root), seen: map[string]map[reflect.Type]bool{}, resolved: map[*jsonschema.Schema]*jsonschema.Resolved{}}
	for path, text := range map[string]string{
		x.dir + "/files/one.txt":                   "one\n",
		x.dir + "/home/.claude/settings.json":      "{}\n",
		x.dir + "/variables.env":                   "A=b\n",
		x.dir + "/hello.txt":                       strings.Repeat("prompt\nsay Hello.\n", 9),
		x.dir + "/asks.txt":                        "prompt\ncall p session/request_permission {\"sessionId\":\"$SESSION\",\"toolCall\":{\"toolCallId\":\"c\",\"title\":\"Run it\",\"kind\":\"execute\",\"rawInput\":{\"command\":\"make\"}},\"options\":[{\"optionId\":\"no\",\"name\":\"No\",\"kind\":\"reject_once\"}]}\n",
		home + "/config/tandemux/config.toml":      "[agents.hello]\ncommand = [\"scripted-agent\", \"" + x.dir + "/hello.txt\"]\n[agents.asks]\ncommand = [\"scripted-agent\", \"" + x.dir + "/asks.txt\"]\n[agents.writes]\ncommand = [\"scripted-agent\", \"" + x.dir + "/writes.txt\"]\n",
		x.dir + "/writes.txt":                      "prompt\ncall w fs/write_text_file {\"sessionId\":\"$SESSION\",\"path\":\"$CWD/f\",\"content\":\"new\"}\n",
		x.dir + "/remote/":                         "",
		x.dir + "/repo/":                           "",
		home + "/data/fish/generated_completions/": "",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil && !strings.HasSuffix(path, "/") {
			t.Fatal(err)
		}
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	for _, args := range [][]string{{"init", "-q"}, {"init", "-q", "--bare", "../remote"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"}} {
		if out, err := exec.Command("git", append([]string{"-C", x.dir + "/repo"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	lines := jsonLines
	if sandboxes() {
		ownFiles(t, bin)
		lines = strings.Replace(lines, "task migrate c", sandboxLines+"task migrate c", 1)
	}
	if testing.Short() { // what is deployed, and tasks, take their time
		lines, _, _ = strings.Cut(lines, "deploy")
	}
	for _, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		words, fails := strings.CutPrefix(line, "! ")
		if words == "task show a" {
			x.asked("a")
		}
		x.run(fails, split(words)...)
	}
	x.written()
	if testing.Short() {
		return
	}
	x.watch()
	x.each(root)
}

// written checks that docs/scripting.md names the commands that have no --json; a group's
// name stands for all of it.
func (x *jsonRun) written() {
	var want []string
	for _, c := range completeRoot(x.T).Commands() {
		below := []*cobra.Command{c}
		if c.HasSubCommands() {
			below = c.Commands()
		}
		bare := slices.DeleteFunc(slices.Clone(below), func(c *cobra.Command) bool { return c.Hidden || len(cli.Forms(c)) > 0 })
		switch {
		case c.Hidden || c.Name() == "help":
		case len(bare) == len(below):
			want = append(want, c.Name())
		default:
			for _, b := range bare {
				want = append(want, strings.TrimPrefix(b.CommandPath(), "tandemux "))
			}
		}
	}
	page, err := os.ReadFile("../../docs/scripting.md")
	if err != nil {
		x.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), " and have no `--json`: ")
	rest, _, _ = strings.Cut(rest, "\n\n")
	var has []string
	for _, m := range span().FindAllString(rest, -1) {
		has = append(has, strings.Trim(m, "`"))
	}
	if !slices.Equal(has, want) {
		x.Errorf("docs/scripting.md says that %q have no --json; these have none: %q", has, want)
	}
}

// command runs one with --json.
func (x *jsonRun) command(args ...string) *exec.Cmd {
	at := len(args)
	for i, word := range args {
		if word == "--" {
			at = i
			break
		}
	}
	args = append(append(append([]string{}, args[:at]...), "--json"), args[at:]...)
	cmd := exec.Command("tandemux", args...)
	cmd.Dir = x.dir
	return cmd
}

// run runs one and looks at what it says.
func (x *jsonRun) run(fails bool, args ...string) {
	x.Helper()
	cmd := x.command(args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	var ended *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &ended):
		x.Fatal(err)
	case fails:
		x.refused(args, err, said.String())
	case err != nil && said.Len() > 0 && args[0] != "doctor":
		x.Fatalf("tandemux %s: %v: %s", strings.Join(args, " "), err, said.String())
	}
	x.printed(args, out.Bytes(), fails)
}

// asked waits until a task asks something.
func (x *jsonRun) asked(task string) {
	x.Helper()
	var out []byte
	for end := time.Now().Add(waitLimit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if out, _ = x.command("task", "show", task).Output(); bytes.Contains(out, []byte(`"WAITING"`)) {
			return
		}
	}
	x.Fatalf("the task %s does not ask: %s", task, out)
}

// refused checks what a command said that failed.
func (x *jsonRun) refused(args []string, err error, said string) {
	x.Helper()
	var v any
	switch text := json.Unmarshal([]byte(said), &v); {
	case err == nil:
		x.Errorf("tandemux %s does not fail", strings.Join(args, " "))
	case text != nil || strings.Count(said, "\n") != 1:
		x.Errorf("tandemux %s: stderr is no JSON object: %q", strings.Join(args, " "), said)
	default:
		x.valid(args, x.doc.Defs["error"], v)
		if inside := regexp.MustCompile(`x-tandemux/|json:|ahp\.|map\[|0x[0-9a-f]{6}|<nil>|%!|tandemux/(host|internal)`).FindString(said); inside != "" {
			x.Errorf("tandemux %s: the error says %q: %s", strings.Join(args, " "), inside, said)
		}
	}
}

// printed checks what a command printed: a value of one of its forms, or lines.
func (x *jsonRun) printed(args []string, out []byte, maybe bool) {
	x.Helper()
	c, _, err := x.root.Find(args)
	if err != nil || len(cli.Forms(c)) == 0 {
		x.Fatalf("tandemux %s has no --json: %v", strings.Join(args, " "), err)
	}
	name := strings.TrimPrefix(c.CommandPath(), "tandemux ")
	if x.doc.Defs[name] == nil {
		x.Fatalf("there is no schema of %q", name)
	}
	if len(out) == 0 && !maybe {
		x.Errorf("tandemux %s prints nothing", strings.Join(args, " "))
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var v any
		if err := d.Decode(&v); err != nil {
			x.Errorf("tandemux %s: %v: %s", strings.Join(args, " "), err, out)
			return
		}
		x.valid(args, x.doc.Defs[name], v)
		x.matched(name, c, v)
	}
}

// matched notes which of a command's forms a value has.
func (x *jsonRun) matched(name string, c *cobra.Command, v any) {
	if x.seen[name] == nil {
		x.seen[name] = map[reflect.Type]bool{}
	}
	of := x.doc.Defs[name].AnyOf
	if len(of) == 0 {
		of = []*jsonschema.Schema{x.doc.Defs[name]}
	}
	for i, f := range cli.Forms(c) {
		if x.check(of[i], v) == nil {
			x.seen[name][f.Type] = true
		}
	}
}

func (x *jsonRun) check(s *jsonschema.Schema, v any) error {
	r := x.resolved[s]
	if r == nil {
		whole := s.CloneSchemas()
		whole.Defs = map[string]*jsonschema.Schema{}
		x.refer(whole.Defs, s) // not to all of the document: to resolve that for each command takes seconds
		var err error
		if r, err = whole.Resolve(nil); err != nil {
			x.Fatal(err)
		}
		x.resolved[s] = r
	}
	return r.Validate(v)
}

var definition = lazily(`"\$ref":"#/\$defs/([^"]+)"`)

// refer adds the definitions that a schema refers to, and those that these do.
func (x *jsonRun) refer(defs map[string]*jsonschema.Schema, s *jsonschema.Schema) {
	text, err := json.Marshal(s)
	if err != nil {
		x.Fatal(err)
	}
	for _, m := range definition().FindAllStringSubmatch(string(text), -1) {
		if def := x.doc.Defs[m[1]]; def != nil && defs[m[1]] == nil {
			defs[m[1]] = def.CloneSchemas()
			x.refer(defs, def)
		}
	}
}

func (x *jsonRun) valid(args []string, s *jsonschema.Schema, v any) {
	x.Helper()
	if err := x.check(s, v); err != nil {
		text, _ := json.Marshal(v)
		x.Errorf("tandemux %s: %v:\n%s", strings.Join(args, " "), err, text)
	}
}

// watch looks at the lines of a terminal that ends meanwhile.
func (x *jsonRun) watch() {
	cmd := x.command("watch", "build", "--snapshots")
	out, err := cmd.StdoutPipe()
	if err != nil {
		x.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		x.Fatal(err)
	}
	var all bytes.Buffer
	first := make([]byte, 1)
	if _, err := out.Read(first); err != nil { // it has subscribed
		x.Fatal(err)
	}
	all.Write(first)
	if text, err := exec.Command("tandemux", "send", "build", "--enter", "cd /; exit 3").CombinedOutput(); err != nil {
		x.Fatal(err, string(text))
	}
	stop := time.AfterFunc(waitLimit, func() { cmd.Process.Kill() })
	defer stop.Stop()
	if _, err := all.ReadFrom(out); err != nil {
		x.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		x.Fatal(err)
	}
	x.printed([]string{"watch"}, all.Bytes(), false)
}

// each checks that no command was left out, and that all say as JSON what is wrong with
// their words.
func (x *jsonRun) each(c *cobra.Command) {
	for _, below := range c.Commands() {
		x.each(below)
	}
	forms := cli.Forms(c)
	if c.Hidden || cli.IsGroup(c) || len(forms) == 0 {
		return
	}
	name := strings.TrimPrefix(c.CommandPath(), "tandemux ")
	if !strings.HasPrefix(x.doc.Defs[name].Description, c.Short) {
		x.Errorf("the schema of %q says that it is %q", name, x.doc.Defs[name].Description)
	}
	for _, f := range forms {
		if !x.seen[name][f.Type] && (sandboxes() || !strings.Contains(sandboxLines, name+" ")) {
			x.Errorf("no line of the test has `tandemux %s --json` print %v", name, f.Type)
		}
	}
	x.run(true, append(strings.Fields(name), "--no-such-option")...)
}
