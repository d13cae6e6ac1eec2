package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/emulator/engine"
	"tandemux/host/listen"
	"tandemux/host/terminals"
	"tandemux/internal/desk"
	"tandemux/internal/fileuri"
	"tandemux/internal/hosttest"
	"tandemux/internal/local"
	"tandemux/internal/soak"
	"tandemux/internal/tmux/pane"
)

// jumpName is the file in the runtime directory that says by how many hours the
// clock of the next host is wrong.
const jumpName = "clock"

// roomName is the file there that says that a terminal's journal has wideRoom.
const roomName = "room"

// jumping makes a program's clock wrong by what the file says, and its journals small.
func jumping(main func()) func() {
	return func() {
		if text, err := os.ReadFile(filepath.Join(local.FindDirs().Runtime, jumpName)); err == nil {
			if hours, err := strconv.Atoi(string(text)); err == nil {
				clock = func() time.Time { return time.Now().Add(time.Duration(hours) * time.Hour) }
			}
		}
		if _, err := os.Stat(filepath.Join(local.FindDirs().Runtime, roomName)); err == nil {
			hostLimits.JournalBytes = wideRoom
		}
		misbehave()
		main()
	}
}

// misbehave does what a file beside the program says, so that a new program can be
// a bad one: "crash", "hang" or "unstartable" as a host.
func misbehave() {
	self, err := os.Readlink("/proc/self/exe") // one that was replaced is "… (deleted)"
	if err != nil || len(os.Args) < 2 {
		return
	}
	how, err := os.ReadFile(self + ".fault")
	if err != nil {
		return
	}
	local.StartTime = time.Second
	switch how := strings.TrimSpace(string(how)); {
	case os.Args[1] == "upgrade" && how == "unstartable":
		os.Chmod(self, 0o600) //nolint:errcheck // then the test fails
	case os.Args[1] == "host" && how == "crash":
		panic("a bad program")
	case os.Args[1] == "host" && how == "hang":
		time.Sleep(time.Hour) // select {} is a deadlock that Go reports, where there is no cgo
	}
}

// numbersMain prints numbered lines in bursts until "end" is typed, and exits with
// its argument. "flood" makes it print much at once.
func numbersMain() {
	term.MakeRaw(0) //nolint:errcheck // then what is typed shows, and the test fails
	code, _ := strconv.Atoi(os.Args[1])
	typed := make(chan string, 16)
	go func() {
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			typed <- in.Text()
		}
	}()
	out := bufio.NewWriterSize(os.Stdout, 1<<12)
	for n, most := 1, 0; ; most = 10 {
		select {
		case word := <-typed:
			if word == "end" {
				fmt.Fprintf(out, "bye %d.\r\n", n-1)
				out.Flush()
				os.Exit(code)
			}
			most = 4000
		case <-time.After(time.Duration(rand.IntN(100)) * time.Millisecond):
		}
		for range 1 + rand.IntN(most+1) {
			fmt.Fprintf(out, "n%d é", n)
			for i := range n % 30 {
				out.WriteString(numberedPiece(n, i))
			}
			out.WriteString("\x1b[m\r\n")
			n++
		}
		out.Flush()
	}
}

// family is a cluster of seven characters.
const family = "👩\u200d👩\u200d👧\u200d👦"

// numberedPiece is piece i of what follows number n: plain, in a colour of its own,
// with a link of its own or a cluster, so that history is far larger with its styles
// than without.
func numberedPiece(n, i int) string {
	switch {
	case n%4 == 1:
		return fmt.Sprintf("\x1b[38;2;%d;%d;%dm~", n%256, i*8, n/256%256)
	case n%4 == 2 && i%3 == 0:
		return fmt.Sprintf("\x1b]8;;https://example.org/%d/%d\x1b\\~\x1b]8;;\x1b\\", n, i)
	case n%4 == 3 && i%3 == 0:
		return family
	}
	return "~"
}

// echoesMain answers each line with itself until "end" is typed.
func echoesMain() {
	term.MakeRaw(0) //nolint:errcheck // as above
	code, _ := strconv.Atoi(os.Args[1])
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		if in.Text() == "end" {
			os.Exit(code)
		}
		fmt.Printf("got %s.\r\n", in.Text())
	}
}

// chaosTerm is a terminal that is watched.
type chaosTerm struct {
	uri  ahp.URI
	kind string // "numbers", "echoes", "wide", "shell" or a full-screen program
	code int    // that it is to exit with
	last int    // number that was seen
	held int    // numbers that the host's history had

	sent     int           // numbers typed
	seqs     map[int64]int // by dispatch, those whose outcome is open
	doubtful map[int]bool  // those of which was said that they may be lost
}

// chaosScheme begins the URIs of the terminals that stay to the end.
const chaosScheme = "x-chaos-terminal:/t"

// openTerminals makes as many as are asked for, of each kind.
func (x *chaos) openTerminals() {
	n := soak.Size(x, 20, 50)
	var full []string
	for _, line := range []string{"vim -u NONE -N README", "less README", "htop -d 5"} {
		if _, err := exec.LookPath(strings.Fields(line)[0]); err == nil {
			full = append(full, line)
		}
	}
	x.must(os.WriteFile(filepath.Join(x.bin, "README"), []byte(strings.Repeat("a line of some length\n", 300)), 0o600))
	for i := range n {
		t := &chaosTerm{uri: fmt.Sprint(chaosScheme, i), code: 1 + i%100, seqs: map[int64]int{}, doubtful: map[int]bool{}}
		var argv []string
		switch kind := i % 6; {
		case kind < 3:
			t.kind, argv = "numbers", []string{filepath.Join(x.bin, "numbers"), strconv.Itoa(t.code)}
		case kind == 3:
			t.kind, argv = "echoes", []string{filepath.Join(x.bin, "echoes"), strconv.Itoa(t.code)}
		case kind == 4 || len(full) == 0:
			t.kind = "shell"
		default:
			t.kind, argv = "full", strings.Fields(full[i/6%len(full)])
		}
		x.open(t, argv...)
	}
}

// open starts a terminal that all viewers watch.
func (x *chaos) open(t *chaosTerm, argv ...string) {
	x.Helper()
	x.must(x.views[0].Call(x.ctx(), ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: t.uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: x.views[0].ClientID()}, Cwd: fileuri.Of(x.bin),
		Meta: &ahp.CreateMeta{Command: argv},
	}, nil))
	x.terms = append(x.terms, t)
	for _, v := range x.views {
		x.must(v.Subscribe(x.ctx(), t.uri))
	}
}

// ctx bounds a call.
func (x *chaos) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	x.Cleanup(cancel)
	return ctx
}

// flood is a terminal that prints numbers.
func (x *chaos) flood() *chaosTerm { return x.terms[6*x.rnd.IntN((len(x.terms)+4)/6)] }

// typeAll types numbers into those that answer, through everything.
func (x *chaos) typeAll() {
	defer close(x.typed)
	rnd := rand.New(rand.NewPCG(x.seed, 2))
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-x.typing:
			return
		case <-tick.C:
		}
		t := x.terms[rnd.IntN(len(x.terms))]
		line := map[string]string{"echoes": "%d\n", "shell": "echo got $((%d)).\r"}[t.kind]
		if line == "" {
			continue
		}
		x.views[0].enter(t, fmt.Sprintf(line, t.sent+1))
	}
}

var (
	numbered = lazily(`(?m)^n(\d+) é((?:~|` + family + `)*)\s*$`)
	answered = lazily(`(?m)^got (\d+)\.`)
)

// lossNotice is what a terminal says of what was lost with its journal.
const lossNotice = "some of what was shown here is lost"

// check looks whether all is there, once and in order, for the host and for each
// viewer, and everything alive.
func (x *chaos) check() {
	x.Helper()
	for _, t := range x.terms {
		switch t.kind {
		case "full":
			x.checkScreen(t)
			continue
		case "wide":
			x.checkWide()
			continue
		}
		all := x.history(t)
		if t.kind == "numbers" {
			x.checkNumbers(t, "the host", all)
		} else {
			x.checkAnswers(t, all)
		}
		for i, v := range x.views {
			s, ok := v.Terminal(t.uri)
			if !ok {
				x.Errorf("viewer %d has no %s", i, t.uri)
				continue
			}
			if t.kind == "numbers" {
				x.checkNumbers(t, fmt.Sprint("viewer ", i), plainOf(s, 20000))
			}
		}
		if _, ended := x.exit(t); ended {
			x.Errorf("%s, %s, has ended", t.uri, t.kind)
		}
	}
	for i, v := range x.views {
		if v.lacked() {
			x.Errorf("viewer %d was told of fewer terminals than there are", i)
		}
	}
	// The interface shows its pane, and nothing of the connection.
	screen, ok := x.ui.waitUntil(func(screen, exit string) bool {
		return exit != "" || strings.HasPrefix(screen, "$") && !strings.Contains(screen, "connection")
	})
	if !ok || x.ui.exit != "" {
		x.Errorf("the interface (%q) shows:\n%s", x.ui.exit, screen)
	}
}

// history reads what the host has.
func (x *chaos) history(t *chaosTerm) string {
	x.Helper()
	var r ahp.ReadResult
	x.await("the host to answer a read", func() bool {
		err := x.views[1].Call(x.ctx(), ahp.MethodRead, ahp.ReadParams{Channel: t.uri, What: ahp.ReadHistory}, &r)
		return err == nil
	})
	return r.Text
}

// plainOf is the text of a state, as a viewer of the same size shows it.
func plainOf(s ahp.TerminalState, history int) string {
	e, err := engine.New(engine.Default, emulator.Options{Cols: s.Cols, Rows: s.Rows, History: history})
	if err != nil {
		return err.Error()
	}
	for _, p := range s.Content {
		e.Write([]byte(p.Text()))
	}
	if history < 0 {
		return emulator.ScreenText(e)
	}
	var b strings.Builder
	var cells []emulator.Cell
	for y := -e.HistoryLen(); y < s.Rows; y++ {
		cells = e.Line(y, cells[:0])
		for _, c := range cells {
			if c.Width > 0 && c.Rune != 0 {
				b.WriteRune(c.Rune)
				b.WriteString(c.Combining)
			} else if c.Rune == 0 && c.Width > 0 {
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// checkNumbers wants each number once and in order; where some are missing, a line
// must say so.
func (x *chaos) checkNumbers(t *chaosTerm, who, text string) {
	x.Helper()
	prev, end := 0, 0
	all := numbered().FindAllStringSubmatchIndex(text, -1)
	for i, m := range all {
		n, _ := strconv.Atoi(text[m[2]:m[3]])
		said := x.damages.Load() > 0 && strings.Contains(text[end:m[0]], "[tandemux: ")
		if prev > 0 && n != prev+1 && !(said && n > prev) {
			x.Errorf("%s: for %s after %d comes %d: %q", t.uri, who, prev, n, text[max(0, end-300):min(len(text), m[1]+200)])
			return
		}
		next := len(text) // the last may be under way, and one before what is lost be cut
		if i < len(all)-1 {
			next = all[i+1][0]
		}
		cut := i == len(all)-1 || x.damages.Load() > 0 && strings.Contains(text[m[1]:next], "[tandemux: ")
		if pieces := strings.Count(text[m[4]:m[5]], "~") + strings.Count(text[m[4]:m[5]], family); pieces != n%30 && !(cut && pieces < n%30) {
			x.Errorf("%s: for %s line %d is %q", t.uri, who, n, text[m[0]:m[1]])
			return
		}
		prev, end = n, m[1]
	}
	if who == "the host" {
		if want := min(t.held, emulator.DefaultHistory-100); len(all) < want && x.damages.Load() == 0 {
			x.Errorf("%s: the host's history has %d lines, and had %d", t.uri, len(all), t.held)
		}
		t.held = len(all)
		if prev < t.last && !(x.damages.Load() > 0 && strings.Contains(text[end:], "[tandemux: ")) {
			x.Errorf("%s: the host had %d, and now %d", t.uri, t.last, prev)
		}
		t.last = max(prev, t.last)
	}
}

// checkAnswers wants each number that was typed at most once and in order; one
// that is missing must have been spoken of.
func (x *chaos) checkAnswers(t *chaosTerm, text string) {
	x.Helper()
	lossy := x.damages.Load() > 0 && strings.Contains(text, lossNotice)
	prev := 0
	for _, m := range answered().FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		if prev > 0 && n <= prev && !lossy {
			x.Errorf("%s, %s: after %d comes %d", t.uri, t.kind, prev, n)
			return
		}
		for k := prev + 1; prev > 0 && k < n; k++ {
			if !x.views[0].spoken(t, k) && !lossy {
				x.Errorf("%s, %s: %d is missing, and nobody said so", t.uri, t.kind, k)
				return
			}
		}
		prev = n
	}
	t.last = max(prev, t.last)
}

// checkScreen wants what a viewer shows to be what the host shows, once both have
// come to rest.
func (x *chaos) checkScreen(t *chaosTerm) {
	x.Helper()
	var got, want string
	x.await("the screens of "+t.uri+" to be the same", func() bool {
		var r ahp.ReadResult
		if x.views[0].Call(x.ctx(), ahp.MethodRead, ahp.ReadParams{Channel: t.uri, What: ahp.ReadScreen}, &r) != nil {
			return false
		}
		want = strings.TrimRight(r.Text, " \n")
		s, ok := x.views[0].Terminal(t.uri)
		if !ok {
			return false
		}
		got = strings.TrimRight(trimLines(plainOf(s, -1)), " \n")
		return got == want
	})
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// exit is how a terminal ended, for the host.
func (x *chaos) exit(t *chaosTerm) (code int, ended bool) {
	root, _ := x.views[1].Root()
	for _, info := range root.Terminals {
		if info.Resource == t.uri && info.Lifecycle.Exited() {
			if info.Lifecycle.ExitCode == nil {
				return -1, true
			}
			return *info.Lifecycle.ExitCode, true
		}
	}
	return 0, false
}

// end lets everything end, and looks at what is left.
func (x *chaos) end() {
	close(x.typing)
	<-x.typed
	<-x.ran
	<-x.asked
	x.endSessions()
	for _, t := range x.terms {
		word := map[string]string{"numbers": "end\n", "echoes": "end\n", "wide": "end\n", "shell": fmt.Sprintf("\x15exit %d\r", t.code)}[t.kind]
		if word == "" {
			continue
		}
		x.await("the last word to be taken", func() bool {
			_, err := x.views[0].Dispatch(t.uri, ahp.TerminalInput{Data: word})
			return err == nil
		})
	}
	for _, t := range x.terms {
		if t.kind != "full" {
			code := 0
			x.await(fmt.Sprintf("%s, %s, to end", t.uri, t.kind), func() (ok bool) { code, ok = x.exit(t); return ok })
			if code != t.code {
				x.Errorf("%s: exit code %d, want %d", t.uri, code, t.code)
			}
		}
		if t.kind == "numbers" {
			x.checkNumbers(t, "the host", x.history(t))
		}
		x.must(x.views[0].Call(x.ctx(), ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: t.uri}, nil))
	}
	x.ui.ptmx.WriteString("\x00d") //nolint:errcheck // the wait tells
	if screen, ok := x.ui.waitUntil(func(_, exit string) bool { return exit == "exit 0" }); !ok {
		x.Errorf("the interface does not leave:\n%s", screen)
	}
	x.ui.close()
	// The interface's own terminal is left, with its journal and its layout's.
	for end := time.Now().Add(waitLimit); openFiles(x.keeper) > x.idle+4; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			x.Errorf("the keeper has %d descriptors, and had %d without a terminal:\n%s", openFiles(x.keeper), x.idle, x.stored())
			break
		}
	}
	for _, v := range x.views {
		v.Close()
	}
	x.tandemux("stop")
	x.await("all processes to end", func() bool { return len(x.processes()) == 0 })
	os.Remove(filepath.Join(x.dirs.Runtime, terminals.FeedDir)) //nolint:errcheck // if a command was fed; with a pipe in it it stays, and is told
	left, _ := os.ReadDir(x.dirs.Runtime)
	for _, f := range left {
		if name := f.Name(); name != listen.LockName && name != "start.lock" && name != jumpName && name != roomName && name != desk.EditDir && name != "shell" && name != pane.Dir {
			x.Errorf("%s is left in the runtime directory", name)
		}
	}
}

// processes are those that belong to this world.
func (x *chaos) processes() []int { return hosttest.Processes("XDG_RUNTIME_DIR=" + x.run) }
