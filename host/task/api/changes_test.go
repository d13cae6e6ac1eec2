package api_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/changeset"
	"tandemux/host/task/store"
	"tandemux/internal/client"
	"tandemux/internal/fileuri"
)

// reviewer is a client that follows a session and its changeset.
type reviewer struct {
	w *fixture
	c *client.Client

	mu      sync.Mutex
	uri     ahp.URI // of the session
	session ahp.SessionState
	set     changeset.State
}

func (r *reviewer) Snapshot(snap ahp.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	switch {
	case snap.Resource == r.uri:
		err = json.Unmarshal(snap.State, &r.session)
	case strings.HasPrefix(snap.Resource, changeset.Scheme):
		err = json.Unmarshal(snap.State, &r.set)
	}
	if err != nil {
		r.w.t.Error(err)
	}
}

func (r *reviewer) Action(e ahp.Envelope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case e.Channel == r.uri:
		r.session = ahp.ReduceSession(r.session, e.Action)
	case strings.HasPrefix(e.Channel, changeset.Scheme):
		r.set = changeset.Reduce(r.set, e.Action)
	}
}

func (r *reviewer) Gone(ahp.URI)                {}
func (r *reviewer) Status(client.Status, error) {}

// review follows the changeset of a session, and gives its channel.
func review(w *fixture, session ahp.URI) (*reviewer, ahp.URI) {
	w.t.Helper()
	r := &reviewer{w: w, uri: session}
	c, err := client.Connect(context.Background(), client.Options{Dial: w.host.Front().Service("person"), Sink: r})
	if err != nil {
		w.t.Fatal(err)
	}
	r.c = c
	w.t.Cleanup(func() { c.Close() })
	if err := c.Subscribe(context.Background(), session); err != nil {
		w.t.Fatal(err)
	}
	var row changeset.Changeset
	w.until("the session lists a changeset", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.session.Changesets) == 1 && json.Unmarshal(r.session.Changesets[0], &row) == nil
	})
	if err := c.Subscribe(context.Background(), row.Template); err != nil {
		w.t.Fatal(err)
	}
	return r, row.Template
}

// becomes waits until files and operations of the changeset are as they should be.
func (r *reviewer) becomes(want string) {
	r.w.t.Helper()
	r.w.until("the changeset is "+want, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		var all []string
		for _, f := range r.set.Files {
			all = append(all, path.Base(f.ID))
		}
		slices.Sort(all)
		all = append(all, "|")
		for _, o := range r.set.Operations {
			all = append(all, o.ID)
		}
		return r.set.Status == changeset.Ready && strings.Join(all, " ") == want
	})
}

// TestChanges: a client sees what a task's agent did, undoes a file, brings it back, and
// merges the task's work home; where that conflicts, one error says so and nothing moves.
func TestChanges(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	for name, more := range map[string]map[string]any{"bare": {}, "sandbox": {"no_sandbox": nil}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "sandbox" {
				needSandbox(t)
			}
			w := start(t)
			repo := filepath.Join(w.dir, "files", "repo")
			git(t, w.dir, "init", "-q", "-b", "main", repo)
			w.file("repo/a.txt", "one\n")
			git(t, repo, "add", ".")
			git(t, repo, "commit", "-q", "-m", "one")
			w.agent("writer", `prompt
call w fs/write_text_file {"sessionId":"$SESSION","path":"$CWD/a.txt","content":"changed"}
call w fs/write_text_file {"sessionId":"$SESSION","path":"$CWD/made.txt","content":"made"}
`)
			body := map[string]any{"workspace": "worktree", "cwd": repo, "name": "n"}
			for k, v := range more {
				body[k] = v
			}
			made := w.create("writer", body)
			if e := w.settles(w.send(made.ID, "go").ID); e.Status != store.EventDone {
				t.Fatalf("%+v", e)
			}
			task := w.get(made.ID)
			work, err := w.svc().Files.Workspace(task.ID)
			if err != nil {
				t.Fatal(err)
			}
			has := func(dir, name, want string) {
				t.Helper()
				if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
					t.Errorf("%s of %s is %q, want %q", name, dir, got, want)
				}
			}
			r, set := review(w, task.Session)
			invoke := func(op, file string) (string, error) {
				p := changeset.InvokeParams{Channel: set, OperationID: op}
				if file != "" {
					p.Target = &changeset.Target{Kind: changeset.OnResource, Resource: fileuri.Of(filepath.Join(work.Dir(), file))}
				}
				var done changeset.InvokeResult
				err := r.c.Call(context.Background(), changeset.MethodInvoke, p, &done)
				return done.Message, err
			}
			r.becomes("a.txt made.txt | keep undo commit merge")
			said, err := invoke("undo", "a.txt")
			if err != nil || !strings.Contains(said, "refs/tandemux/undone/") {
				t.Fatalf("undo: %q, %v", said, err)
			}
			has(work.Dir(), "a.txt", "one\n")
			r.becomes("made.txt | keep undo commit merge")
			_, command, _ := strings.Cut(said, "`")
			command, _, _ = strings.Cut(command, "`")
			git(t, work.Dir(), strings.Fields(strings.Replace(command, "FILE", "a.txt", 1))[1:]...)
			has(work.Dir(), "a.txt", "changed")

			w.file("repo/a.txt", "other\n")
			git(t, repo, "commit", "-q", "-a", "-m", "other")
			head := git(t, repo, "rev-parse", "HEAD")
			_, err = invoke("merge", "")
			if ahp.CodeOf(err) != ahp.CodeConflict || !strings.Contains(err.Error(), `the branch main changed "a.txt"`) {
				t.Errorf("a conflict: %v", err)
			}
			if now := git(t, repo, "rev-parse", "HEAD"); now != head || git(t, repo, "status", "--porcelain") != "" {
				t.Errorf("HEAD is %s, and was %s; %s", now, head, git(t, repo, "status", "--porcelain"))
			}
			has(repo, "a.txt", "other\n")
			has(repo, "made.txt", "")
			has(work.Dir(), "a.txt", "changed")

			r.becomes("a.txt made.txt | keep undo commit merge")
			if _, err := invoke("undo", "a.txt"); err != nil { // though the merge has committed it
				t.Fatal(err)
			}
			r.becomes("made.txt | keep undo commit merge")
			if said, err = invoke("merge", ""); err != nil || said != "Merged into main." {
				t.Fatalf("merge: %q, %v", said, err)
			}
			has(repo, "made.txt", "made")
			has(repo, "a.txt", "other\n")
		})
	}
}
