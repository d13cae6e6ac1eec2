package api_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tandemux/host/task"
	"tandemux/host/task/store"
	"tandemux/internal/soak"
)

// chatty is an agent that says much, in many ways.
func chatty(lines int) string {
	var b strings.Builder
	b.WriteString("prompt\n")
	for i := range lines {
		switch i % 10 {
		case 3:
			fmt.Fprintf(&b, "think thought %d é\n", i)
		case 7:
			fmt.Fprintf(&b, `update {"sessionUpdate":"tool_call","toolCallId":"c%d","title":"call %d","kind":"read","status":"in_progress","rawInput":{"n":%d}}`+"\n", i, i, i)
			fmt.Fprintf(&b, `update {"sessionUpdate":"tool_call_update","toolCallId":"c%d","status":"completed","rawOutput":{"n":%d}}`+"\n", i, i)
		default:
			fmt.Fprintf(&b, "say word %d ü \n", i)
		}
	}
	return b.String()
}

// TestStreamCuts: however often a reader is cut off, and wherever, what it gets
// with Last-Event-ID is the whole, once and in order (U47, U115); also while the
// turn runs, and of several turns.
func TestStreamCuts(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("chatty", chatty(400))
	got := w.create("chatty", nil)
	path := "/tasks/" + got.ID + "/stream"
	w.send(got.ID, "one")
	w.send(got.ID, "two")
	seed := rand.Uint64()
	var readers sync.WaitGroup
	gathered := make([][]frame, soak.Short(3, 8))
	for n := range gathered {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			after := ""
			for ended := false; !ended; {
				frames, cut := w.stream(path, after)
				left := r.IntN(120)
				for {
					f, ok := <-frames
					if ended = !ok; ended {
						break
					}
					if f.raw == "CUT" {
						t.Errorf("the stream ended by itself behind %s", after)
						break
					}
					gathered[n] = append(gathered[n], f)
					after = f.id
					if left--; left < 0 {
						break
					}
				}
				cut()
			}
		})
	}
	readers.Wait()
	w.becomes(got.ID, store.Idle)
	whole := w.whole(path, "")
	for n, all := range gathered {
		for i, f := range all {
			if i >= len(whole) || f.id != whole[i].id || f.raw != whole[i].raw {
				t.Fatalf("seed %d, reader %d: event %d is %s %s", seed, n, i, f.id, f.raw)
			}
		}
		// Who is told [DONE] has seen the end of a turn, and of all that there was.
		if len(all) == 0 || all[len(all)-1].part.Type != task.PartFinish {
			t.Errorf("seed %d, reader %d: %d events, the last is no finish", seed, n, len(all))
		}
	}
	if strings.Count(kinds(whole), task.PartFinish+" ") < 1 || textOf(whole) != strings.ReplaceAll(w.said(got.ID), "|", "") {
		t.Errorf("the stream's text is not the messages'")
	}
	if rest := w.whole(path, whole[len(whole)-1].id); len(rest) != 0 {
		t.Errorf("behind the end there is %v", rest)
	}
	w.refused(http.StatusUnprocessableEntity, "no event", http.MethodGet, path+"?after=1000000", nil)
	w.refused(http.StatusUnprocessableEntity, "no id", http.MethodGet, path+"?after=x", nil)
}

func textOf(all []frame) string {
	var b strings.Builder
	for _, f := range all {
		if f.part.Type == task.PartTextDelta {
			b.WriteString(f.part.Text)
		}
	}
	return b.String()
}

// TestStreamWaits: an idle task that nothing was sent to has no end of its stream
// to tell; with follow the stream lasts over turns, until the task is over (U47,
// U115).
func TestStreamWaits(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.agent("hello", hello)
	got := w.create("hello", nil)
	w.becomes(got.ID, store.Idle)
	once, cut := w.stream("/tasks/"+got.ID+"/stream", "")
	defer cut()
	all, cutAll := w.stream("/tasks/"+got.ID+"/stream?follow=true", "")
	defer cutAll()
	w.send(got.ID, "a")
	for range once { // to its [DONE]
	}
	e := w.send(got.ID, "b")
	finished := 0
	for f := range all {
		if f.part.Type != task.PartFinish {
			continue
		}
		if finished++; finished == 2 {
			if f.part.Metadata.EventID != e.ID {
				t.Errorf("the turn is of %s, not of %s", f.part.Metadata.EventID, e.ID)
			}
			w.must(http.StatusOK, http.MethodPost, "/tasks/"+got.ID+"/cancel", nil, nil)
		}
	}
	if finished != 2 {
		t.Errorf("it told %d turns", finished)
	}
	next, cutNext := w.stream("/tasks/"+got.ID+"/stream?after=now", "")
	defer cutNext()
	if f, ok := <-next; ok {
		t.Errorf("a task that is over goes on with %s", f.raw)
	}
}

// TestTenTasks: ten tasks of one repository at once, each in a worktree of its own,
// and none sees another's work.
func TestTenTasks(t *testing.T) {
	soak.Long(t, "ten tasks on one repository")
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	t.Parallel()
	w := start(t)
	repo := filepath.Join(w.dir, "files", "repo")
	git(t, w.dir, "init", "-q", "-b", "main", repo)
	if err := os.WriteFile(filepath.Join(repo, "a.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, repo, "add", ".")
	git(t, repo, "commit", "-q", "-m", "one")
	w.agent("writer", `prompt
call w fs/write_text_file {"sessionId":"$SESSION","path":"$CWD/made.txt","content":"$PROMPT"}
call r fs/read_text_file {"sessionId":"$SESSION","path":"$CWD/a.txt"}
show r
`)
	var racers sync.WaitGroup
	ids := make([]string, 10)
	for n := range ids {
		racers.Go(func() {
			got := w.create("writer", map[string]any{"workspace": "worktree", "cwd": repo, "name": fmt.Sprintf("racer-%d", n)})
			ids[n] = got.ID
			if e := w.settles(w.send(got.ID, fmt.Sprint(n)).ID); e.Status != store.EventDone {
				t.Errorf("task %d: %+v", n, e)
			}
		})
	}
	racers.Wait()
	for n, id := range ids {
		info, err := w.svc().Files.Workspace(id)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(info.Dir(), "made.txt"))
		if err != nil || string(text) != fmt.Sprintf("text:%d", n) {
			t.Errorf("task %d wrote %q, %v", n, text, err)
		}
		if branch := info.Info().Branch; branch != fmt.Sprintf("tandemux/racer-%d", n) {
			t.Errorf("task %d is on the branch %s", n, branch)
		}
	}
	if out := git(t, repo, "status", "--porcelain"); out != "" {
		t.Errorf("the repository is dirty: %s", out)
	}
	for _, id := range ids {
		racers.Go(func() { w.must(http.StatusOK, http.MethodDelete, "/tasks/"+id+"?force=true", nil, nil) })
	}
	racers.Wait()
	if out := git(t, repo, "worktree", "list"); strings.Count(out, "\n") != 1 {
		t.Errorf("worktrees are left:\n%s", out)
	}
	if out := git(t, repo, "branch", "--list", "tandemux/*"); out != "" {
		t.Errorf("branches are left:\n%s", out)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}
