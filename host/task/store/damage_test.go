package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// filled makes a database with something in it, closes it, and gives its path.
func filled(t *testing.T) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	s, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	d := deploy(t, s, deployment("kept", "main", "a"))
	task := begin(t, s, d, "kept")
	for range 150 {
		if _, err := s.AppendStream(context.Background(), task.ID, []StreamEvent{{Type: "x", Data: json.RawMessage(`"` + strings.Repeat("y", 1000) + `"`)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, File)
}

func TestDamagedIsMovedAside(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(text []byte) []byte{
		"no database":   func([]byte) []byte { return bytes.Repeat([]byte("not a database "), 1000) },
		"header":        func(b []byte) []byte { copy(b, "garbage of somebody"); return b },
		"cut in half":   func(b []byte) []byte { return b[:len(b)/2] },
		"pages zeroed":  func(b []byte) []byte { clear(b[4096:]); return b },
		"pages mixed":   func(b []byte) []byte { copy(b[8192:], b[20480:60000]); return b },
		"schema number": func(b []byte) []byte { copy(b[60:64], []byte{0, 0, 0, 0}); return b },
	} {
		t.Run(name, func(t *testing.T) {
			dir, path := filled(t)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			broken := damage(bytes.Clone(text))
			if err := os.WriteFile(path, broken, 0o600); err != nil {
				t.Fatal(err)
			}
			now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
			s, err := Open(context.Background(), Options{Dir: dir, Now: func() time.Time { return now }})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			aside := path + ".damaged-20261121T040000Z"
			if !strings.Contains(s.Notice(), aside) {
				t.Errorf("the notice is %q", s.Notice())
			}
			if kept, err := os.ReadFile(aside); err != nil || !bytes.Equal(kept, broken) {
				t.Errorf("what was there is not kept as it was: %v", err)
			}
			if _, err := s.Agents.Find(context.Background(), "kept"); !errors.Is(err, NotFound) {
				t.Errorf("the new one is not empty: %v", err)
			}
			deploy(t, s, deployment("new", "main", "a")) // and works
		})
	}
}

// TestDamageWhileOpen damages pages that a check at the start would have found: the
// next Open looks at everything.
func TestDamageWhileOpen(t *testing.T) {
	dir, path := filled(t)
	s, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	task, err := s.Tasks.Find(context.Background(), "kept")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, _ := f.Stat()
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xff}, int(info.Size())-5*4096), 5*4096); err != nil {
		t.Fatal(err)
	}
	f.Close()
	s.r.SetMaxIdleConns(0) // what is cached is no test
	var met error
	for after := int64(0); after < 150 && met == nil; after += 50 {
		_, _, met = s.Stream(context.Background(), task.ID, after, 50)
	}
	if !errors.Is(met, Damaged) {
		t.Fatalf("reading what is damaged: %v", met)
	}
	s.Close()
	if _, err := os.Stat(path + ".check"); err != nil {
		t.Fatal("the damage was not noted")
	}
	s = open(t, dir)
	if s.Notice() == "" {
		t.Error("nothing was moved aside")
	}
	if _, err := os.Stat(path + ".check"); err == nil {
		t.Error("the note about the damage stays")
	}
}

func TestDamagedTwiceInASecond(t *testing.T) {
	dir, path := filled(t)
	now := func() time.Time { return time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC) }
	for range 2 {
		if err := os.WriteFile(path, []byte(strings.Repeat("no database", 100)), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(context.Background(), Options{Dir: dir, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	found, err := filepath.Glob(path + ".damaged-*")
	if err != nil || len(found) != 2 {
		t.Errorf("kept are %v, %v", found, err)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, File)
	target := filepath.Join(dir, "elsewhere")
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a symbolic link: %v", err)
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("the target of a link was made")
	}
	os.Remove(path)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), Options{Dir: dir}); err == nil {
		t.Error("a directory was opened")
	}
}

func TestOpenToOthersIsClosed(t *testing.T) {
	dir, path := filled(t)
	for _, f := range []string{path, filepath.Join(dir, "tasks.key")} {
		if err := os.Chmod(f, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	open(t, dir)
	for _, f := range []string{path, filepath.Join(dir, "tasks.key")} {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", f, info.Mode(), err)
		}
	}
}

func TestWritableByOthersIsRefused(t *testing.T) {
	for _, name := range []string{File, File + "-wal"} {
		dir, path := filled(t)
		path = filepath.Join(filepath.Dir(path), name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(context.Background(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "`chmod go-w "+path+"`") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOneProcess(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, Options{Dir: dir}); !errors.Is(err, Busy) || !strings.Contains(err.Error(), "another host") {
		t.Errorf("opened twice: %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	s := open(t, t.TempDir())
	d := deploy(t, s, deployment("full", "main", "a"))
	task := begin(t, s, d, "full")
	if _, err := s.w.Exec("pragma max_page_count = 120"); err != nil { // as the disk would: SQLITE_FULL
		t.Fatal(err)
	}
	var err error
	var last int64
	for err == nil {
		var n int64
		if n, err = s.AppendStream(context.Background(), task.ID, []StreamEvent{{Type: "x", Data: json.RawMessage(`"` + strings.Repeat("y", 3000) + `"`)}}); err == nil {
			last = n
		}
	}
	if !errors.Is(err, Full) || !strings.Contains(err.Error(), "was not changed") {
		t.Fatal(err)
	}
	if got := s.StreamEnd(task.ID); got != last {
		t.Errorf("the stream ends at %d; %d was acknowledged", got, last)
	}
	if _, err := s.w.Exec("pragma max_page_count = 100000"); err != nil {
		t.Fatal(err)
	}
	if n, err := s.AppendStream(context.Background(), task.ID, []StreamEvent{{Type: "x", Data: json.RawMessage(`1`)}}); err != nil || n != last+1 {
		t.Errorf("after that: %d, %v", n, err)
	}
}
