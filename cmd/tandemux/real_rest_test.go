package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host/shell"
)

// TestRealAgentsRest has the agents from npm be idle: their processes end, and with the next
// message they remember what was said. It needs what scripts/real-agents.sh installs.
func TestRealAgentsRest(t *testing.T) {
	eachReal(t, func(a realAgent) bool { return !a.forgets }, func(t *testing.T, a realAgent, bin, program string) {
		a.provider, a.files = "resting", maps.Clone(a.files)
		if a.files == nil {
			a.files = map[string]string{}
		}
		command := append([]string{program}, a.args...)
		a.files["config/tandemux/config.toml"] = fmt.Sprintf("[agents.resting]\ncommand = %q\nidle = 3\n", shell.Quote(command, ""))
		m := &Model{Tool: "no such tool"}
		c := newRealChat(t, bin, program, a, m)
		c.do(ahp.ChatTurnStarted{TurnID: "one", Message: aMessage("The word is xyzzy.")})
		c.ended(1)
		var before, after int
		for range 300 {
			if after = resident(c.run); after == 0 && before > 0 {
				break
			}
			before = max(before, after)
			time.Sleep(100 * time.Millisecond)
		}
		t.Logf("resident: %d MB, then %d MB", before>>10, after>>10)
		if after != 0 {
			t.Fatal("its processes have not ended")
		}
		began := time.Now()
		c.do(ahp.ChatTurnStarted{TurnID: "two", Message: aMessage("And now plugh.")})
		c.ended(2)
		t.Logf("the next turn took %v", time.Since(began).Round(time.Millisecond))
		if !m.Saw("xyzzy", "plugh") {
			t.Errorf("it does not remember; asked: %s", strings.Join(m.Asked(), "\n"))
		}
	})
}

// resident sums what the processes of agents whose runtime directory that is hold, in KiB.
func resident(run string) (sum int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, _ := os.ReadFile(dir + "/environ")
		line, _ := os.ReadFile(dir + "/cmdline")
		if !slices.Contains(strings.Split(string(env), "\x00"), "XDG_RUNTIME_DIR="+run) || strings.HasPrefix(filepath.Base(strings.Split(string(line), "\x00")[0]), "tandemux") {
			continue
		}
		status, _ := os.ReadFile(dir + "/status")
		for l := range strings.Lines(string(status)) {
			if f := strings.Fields(l); len(f) > 1 && f[0] == "VmRSS:" {
				n, _ := strconv.Atoi(f[1])
				sum += n
			}
		}
	}
	return sum
}
