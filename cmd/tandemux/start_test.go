package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

const startPage = "../../docs/start.md"

// TestStart does what docs/start.md says, on a terminal, as somebody would who knows
// nothing else: commands are typed (console), keys pressed (keys), and what the page
// shows (text, and what commands print) must be on the screen.
func TestStart(t *testing.T) {
	script := "follow\n-- home/config/tandemux/config.toml --\n[agents.claude]\ntitle = \"Claude Code\"\ncommand = [\"scripted-agent\", \"claude.txt\"]\n-- home/app/claude.txt --\n" + deploys
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/start.txtar", []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	page := blocks(t, startPage)
	testscript.Run(t, testscript.Params{
		Dir: dir, Setup: setupScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"follow": func(ts *testscript.TestScript, _ bool, _ []string) {
			f := follow{ts: ts}
			var err error
			f.t, err = startTty(ts.Getenv("HOME"), ttyEnv(ts), 80, 24, []string{"bash"})
			ts.Check(err)
			ts.Value(ttysKey{}).(ttys)["start"] = f.t
			f.expect(0, `^\$`)
			for _, b := range page {
				f.do(b)
			}
		}},
	})
}

// deploys is the agent that the page's reader has: it asks, and runs deploy.sh.
const deploys = `prompt
call p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"c","title":"sh deploy.sh","kind":"execute","rawInput":{"command":"sh deploy.sh"}},"options":[{"optionId":"once","name":"Allow once","kind":"allow_once"},{"optionId":"no","name":"Reject","kind":"reject_once"}]}
call t terminal/create {"sessionId":"$SESSION","command":"sh","args":["deploy.sh"],"cwd":"$CWD"}
update {"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress","content":[{"type":"terminal","terminalId":"$t.terminalId"}]}
call w terminal/wait_for_exit {"sessionId":"$SESSION","terminalId":"$t.terminalId"}
update {"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}
say You have it now. I go on when it is mine again.\n
`

// follow does the blocks of a page on a terminal.
type follow struct {
	ts *testscript.TestScript
	t  *tty
}

// press types keys.
func (f *follow) press(keys ...string) {
	for _, k := range keys {
		_, err := f.t.ptmx.WriteString(k)
		f.ts.Check(err)
	}
}

// expect waits until the screen matches.
func (f *follow) expect(line int, pattern string) {
	re := regexp.MustCompile("(?m)" + pattern)
	if screen, ok := f.t.waitUntil(func(screen, _ string) bool { return re.MatchString(screen + "\n") }); !ok {
		f.ts.Fatalf("start.md:%d: the screen must match %q and is\n%s", line, pattern, screen)
	}
}

func (f *follow) do(b block) {
	if b.reason != "" {
		return
	}
	if b.when != "" {
		f.expect(b.line, b.when)
	}
	switch b.kind {
	case "text":
		f.expect(b.line, wholeScreen(b))
	case "console":
		for _, c := range b.commands {
			if command, is := strings.CutPrefix(c, "$ "); is {
				f.expect(b.line, `^\$ ?\n*\z`)
				f.press(strings.Split(command, "")...)
				f.expect(b.line, `^\$ `+regexp.QuoteMeta(command)+`\n*\z`)
				f.press("\r")
				if command == "tandemux" {
					f.expect(b.line, `^ main  1 `)
					return
				}
			}
		}
		f.expect(b.line, atEnd(b))
	case "keys":
		for _, line := range b.commands {
			f.press(keysOf(f.ts, line)...)
		}
	default:
		f.ts.Fatalf("start.md:%d: a block of kind %q", b.line, b.kind)
	}
}

// keysOf are the bytes of a line: keys and quoted text, then two spaces and what they do.
func keysOf(ts *testscript.TestScript, line string) (all []string) {
	keys, _, _ := strings.Cut(line, "  ")
	for keys = strings.TrimSpace(keys); keys != ""; keys = strings.TrimSpace(keys) {
		if quoted, err := strconv.QuotedPrefix(keys); err == nil {
			all = append(all, strings.Split(quoted[1:len(quoted)-1], "")...)
			keys = keys[len(quoted):]
			continue
		}
		var name string
		name, keys, _ = strings.Cut(keys, " ")
		k, ok := pressed[name]
		if !ok && len(name) != 1 {
			ts.Fatalf("there is no key %q", name)
		}
		if !ok {
			k = name
		}
		all = append(all, k)
	}
	return all
}

var pressed = map[string]string{"ctrl+space": "\x00", "enter": "\r", "left": "\x1b[D", "escape": "\x1b[27u"}

// pattern matches lines in which … stands for anything, on a line of its own for lines.
func pattern(lines []string) string {
	var re strings.Builder
	for _, line := range lines {
		if line == "…" {
			re.WriteString(`(?:.*\n)*?`)
			continue
		}
		re.WriteString(strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(line, " ")), "…", `.*`) + ` *\n`)
	}
	return re.String()
}

func wholeScreen(b block) string {
	return `\A` + pattern(b.commands) + `\n*\z`
}

func atEnd(b block) string { return `^` + pattern(b.commands) + `\$ ?\n*\z` }
