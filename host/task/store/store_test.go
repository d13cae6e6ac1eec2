package store

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// open opens a store in a directory, and closes it with the test.
func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func deployment(agent, branch, hash string) Deployment {
	env := "preview"
	if branch == "main" {
		env = "production"
	}
	return Deployment{Agent: agent, Branch: branch, Environment: env, Definition: json.RawMessage(`{"name":"` + agent + `"}`), Hash: hash, Author: "operator"}
}

// deploy makes a version of an agent that may be new.
func deploy(t testing.TB, s *Store, d Deployment) Deployed {
	t.Helper()
	_, err := s.Agents.Find(context.Background(), d.Agent)
	d.New = err != nil
	got, err := s.Deploy(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// begin makes a task of a deployed version.
func begin(t testing.TB, s *Store, d Deployed, name string) Task {
	t.Helper()
	task, err := s.Tasks.Create(context.Background(), Task{Name: name, Status: Creating, AgentID: d.Agent.ID, VersionID: d.Version.ID, BranchID: d.Branch.ID, Creator: "operator"})
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s := open(t, dir)
	deploy(t, s, deployment("one", "main", "a"))
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) < 4 {
		t.Fatalf("only %v is there", entries)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v, %v", info.Mode(), err)
	}
}
