package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestMergePatch shows U14.
func TestMergePatch(t *testing.T) {
	for _, c := range [][3]string{ // the examples of RFC 7396, and numbers
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"n":1}`, `{"m":12345678901234567890.10}`, `{"m":12345678901234567890.10,"n":1}`},
	} {
		if got, err := mergePatch(json.RawMessage(c[0]), json.RawMessage(c[1])); err != nil || string(got) != c[2] {
			t.Errorf("%s and %s make %s, %v; want %s", c[0], c[1], got, err, c[2])
		}
	}
	deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	if _, err := mergePatch(json.RawMessage(`{}`), json.RawMessage(deep)); !errors.Is(err, Invalid) {
		t.Errorf("a deep patch: %v", err)
	}
}

func FuzzMergePatch(f *testing.F) {
	f.Add(`{"a":{"b":1}}`, `{"a":{"b":null,"c":[1]}}`)
	f.Add(`{}`, `{"":{"":{}}}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if checkState(json.RawMessage(a)) != nil || checkState(json.RawMessage(b)) != nil {
			return
		}
		once, err := mergePatch(json.RawMessage(a), json.RawMessage(b))
		if err != nil {
			return
		}
		if checkState(once) != nil && len(once) <= MaxState {
			t.Fatalf("%s and %s make %s", a, b, once)
		}
		twice, err := mergePatch(once, json.RawMessage(b))
		if err != nil || string(twice) != string(once) { // a patch that was applied changes nothing any more
			t.Fatalf("%s and %s make %s, then %s, %v", a, b, once, twice, err)
		}
	})
}

func TestNamed(t *testing.T) { onBoth(t, testNamed) }

func testNamed(t *testing.T, db backend) {
	s := db.open(t, t.TempDir())
	ctx := context.Background()
	d := deploy(t, s, deployment("a", "main", "a"))
	put := func(id, name string) {
		t.Helper()
		if _, err := s.Tasks.Create(ctx, Task{ID: id, Name: name, AgentID: d.Agent.ID, VersionID: d.Version.ID, BranchID: d.Branch.ID}); err != nil {
			t.Fatal(err)
		}
	}
	put("tsk_abc1", "first")
	put("tsk_abc2", "abc9")
	put("tsk_def1", "tsk_abc1x")
	for ref, want := range map[string]string{
		"tsk_abc1": "tsk_abc1", "first": "tsk_abc1", "abc9": "tsk_abc2", "def": "tsk_def1", "tsk_def": "tsk_def1", "abc1": "tsk_abc1",
		"abc": "more than one", "tsk_abc": "more than one", "de": "there is no task", "nobody": "there is no task", "": "no task is named",
		"*": "there is no task", "tsk_*": "there is no task", "tsk_": "there is no task", "' or 1=1 --": "there is no task",
	} {
		got, err := s.Tasks.Find(ctx, ref)
		if err != nil && !strings.Contains(err.Error(), want) || err == nil && got.ID != want {
			t.Errorf("%q is %s, %v; want %s", ref, got.ID, err, want)
		}
	}
	if _, err := s.Tasks.Create(ctx, Task{Name: "first", AgentID: d.Agent.ID, VersionID: d.Version.ID, BranchID: d.Branch.ID}); !errors.Is(err, Exists) {
		t.Errorf("a name that is taken: %v", err)
	}
	if _, err := s.Tasks.Create(ctx, Task{AgentID: "agt_none", VersionID: d.Version.ID, BranchID: d.Branch.ID}); !errors.Is(err, NotFound) {
		t.Errorf("a task of no agent: %v", err)
	}
}

func TestPages(t *testing.T) { onBoth(t, testPages) }

func testPages(t *testing.T, db backend) {
	s := db.open(t, t.TempDir())
	ctx := context.Background()
	d := deploy(t, s, deployment("a", "main", "a"))
	task := begin(t, s, d, "t")
	for i := range 25 {
		if _, err := s.Messages.Create(ctx, Message{TaskID: task.ID, Author: "agent", Content: []Part{TextPart(fmt.Sprint(i))}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, older := range []bool{false, true} {
		var got []string
		pages := 0
		for p := (Page{Limit: 10}); ; pages++ {
			found, next, err := s.Messages.List(ctx, Where{"task": task.ID}, Page{p.Limit, p.Cursor, older})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range found {
				got = append(got, m.Content[0].Text)
			}
			if p.Cursor = next; next == "" {
				break
			}
		}
		if len(got) != 25 || pages != 2 || older && got[0] != "24" || !older && got[0] != "0" {
			t.Errorf("older %v: %d pages of %v", older, pages+1, got)
		}
	}
	for _, c := range []string{"-1", "!", "zzzzzzzzzzzzzzzzzzzzzz"} {
		if _, _, err := s.Tasks.List(ctx, nil, Page{Cursor: c}); !errors.Is(err, Invalid) {
			t.Errorf("the cursor %s: %v", c, err)
		}
	}
}

// TestReplies shows U66
func TestReplies(t *testing.T) { onBoth(t, testReplies) }

func testReplies(t *testing.T, db backend) {
	dir := t.TempDir()
	now := time.Now()
	s, err := Open(context.Background(), Options{Dir: dir, URL: db.url(t, dir), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	same, other := [32]byte{1}, [32]byte{2}
	reserve := func(digest [32]byte) (*Reply, error) { return s.Reserve(ctx, "key:1", "k", digest) }
	if r, err := reserve(same); r != nil || err != nil {
		t.Fatalf("the first: %v, %v", r, err)
	}
	if _, err := reserve(same); !errors.Is(err, Busy) {
		t.Errorf("the same while it is being done: %v", err)
	}
	if r, err := s.Reserve(ctx, "key:2", "k", other); r != nil || err != nil {
		t.Errorf("somebody else's key of the same name: %v, %v", r, err)
	}
	if err := s.Abandon(ctx, "key:1", "k"); err != nil {
		t.Fatal(err)
	}
	if r, err := reserve(same); r != nil || err != nil {
		t.Errorf("after it failed: %v, %v", r, err)
	}
	if err := s.Settle(ctx, "key:1", "k", Reply{Status: 201, Header: "{}", Body: []byte("done")}); err != nil {
		t.Fatal(err)
	}
	if r, err := reserve(same); err != nil || r == nil || r.Status != 201 || string(r.Body) != "done" {
		t.Errorf("again: %+v, %v", r, err)
	}
	if _, err := reserve(other); !errors.Is(err, Stale) {
		t.Errorf("another request with the key: %v", err)
	}
	now = now.Add(25 * time.Hour)
	if r, err := reserve(other); r != nil || err != nil {
		t.Errorf("after a day: %v, %v", r, err)
	}
	// A process that died while it did something holds nobody up.
	s.life = "another"
	if r, err := reserve(other); r != nil || err != nil {
		t.Errorf("after the process died: %v, %v", r, err)
	}
}

func TestDeletedTaskLeavesNothing(t *testing.T) { onBoth(t, testDeletedTaskLeavesNothing) }

func testDeletedTaskLeavesNothing(t *testing.T, db backend) {
	s := db.open(t, t.TempDir())
	ctx := context.Background()
	d := deploy(t, s, deployment("a", "main", "a"))
	p, err := s.Projects.Create(ctx, Project{Name: "p"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Filesystems.Create(ctx, Filesystem{ProjectID: p.ID, Auto: true})
	if err != nil {
		t.Fatal(err)
	}
	task, err := s.Tasks.Create(ctx, Task{AgentID: d.Agent.ID, VersionID: d.Version.ID, BranchID: d.Branch.ID, ProjectID: p.ID, FilesystemID: f.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		func() error {
			_, err := s.AddEvent(ctx, Event{TaskID: task.ID, Content: []Part{TextPart("a")}})
			return err
		}(),
		func() error {
			_, err := s.Messages.Create(ctx, Message{TaskID: task.ID, Content: []Part{TextPart("a")}})
			return err
		}(),
		func() error {
			_, err := s.States.Create(ctx, State{TaskID: task.ID, AgentID: d.Agent.ID, State: json.RawMessage(`{}`)})
			return err
		}(),
		func() error { _, err := s.AppendStream(ctx, task.ID, []StreamEvent{{Type: "x"}}); return err }(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Filesystems.Delete(ctx, f.ID); !errors.Is(err, InUse) {
		t.Errorf("a filesystem that a task has: %v", err)
	}
	if err := s.Projects.Delete(ctx, p.ID); !errors.Is(err, InUse) {
		t.Errorf("a project that is not empty: %v", err)
	}
	if err := s.DeleteAgent(ctx, d.Agent.ID); !errors.Is(err, InUse) {
		t.Errorf("an agent that has tasks: %v", err)
	}
	orphan, err := s.DeleteTask(ctx, task.ID)
	if err != nil || orphan != f.ID {
		t.Fatalf("its filesystem is %q, %v", orphan, err)
	}
	for _, table := range []string{"tasks", "events", "messages", "states", "stream", "keys"} {
		var n int
		if err := s.r.QueryRow("select count(*) from " + table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d rows are left in %s, %v", n, table, err)
		}
	}
	for _, err := range []error{s.Filesystems.Delete(ctx, f.ID), s.Projects.Delete(ctx, p.ID), s.DeleteAgent(ctx, d.Agent.ID)} {
		if err != nil {
			t.Error(err)
		}
	}
	var n int
	if err := s.r.QueryRow("select (select count(*) from versions) + (select count(*) from snapshots) + (select count(*) from branches)").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d rows are left, %v", n, err)
	}
}
