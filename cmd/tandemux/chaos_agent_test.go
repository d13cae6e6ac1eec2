package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// chaosAgent is an agent whose every turn runs a command in a terminal and says how that ended.
const chaosAgent = `caps {"loadSession":true}
prompt
update {"sessionUpdate":"tool_call","toolCallId":"c1","title":"work","kind":"execute","status":"in_progress"}
call t terminal/create {"sessionId":"$SESSION","command":"sh","args":["BIN/work","$PROMPT"]}
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","content":[{"type":"terminal","terminalId":"$t.terminalId"}]}
call w terminal/wait_for_exit {"sessionId":"$SESSION","terminalId":"$t.terminalId"}
call o terminal/output {"sessionId":"$SESSION","terminalId":"$t.terminalId"}
update {"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}
show o
`

// chaosWork is that command: it writes down, apart from everything, that it began and
// that it ended.
const chaosWork = `n=${1#text:}
echo begun $n >>BIN/truth
i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo work $n $i; sleep 0.01; done
echo ended $n >>BIN/truth
exit $((n % 5))
`

// chaosTurns are the turns of agents, and what they came to.
type chaosTurns struct {
	mu    sync.Mutex
	ended map[string]int // turns by what was said of them
	n     int
}

// prepareAgent writes the agent and its command.
func (x *chaos) prepareAgent() {
	for name, text := range map[string]string{"turn": chaosAgent, "work": chaosWork, "truth": ""} {
		x.must(os.WriteFile(filepath.Join(x.bin, name), []byte(strings.ReplaceAll(text, "BIN", x.bin)), 0o600))
	}
	x.turns.ended = map[string]int{}
}

// promptAll has an agent do one turn after the other, through everything: each must
// end, and what is said of its command must be true.
func (x *chaos) promptAll() {
	defer close(x.asked)
	for n := 1; ; n++ {
		select {
		case <-x.typing:
			return
		default:
		}
		if err := x.turn(n); err != nil {
			x.Errorf("turn %d: %v", n, err)
			return
		}
	}
}

var (
	saidExit    = lazily(`✗ work \(.*exit code (\d+)`)
	saidRunning = lazily(`still running in (\S+?)\)`)
)

// turn asks the agent once.
func (x *chaos) turn(n int) error {
	cmd := exec.Command(filepath.Join(x.bin, "tandemux"), "prompt", "--end", "--approve", "all",
		"--agent-command", "scripted-agent "+filepath.Join(x.bin, "turn"), fmt.Sprint(n))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &errs, waitLimit
	if err := cmd.Start(); err != nil {
		return err
	}
	late := time.AfterFunc(2*waitLimit, func() { cmd.Process.Kill() }) //nolint:errcheck // then it has ended
	err := cmd.Wait()
	if !late.Stop() {
		return fmt.Errorf("did not end in %v; it said %q and %q", 2*waitLimit, out.String(), errs.String())
	}
	begun, ended := x.truth("begun", n), x.truth("ended", n)
	wrong := func(why string) error {
		return fmt.Errorf("%s: %w: began %d times, ended %d times, and it said %q and %q", why, err, begun, ended, out.String(), errs.String())
	}
	said, code := "nothing of the command", fmt.Sprint(n%5)
	switch m := saidExit().FindStringSubmatch(errs.String()); {
	case begun > 1:
		return wrong("the command ran more than once")
	case m != nil:
		if said = "its exit code"; m[1] != code || ended != 1 {
			return wrong("the exit code is not true")
		}
	case strings.Contains(errs.String(), "✓ work"):
		if said = "ok"; ended != 1 {
			return wrong("it did not pass")
		}
	case strings.Contains(errs.String(), "not run"):
		if said = "not run"; begun != 0 {
			return wrong("it had run")
		}
	case saidRunning().MatchString(errs.String()):
		said = "still running"
	case strings.Contains(errs.String(), "interrupted"):
		said = "interrupted"
	case strings.Contains(errs.String(), "may have run"):
		said = "may have run"
	}
	var failed *exec.ExitError
	switch {
	case err == nil && (ended != 1 || !strings.Contains(out.String(), fmt.Sprintf("work %d 30", n))):
		return wrong("a turn that succeeded without its command's output")
	case err != nil && (!errors.As(err, &failed) || failed.ExitCode() != 1 || errs.Len() == 0):
		return wrong("it failed without a word")
	case err != nil:
		said = "failed: " + said
	}
	x.turns.mu.Lock()
	defer x.turns.mu.Unlock()
	x.turns.n++
	x.turns.ended[said]++
	return nil
}

// truth is how often a turn's command wrote down a word.
func (x *chaos) truth(word string, n int) int {
	text, _ := os.ReadFile(filepath.Join(x.bin, "truth"))
	return strings.Count("\n"+string(text), fmt.Sprintf("\n%s %d\n", word, n))
}

// killAgent ends the agents that run, with all that is theirs but their commands.
func (x *chaos) killAgent() {
	for _, pid := range x.processes() {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.HasPrefix(string(line), "scripted-agent\x00") {
			syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // then it has ended
		}
	}
}

// logOut takes the runtime directory away, as a login manager does.
func (x *chaos) logOut() {
	x.await("the runtime directory to go", func() bool { return os.RemoveAll(x.dirs.Runtime) == nil }) // files are made in it meanwhile
	x.must(os.MkdirAll(x.dirs.Runtime, 0o700))
	x.must(os.WriteFile(filepath.Join(x.dirs.Runtime, roomName), nil, 0o600))
	for _, v := range x.views {
		v.cut()
	}
}

// fillDisk leaves no room for the host's state for a while.
func (x *chaos) fillDisk() {
	if !x.disk {
		return
	}
	ballast := filepath.Join(x.dirs.State, "ballast")
	x.must(fillFile(ballast))
	time.Sleep(time.Duration(x.rnd.IntN(500)) * time.Millisecond)
	if x.rnd.IntN(2) == 0 {
		x.killHost()
	}
	time.Sleep(time.Duration(x.rnd.IntN(300)) * time.Millisecond)
	x.must(os.Remove(ballast))
}

// endSessions ends the sessions that are left: each turn asked for its own's end.
func (x *chaos) endSessions() {
	x.Helper()
	var left []struct{ ID string }
	x.must(json.Unmarshal([]byte(x.tandemux("session", "ls", "--json")), &left))
	for _, s := range left {
		x.tandemux("session", "rm", s.ID)
	}
	if len(left) > 0 {
		x.Errorf("%d sessions of %d turns are left", len(left), x.turns.n)
	}
}

// reportTurns says what became of the turns.
func (x *chaos) reportTurns() {
	var names []string
	for said, n := range x.turns.ended {
		names = append(names, fmt.Sprintf("%d× %s", n, said))
	}
	slices.Sort(names)
	x.Logf("%d turns of agents, of each of which what was said is true: %s", x.turns.n, strings.Join(names, ", "))
}
