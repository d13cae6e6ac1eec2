package ui_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/ui/tasks"
)

// numbered are lines of which some are others.
func numbered(n int, others map[int]string) *string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if t, is := others[i]; !is {
			fmt.Fprintf(&b, "line %d\n", i)
		} else if t != "" {
			b.WriteString(t + "\n")
		}
	}
	return text(b.String())
}

// toReview has a task with changes of every kind: the merge of them would need a message.
func toReview(u *UI) *Session {
	tasked(u)
	l := &u.Host.TaskList
	l.All[0].Status = "IDLE"
	l.Changes["tsk_1"] = tasks.Changes{
		Files: []tasks.Changed{{Mark: "M", Path: "long.go", Added: 3, Deleted: 2}}, Added: 3, Deleted: 2,
		Into: "~/src/app", Branch: "tandemux/fix-tests", Listed: true,
	}
	l.Would = tasks.Merged{Files: 6, Added: 7, Deleted: 4, Into: "main", Message: "fix the tests", Check: "make test", Behind: 2}
	s := u.Host.Session("fix-tests")
	s.End(ahp.TurnComplete)
	s.Changes(
		Edit{Path: "long.go", Before: numbered(60, nil), Now: numbered(60, map[int]string{20: "wide 漢字漢字 and a line that is so long that it is wrapped on a small screen, though not on a large one", 40: "", 41: "\tx := 1 // 41"})},
		Edit{Path: "new\x1b[31m.txt", Now: text("esc \x1b[31mred\x1b]0;owned\a\r\nno end")},
		Edit{Path: "gone.txt", Before: text("bye\n")},
		Edit{Path: "b.go", From: "a.go", Before: text("a\nb\nc\n"), Now: text("a\nB\nc\n")},
		Edit{Path: "logo.png", Before: text("x"), Now: text("y"), Binary: true},
		Edit{Path: "nul", Now: text("a\x00b\n")},
	)
	u.WaitIdle()
	return s
}

// reviewing opens the changes of that task from the list.
func reviewing(u *UI) *Session {
	s := toReview(u)
	chooseTask(u, "fix-tests")
	u.Press("alt+p")
	u.WaitIdle()
	return s
}

// TestReview: files and their lines show at every size, wide characters and escape
// sequences too; files fold, and what is left out between hunks opens.
func TestReview(t *testing.T) {
	atSizes(t, "review", func(t *testing.T, u *UI, golden string) {
		reviewing(u)
		u.Golden(golden)
		u.Press("]", "c")
		u.Type("why 漢字?")
		u.Press("alt+enter")
		u.Type("say so")
		u.Golden(golden + "-box")
		u.Press("enter", "]", "v", "j", "c")
		u.Type("both")
		u.Press("enter")
		u.Golden(golden + "-comments")
		u.Press("G")
		u.Golden(golden + "-end")
		u.Press("g", "O")
		u.Golden(golden + "-folded")
		u.Press("?")
		u.Golden(golden + "-keys")
	})
}

// TestReviewMoves: by hunks, files and matches, and through what is left out.
func TestReviewMoves(t *testing.T) {
	u := New(t, Options{W: 100, H: 30})
	reviewing(u)
	at := func(want string) {
		t.Helper()
		u.WaitIdle()
		if got := selectedRow(u); !strings.Contains(got, want) {
			t.Fatalf("the cursor is on %q, want %q\n%s", got, want, u.Screen())
		}
	}
	at("long.go")
	u.Press("]")
	at("20 - line 20")
	u.Press("]")
	at("40 - line 40")
	u.Press("[")
	at("20 - line 20")
	u.Press("tab")
	at("new<U+001B>[31m.txt")
	u.Press("shift+tab", "shift+tab")
	at("long.go")
	u.Press("j")
	at("16 lines")
	u.Press("enter") // all of them are fewer than a gap gives at both ends
	at("1   line 1")
	u.Hides("16 lines")
	u.Shows("… 13 lines")
	u.Press("z")
	u.Hides("… 13 lines")
	u.Press("z")
	u.Shows("… 16 lines")
	u.Press("h")
	at("▸ M long.go")
	u.Press("/")
	u.Type("bye")
	u.Press("enter")
	at("1 - bye")
	u.Press("/")
	u.Type("C")
	u.Shows("no match")
	u.Press("esc")
	at("1 - bye")
	u.Press("q")
	u.Shows("Agents")
	if u.Host.Follows("ahp-changeset:/t1") || u.Host.Follows("ahp-session:/t1/annotations") {
		t.Error("what nobody looks at is followed")
	}
}

// selectedRow is the row that the cursor is on: it has a ground of its own up to its end.
func selectedRow(u *UI) string {
	for y := 1; y < 28; y++ {
		if line := u.Outer().Line(y, nil); len(line) > 0 && line[len(line)-1].Style.BG != 0 {
			return u.Row(y)
		}
	}
	return ""
}

// TestReviewComments: a comment is written, edited, resolved and deleted, stays at its
// line when that moves, and shows when the line or the file is gone; whether the agent
// has it is said.
func TestReviewComments(t *testing.T) {
	u := New(t, Options{W: 100, H: 40})
	s := reviewing(u)
	u.Press("]", "j", "c")
	u.Shows("comment on long.go, line 20")
	u.Type("why?")
	u.Press("enter")
	u.Shows("why?", "line 20 · goes with the next message", "1 comment")
	n := s.Notes().Annotations[0]
	if r := n.Range; n.Resource != "file:///srv/t1/long.go" || r.Start.Line != 19 || r.End.Line != 20 || r.End.Character != 0 || n.Origin.Session != s.URI {
		t.Errorf("%+v, %+v", n, n.Range)
	}
	u.Press(")", "enter")
	u.Type(" tell")
	u.Press("enter")
	u.Shows("why? tell")

	// The agent has it; the line moves, and goes.
	e := n.Entries[0]
	e.Text.Text, e.Meta = "why? tell", json.RawMessage(`{"tandemux/given":"turn1"}`)
	s.Notices(annotation.EntrySet{AnnotationID: n.ID, Entry: e})
	u.WaitIdle()
	u.Shows("line 20 · the agent has it")
	was := map[int]string{20: "wide 漢字漢字 and a line that is so long that it is wrapped on a small screen, though not on a large one"}
	moved := "new first\n" + *numbered(60, was)
	s.Edits(Edit{Path: "long.go", Before: numbered(60, nil), Now: &moved})
	u.WaitIdle()
	rows := strings.Split(u.Screen(), "\n")
	if i := slices.IndexFunc(rows, func(r string) bool { return strings.Contains(r, "why? tell") }); i < 1 || !strings.Contains(rows[i-1], "large one") {
		t.Errorf("the comment is not below its line:\n%s", u.Screen())
	}
	s.Edits(Edit{Path: "long.go", Before: numbered(60, nil), Now: numbered(60, map[int]string{20: "other"})})
	u.WaitIdle()
	u.Shows("line 20, which is gone · the agent has it", "it said: wide")

	// Of somebody else, on a file without changes.
	s.Notices(annotation.Set{Annotation: annotation.Annotation{
		ID: "theirs", Origin: annotation.Origin{Session: s.URI}, Resource: "file:///srv/t1/other.go",
		Entries: []annotation.Entry{{ID: "1", Text: *ahp.Plain("see \x1b[31mhere")}, {ID: "2", Text: *ahp.Plain("and here")}},
	}})
	u.WaitIdle()
	u.Press("G")
	u.Shows("comments on other.go, which has no changes", "see [31mhere", "and here")
	u.Press("d")
	u.Shows("delete this comment? y/n")
	u.Press("y")
	u.Hides("and here")
	u.Press("r")
	u.Shows("resolved")
	u.Press("d", "n")
	u.Shows("see [31mhere")
	u.Press("d", "y")
	u.Hides("see [31mhere")

	// What has no line.
	u.Press("g", "c")
	u.Shows("go to a line of a file")
	u.Press("/")
	u.Type("bye")
	u.Press("enter", "c")
	u.Shows("the file is deleted")
	u.Press("g", "]", "c") // a deleted line: beside it, and quoted
	u.Type("keep it")
	u.Press("enter")
	u.Shows("(on the deleted line \"line 20\")")

	// What the host refuses can be sent again.
	u.Host.Refuse = func(_ ahp.URI, a ahp.Action) string {
		if _, is := a.(annotation.Set); is {
			return "it is not below the session's directories"
		}
		return ""
	}
	u.Press("c")
	u.Type("lost?")
	u.Press("enter")
	u.Shows("refused")
	u.Host.Refuse = nil
	u.Press("c")
	u.Shows("lost?")
	u.Press("enter")
	u.Shows("lost?", "line 20 ·")
}

// TestReviewMerges: merging says what it does, with the message to be edited, and asks;
// a check that fails shows what it printed; conflicts are seen and given to the agent.
func TestReviewMerges(t *testing.T) {
	u := New(t, Options{W: 120, H: 30})
	reviewing(u)
	l := &u.Host.TaskList
	done := func(want ...string) {
		t.Helper()
		u.WaitIdle()
		if !slices.Equal(l.Done, want) {
			t.Fatalf("done: %q, want %q", l.Done, want)
		}
		l.Done = nil
	}
	u.Press("m")
	u.WaitIdle()
	u.Shows("the commit's message", "fix the tests")
	u.Press("esc")
	done()
	u.Press("alt+m")
	u.WaitIdle()
	u.Type(", all")
	u.Press("enter")
	u.Shows("merge 6 files (+7 -4) into main? `make test` must pass in the task first. main has 2 commits that the task")
	u.Press("n")
	done()
	l.Fails = &tasks.CheckFailed{Reason: "the check failed (exit code 2)", Output: "FAIL \x1b[31mTestX\nexit status 2\n"}
	u.Press("m")
	u.WaitIdle()
	u.Press("enter", "y")
	done("merge tsk_1 {Message:fix the tests Look:false Running:false NoCheck:false}")
	u.Shows("The check has failed", "FAIL [31mTestX", "exit status 2", "the check failed (exit code 2)")
	u.Press("esc")
	l.Fails = fmt.Errorf("both the task and the branch main changed \"long.go\"; nothing was changed: `tandemux ws update fix-tests --ask` has the agent resolve that, or merge by hand")
	u.Press("m")
	u.WaitIdle()
	u.Press("enter", "y")
	done("merge tsk_1 {Message:fix the tests Look:false Running:false NoCheck:false}")
	u.Shows("both the task and the branch main changed", "nothing was changed: u has the", "agent resolve that, or merge by hand")

	l.Would.Check, l.Would.Message = "", ""
	u.Press("M")
	u.WaitIdle()
	u.Press("y")
	done("merge tsk_1 {Message: Look:false Running:false NoCheck:true}")

	// The other way.
	l.Fails = nil
	u.Press("u")
	u.Shows("bring what is new at home into fix-tests, and have its agent resolve conflicts?")
	u.Press("y")
	done("update tsk_1 {Ask:true Abort:false Running:false}")
	u.Shows("1 commit of main came into the task")
	c := l.Changes["tsk_1"]
	c.Conflicts = []string{"long.go"}
	l.Changes["tsk_1"] = c
	u.Press("R")
	u.WaitIdle()
	u.Shows("conflicts in 1 file", "! long.go")
	u.Press("A", "y")
	done("update tsk_1 {Ask:false Abort:true Running:false}")
	l.All[0].Status = "RUNNING"
	u.Press("u")
	u.WaitIdle()
	u.Shows("fix-tests is at work, so this may be half of a change: bring what is new")
	u.Press("y")
	done("update tsk_1 {Ask:true Abort:false Running:true}")
	u.Press("s")
	u.Type("go on")
	u.Press("enter")
	done(`tell tsk_1 "go on"`)
	u.Press("alt+o")
	u.Type("out")
	u.Press("enter")
	done(`pull tsk_1 "out"`)
	u.Shows("3 files in out")
	u.Press("t")
	u.WaitIdle()
	u.Hides("Changes of")
	u.Shows("Ask scripted")
}

// TestReviewAtOnce: whoever is faster than the list of tasks gets a task's keys, too.
func TestReviewAtOnce(t *testing.T) {
	u := New(t, Options{W: 120, H: 30})
	toReview(u)
	u.Host.Hold()
	u.Press("ctrl+space a")
	u.Type("fix-tests")
	u.Press("alt+p")
	u.Host.Let()
	u.WaitIdle()
	u.Shows("Changes of fix-tests", "m merge")
}

// TestReviewByPatch: a task of which the host lists no changes is compared by the host.
func TestReviewByPatch(t *testing.T) {
	u := New(t, Options{W: 100, H: 30})
	tasked(u)
	l := &u.Host.TaskList
	l.Changes["tsk_3"] = tasks.Changes{Files: []tasks.Changed{{Mark: "M", Path: "a.txt", Added: 1, Deleted: 1}, {Mark: "A", Path: "é\n", Added: 1}, {Mark: "M", Path: "far", Added: 1}}, Conflicts: []string{"a.txt"}, Into: "the filesystem fs_1"}
	l.Patch = map[string]string{"tsk_3": "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -4,2 +4,2 @@ x\n same\n--- old\n+++ new\ndiff --git \"a/\\303\\251\\n\" \"b/\\303\\251\\n\"\n--- /dev/null\n+++ \"b/\\303\\251\\n\"\n@@ -0,0 +1 @@\n+q\n\\ No newline at end of file\n"}
	chooseTask(u, "nightly")
	u.Press("alt+p")
	u.WaitIdle()
	u.Shows("! a.txt +1 -1", "4   same", "5 - -- old", "5 + ++ new", "é<U+000A>", "1 + q (no newline)", "its lines are not in what was read", "conflicts in 1 file")
	u.Press("]", "c")
	u.Shows("no session that could be given comments")
}

// TestReviewOfAChat: from a chat by a key, of a session that is no task too; it says so
// where nothing is known of changes.
func TestReviewOfAChat(t *testing.T) {
	u := New(t, Options{W: 100, H: 30})
	s := u.Host.AddSession("plain", "What is this?")
	u.WaitIdle()
	u.Press("ctrl+space a")
	u.WaitIdle()
	u.Press("enter")
	u.WaitIdle()
	u.Press("alt+c")
	u.WaitIdle()
	u.Shows("Changes of What is this?", "no changes are known of this session")
	u.Press("m") // which only tasks have
	u.Press("u")
	s.Changes(Edit{Path: "a", Before: text("a\n"), Now: text("b\n")})
	u.WaitIdle()
	u.Shows("1 - a", "1 + b")
	u.Press("q")
	u.Hides("Changes of")
	u.Press("ctrl+space :")
	u.Paste("review")
	u.Press("enter")
	u.WaitIdle()
	u.Shows("Changes of What is this?", "1 + b")
	u.Press("esc")
	u.Hides("Changes of")
}
