package host_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/guard"
)

// refusals folds the activity channel until it has so many refusals.
func refusals(t *testing.T, w *fixture, n int) []ahp.AgentRefusal {
	t.Helper()
	p := w.connect(fmt.Sprint("watch", n))
	p.initialize()
	var s ahp.ActivityState
	decodeState(t, p.subscribe(ahp.ActivityURI), &s)
	for len(s.Refusals) < n {
		e := p.envelope("a refusal", func(e ahp.Envelope) bool { return e.Channel == ahp.ActivityURI })
		s = ahp.ReduceActivity(s, e.Action)
	}
	return s.Refusals
}

func audited(t *testing.T, w *fixture, want ...string) {
	t.Helper()
	var log []byte
	w.until("the audit log", func() bool {
		log, _ = os.ReadFile(filepath.Join(w.dir, "state", "audit.log"))
		for _, s := range want {
			if !strings.Contains(string(log), s) {
				return false
			}
		}
		return true
	})
}

// What the agents that tandemux runs are not allowed is told where people look, and
// kept in the audit log: commands, directories, files and limits.
func TestRefusalsOfAgentsAreSeen(t *testing.T) {
	t.Parallel()
	c := talkTo(t, "prompt\n"+creates("sudo ls")+creates("sudo ls")+
		`call t terminal/create {"sessionId":"$SESSION","command":"ls","cwd":"/"}
call x fs/read_text_file {"sessionId":"$SESSION","path":"/etc/passwd"}
call x fs/write_text_file {"sessionId":"$SESSION","path":"/outside","content":"x"}
call x fs/read_text_file {"sessionId":"$SESSION","path":"$CWD/none"}
`+creates("sleep 1000")+strings.ReplaceAll(creates("echo too many"), "call t", "call y"), func(c *host.Config) {
		b := guard.DefaultLimits()
		b.Calls, b.Policy.Uses = 1, false
		c.AgentLimits = func() guard.Limits { return b }
	})
	c.prompt("go")
	c.ended()
	got := refusals(t, c.w, 5)
	want := []ahp.AgentRefusal{
		{Count: 2, What: "sudo ls", Why: "Blocked dangerous command: sudo"},
		{Count: 1, What: "/", Why: "Access denied: working directory outside allowed path"},
		{Count: 1, What: "read /etc/passwd", Why: "Access denied: path outside allowed path"},
		{Count: 1, What: "write /outside", Why: "Access denied: path outside allowed path"},
		{Count: 1, What: "echo too many", Why: "Maximum concurrent agent terminals reached (1)"},
	}
	for i := range want {
		want[i].At, want[i].Agent, want[i].Session = got[i].At, "scripted", c.session
		if got[i].At == 0 || got[i] != want[i] {
			t.Errorf("refusal %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("there are %d refusals", len(got))
	}
	audited(t, c.w, "Blocked dangerous command: sudo", `"directory":"/"`, `"file":"read /etc/passwd"`, "Maximum concurrent")
}

// The same for agents from the side, whoever asks often is told once and counted,
// and the list is bounded.
func TestRefusalsOfGuestsAreSeen(t *testing.T) {
	t.Parallel()
	w := start(t)
	o := w.connect("o")
	o.initialize()
	o.create("ahp-terminal:/mine", "cat")
	g := w.connect("g")
	g.must(ahp.MethodInitialize, ahp.InitializeParams{
		Channel: ahp.RootURI, ProtocolVersions: []string{"1.0.0"}, ClientID: "g", Meta: &ahp.HelloMeta{Agent: &ahp.AgentMeta{Name: "claude"}},
	}, nil)
	claim := ahp.Claim{Kind: ahp.ClaimSession, Session: "x-tandemux-agent:/g", Chat: "x-tandemux-agent:/g"}
	create := func(i int, argv ...string) error {
		return g.call(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{Channel: ahp.URI(fmt.Sprint("ahp-terminal:/g", i)), Claim: claim, Meta: &ahp.CreateMeta{Command: argv}}, nil)
	}
	for i := range 4 {
		if err := create(i, "cat"); (err != nil) != (i == 3) {
			t.Fatalf("terminal %d: %v", i, err)
		}
	}
	for range 10 {
		create(9, "/bin/sh", "-c", "rm x;\necho y")
	}
	if err := g.call(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: "ahp-terminal:/mine"}, nil); err == nil {
		t.Fatal("the person's terminal was ended")
	}
	var got []ahp.AgentRefusal
	w.until("all refusals", func() bool {
		got = refusals(t, w, 3)
		return got[1].Count == 10
	})
	for i, want := range []ahp.AgentRefusal{
		{Count: 1, Terminal: "ahp-terminal:/g3", What: "cat", Why: "Spawn rate limit exceeded (max 3/minute)"},
		{Count: 10, Terminal: "ahp-terminal:/g9", What: "rm x; echo y", Why: "Command blocked for security reasons: rm"},
		{Count: 1, Terminal: "ahp-terminal:/mine", What: "disposeTerminal"},
	} {
		want.At, want.Agent, want.Session = got[i].At, "claude", "x-tandemux-agent:/g"
		if want.Why == "" {
			want.Why = got[i].Why
		}
		if got[i] != want {
			t.Errorf("refusal %d is %+v, want %+v", i, got[i], want)
		}
	}
	for i := range 40 {
		create(10+i, "rm", fmt.Sprint(i), strings.Repeat("x", 3000))
	}
	w.until("the last one", func() bool {
		got = refusals(t, w, ahp.MaxRefusals)
		return strings.HasPrefix(got[len(got)-1].What, "rm 39 ")
	})
	if b, _ := json.Marshal(got); len(got) != ahp.MaxRefusals || len(b) > ahp.MaxRefusals*3*ahp.MaxNote {
		t.Errorf("%d refusals in %d bytes", len(got), len(b))
	}
	audited(t, w, "Spawn rate limit exceeded", "Command blocked for security reasons")
}
