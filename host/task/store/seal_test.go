package store

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestValuesAreSealed shows U96: no file has them in the clear, the log of changes neither
func TestValuesAreSealed(t *testing.T) { onBoth(t, testValuesAreSealed) }

func testValuesAreSealed(t *testing.T, db backend) {
	dir := t.TempDir()
	s := db.open(t, dir)
	ctx := context.Background()
	secret := "hunter2-in-the-clear"
	d := deploy(t, s, deployment("one", "main", "a"))
	if err := s.SetVariables(ctx, d.Agent.ID, "production", []Variable{{Name: "K", Value: secret, Secret: true}}); err != nil {
		t.Fatal(err)
	}
	d = deploy(t, s, deployment("one", "main", "b"))
	look := func() {
		t.Helper()
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s has the value", f.Name())
			}
		}
	}
	look()
	if vars, err := s.Snapshot(ctx, d.Version.SnapshotID); err != nil || len(vars) != 1 || vars[0].Value != secret {
		t.Fatalf("the snapshot is %v, %v", vars, err)
	}
	s.Close()
	look()

	// The same value is sealed otherwise elsewhere, and can't be moved.
	s = db.open(t, dir)
	if err := s.SetVariables(ctx, d.Agent.ID, "preview", []Variable{{Name: "K", Value: "other"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.w.Exec("update variables set sealed = (select sealed from variables where environment = 'production') where environment = 'preview'"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Variables(ctx, d.Agent.ID, "preview"); err == nil {
		t.Error("a value was read in another place than its own")
	}
}

func TestLostKey(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	d := deploy(t, s, deployment("one", "main", "a"))
	s.Close()
	key := filepath.Join(dir, "tasks.key")
	kept, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"is gone":      func() error { return os.Remove(key) },
		"not a file":   func() error { return os.WriteFile(key, []byte("short"), 0o600) },
		"can't be rea": func() error { return os.WriteFile(key, bytes.Repeat([]byte{7}, sealKeySize), 0o600) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
		s, err := Open(context.Background(), Options{Dir: dir})
		if err == nil {
			_, err = s.Snapshot(context.Background(), d.Version.SnapshotID)
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.WriteFile(key, kept, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
