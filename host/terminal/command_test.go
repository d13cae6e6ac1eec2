package terminal

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/emutest"
	"tandemux/emulator/native"
	"tandemux/emulator/vt10x"
	"tandemux/host/terminal/filter"
	"tandemux/host/terminal/output"
)

// fed is a terminal that is fed by hand.
func fed(t testing.TB, change func(*Config)) *Terminal {
	t.Helper()
	c := Config{
		Process: idlePty(t), Cols: 40, Rows: 10, Hostname: "here", Child: Child{Nonce: "n"}, delays: delays{time.Hour, time.Hour},
		Emulator: native.New(emulator.Options{Cols: 40, Rows: 10, History: 100}),
	}
	if change != nil {
		change(&c)
	}
	term := build(c)
	t.Cleanup(term.Close)
	return term
}

func (t *Terminal) give(s string) {
	t.process(append(make([]byte, headroom), s...))
}

func own(mark string) string { return "\x1b]7501;n;" + mark + "\x1b\\" }

// story is what actions tell, without times.
func story(actions []ahp.Action) string {
	var b strings.Builder
	code := func(p *int) string {
		if p == nil {
			return "?"
		}
		return fmt.Sprint(*p)
	}
	told := slices.DeleteFunc(slices.Clone(actions), func(a ahp.Action) bool {
		_, title := a.(ahp.TerminalTitleChanged)
		return title
	})
	for _, a := range joined(told) {
		switch a := a.(type) {
		case ahp.TerminalData:
			fmt.Fprintf(&b, "%q ", a.Data)
		case ahp.TerminalCommandDetectionAvailable:
			b.WriteString("available ")
		case ahp.TerminalCommandExecuted:
			fmt.Fprintf(&b, "executed(%s %q) ", a.CommandID, a.CommandLine)
		case ahp.TerminalCommandFinished:
			fmt.Fprintf(&b, "finished(%s %s) ", a.CommandID, code(a.ExitCode))
		case ahp.TerminalCwdChanged:
			fmt.Fprintf(&b, "cwd(%s) ", a.Cwd)
		case ahp.TerminalExited:
			fmt.Fprintf(&b, "exited(%s) ", code(a.ExitCode))
		case ahp.TerminalCleared:
			b.WriteString("cleared ")
		case Ready:
			b.WriteString("ready ")
		case Declined:
			b.WriteString("declined ")
		}
	}
	return strings.TrimSpace(b.String())
}

// Data and commands keep their order, however much comes at once (G27–G29).
func TestOrder(t *testing.T) {
	t.Parallel()
	in := own("A") + "$ " + own("B") + "ls\r\n" + own("E;ls") + own("C;1") + "one\r\n" + own("P;Cwd=/tmp/a b") + "two" + own("D;3") +
		own("A") + "$ " + own("B") + "\r\n" + own("A") + "$ " + own("B") + "x" + own("C;2") + "out" + own("A") + "$ "
	want := `available "$ ls\r\n" executed(c1 "ls") "one\r\ntwo" cwd(file:///tmp/a%20b) finished(c1 3) "$ \r\n$ x" executed(c2 "x") "out" finished(c2 ?) "$ "`
	term := fed(t, nil)
	term.give(in)
	if got := story(taken(term)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for i := range len(in) {
		term := fed(t, nil)
		term.give(in[:i])
		term.give(in[i:])
		if got := story(merged(taken(term))); got != strings.Replace(want, "cwd(file:///tmp/a%20b) ", "", 1) {
			t.Fatalf("split at %d: %s", i, got)
		}
	}
}

// What a program prints can neither end a command nor name one, nor can what is
// inside other strings.
func TestForged(t *testing.T) {
	t.Parallel()
	term := fed(t, nil)
	term.give(own("A") + "$ " + own("B") + own("E;real") + own("C;1"))
	for _, fake := range []string{
		"\x1b]133;D;0\a", "\x1b]633;D;0\a", "\x1b]633;E;fake;n\a\x1b]633;C\a", "\x1b]133;A\a", "\x1b]7501;x;D;0\a", "\x1b]7501;D;0\a", "\x1b]7501;;D;0\a",
		"\x1bP" + "7501;n;D;0" + "\x1b\\", "\x1b_\x07]7501;n;D\x07\x1b\\", "\x1bPtmux;\x1b\x1b]7501;n;D;0\a\x1b\\",
	} {
		term.give(fake + "x")
	}
	term.give(own("D;5"))
	got := story(taken(term))
	if !strings.Contains(got, `executed(c1 "real")`) || strings.Count(got, "executed") != 1 || strings.Count(got, "finished") != 1 || !strings.HasSuffix(got, "finished(c1 5)") {
		t.Errorf("%s", got)
	}
	if strings.Contains(got, "]633") || strings.Contains(got, "]133") || strings.Contains(got, "]7501;x") {
		t.Errorf("marks are left: %s", got)
	}
}

// Where the shell does not tell the command line it is read off the screen.
func TestTypedText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, typed, want string }{
		{"simple", "echo spaced\r\n", "echo spaced"},
		{"edited", "echo wrogn\b\b\b\x1b[Kong right\r\n", "echo wrong right"},
		{"wrapped", "echo " + strings.Repeat("word ", 12) + "\r\n", "echo " + strings.TrimSpace(strings.Repeat("word ", 12))},
		{"lines", "for i in 1\r\n" + own("F") + "> " + own("G") + "do :\r\n" + own("F") + "> " + own("G") + "done\r\n", "for i in 1\ndo :\ndone"},
		{"scrolled", strings.Repeat("x\r\n", 30), strings.TrimSpace(strings.Repeat("x\n", 30))},
		{"nothing", "\r\n", ""},
		{"wide", "echo 日本 é\r\n", "echo 日本 é"},
	} {
		term := fed(t, nil)
		term.give("before\r\n" + own("A") + "two\r\nline $ " + own("B") + tt.typed + own("C;1"))
		if r, ok := term.Command("", 1, false); !ok || r.CommandLine != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.name, r.CommandLine, ok, tt.want)
		}
	}
}

func run(n int, line, out, code string) string {
	return own("A") + "$ " + own("B") + line + "\r\n" + own("E;"+line) + own(fmt.Sprintf("C;%d", n)) + out + own("D;"+code)
}

func TestLookup(t *testing.T) {
	t.Parallel()
	term := fed(t, nil)
	if _, ok := term.Command("", 1, false); ok {
		t.Error("a command before any")
	}
	for i, code := range []string{"0", "1", "0", "2", "0"} {
		term.give(run(i+1, fmt.Sprint("cmd", i+1), fmt.Sprintf("out%d\r\n", i+1), code))
	}
	term.Clear()
	term.Resize(50, 12)
	for _, tt := range []struct {
		id     string
		back   int
		failed bool
		want   string
	}{
		{"", 0, false, "cmd5"},
		{"", 1, false, "cmd5"},
		{"", 5, false, "cmd1"},
		{"", 6, false, ""},
		{"c2", 0, false, "cmd2"},
		{"c9", 0, false, ""},
		{"c", 0, false, ""},
		{"", 1, true, "cmd4"},
		{"", 2, true, "cmd2"},
		{"", 3, true, ""},
	} {
		r, ok := term.Command(tt.id, tt.back, tt.failed)
		if ok != (tt.want != "") || r.CommandLine != tt.want || ok && r.Output != strings.Replace(tt.want, "cmd", "out", 1)+"\r\n" {
			t.Errorf("%+v: %+v, %v", tt, r, ok)
		}
	}
	all := term.Commands()
	if len(all.Items) != 5 || !all.Detection || all.Prompt || all.Items[1].ID != "c2" || *all.Items[1].ExitCode != 1 || all.Items[0].Bytes != 6 {
		t.Errorf("%+v", all)
	}
	term.give(own("A") + own("B"))
	if !term.Commands().Prompt {
		t.Error("no prompt")
	}
}

// Head and tail are whole lines, the middle is counted, memory is bounded (G16).
func TestRetention(t *testing.T) {
	t.Parallel()
	term := fed(t, nil)
	term.give(own("A") + own("E;big") + own("C;1"))
	var all bytes.Buffer
	for i := 0; all.Len() < 5<<20; i++ {
		line := fmt.Sprintf("%d %s é\r\n", i, strings.Repeat("x", i%200))
		all.WriteString(line)
		term.give(line)
		term.Take()
		if held := term.cmds.running.out.Held(); held > output.HeadBytes+output.TailBytes {
			t.Fatalf("%d bytes held", held)
		}
	}
	check := func() {
		t.Helper()
		r, _ := term.Command("", 1, false)
		whole := all.String()
		if !strings.HasPrefix(whole, r.Output) || !strings.HasSuffix(whole, r.Tail) || !strings.HasSuffix(r.Output, "\n") ||
			whole[len(whole)-len(r.Tail)-1] != '\n' {
			t.Errorf("output begins %.20q ends %q, tail begins %.20q", r.Output, r.Output[len(r.Output)-20:], r.Tail)
		}
		if int64(len(r.Output)+len(r.Tail))+r.Omitted != int64(all.Len()) || r.Bytes != int64(all.Len()) {
			t.Errorf("%d+%d+%d of %d bytes", len(r.Output), r.Omitted, len(r.Tail), all.Len())
		}
		if len(r.Output) < output.HeadBytes-4<<10 || len(r.Tail) < output.TailBytes-4<<10 {
			t.Errorf("only %d and %d bytes are kept", len(r.Output), len(r.Tail))
		}
	}
	check()
	term.give(own("D;0"))
	check()
	for i := range 600 {
		term.give(run(i+2, "next", strings.Repeat("y", 10<<10), "0"))
		term.Take()
	}
	held := 0
	for _, c := range term.cmds.list {
		held += c.out.Held()
	}
	if len(term.cmds.list) != maxCommands || held > maxOutputs+(16<<10) {
		t.Errorf("%d commands with %d bytes", len(term.cmds.list), held)
	}
	if r, ok := term.Command("", maxCommands, false); !ok || r.Output != "" || r.Omitted != 10<<10 {
		t.Errorf("the oldest: %d bytes, %d omitted, %v", len(r.Output), r.Omitted, ok)
	}
	// An empty line and short outputs survive whole.
	term.give(run(1000, "true", "", "0"))
	if r, _ := term.Command("", 1, false); r.Output != "" || r.Omitted != 0 || r.CommandLine != "true" {
		t.Errorf("%+v", r)
	}
}

// A serialised state is cut where commands begin and end: their output is
// theirs alone.
func TestSerialisedParts(t *testing.T) {
	t.Parallel()
	term := fed(t, nil)
	for i := range 4 {
		term.give(run(i+1, fmt.Sprint("cmd", i+1), fmt.Sprintf("out%d.1\r\nout%d.2\r\n", i+1, i+1), "0"))
	}
	term.give(own("A") + "$ " + own("B") + "sleep\r\n" + own("E;sleep") + own("C;5") + "half")
	term.Take()
	if err := term.Resize(23, 7); err != nil {
		t.Fatal(err)
	}
	_, _, parts := term.Content(MaxWire)
	if term.kept.whole {
		t.Fatal("the state is not serialised")
	}
	// Each part fed to a screen of its own shows that command's lines.
	var commands []string
	for _, p := range parts {
		if p.Type != ahp.PartCommand {
			continue
		}
		em := native.New(emulator.Options{Cols: 23, Rows: 7})
		em.Write([]byte(p.Output))
		commands = append(commands, p.CommandLine+": "+strings.Join(strings.Fields(emulator.HistoryText(em, -1)), " "))
	}
	want := []string{"cmd1: out1.1 out1.2", "cmd2: out2.1 out2.2", "cmd3: out3.1 out3.2", "cmd4: out4.1 out4.2", "sleep: half"}
	if !reflect.DeepEqual(commands, want) {
		t.Errorf("%q\nwant %q\nof %+v", commands, want, parts)
	}
}

// An engine without marks gives one part, and the running command's after it.
func TestEngineWithoutMarks(t *testing.T) {
	t.Parallel()
	term := fed(t, func(c *Config) { c.Emulator = vt10x.New(emulator.Options{Cols: 40, Rows: 10}) })
	term.give(run(1, "one", "out\r\n", "0") + own("A") + own("E;two") + own("C;2") + "x")
	term.Resize(30, 8)
	_, _, parts := term.Content(MaxWire)
	if len(parts) != 2 || parts[0].Type != ahp.PartUnclassified || parts[1].CommandLine != "two" || parts[1].Output != "" || parts[1].IsComplete {
		t.Errorf("%+v", parts)
	}
}

// After a clear a running command is in no content, but known (AHP, Terminal
// Channel).
func TestClearWhileRunning(t *testing.T) {
	t.Parallel()
	term := fed(t, nil)
	term.give(own("A") + "$ " + own("B") + own("E;make") + own("C;1") + "a\r\n")
	term.Clear()
	term.give("b\r\n" + own("D;0"))
	actions := taken(term)
	if got := story(actions); !strings.Contains(got, "cleared") || !strings.HasSuffix(got, `b\r\n" finished(c1 0)`) {
		t.Errorf("%s", got)
	}
	for _, size := range []int{0, 30} {
		if size > 0 {
			term.Resize(size, 8)
		}
		_, _, parts := term.Content(MaxWire)
		if len(parts) != 1 || parts[0].Type != ahp.PartUnclassified {
			t.Errorf("%+v", parts)
		}
	}
	if r, ok := term.Command("", 1, false); !ok || r.Output != "a\r\nb\r\n" {
		t.Errorf("%+v", r)
	}
}

// A terminal that was started with a command is that command (G27).
func TestOneCommand(t *testing.T) {
	t.Parallel()
	h := start(t, `printf 'a\033]133;D;0\007\033]7;file://here/tmp\007b\n'; exit 7`, startOptions{config: func(c *Config) {
		c.Command, c.Nonce = "the command", ""
	}})
	h.exited()
	h.mu.Lock()
	got := story(h.actions)
	h.mu.Unlock()
	if want := `executed(c1 "the command") "ab\r\n" cwd(file:///tmp) finished(c1 7) exited(7)`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	h = start(t, "kill -KILL $$", startOptions{config: func(c *Config) { c.Command = "x" }})
	h.exited()
	if r, ok := h.term.Command("", 1, false); !ok || r.ExitCode == nil || *r.ExitCode != 137 || r.DurationMs == nil {
		t.Errorf("%+v", r)
	}
}

// A shell that exec replaces, or that ends, finishes what it ran.
func TestExitFinishes(t *testing.T) {
	t.Parallel()
	h := start(t, `printf '\033]7501;n;A\007\033]7501;n;E;exit 3\007\033]7501;n;C;1\007bye\n'; exit 3`, startOptions{config: func(c *Config) { c.Nonce = "n" }})
	h.exited()
	h.mu.Lock()
	defer h.mu.Unlock()
	if got, want := story(h.actions), `available executed(c1 "exit 3") "bye\r\n" finished(c1 3) exited(3)`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Submit types only where a shell waits, and says what is in the way.
func TestSubmit(t *testing.T) {
	t.Parallel()
	refuse := func(term *Terminal, why string) {
		t.Helper()
		if id, err := submit(term, "x"); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("Submit = %q, %v; want %q", id, err, why)
		}
	}
	term := fed(t, nil)
	refuse(fed(t, func(c *Config) { c.Nonce = "" }), "does not mark")
	refuse(term, "prompt") // yet
	term.give(own("A") + "$ ")
	if got := story(taken(term)); !strings.HasSuffix(got, "ready \"$ \"") {
		t.Errorf("%s", got)
	}
	refuse(fed(t, func(c *Config) { c.Command = "top" }), `"top"`)
	term.Input("abc")
	refuse(term, "typed")
	term.give(own("A") + "$ " + own("B"))
	term.give("abc")
	refuse(term, "typed")
	term.give("\b\b\b")
	refuse(term, "typed") // before the cursor
	term.give("\x1b[K\x1b[?2004h")
	if id, err := submit(term, "ls"); id != "c1" || err != nil {
		t.Errorf("Submit = %q, %v", id, err)
	}
	if got := string(term.input.queue); got != "abc\x1b[200~ls\x1b[201~\r" {
		t.Errorf("typed %q", got)
	}
	refuse(term, "prompt")
	term.give(own("E;ls") + own("C;1"))
	refuse(term, `"ls" is running`)
	term.give(own("D;0") + own("A") + "$ " + own("B"))
	if id, err := submit(term, "x y"); id != "c2" || err != nil {
		t.Errorf("Submit = %q, %v", id, err)
	}
	term.Take()
	term.give("\r\n" + own("A") + "$ " + own("B"))
	if got := story(taken(term)); !strings.Contains(got, "declined") {
		t.Errorf("%s", got)
	}
}

// A prompt whose end the shell does not promise to tell, as bash with an exported
// PS1, is ready at once; another not before its end.
func TestSubmitWithoutPromptEnd(t *testing.T) {
	t.Parallel()
	term := fed(t, func(c *Config) { c.PromptEnds = true })
	term.give(own("A;1;e") + "$ ")
	if id, err := submit(term, "x"); err == nil {
		t.Errorf("Submit before the prompt's end = %q", id)
	}
	term.give(own("B"))
	term.give(own("A;2;") + "$ ")
	if id, err := submit(term, "x"); id != "c1" || err != nil {
		t.Errorf("Submit = %q, %v", id, err)
	}
}

// A flood of marks is bounded in what waits for Take.
func TestMarkFlood(t *testing.T) {
	t.Parallel()
	term := fed(t, nil)
	term.give(own("A"))
	for i := 0; i < 3000; i++ {
		term.give(own(fmt.Sprintf("C;%d", i+1)) + own("D;0"))
	}
	if !term.pending.full() {
		t.Errorf("%d actions wait and the reader does not", len(term.pending.actions))
	}
	term.Take()
	if term.pending.full() || len(term.kept.cuts) > maxCuts {
		t.Errorf("full after Take; %d cuts", len(term.kept.cuts))
	}
}

// markedProgram is random output with marks, ours, others' and fakes.
func markedProgram(r *rand.Rand) []byte {
	p := emutest.Program(r, 40, 10, 1+r.IntN(60), emutest.All)
	return repaired(shellLike(r, shellLike(r, p)))
}

// checkSplit holds for any input: what actions say does not depend on how it is
// split, and neither do the parts.
func checkSplit(t testing.TB, in []byte, r *rand.Rand) error {
	tell := func(most int) (string, []ahp.Part) {
		term := fed(t, nil)
		var all []ahp.Action
		for rest := in; len(rest) > 0; {
			n := output.Boundary(rest, min(len(rest), 1+r.IntN(most)))
			if n == 0 {
				n = output.Boundary(rest, min(len(rest), 4))
			}
			term.give(string(rest[:n]))
			rest = rest[n:]
			if r.IntN(3) == 0 {
				all = append(all, taken(term)...)
			}
		}
		term.endOfOutput()
		all = append(all, taken(term)...)
		parts := term.parts(MaxWire)
		for i := range parts {
			parts[i].Timestamp, parts[i].DurationMs = 0, nil
		}
		return story(merged(all)), parts
	}
	want, parts := tell(len(in))
	for _, most := range []int{1, 3, 40} {
		got, p := tell(most)
		if got != want {
			return fmt.Errorf("in pieces of up to %d:\n%s\nwhole:\n%s", most, got, want)
		}
		if !reflect.DeepEqual(p, parts) {
			return fmt.Errorf("in pieces of up to %d: parts %+v; whole %+v", most, p, parts)
		}
	}
	return nil
}

// merged joins data that was only coalesced differently. Titles, which tell the
// last of several, are left out, as are directories.
func merged(actions []ahp.Action) []ahp.Action {
	return joined(slices.DeleteFunc(slices.Clone(actions), func(a ahp.Action) bool {
		switch a.(type) {
		case ahp.TerminalTitleChanged, ahp.TerminalCwdChanged, Noticed:
			return true
		}
		return false
	}))
}

// joined has no data behind data.
func joined(actions []ahp.Action) (out []ahp.Action) {
	for _, a := range actions {
		switch d := a.(type) {
		case ahp.TerminalData:
			if n := len(out); n > 0 {
				if before, ok := out[n-1].(ahp.TerminalData); ok {
					out[n-1] = ahp.TerminalData{Data: before.Data + d.Data}
					continue
				}
			}
		}
		out = append(out, a)
	}
	return out
}

func TestMarksSplit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 5))
		in := markedProgram(r)
		if err := checkSplit(t, in, r); err != nil {
			t.Fatalf("seed %d: %q: %v", seed, in, err)
		}
	}
}

func FuzzMarks(f *testing.F) {
	f.Add([]byte(own("A")+own("C;1")+"x"+own("D;0")), uint64(1))
	f.Add([]byte("\x1b]0;a"+own("C;1")+"\x1b[3"+own("D")), uint64(2))
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		if err := checkSplit(t, repaired(in), rand.New(rand.NewPCG(seed, 1))); err != nil {
			t.Fatal(err)
		}
	})
}

// submit types a command line as the host does.
func submit(t *Terminal, line string) (id string, err error) {
	keys, id, err := t.Keys(line)
	if err == nil {
		err = t.Submit(keys)
	}
	if err != nil {
		return "", err
	}
	return id, nil
}

// repaired is the input as the filter and the emulator get it.
func repaired(in []byte) []byte {
	var d filter.Decoder
	return append(d.Decode(append(make([]byte, headroom, headroom+len(in)), in...)), d.Flush()...)
}
