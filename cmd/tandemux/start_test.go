package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/internal/asciicast"
	"tandemux/internal/svg"
)

const (
	startPage = "../../docs/start.md"
	startCast = "../../docs/screens/start.cast"
	startSVG  = "../../docs/screens/start.svg"
)

// TestStart does what docs/start.md says, on a terminal, as somebody would who knows
// nothing else: commands are typed (console), keys pressed (keys), and what the page
// shows (text, and what commands print) must be on the screen. With -update it is
// recorded, typed at a person's pace, for docs/screens.
func TestStart(t *testing.T) {
	doStart(t, "-- home/config/tandemux/config.toml --\n[agents.claude]\ntitle = \"Claude Code\"\ncommand = [\"scripted-agent\", \"claude.txt\"]\n-- home/app/claude.txt --\n"+deploys, nil)
}

// TestRealAgentsStart is the same with the agent that the page installs, and a model
// without a mind. It needs what scripts/real-agents.sh installs.
func TestRealAgentsStart(t *testing.T) {
	folder, bin := realBin(t)
	const program = "claude-code-acp" // alone, as others would come before it
	if err := os.Symlink(filepath.Join(folder, "node_modules/.bin", program), filepath.Join(filepath.Dir(bin), program)); err != nil {
		t.Fatal(err)
	}
	m := &Model{Command: "sh deploy.sh"}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close) // after the script, which runs in parallel
	doStart(t, "", map[string]string{
		"ANTHROPIC_API_KEY": "fake", "ANTHROPIC_BASE_URL": server.URL, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
		"PATH": filepath.Dir(bin) + ":$PATH",
	})
}

// doStart does what the page says, with files and variables about its agent.
func doStart(t *testing.T, files string, env map[string]string) {
	script := "follow\n" + files
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/start.txtar", []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	page := blocks(t, startPage)
	testscript.Run(t, testscript.Params{
		Dir: dir, Setup: setupScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"follow": func(ts *testscript.TestScript, _ bool, _ []string) {
			f := follow{ts: ts}
			vars := ttyEnv(ts)
			for name, value := range env {
				vars = append(vars, name+"="+strings.ReplaceAll(value, "$PATH", ts.Getenv("PATH")))
			}
			var err error
			f.t, err = startTty(ts.Getenv("HOME"), vars, 80, 24, []string{"bash"})
			ts.Check(err)
			ts.Value(ttysKey{}).(ttys)["start"] = f.t
			if *update {
				f.record()
			}
			f.expect(0, `^\$`)
			for _, b := range page {
				f.do(b)
			}
			if *update && !t.Failed() {
				ts.Check(os.WriteFile(startCast, f.cast.Bytes(), 0o644))
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
	ts    *testscript.TestScript
	t     *tty
	cast  bytes.Buffer
	write *asciicast.Writer
	began time.Time
}

func (f *follow) record() {
	var err error
	f.write, err = asciicast.NewWriter(&f.cast, asciicast.Header{Version: asciicast.V3, Cols: 80, Rows: 24, Term: "xterm-256color", Title: "Ten minutes with tandemux"})
	f.ts.Check(err)
	f.began = time.Now()
	f.t.mu.Lock()
	defer f.t.mu.Unlock()
	f.t.printed = func(b []byte) { f.event(asciicast.Output, string(b)) }
}

func (f *follow) event(kind asciicast.Kind, data string) {
	f.ts.Check(f.write.Write(asciicast.Event{At: time.Since(f.began), Kind: kind, Data: data}))
}

// press types keys, for a recording as slowly as a person.
func (f *follow) press(keys ...string) {
	for _, k := range keys {
		if f.write != nil {
			time.Sleep(60 * time.Millisecond)
		}
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

// see waits for what the page shows, and marks it in the recording.
func (f *follow) see(line int, pattern string) {
	f.expect(line, pattern)
	if f.write != nil {
		f.t.mu.Lock()
		f.event(asciicast.Marker, "start.md")
		f.t.mu.Unlock()
		time.Sleep(1500 * time.Millisecond)
	}
}

// ticks waits until the seconds that the screen counts have gone on by two: until then
// keys may not be for what it asks.
func (f *follow) ticks(b block) {
	re, first := regexp.MustCompile(b.when), -1
	screen, ok := f.t.waitUntil(func(screen, _ string) bool {
		m := re.FindStringSubmatch(screen)
		if m == nil {
			return false
		}
		n, _ := strconv.Atoi(m[1])
		if first < 0 {
			first = n
		}
		return n >= first+2
	})
	if !ok {
		f.ts.Fatalf("start.md:%d: %q does not count on\n%s", b.line, b.when, screen)
	}
}

func (f *follow) do(b block) {
	if b.reason != "" {
		return
	}
	if b.when != "" {
		f.ticks(b)
	}
	switch b.kind {
	case "text":
		f.see(b.line, wholeScreen(b))
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
		f.see(b.line, atEnd(b))
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

// shown gives the patterns of what the page shows, in order.
func shownBy(page []block) (all []block) {
	for _, b := range page {
		if b.reason == "" && (b.kind == "text" || b.kind == "console" && b.commands[len(b.commands)-1] != "$ tandemux") {
			all = append(all, b)
		}
	}
	return all
}

// TestRecordingIsOfToday: docs/screens/start.cast shows what docs/start.md does, which
// TestStart holds to the program, and start.svg is made of it.
func TestRecordingIsOfToday(t *testing.T) {
	data, err := os.ReadFile(startCast)
	if err != nil {
		t.Fatal(err)
	}
	r, err := asciicast.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	em, err := engine.New(engine.Default, emulator.Options{Cols: r.Header().Cols, Rows: r.Header().Rows})
	if err != nil {
		t.Fatal(err)
	}
	shows := shownBy(blocks(t, startPage))
	var frames [][]byte
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == asciicast.Output {
			em.Write([]byte(e.Data)) //nolint:errcheck // it never fails
		}
		if e.Kind != asciicast.Marker {
			continue
		}
		if len(frames) >= len(shows) {
			t.Fatal("the recording goes on where the page has ended; run: make screens")
		}
		b := shows[len(frames)]
		want := atEnd(b)
		if b.kind == "text" {
			want = wholeScreen(b)
		}
		if text := emulator.ScreenText(em) + "\n"; !regexp.MustCompile("(?m)" + want).MatchString(text) {
			t.Fatalf("start.md:%d shows something else than the recording; run: make screens\n%s", b.line, text)
		}
		frames = append(frames, svg.Screen(nil, em, svg.Options{Cursor: true}))
	}
	if len(frames) != len(shows) {
		t.Fatalf("the recording has %d of the page's %d screens; run: make screens", len(frames), len(shows))
	}
	first := bytes.Clone(frames[0])
	picture := slides(frames)
	if !bytes.Contains(picture, first) {
		t.Fatal("the first screen is not whole in the picture")
	}
	if *update {
		err = os.WriteFile(startSVG, picture, 0o644)
	} else if old, _ := os.ReadFile(startSVG); !bytes.Equal(old, picture) {
		err = errors.New("start.svg is not of start.cast; run: make screens")
	}
	if err != nil {
		t.Error(err)
	}
}

// slides is one picture that shows others in turn; where nothing moves, the last.
func slides(frames [][]byte) []byte {
	const each = 3.0
	head, _, _ := bytes.Cut(frames[0], []byte("\n"))
	out := append(bytes.Clone(head), "\n<title>Ten minutes with tandemux</title>\n"...)
	n := float64(len(frames))
	for i, f := range frames {
		visible := "hidden"
		if i == len(frames)-1 {
			visible = "visible"
		}
		from, to := float64(i)/n, float64(i+1)/n
		out = fmt.Appendf(out, `<g visibility="%s"><animate attributeName="visibility" calcMode="discrete" dur="%gs" repeatCount="indefinite" keyTimes="0;%.4f;%.4f" values="hidden;visible;hidden"/>`+"\n%s</g>\n", visible, each*n, from, to, f)
	}
	return append(out, "</svg>\n"...)
}
