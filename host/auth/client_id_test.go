package auth

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestBindings: bounded, each principal by its own share, kept in the file,
// which may be damaged.
func TestBindings(t *testing.T) {
	dir := t.TempDir()
	b, err := OpenClientIDs(dir)
	if err != nil {
		t.Fatal(err)
	}
	bind := func(id, p string) {
		t.Helper()
		if err := b.Bind(id, p); err != nil {
			t.Fatal(err)
		}
	}
	bind("tui", "operator")
	for i := range maxBindings {
		bind(fmt.Sprint("flood-", i), "token:evil")
	}
	if b.owner["tui"] != "operator" || len(b.owner) != 1+maxBindings/4 || b.owner["flood-0"] != "" || b.owner[fmt.Sprint("flood-", maxBindings-1)] != "token:evil" {
		t.Errorf("after a flood: tui is %q's, %d bindings", b.owner["tui"], len(b.owner))
	}
	for p := range 8 {
		for i := range maxBindings / 4 {
			bind(fmt.Sprint(p, "-", i), fmt.Sprint("token:", p))
		}
	}
	if b.owner["tui"] != "operator" || len(b.owner) > maxBindings {
		t.Errorf("after a concerted flood: tui is %q's, %d bindings", b.owner["tui"], len(b.owner))
	}
	bind("tui", "token:new") // once the old owner is no more
	b.Close()
	f, err := os.OpenFile(filepath.Join(dir, "clients"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("[\"half") //nolint:errcheck // the test would fail below
	f.Close()
	for range 2 { // The first time it is written anew.
		again, err := OpenClientIDs(dir)
		if err != nil {
			t.Fatal(err)
		}
		if again.owner["tui"] != "token:new" || len(again.owner) < maxBindings/2 || again.owner["half"] != "" {
			t.Errorf("read again: tui is %q's, %d bindings", again.owner["tui"], len(again.owner))
		}
		again.Close()
	}
	info, err := os.Stat(filepath.Join(dir, "clients"))
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() > 1<<20 {
		t.Errorf("the file: %v, %v", info, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "clients"), []byte("\x00\n[1,2]\n[]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if b, err := OpenClientIDs(dir); err != nil || len(b.owner) != 0 {
		t.Errorf("a damaged file: %v, %v", b.owner, err)
	} else {
		b.Close()
	}
}
