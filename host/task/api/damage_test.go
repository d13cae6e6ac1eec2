package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/host/task/store"
)

// TestDamagedStore: a database that was damaged, or removed, takes no workspace with
// it, neither with the next host nor with the one after; it is said what was done.
func TestDamagedStore(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"damaged": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("garbage ", 1000)), 0o600) },
		"removed": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t)
			w.agent("a", hello)
			for _, f := range []string{"p"} {
				w.must(http.StatusCreated, http.MethodPost, "/projects", map[string]any{"name": f}, nil)
			}
			source := filepath.Join(w.dir, "files", "source")
			if err := os.Mkdir(source, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(source, "work"), []byte("of hours"), 0o600); err != nil {
				t.Fatal(err)
			}
			task := w.create("a", map[string]any{"workspace": "copy:" + source})
			w.becomes(task.ID, store.Idle)
			var found []string
			look := func() int {
				t.Helper()
				n := 0
				filepath.WalkDir(filepath.Join(w.dir, "state"), func(path string, _ os.DirEntry, err error) error { //nolint:errcheck // what is found counts
					if err == nil && filepath.Base(path) == "work" {
						n++
						found = append(found, path)
					}
					return nil
				})
				return n
			}
			before := look()
			if before == 0 {
				t.Fatal("there is no copy")
			}
			w.stopHost()
			if err := damage(filepath.Join(w.dir, "state", store.File)); err != nil {
				t.Fatal(err)
			}
			for round := range 2 {
				w.startHost()
				w.must(http.StatusOK, http.MethodGet, "/tasks", nil, nil)
				if notice := w.svc().Store.Notice(); (notice != "") != (name == "damaged" && round == 0) {
					t.Errorf("host %d says %q", round, notice)
				}
				if after := look(); after != before {
					t.Errorf("host %d left %d of %d files: %v", round, after, before, found)
				}
				if round == 0 {
					w.stopHost()
				}
			}
			if name == "damaged" {
				return
			}
			// With the key of its values the agent can be deployed again.
			w.agent("a", hello)
		})
	}
}
