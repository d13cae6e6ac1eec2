package login

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestSeed: a copy is made of what is named, again when that is another, and not when the
// agent has changed its copy.
func TestSeed(t *testing.T) {
	t.Parallel()
	home, into := t.TempDir(), filepath.Join(t.TempDir(), "login")
	file := filepath.Join(home, ".agent", "token")
	must(t, os.MkdirAll(filepath.Join(home, ".agent", "sub"), 0o755), os.WriteFile(file, []byte("one"), 0o644), os.Symlink("token", filepath.Join(home, ".agent", "same")), os.Symlink(".agent/token", filepath.Join(home, ".linked")))
	names := []string{".agent", ".agent/token", ".linked", ".missing"}
	seeded := func() []Copy {
		t.Helper()
		all, missing, err := Seed(home, into, names)
		must(t, err)
		if len(all) != 3 || len(missing) != 1 || missing[0] != ".missing" {
			t.Fatalf("%v, without %v", all, missing)
		}
		return all
	}
	has := func(path, want string) {
		t.Helper()
		text, err := os.ReadFile(path)
		if must(t, err); string(text) != want {
			t.Errorf("%s has %q, want %q", path, text, want)
		}
	}
	all := seeded()
	has(filepath.Join(all[0].Path, "same"), "one")
	has(all[2].Path, "one")
	if info, err := os.Lstat(all[1].Path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	must(t, os.WriteFile(all[1].Path, []byte("renewed"), 0o600))
	has(seeded()[1].Path, "renewed")
	has(file, "one")
	must(t, os.WriteFile(file, []byte("two"), 0o644), os.Chtimes(file, time.Time{}, time.Unix(1, 0)))
	has(seeded()[1].Path, "two")
	if left, err := os.ReadDir(into); err != nil || len(left) != 3 {
		t.Errorf("%d copies are left: %v", len(left), err)
	}
}

// TestRefused: nothing leads out of the home directory, and what is no file is none.
func TestRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	must(t, os.MkdirAll(home, 0o700), os.WriteFile(filepath.Join(dir, "secret"), []byte("s"), 0o600))
	make := func(name string, make func(at string) error) {
		t.Helper()
		at := filepath.Join(home, name)
		must(t, os.MkdirAll(filepath.Dir(at), 0o700), make(at))
	}
	link := func(to string) func(string) error { return func(at string) error { return os.Symlink(to, at) } }
	make(".out", link("../secret"))
	make(".absolute", link(filepath.Join(dir, "secret")))
	make(".dir/link", link("../../secret"))
	make(".dangling/link", link("nothing"))
	make(".fifo", func(at string) error { return syscall.Mkfifo(at, 0o600) })
	make(".sockets/s", func(at string) error { return syscall.Mkfifo(at, 0o600) })
	make(".device", link("/dev/null"))
	make(".large", func(at string) error { return os.WriteFile(at, []byte("x"), 0o600) })
	must(t, os.Truncate(filepath.Join(home, ".large"), maxBytes+1))
	make(".many/0", func(at string) error {
		for i := range maxFiles + 1 {
			if err := os.WriteFile(filepath.Join(filepath.Dir(at), string(rune('a'+i%26))+strings.Repeat("x", i/26)), nil, 0o600); err != nil {
				return err
			}
		}
		return nil
	})
	into := filepath.Join(dir, "into")
	for _, name := range []string{".out", ".absolute", ".dir", ".dangling", ".fifo", ".sockets", ".device", ".large", ".many"} {
		all, _, err := Seed(home, into, []string{name})
		if err == nil || !strings.Contains(err.Error(), "~/"+name) {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
	if left, _ := os.ReadDir(into); len(left) != 0 {
		t.Errorf("something is left: %v", left)
	}
	for _, text := range []string{"/etc/passwd", "~/../x", "~/x/../.y", "~/", "~/Documents", ".claude", "~/.x\x00"} {
		if name, err := Check(text); err == nil {
			t.Errorf("%q is %q", text, name)
		}
	}
	if name, err := Check("~/.claude/.credentials.json"); err != nil || name != ".claude/.credentials.json" {
		t.Errorf("%q %v", name, err)
	}
}
