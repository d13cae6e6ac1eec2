package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// older makes a database of an older schema by its frozen text, with rows.
func older(t *testing.T, dir string, schema int) {
	t.Helper()
	// Something is sealed in it, so there is a key.
	if err := os.WriteFile(filepath.Join(dir, "tasks.key"), make([]byte, sealKeySize), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := 1; i <= schema; i++ {
		text, err := os.ReadFile(fmt.Sprintf("testdata/schema%d.sql", i))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(string(text)); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := os.ReadFile("testdata/rows1.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(rows) + fmt.Sprintf(";pragma user_version = %d", schema)); err != nil {
		t.Fatal(err)
	}
}

// TestReleasedSchemasStay fails when a migration is changed in place of a new one
// being added.
func TestReleasedSchemasStay(t *testing.T) {
	for i, m := range migrations {
		name := fmt.Sprintf("testdata/schema%d.sql", i+1)
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) && os.Getenv("TANDEMUX_UPDATE") != "" {
			if err := os.WriteFile(name, []byte(m), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%v; TANDEMUX_UPDATE=1 freezes a new schema", err)
		}
		if string(text) != m {
			t.Errorf("schema %d is not what %s has: add a migration in its place", i+1, name)
		}
	}
}

func schemaOf(t *testing.T, s *Store) string {
	t.Helper()
	rows, err := s.r.Query("select sql from sqlite_schema where sql is not null order by name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

func TestMigrations(t *testing.T) {
	fresh := open(t, t.TempDir())
	for schema := 1; schema < len(migrations); schema++ {
		dir := t.TempDir()
		older(t, dir, schema)
		s := open(t, dir)
		if s.Notice() != "" {
			t.Fatal(s.Notice())
		}
		if got, want := schemaOf(t, s), schemaOf(t, fresh); got != want {
			t.Errorf("from schema %d it is\n%s\nwant\n%s", schema, got, want)
		}
		task, err := s.Tasks.Find(context.Background(), "old-task")
		if err != nil || task.Status != Idle || string(task.Params) != `{"a":1}` || task.Created.UnixMilli() != 1700000000000 {
			t.Errorf("from schema %d the task is %+v, %v", schema, task, err)
		}
		if got := s.StreamEnd(task.ID); got != 2 {
			t.Errorf("from schema %d its stream ends at %d", schema, got)
		}
		if k, err := s.Key(context.Background(), "old-key"); err != nil || len(k.Scopes) != 1 {
			t.Errorf("from schema %d the key is %+v, %v", schema, k, err)
		}
		begin(t, s, deploy(t, s, deployment("old-agent", "main", "new")), "new-task")
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.w.Exec(fmt.Sprintf("pragma user_version = %d", len(migrations)+1)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := Open(context.Background(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "newer tandemux") {
		t.Errorf("a newer one: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, File)); err != nil {
		t.Error("it was moved away")
	}
}

// TestMigrationFails leaves the database as it was.
func TestMigrationFails(t *testing.T) {
	dir := t.TempDir()
	older(t, dir, 1)
	before := migrations
	migrations = append(migrations[:1:1], "create table extra (x); create table projects (y);")
	_, err := Open(context.Background(), Options{Dir: dir})
	migrations = before
	if err == nil {
		t.Fatal("it was opened")
	}
	s := open(t, dir)
	if _, err := s.Tasks.Find(context.Background(), "old-task"); err != nil || s.Notice() != "" {
		t.Errorf("%v, %s", err, s.Notice())
	}
	if strings.Contains(schemaOf(t, s), "extra") {
		t.Error("half a migration stays")
	}
}
