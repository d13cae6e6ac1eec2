package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// together runs do so many times at once.
func together(n int, do func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

func TestManyWriters(t *testing.T) { onBoth(t, testManyWriters) }

func testManyWriters(t *testing.T, db backend) {
	s := db.open(t, t.TempDir())
	ctx := context.Background()
	d := deploy(t, s, deployment("busy", "main", "a"))
	task := begin(t, s, d, "busy")
	st, err := s.States.Create(ctx, State{TaskID: task.ID, AgentID: d.Agent.ID, State: json.RawMessage(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 12, 10
	seen := make([]map[int64]bool, writers)
	var reads atomic.Int64
	together(writers, func(w int) {
		seen[w] = map[int64]bool{}
		for range each {
			if _, err := s.Tasks.Edit(ctx, task.ID, func(t *Task) error {
				n := 0
				json.Unmarshal(t.Params, &n) // none at first
				t.Params = json.RawMessage(fmt.Sprint(n + 1))
				return nil
			}); err != nil {
				t.Error(err)
			}
			last, err := s.AppendStream(ctx, task.ID, []StreamEvent{{Type: "x", Data: json.RawMessage(`1`)}})
			if err != nil {
				t.Error(err)
			}
			seen[w][last] = true
			if _, err := s.MergeState(ctx, st.ID, json.RawMessage(fmt.Sprintf(`{"w%d":%d}`, w, last))); err != nil {
				t.Error(err)
			}
			if _, _, err := s.Tasks.List(ctx, Where{"agent": d.Agent.ID}, Page{}); err != nil {
				t.Error(err)
			}
			reads.Add(1)
		}
	})
	got, err := s.Tasks.Find(ctx, task.ID)
	if err != nil || string(got.Params) != fmt.Sprint(writers*each) {
		t.Errorf("of %d additions %s are there, %v", writers*each, got.Params, err)
	}
	all := map[int64]bool{}
	for _, one := range seen {
		for n := range one {
			all[n] = true
		}
	}
	if len(all) != writers*each || s.StreamEnd(task.ID) != writers*each {
		t.Errorf("%d numbers were given, the last is %d; want %d", len(all), s.StreamEnd(task.ID), writers*each)
	}
	after, err := s.States.Get(ctx, st.ID)
	members := map[string]int64{}
	if err != nil || json.Unmarshal(after.State, &members) != nil || len(members) != writers {
		t.Errorf("the state is %s, %v", after.State, err)
	}
}

func TestOneOfManyWins(t *testing.T) { onBoth(t, testOneOfManyWins) }

func testOneOfManyWins(t *testing.T, db backend) {
	s := db.open(t, t.TempDir())
	ctx := context.Background()
	var projects, replies, fresh atomic.Int64
	digest := [32]byte{1}
	d := deployment("raced", "main", "a")
	d.New = true
	together(20, func(int) {
		if _, err := s.Projects.Create(ctx, Project{Name: "one"}); err == nil {
			projects.Add(1)
		} else if !errors.Is(err, Exists) {
			t.Error(err)
		}
		if r, err := s.Reserve(ctx, "operator", "k", digest); err == nil && r == nil {
			replies.Add(1)
		} else if !errors.Is(err, Busy) {
			t.Error(err)
		}
		if _, err := s.Deploy(ctx, d); err == nil {
			fresh.Add(1)
		} else if !errors.Is(err, Exists) {
			t.Error(err)
		}
	})
	if projects.Load() != 1 || replies.Load() != 1 || fresh.Load() != 1 {
		t.Errorf("%d projects, %d reservations and %d agents were made by twenty", projects.Load(), replies.Load(), fresh.Load())
	}
}

// TestDeploysAndMigrations race: versions are numbered without gaps, and each task
// ends at a version of its branch.
func TestDeploysAndMigrations(t *testing.T) { onBoth(t, testDeploysAndMigrations) }

func testDeploysAndMigrations(t *testing.T, db backend) {
	s := db.open(t, t.TempDir())
	ctx := context.Background()
	d := deploy(t, s, deployment("raced", "preview-1", "a"))
	var tasks []string
	for i := range 5 {
		tasks = append(tasks, begin(t, s, d, fmt.Sprintf("t%d", i)).ID)
	}
	together(8, func(w int) {
		for i := range 5 {
			dep := deployment("raced", "preview-1", fmt.Sprintf("%d-%d", w, i))
			if w%2 == 1 {
				dep.Branch = "preview-2"
			}
			if _, err := s.Deploy(ctx, dep); err != nil {
				t.Error(err)
			}
			if _, _, err := s.Migrate(ctx, Migration{Tasks: tasks, BranchID: d.Branch.ID}); err != nil {
				t.Error(err)
			}
			if _, err := s.Rollback(ctx, d.Branch.ID, "", "operator", ""); err != nil && !errors.Is(err, Stale) {
				t.Error(err)
			}
		}
	})
	all, _, err := s.Versions.List(ctx, Where{"agent": d.Agent.ID}, Page{Limit: 1000})
	if err != nil || len(all) != 41 || all[0].Number != 41 {
		t.Fatalf("%d versions, the newest %d, %v", len(all), all[0].Number, err)
	}
	b, err := s.Branches.Get(ctx, d.Branch.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range tasks {
		task, err := s.Tasks.Find(ctx, id)
		if err != nil || task.VersionID != b.ActiveID { // not sticky: they follow whatever is active
			t.Errorf("the task is at %s, the branch at %s, %v", task.VersionID, b.ActiveID, err)
		}
	}
}
