package ui_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/ui/tasks"
)

// tasked gives a host three tasks and a session that is none: one task works, one
// waits for the person, one is of programs and has no session.
func tasked(u *UI) {
	h := u.Host
	h.AddSession("plain", "What is this?")
	h.AddSession("t1", "fix-tests").Do(ahp.ChatTurnStarted{TurnID: "1", Message: ahp.Message{Text: "go", Origin: ahp.MessageOrigin{Kind: "user"}}})
	h.AddSession("t2", "add-docs").Do(ahp.ChatTurnStarted{TurnID: "1", Message: ahp.Message{Text: "go", Origin: ahp.MessageOrigin{Kind: "user"}}})
	at := u.Time()
	h.TaskList = Tasks{
		All: []tasks.Task{
			{ID: "tsk_1", Name: "fix-tests", Session: "ahp-session:/t1", Status: "RUNNING", Percent: 40, Line: "running make test", Workspace: "worktree of ~/src/app", Updated: at},
			{ID: "tsk_2", Name: "add-docs", Session: "ahp-session:/t2", Status: "FAILED", Percent: -1, Reason: "the agent is gone", Workspace: "copy of ~/src/docs", Updated: at},
			{ID: "tsk_3", Name: "nightly", Status: "IDLE", Percent: 100, Line: "12 reports", Updated: at.Add(-2 * time.Hour)},
			{ID: "tsk_4", Name: "old", Status: "CANCELLED", Percent: -1, Updated: at},
		},
		Changes: map[string]tasks.Changes{"tsk_1": {
			Files: []tasks.Changed{
				{Mark: "M", Path: "host/task/very/deep/directory/service_with_a_long_name_test.go", Added: 120, Deleted: 4},
				{Mark: "A", Path: "new.go", Added: 12},
				{Mark: "D", Path: "old.go", Deleted: 33},
				{Mark: "M", Path: "logo.png", Binary: true},
			},
			Added: 132, Deleted: 37, Into: "~/src/app", Branch: "tandemux/fix-tests",
		}},
	}
	u.WaitIdle()
}

// TestTasksBesideSessions: how far each is, what it has changed and where it works is
// in the list (U21).
func TestTasksBesideSessions(t *testing.T) {
	atSizes(t, "tasks", func(t *testing.T, u *UI, golden string) {
		tasked(u)
		u.Press("ctrl+space a")
		u.WaitIdle()
		u.Golden(golden)
	})
}

func chooseTask(u *UI, name string) {
	u.Press("ctrl+space a")
	u.WaitIdle()
	u.Type(name)
	u.WaitIdle()
}

// TestTasksAreSteered: tell and discard, each asked for by a key.
func TestTasksAreSteered(t *testing.T) {
	u := New(t, Options{W: 120, H: 30})
	tasked(u)
	done := func(want ...string) {
		t.Helper()
		u.WaitIdle()
		if got := u.Host.TaskList.Done; !slices.Equal(got, want) {
			t.Fatalf("done: %q, want %q", got, want)
		}
	}
	chooseTask(u, "fix-tests")
	u.Press("alt+s")
	u.Shows("tell fix-tests")
	u.Type("only the first")
	u.Press("enter")
	done(`tell tsk_1 "only the first"`)
	u.Shows("Agents")
	u.Press("esc")
	u.WaitIdle()
	chooseTask(u, "fix-tests")
	u.Press("alt+x")
	u.Shows(`discard the task "fix-tests"`)
	u.Press("n")
	done(`tell tsk_1 "only the first"`)
	u.Press("alt+x")
	u.Press("y")
	done(`tell tsk_1 "only the first"`, "discard tsk_1")
}

// TestTasksOfPrograms: a task without a session is in the list, and says what follows
// it; a session that is no task can't be told something.
func TestTasksOfPrograms(t *testing.T) {
	u := New(t, Options{W: 120, H: 30})
	tasked(u)
	chooseTask(u, "nightly")
	u.Press("enter")
	u.Shows("tandemux task watch")
	chooseTask(u, "What is")
	u.Press("alt+s") // which only tasks have
	u.Shows("Agents")
	u.Press("esc")
	u.Press("ctrl+space a")
	u.WaitIdle()
	if strings.Contains(u.Screen(), " old ") {
		t.Error("a cancelled task shows")
	}
	u.Press("alt+v")
	u.Shows("cancelled")
}

// TestTasksAreLookedAt: while the list is open and a task works it is asked for again,
// and not otherwise: idle costs nothing.
func TestTasksAreLookedAt(t *testing.T) {
	u := New(t, Options{W: 120, H: 30})
	tasked(u)
	u.Advance(time.Minute)
	if n := u.Host.TaskList.Asked; n != 0 {
		t.Errorf("asked %d times though nobody looks", n)
	}
	u.Press("ctrl+space a")
	u.WaitIdle()
	n := u.Host.TaskList.Asked
	u.Host.TaskList.All[0].Percent = 80
	u.Advance(4 * time.Second)
	u.WaitIdle()
	u.Shows("80%")
	u.Host.TaskList.All[0].Status = "IDLE"
	u.Advance(4 * time.Second)
	u.WaitIdle()
	after := u.Host.TaskList.Asked
	u.Advance(time.Minute)
	u.WaitIdle()
	if got := u.Host.TaskList.Asked; got != after || after == n {
		t.Errorf("asked %d, %d, %d times", n, after, got)
	}
}

// TestTasksSayHowTheyAre: one that waits says for what, one that is idle how its last turn
// ended and why; a session that works by now is believed.
func TestTasksSayHowTheyAre(t *testing.T) {
	u := New(t, Options{W: 120, H: 30})
	tasked(u)
	at := u.Time()
	u.Host.AddSession("t3", "rested")
	u.Host.TaskList.All = []tasks.Task{
		{ID: "tsk_1", Name: "asks", Status: "WAITING", Percent: -1, Asks: "Allow make\x1b?", Updated: at},
		{ID: "tsk_2", Name: "rested", Session: "ahp-session:/t3", Status: "IDLE", Outcome: "interrupted", Why: "the host was restarted", Percent: -1, Updated: at},
		{ID: "tsk_3", Name: "full", Status: "IDLE", Outcome: "disk", Why: "no space", Percent: -1, Updated: at},
		{ID: "tsk_4", Name: "well", Status: "IDLE", Outcome: "done", Percent: -1, Updated: at},
		{ID: "tsk_5", Name: "fix-tests", Session: "ahp-session:/t1", Status: "IDLE", Outcome: "failed", Why: "long ago", Percent: -1, Updated: at},
	}
	for name, want := range map[string][]string{
		"asks": {"waiting for you", "Allow make"}, "rested": {"interrupted", "the host was restarted"}, "full": {"disk full", "no space"}, "well": {"idle"}, "fix-tests": {"working"},
	} {
		chooseTask(u, name)
		for _, w := range want {
			u.Shows(w)
		}
		u.Press("esc")
		u.Press("esc")
		u.WaitIdle()
	}
}
