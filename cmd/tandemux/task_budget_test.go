package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandemux/host/task"
	"tandemux/host/task/budget"
	"tandemux/host/task/store"
	"tandemux/internal/soak"
)

// TestBudgetHostKilled: the host is killed at any moment of a task's turns: what they use is
// counted once, and a limit that was reached holds with the next host.
func TestBudgetHostKilled(t *testing.T) {
	soak.Long(t, "the host is killed again and again")
	if beside(t) {
		return
	}
	x := startKilled(t)
	const turns, each = 12, 10
	agent := x.script("uses.txt", "prompt\nsay a\nsay b\nusage {\"inputTokens\":7,\"outputTokens\":3}\nstop end_turn\n")
	x.tandemux("task", "new", "--no-sandbox", "--agent-command", agent, "--name", "t", "--max-tokens", fmt.Sprint(turns*each))
	for i := range turns - 1 {
		x.tandemux("task", "send", "t", fmt.Sprint("number ", i))
		if i%3 == 2 {
			time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
			x.kill()
		}
	}
	x.status("t", "IDLE")
	var got struct {
		Budget struct {
			Used struct {
				Tokens   *int64 `json:"tokens"`
				Turns    int    `json:"turns"`
				NoTokens int    `json:"turnsWithoutTokens"`
			} `json:"used"`
		} `json:"budget"`
		Events []store.Event `json:"events"`
	}
	x.must(json.Unmarshal([]byte(x.tandemux("task", "show", "t", "--json")), &got))
	done := int64(0)
	for _, e := range got.Events {
		if e.Status == store.EventDone {
			done++
		}
	}
	// A turn that was interrupted may have said what it used, or not.
	u := got.Budget.Used
	if u.Tokens == nil || *u.Tokens < done*each || *u.Tokens > int64(len(got.Events))*each || *u.Tokens%each != 0 || *u.Tokens/each+int64(u.NoTokens) != int64(u.Turns) {
		text, _ := json.Marshal(got)
		t.Errorf("%d of %d turns are done: %s", done, len(got.Events), text)
	}

	// What hangs is stopped by its time, also when the host dies meanwhile.
	once := filepath.Join(x.home, "once")
	hangs := x.script("hangs.txt", "prompt\nonce "+once+"\nsay hanging\nawait cancel\nalways\nsay more\n")
	x.tandemux("task", "new", "--no-sandbox", "--agent-command", hangs, "--name", "h", "-m", "first")
	x.tandemux("task", "send", "h", "second") // which is refused once the time is over
	x.tandemux("task", "budget", "h", "--max-time", "1s")
	x.await("h", "is held", func() bool {
		var p task.Present
		out, _ := x.try("task", "show", "h", "--json")
		return json.Unmarshal([]byte(out), &p) == nil && p.Status == store.Pending && p.Budget.Over == budget.Time
	})
	x.kill()
	out, err := x.try("task", "send", "h", "third", "--wait")
	if err == nil || !strings.Contains(err.Error(), "the budget is used up") || !strings.Contains(err.Error(), "--max-time") {
		t.Errorf("it takes more: %v %s", err, out)
	}
	if ls := x.tandemux("task", "ls"); !strings.Contains(ls, "s of 1s") {
		t.Errorf("the list has\n%s", ls)
	}
	x.tandemux("task", "budget", "h", "--max-time", "1h")
	x.status("h", "IDLE")
	if show := x.tandemux("task", "show", "h"); !strings.Contains(show, "of 1h0m0s") || !strings.Contains(show, "more") {
		t.Errorf("it shows\n%s", show)
	}
	x.must(os.Remove(once))
}
